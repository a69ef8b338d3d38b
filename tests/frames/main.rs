//! The promise: what is described of a frame is what call frame information says, in every version and format, and in
//! no more bytes than it takes.

#[path = "../common/mod.rs"]
mod common;

#[path = "../common/random.rs"]
mod random;

mod bytes;
mod checked;
mod rows;
