//! The operation table is the specifications', and bytes, operations and text are one another's.
//!
//! The tables under `goldens/op/` are typed by hand from the specifications, not made from the crate's.

#[path = "operations/expressions.rs"]
mod expressions;
#[path = "operations/golden.rs"]
mod golden;
#[path = "operations/llvm.rs"]
mod llvm;
#[path = "operations/random.rs"]
mod random;
#[path = "common/tools.rs"]
#[allow(dead_code, reason = "each test uses a part")]
mod tools;
