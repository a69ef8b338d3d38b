//! The debug-info back end of a GPU compiler.
pub mod build;
pub mod check;
pub mod dump;
pub mod emit;
pub mod error;
pub mod eval;
pub mod lower;
pub mod model;
pub mod op;
pub mod read;
pub mod target;

pub use check::check;
pub use error::{Error, Result};
