//! The promise: the operation table equals the specifications, and bytes, operations and text convert to each other.
//!
//! The tables under `goldens/op/` are typed by hand from the specifications rather than generated.

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
