//! The debug-info back end of a GPU compiler.

#![forbid(unsafe_code)]

pub mod build;
pub mod emit;
pub mod error;
pub mod lower;
pub mod model;
pub mod op;
pub mod target;

pub use error::{Error, Result};
