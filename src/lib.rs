//! The debug-info back end of a GPU compiler.
pub mod emit;
pub mod error;
pub mod eval;
pub mod op;
pub mod target;

pub use error::{Error, Result};
