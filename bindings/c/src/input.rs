//! Arguments from callers: bytes, texts, pointers to results.

use std::ffi::{CStr, CString, c_char};

use crate::error::Failure;

/// Returns a caller's array.
///
/// # Safety
/// `data` is NULL or points to `count` elements that nobody changes during `'a`.
pub unsafe fn array<'a, T>(data: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Failure::argument(format!("`{name}` is NULL, and its size is {count}; expected data")));
    }
    if !data.is_aligned() {
        return Err(Failure::argument(format!(
            "`{name}` is at {data:p}; expected a multiple of {}",
            align_of::<T>()
        )));
    }
    if count.checked_mul(size_of::<T>()).is_none_or(|bytes| bytes > isize::MAX as usize) {
        return Err(Failure::argument(format!(
            "the size of `{name}` is {count}; expected less than the memory"
        )));
    }
    // SAFETY: of the caller; and the size is in range.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Returns a caller's text, which ends with a NUL; `None` for NULL.
///
/// # Safety
/// `text` is NULL or points to a text that nobody changes during `'a`.
pub unsafe fn optional_text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>, Failure> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: of the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| Failure::argument(format!("`{name}` is not UTF-8")))
}

/// Returns a caller's text, which ends with a NUL.
///
/// # Safety
/// The conditions of [`optional_text`].
pub unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<&'a str, Failure> {
    // SAFETY: of the caller.
    unsafe { optional_text(text, name) }?.ok_or_else(|| Failure::argument(format!("`{name}` is NULL")))
}

/// Returns the place for a result.
///
/// # Safety
/// `place` is NULL or can be written to during `'a`.
pub unsafe fn place<'a, T>(place: *mut T, name: &str) -> Result<&'a mut std::mem::MaybeUninit<T>, Failure> {
    if place.is_null() {
        return Err(Failure::argument(format!("`{name}` is NULL; expected a place for the result")));
    }
    if !place.is_aligned() {
        return Err(Failure::argument(format!(
            "`{name}` is at {place:p}; expected a multiple of {}",
            align_of::<T>()
        )));
    }
    // SAFETY: of the caller.
    Ok(unsafe { &mut *place.cast() })
}

/// Returns a text for C. A NUL in the text would end it, and is written as `\0`.
pub fn c_text(text: impl Into<String>) -> CString {
    let text = text.into();
    CString::new(text).unwrap_or_else(|error| {
        let bytes = error.into_vec();
        let text = String::from_utf8_lossy(&bytes).replace('\0', "\\0");
        CString::new(text).unwrap_or_default()
    })
}
