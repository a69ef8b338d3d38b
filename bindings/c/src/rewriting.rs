//! Objects of any producer as modules, and written again.

use std::ffi::{c_char, c_void};

use eitri::import::{ImportOptions, import};
use eitri::rewrite::{RewriteOptions, rewrite};

use crate::buffer::{eitri_buffer, put};
use crate::description::eitri_module;
use crate::error::{eitri_error, eitri_result, run};
use crate::finding::{Callback, eitri_message_callback};
use crate::input::{array, optional_text};
use crate::options::{EITRI_DEDUPE, EITRI_FIX, EITRI_GC, EITRI_NAMES, Options, eitri_options};

/// Makes a module from an object's debug information, whichever producer wrote it. Facts that a module cannot hold are
/// passed to the callback `unimported`. `target_name` is the target, where the object does not state it, as for
/// `eitri_description_new`; NULL is the object's.
///
/// # Safety
/// `object` points to `size` bytes; `target_name` is NULL or a text; `unimported` takes `context`; `module` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_import(
    object: *const c_char,
    size: usize,
    target_name: *const c_char,
    unimported: eitri_message_callback,
    context: *mut c_void,
    module: *mut *mut eitri_module,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let target = unsafe { optional_text(target_name, "target") }?;
        let callback = Callback::new("unimported", unimported, context);
        let make = || {
            let mut options = ImportOptions::default();
            options.target = target.map(eitri::json::target).transpose()?;
            let imported = import(object, &options)?;
            for fact in &imported.unimported {
                // SAFETY: of the caller.
                unsafe { callback.message(fact.to_string()) }?;
            }
            Ok(eitri_module(imported.module))
        };
        // SAFETY: of the caller.
        unsafe { put(module, "module", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Writes an object's debug information again, for the same or another consumer, into a new buffer: with EITRI_FIX without
/// what lint proves wrong. Code and loaded bytes stay identical. What changes and what is lost is passed to the options'
/// callbacks.
///
/// # Safety
/// `object` points to `size` bytes; `options` is NULL or points to options; `rewritten` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_rewrite(
    object: *const c_char,
    size: usize,
    options: *const eitri_options,
    rewritten: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let options = unsafe { Options::rewriting(options) }?;
        let mut how = RewriteOptions::default();
        how.consumer = options.chosen()?;
        how.target = options.target()?;
        how.fix = options.has(EITRI_FIX);
        how.gc = options.has(EITRI_GC);
        how.dedupe = options.has(EITRI_DEDUPE);
        how.names = options.has(EITRI_NAMES);
        let make = || {
            let written = rewrite(object, &how)?;
            for change in &written.changes {
                // SAFETY: of the caller.
                unsafe { options.changed.message(change.to_string()) }?;
            }
            for unfixed in &written.unfixed {
                // SAFETY: of the caller.
                unsafe { options.changed.message(format!("not fixed: {unfixed}")) }?;
            }
            for line in written.lost() {
                // SAFETY: of the caller.
                unsafe { options.omitted.message(line) }?;
            }
            Ok(written.object.into())
        };
        // SAFETY: of the caller.
        unsafe { put(rewritten, "rewritten", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}
