//! gimli's evaluator on the same expressions and machine. For each difference, a table or the vector has the deciding
//! rule.

mod asked;
mod conversions;
mod differences;
mod evaluators;
mod frames;
mod machine;
mod random;
mod vectors;
