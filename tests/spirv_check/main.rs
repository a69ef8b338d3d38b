//! Debug instructions against what was described: read back, imported, compared; and mistakes that are made on purpose.
#![cfg(feature = "spirv")]

mod bad;
#[path = "../common/spirv.rs"]
mod described;
mod equal;
mod listed;
mod meaning;
mod moves;
#[path = "../common/random.rs"]
mod random;
mod round;
mod sabotage;
mod verdicts;
