//! Facts as text, for people and for reviewed files.

mod names;
mod text;

pub use text::{DumpOptions, dump};
