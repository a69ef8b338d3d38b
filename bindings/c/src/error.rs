//! Results and errors.

use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use eitri::error::At;

use crate::handle;
use crate::input::{c_text, place};
use crate::stack::with_stack;

/// Result of a function.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum eitri_result {
    /// Success.
    EITRI_OK = 0,
    /// The input is wrong: a description, an object, an expression.
    EITRI_ERROR = 1,
    /// An argument cannot be used: NULL, a freed handle, options of another size, a text that is not UTF-8.
    EITRI_ARGUMENT = 2,
    /// A callback returned a number other than 0.
    EITRI_CALLBACK = 3,
    /// A mistake in the library. The arguments' handles can be used again.
    EITRI_INTERNAL = 4,
}

use eitri_result::*;

/// Why a function failed.
pub struct eitri_error {
    result: eitri_result,
    message: CString,
    kind: CString,
    texts: [Option<CString>; 5],
    pcs: Option<(u64, u64)>,
    offset: Option<u64>,
    operation: Option<u64>,
    line: Option<(u64, u64)>,
}

/// Known parts of an error's location. Texts are NULL where they are unknown, and are valid until the error is
/// freed.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct eitri_error_place {
    /// Name of the compilation unit.
    pub unit: *const c_char,
    /// Name of the function.
    pub function: *const c_char,
    /// Name of the variable, parameter or constant.
    pub variable: *const c_char,
    /// Section of the object.
    pub section: *const c_char,
    /// Path of keys and indices in the JSON text, such as "describe[17].variable.live[2]".
    pub json_path: *const c_char,
    /// Whether `pcs_start` and `pcs_end` are known.
    pub has_pcs: bool,
    /// Whether `offset` is known.
    pub has_offset: bool,
    /// Whether `operation` is known.
    pub has_operation: bool,
    /// Whether `json_line` and `json_column` are known.
    pub has_json: bool,
    /// Start of the half-open pc range, in bytes from the function's start.
    pub pcs_start: u64,
    /// End of the pc range.
    pub pcs_end: u64,
    /// Offset in bytes from the start of the section, or of the expression if there is no section.
    pub offset: u64,
    /// Index of the operation in its expression, counted from 0.
    pub operation: u64,
    /// Line in the JSON text, counted from 1.
    pub json_line: u64,
    /// Character in the line, counted from 1.
    pub json_column: u64,
}

/// Why a function fails, before it is an error of the caller.
#[derive(Debug)]
pub(crate) enum Failure {
    Argument(String),
    Eitri(Box<eitri::Error>),
    Callback(&'static str, c_int),
}

impl Failure {
    pub fn argument(message: impl Into<String>) -> Self {
        Self::Argument(message.into())
    }

    /// Adds the location of an error of the library.
    pub fn or_at(self, at: impl FnOnce() -> At) -> Self {
        match self {
            Self::Eitri(error) => Self::Eitri(Box::new(error.or_at(at()))),
            other => other,
        }
    }
}

impl From<eitri::Error> for Failure {
    fn from(error: eitri::Error) -> Self {
        Self::Eitri(Box::new(error))
    }
}

impl eitri_error {
    fn plain(result: eitri_result, kind: &str, message: impl Into<String>) -> Self {
        Self {
            result,
            message: c_text(message),
            kind: c_text(kind),
            texts: Default::default(),
            pcs: None,
            offset: None,
            operation: None,
            line: None,
        }
    }

    fn new(failure: Failure) -> Self {
        match failure {
            Failure::Argument(message) => Self::plain(EITRI_ARGUMENT, "Argument", message),
            Failure::Callback(name, number) => {
                Self::plain(EITRI_CALLBACK, "Callback", format!("the callback `{name}` returned {number}"))
            }
            Failure::Eitri(error) => Self::of_library(&error),
        }
    }

    fn of_library(error: &eitri::Error) -> Self {
        let at = error.at();
        let text = |text: &Option<String>| text.clone().map(c_text);
        let path = at.json.as_ref().map(|json| json.path.clone());
        Self {
            texts: [text(&at.unit), text(&at.function), text(&at.variable), text(&at.section), text(&path)],
            pcs: at.pcs.as_ref().map(|pcs| (pcs.start, pcs.end)),
            offset: at.offset,
            operation: at.operation.map(|operation| operation as u64),
            // Statements that were added in parts have no lines.
            line: at
                .json
                .as_ref()
                .filter(|json| json.line > 0)
                .map(|json| (json.line as u64, json.column as u64)),
            ..Self::plain(EITRI_ERROR, error.kind().name(), error.to_string())
        }
    }
}

/// Runs a function's body. A panic does not leave the function.
///
/// # Safety
/// `error` is NULL or can be written to.
pub(crate) unsafe fn run(
    error: *mut *mut eitri_error,
    body: impl FnOnce() -> Result<(), Failure>,
) -> eitri_result {
    let failure = match catch_unwind(AssertUnwindSafe(|| with_stack(body))) {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(eitri_error::new(failure)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Some(eitri_error::plain(EITRI_INTERNAL, "Internal", format!("a mistake in the library: {text}")))
        }
    };
    let result = failure.as_ref().map_or(EITRI_OK, |failure| failure.result);
    // SAFETY: of the caller.
    if !error.is_null()
        && let Ok(place) = unsafe { place(error, "error") }
    {
        place.write(failure.map_or(std::ptr::null_mut(), handle::new));
    }
    result
}

/// Returns the whole message, with the place, in one line. It is valid until the error is freed. NULL for no error.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_error_message(error: *const eitri_error) -> *const c_char {
    handle::get(error, "error").map_or(null(), |error| error.message.as_ptr())
}

/// Returns the name of the error's kind, such as "UnknownName", on which a program can react: the name in the
/// documentation of Rust's `ErrorKind`, or "Argument", "Callback", "Internal". It is valid until the error is freed. NULL
/// for no error.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_error_kind(error: *const eitri_error) -> *const c_char {
    handle::get(error, "error").map_or(null(), |error| error.kind.as_ptr())
}

/// Writes what an error concerns. Returns whether `error` is an error and `place` is not NULL.
///
/// # Safety
/// `place` is NULL or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_error_where(error: *const eitri_error, place: *mut eitri_error_place) -> bool {
    // SAFETY: of the caller.
    let place = unsafe { crate::input::place(place, "place") };
    let (Ok(error), Ok(place)) = (handle::get(error, "error"), place) else { return false };
    let text = |index: usize| error.texts[index].as_ref().map_or(null(), |text| text.as_ptr());
    let (pcs_start, pcs_end) = error.pcs.unwrap_or_default();
    let (json_line, json_column) = error.line.unwrap_or_default();
    place.write(eitri_error_place {
        unit: text(0),
        function: text(1),
        variable: text(2),
        section: text(3),
        json_path: text(4),
        has_pcs: error.pcs.is_some(),
        has_offset: error.offset.is_some(),
        has_operation: error.operation.is_some(),
        has_json: error.line.is_some(),
        pcs_start,
        pcs_end,
        offset: error.offset.unwrap_or_default(),
        operation: error.operation.unwrap_or_default(),
        json_line,
        json_column,
    });
    true
}

/// Frees an error, and its texts.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_error_free(error: *mut eitri_error) {
    handle::free(error);
}
