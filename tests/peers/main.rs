//! What others make of the same: gimli's evaluator of the same expressions on the same machine, LLVM's decoder of the
//! same operations. Where they differ, the rule that decides stands in a table, or in the vector.

mod asked;
mod differences;
mod evaluators;
mod random;
mod vectors;
