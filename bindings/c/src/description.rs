//! Descriptions: statements as JSON, and the modules that they describe.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use eitri::error::ErrorKind;
use eitri::json::{without_lines, write_target};
use eitri::model::Module;
use eitri::target::Target;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::buffer::{eitri_buffer, put};
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::finding::{Callback, eitri_message_callback};
use crate::handle;
use crate::input::{array, text};
use crate::variable::Variables;

/// A description to which statements are added. `eitri_description_free` frees it.
pub struct eitri_description(pub(crate) Mutex<Statements>);

/// A module: what a description or an object's debug information says. It does not change. `eitri_module_free` frees it.
pub struct eitri_module(pub(crate) Module);

/// A description's text, without its end, and variables beside it.
pub(crate) struct Statements {
    pub(crate) target: Target,
    text: String,
    /// Number of statements in the text.
    pub(crate) count: usize,
    pub(crate) variables: Variables,
}

/// The end of a description's text.
const END: &str = "\n]}\n";

/// Makes a description without statements. `target` is the name of a built-in target, such as "amdgpu-gfx1100-wave32", or
/// a target's facts as a JSON object.
///
/// # Safety
/// `target` is a text, and `description` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_description_new(
    target: *const c_char,
    description: *mut *mut eitri_description,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let target = unsafe { text(target, "target") }?;
        let make = || {
            // A wrong target is an error now.
            let target = eitri::json::target(target)?;
            let written = write_target(&target);
            let text = format!("{{\"eitri\": 1, \"target\": {written}, \"describe\": [");
            let variables = Variables::default();
            Ok(eitri_description(Mutex::new(Statements { target, text, count: 0, variables })))
        };
        // SAFETY: of the caller.
        unsafe { put(description, "description", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Adds a statement, or a JSON list of statements. Only the JSON is checked now: a statement is read by
/// `eitri_description_finish`, whose errors name it by its number, its kind and its name.
///
/// # Safety
/// `statements` points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_description_add(
    description: *mut eitri_description,
    statements: *const c_char,
    size: usize,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let description = handle::get(description, "description")?;
        // SAFETY: of the caller.
        let given = unsafe { array(statements.cast(), size, "statements") }?;
        let (added, number) = parts(given)?;
        if number == 0 {
            return Ok(());
        }
        let mut description = description.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Statements { text, count, .. } = &mut *description;
        text.push_str(if *count == 0 { "\n" } else { ",\n" });
        text.push_str(added);
        *count += number;
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Reads the statements added so far, and makes the module that they describe. The description stays, and can get more
/// statements.
///
/// # Safety
/// `module` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_description_finish(
    description: *mut eitri_description,
    module: *mut *mut eitri_module,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let description = handle::get(description, "description")?;
        let make = || {
            let description = description.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Statements { text, variables, .. } = &*description;
            let text = [text, END].concat();
            // The caller knows the statements, and not the lines of the text that they make.
            let read = Module::from_json_with(&text, |number| variables.get(number));
            let read = read.map_err(|error| without_lines(error, text.as_bytes()));
            Ok(eitri_module(read?))
        };
        // SAFETY: of the caller.
        unsafe { put(module, "module", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Frees a description. Modules that were made from it stay.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_description_free(description: *mut eitri_description) {
    handle::free(description);
}

/// Makes a module from a whole description in JSON.
///
/// # Safety
/// `json` points to `size` bytes, and `module` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_module_from_json(
    json: *const c_char,
    size: usize,
    module: *mut *mut eitri_module,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let text: &[u8] = unsafe { array(json.cast(), size, "json") }?;
        // SAFETY: of the caller.
        unsafe { put(module, "module", || Ok(eitri_module(Module::from_json(text)?))) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Writes a module as a description in JSON, a statement on each line, into a new buffer.
///
/// # Safety
/// `json` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_module_to_json(
    module: *const eitri_module,
    json: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        // SAFETY: of the caller.
        unsafe { put(json, "json", || Ok(module.0.to_json().into())) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Passes each warning about a module's description to a callback, in the form "kind: message".
///
/// # Safety
/// `warning` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_module_warnings(
    module: *const eitri_module,
    warning: eitri_message_callback,
    context: *mut std::ffi::c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        let module = handle::get(module, "module")?;
        let callback = Callback::new("warning", warning, context);
        module.0.warnings().iter().try_for_each(|warned| {
            // SAFETY: of the caller.
            unsafe { callback.message(format!("{}: {warned}", warned.kind().name())) }
        })
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Frees a module.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_module_free(module: *mut eitri_module) {
    handle::free(module);
}

/// Returns statements without the brackets of their list, and their number.
fn parts(given: &[u8]) -> Result<(&str, usize), Failure> {
    let wrong = |error: serde_json::Error| {
        let malformed = ErrorKind::BadArgument(format!("`statements` is not JSON: {error}"));
        Failure::from(eitri::Error::from(malformed))
    };
    // The whole text is checked for its encoding first, because what is only counted is not.
    if let Ok(text) = std::str::from_utf8(given)
        && let Some(list) = text.trim().strip_prefix('[')
    {
        let counted: Vec<IgnoredAny> = serde_json::from_str(text).map_err(wrong)?;
        return Ok((list.strip_suffix(']').unwrap_or(list), counted.len()));
    }
    let text = serde_json::from_slice::<&RawValue>(given).map_err(wrong)?.get();
    if text.starts_with('{') {
        return Ok((text, 1));
    }
    Err(Failure::argument("`statements` is neither a JSON object nor a list of JSON objects"))
}
