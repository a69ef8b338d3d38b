//! The promise: the operation table equals the specifications, and bytes, operations and text convert to each other.
//!
//! The tables under `goldens/op/` are typed by hand from the specifications rather than generated.

mod expressions;
mod golden;
mod llvm;
mod random;
use crate::common::tools;
