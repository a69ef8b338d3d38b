//! eitri for C and C++.
//!
//! The functions are those of `include/eitri.h`, which is made from this crate. They have no knowledge of their own: a
//! description is JSON, an object is bytes, and everything else is the library's.
#![allow(non_camel_case_types)]

mod buffer;
mod description;
mod diagnosis;
mod error;
mod evaluation;
mod finding;
mod handle;
mod input;
mod object;
mod options;
mod rewriting;
mod spirv;

pub use buffer::*;
pub use description::*;
pub use diagnosis::*;
pub use error::*;
pub use evaluation::*;
pub use finding::*;
pub use object::*;
pub use options::*;
pub use rewriting::*;
pub use spirv::*;

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
