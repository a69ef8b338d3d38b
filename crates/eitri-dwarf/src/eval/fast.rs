//! Fast evaluation for common operations: generic-type numbers, memory, whole registers, lanes, offsets, pieces.
//!
//! An element is a number with a kind beside it, and an operation on such elements is executed at once, without a
//! [`Value`](super::Value) or a [`Location`](super::Location). Such an evaluation has no faults: it stops before an unsupported operation
//! or a possible fault, and [`Run`](super::run::Run), which implements all operations and rules, continues there.
//!
//! The results must equal what `Run` alone computes: a traced evaluation uses `Run` alone, and `tests/direct.rs`
//! compares both on random expressions. Direct execution is here only because it is fast: an evaluation takes a fifth
//! to a tenth of the instructions that `Run` takes, which are 1.6 to 3.5 times as many as gimli's `Evaluation` takes
//! on the heap (`benches/README.md`).

mod calculation;
mod code;
mod direct;
mod inputs;
mod instruction;
mod kinds;
mod opcode;
mod parts;
mod query;
mod results;
mod stack;

pub(super) use code::Bytes;
pub(super) use inputs::{Fast, Progress, Single, Whole, mask};
pub(super) use results::Found;
pub(super) use stack::Slots;
