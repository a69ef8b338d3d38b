#![doc = include_str!("../../docs/conformance.md")]

mod answer;
mod bytes;
mod cfi;
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
mod rows;
mod run;
mod stop;
mod stops;
mod target;
mod types;
mod unwound;
mod values;
mod vector;

pub use cfi::FrameBytes;
pub use expect::Expect;
pub use file::VectorFile;
pub(crate) use file::vectors_schema;
pub use found::{Found, Read};
pub use list::SectionList;
pub use machine::VectorMachine;
pub use report::{ConformReport, VectorOutcome, Verdict};
pub use rows::{RowCfa, RowRule, VectorRow};
pub use stop::{Stop, StoppedObject};
pub(crate) use stops::machine_schema;
pub use target::VectorTarget;
pub use unwound::{Recovered, Unwound};
pub use vector::{Document, Proposal, Status, Vector, VectorBody};
