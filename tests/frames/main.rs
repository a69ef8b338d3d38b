//! The promise: call frame information has the described rules, in every version and format, in the fewest bytes.

#[path = "../common/mod.rs"]
mod common;

#[path = "../common/random.rs"]
mod random;

mod bytes;
mod checked;
mod rows;
