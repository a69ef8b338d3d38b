//! SPIR-V modules.

use std::ffi::{c_char, c_void};

use eitri::error::ErrorKind;
use eitri::spirv::{self, Binding, Mode};

use crate::buffer::{eitri_buffer, put};
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::finding::{Callback, Finding, eitri_finding_callback, eitri_level, eitri_message_callback};
use crate::input::{array, optional_text};
use crate::options::{EITRI_ALL, EITRI_PARTIAL};

/// Adds debug instructions to a SPIR-V module without any, by a description in JSON whose key `spirv` has the ids and
/// positions. The result, which was read back and compared with the description, is a new buffer of words. `reader` is
/// "vulkan", "opencl" or another mode's name; NULL is "vulkan" for a shader and "opencl" otherwise. What the instruction
/// set cannot express is an error; with EITRI_PARTIAL in `flags`, it is omitted, and passed to `omitted`.
///
/// # Safety
/// `json` points to `json_size` bytes, `words` to `count` words; `reader` is NULL or a text; `omitted` takes `context`;
/// `attached` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_spirv_attach(
    json: *const c_char,
    json_size: usize,
    words: *const u32,
    count: usize,
    reader: *const c_char,
    flags: u32,
    omitted: eitri_message_callback,
    context: *mut c_void,
    attached: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let json: &[u8] = unsafe { array(json.cast(), json_size, "json") }?;
        // SAFETY: of the caller.
        let (words, reader) = unsafe { (array(words, count, "words")?, optional_text(reader, "reader")?) };
        if flags & !EITRI_PARTIAL != 0 {
            return Err(Failure::argument(format!("`flags` is {flags:#x}; expected 0 or EITRI_PARTIAL")));
        }
        let callback = Callback::new("omitted", omitted, context);
        let make = || {
            let (module, binding) = Binding::from_json(json, words)?;
            let mode = Mode::chosen(reader, module.target())?;
            let attached = spirv::attach(words, &module, &binding, &mode)?;
            if let Some(first) = attached.omissions.first().filter(|_| flags == 0) {
                return Err(eitri::Error::from(ErrorKind::BadArgument(format!("omitted: {first}"))).into());
            }
            let checked = attached.check(&module, &binding, &mode)?;
            if !checked.is_clean() {
                let problem = format!("the module differs from its description: {checked}");
                return Err(eitri::Error::from(ErrorKind::Unsupported(problem)).into());
            }
            for omission in &attached.omissions {
                // SAFETY: of the caller.
                unsafe { callback.message(omission.to_string()) }?;
            }
            Ok(attached.words.into())
        };
        // SAFETY: of the caller.
        unsafe { put(attached, "attached", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Checks every debug instruction of a SPIR-V module by the rules in its specification. Each finding is passed to a
/// callback. Findings are no error.
///
/// # Safety
/// `words` points to `count` words; `finding` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_spirv_check(
    words: *const u32,
    count: usize,
    finding: eitri_finding_callback,
    context: *mut c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let words = unsafe { array(words, count, "words") }?;
        let callback = Callback::new("finding", finding, context);
        let report = spirv::validate(&spirv::read(words)?);
        let levels = [(&report.findings, eitri_level::EITRI_WRONG), (&report.notes, eitri_level::EITRI_NOTE)];
        for (findings, level) in levels {
            for finding in findings {
                // SAFETY: of the caller.
                unsafe { callback.finding(Finding::of_module(finding, level)) }?;
            }
        }
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Removes debug instructions and lines from a SPIR-V module, whichever producer wrote them. `flags` is 0 or EITRI_ALL. The
/// result is a new buffer of words.
///
/// # Safety
/// `words` points to `count` words; `stripped` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_spirv_strip(
    words: *const u32,
    count: usize,
    flags: u32,
    stripped: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let words = unsafe { array(words, count, "words") }?;
        let make = || match flags {
            0 => Ok(spirv::strip(words)?.into()),
            EITRI_ALL => Ok(spirv::strip_unused(words)?.into()),
            _ => Err(Failure::argument(format!("`flags` is {flags:#x}; expected 0 or EITRI_ALL"))),
        };
        // SAFETY: of the caller.
        unsafe { put(stripped, "stripped", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}
