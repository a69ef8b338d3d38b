#![doc = include_str!("../../docs/conformance.md")]

mod bytes;
mod element;
mod expect;
mod file;
mod found;
mod frame;
mod layers;
mod list;
pub mod location;
mod machine;
mod report;
mod run;
mod stops;
mod target;
mod types;
mod vector;
mod words;

pub use expect::Expect;
pub use file::File;
pub use found::{Found, Read};
pub use machine::Machine;
pub use report::{Outcome, Report, Verdict};
pub use target::Target;
pub use vector::{Body, Vector};
