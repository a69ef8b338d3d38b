//! The version.

use std::ffi::{CStr, c_char};

/// Returns the library's version, such as "0.1.0". The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn eitri_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    VERSION.as_ptr()
}
