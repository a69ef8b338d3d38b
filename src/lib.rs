#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod build;
pub mod cfi;
pub mod check;
#[cfg(feature = "json")]
pub mod conform;
pub mod dump;
pub mod emit;
pub mod error;
pub mod eval;
#[cfg(feature = "json")]
pub mod json;
pub mod lower;
pub mod model;
mod near;
pub mod op;
pub mod read;
#[cfg(feature = "spirv")]
pub mod spirv;
pub mod target;
mod work;

#[doc(no_inline)]
pub use check::check;
pub use error::{Error, Result};

// The crates whose types appear in signatures, in the versions that match.
pub use gimli;
#[cfg(feature = "rspirv")]
pub use rspirv;
