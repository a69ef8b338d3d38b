//! The debug-info back end of a GPU compiler.
pub mod dump;
pub mod emit;
pub mod error;
pub mod op;
pub mod read;
pub mod target;

pub use error::{Error, Result};
