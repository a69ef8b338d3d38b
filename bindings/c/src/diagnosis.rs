//! Objects of any producer: diagnosed, printed, measured, drawn as a page.

use std::ffi::{c_char, c_int, c_void};
use std::io;

use eitri::contents::{PrintOptions, lint_each, print_to};
use eitri::error::ErrorKind;
use eitri::json::write_statistics;
use eitri::lint::{LintFinding, LintOptions};
use eitri::report::{ReportOptions, report};
use eitri::stats::{StatsOptions, stats};

use crate::buffer::{eitri_buffer, put};
use crate::error::{Failure, eitri_error, eitri_result, run};
use crate::finding::{Callback, Finding, eitri_finding_callback, eitri_write_callback};
use crate::input::{array, c_text, optional_text};

/// A callback that gets a number with its name.
pub type eitri_number_callback =
    Option<unsafe extern "C" fn(context: *mut c_void, name: *const c_char, number: u64) -> c_int>;

/// Checks an object's debug information, or a SPIR-V module's, without a description, whichever producer wrote it. Each finding is passed to a
/// callback. `name` is the object's name in findings; NULL is "". Findings are no error.
///
/// # Safety
/// `object` points to `size` bytes; `name` is NULL or a text; `finding` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_lint(
    object: *const c_char,
    size: usize,
    name: *const c_char,
    finding: eitri_finding_callback,
    context: *mut c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let name = unsafe { optional_text(name, "name") }?.unwrap_or_default();
        let callback = Callback::new("finding", finding, context);
        let mut failure = None;
        let mut pass = |finding: &LintFinding| {
            if failure.is_none() {
                // SAFETY: of the caller.
                failure = unsafe { callback.finding(Finding::of_lint(finding, name)) }.err();
            }
        };
        let options = LintOptions::default();
        let report = lint_each(object, &options, &mut |finding| pass(&finding));
        match failure {
            Some(failure) => Err(failure),
            // A part that cannot be read is an error, after the findings of all other parts.
            None => match report?.unreadable.into_iter().next() {
                Some(unreadable) => Err(unreadable.into()),
                None => Ok(()),
            },
        }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// A callback as an output.
struct Output {
    callback: Callback<unsafe extern "C" fn(*mut c_void, *const c_char, usize) -> c_int>,
    failure: Option<Failure>,
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: of the caller of `eitri_dump`.
        match unsafe { self.callback.write(bytes) } {
            Ok(()) => Ok(bytes.len()),
            Err(failure) => {
                self.failure = Some(failure);
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints an object's debug sections, or a SPIR-V module's debug instructions. The text is passed to a callback in parts;
/// `is_verbose` prints more of each entry. An error comes after the text of all that can be printed.
///
/// # Safety
/// `object` points to `size` bytes; `write` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_dump(
    object: *const c_char,
    size: usize,
    is_verbose: c_int,
    write: eitri_write_callback,
    context: *mut c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        let mut options = PrintOptions::default();
        options.verbose = is_verbose != 0;
        let output = Output { callback: Callback::new("write", write, context), failure: None };
        let mut output = io::BufWriter::with_capacity(1 << 16, output);
        let printed = print_to(&mut output, object, &options);
        let flushed = io::Write::flush(&mut output);
        let (output, _) = output.into_parts();
        match output.failure {
            Some(failure) => Err(failure),
            None if printed? => Ok(flushed.map_err(eitri::Error::from)?),
            None => {
                let problem = "the text lacks instructions of unknown sets; expected known sets";
                Err(eitri::Error::from(ErrorKind::Unsupported(problem.into())).into())
            }
        }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Measures in which part of the code an object's variables have locations. Each number is passed to a callback, under the
/// name that llvm-dwarfdump's statistics have for it.
///
/// # Safety
/// `object` points to `size` bytes; `number` takes `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_stats(
    object: *const c_char,
    size: usize,
    number: eitri_number_callback,
    context: *mut c_void,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        let callback = number.ok_or_else(|| Failure::argument("`number` is NULL; expected a callback"))?;
        for (name, number) in stats(object, &StatsOptions::default())?.numbers() {
            let name = c_text(name);
            // SAFETY: of the caller.
            match unsafe { callback(context, name.as_ptr(), number) } {
                0 => {}
                number => return Err(Failure::Callback("number", number)),
            }
        }
        Ok(())
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Measures the same, with the coverage of each function, variable and unit, as a JSON object in a new buffer: a line of
/// `eitri stats --format json`, whose schema is `docs/statistics.schema.json`. `name` is the object's name in it; NULL is "".
///
/// # Safety
/// `object` points to `size` bytes; `name` is NULL or a text; `json` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_stats_json(
    object: *const c_char,
    size: usize,
    name: *const c_char,
    json: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let name = unsafe { optional_text(name, "name") }?.unwrap_or_default();
        let make = || {
            let found = stats(object, &StatsOptions::default())?;
            let mut line = Vec::new();
            write_statistics(&mut line, &found, name, false).map_err(eitri::Error::from)?;
            Ok(line.into())
        };
        // SAFETY: of the caller.
        unsafe { put(json, "json", make) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}

/// Draws an object's debug information as an HTML page without references to other files, into a new buffer. `name` is the
/// object's name in the page.
///
/// # Safety
/// `object` points to `size` bytes; `name` is NULL or a text; `page` can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_report(
    object: *const c_char,
    size: usize,
    name: *const c_char,
    page: *mut *mut eitri_buffer,
    error: *mut *mut eitri_error,
) -> eitri_result {
    let body = || {
        // SAFETY: of the caller.
        let object: &[u8] = unsafe { array(object.cast(), size, "object") }?;
        // SAFETY: of the caller.
        let name = unsafe { optional_text(name, "name") }?.unwrap_or_default();
        let mut options = ReportOptions::default();
        options.name = name;
        // SAFETY: of the caller.
        unsafe { put(page, "page", || Ok(report(object, &options)?.into())) }
    };
    // SAFETY: of the caller.
    unsafe { run(error, body) }
}
