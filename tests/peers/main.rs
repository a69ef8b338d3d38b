//! What gimli's evaluator makes of the same expressions on the same machine. Where it differs, the rule that decides
//! stands in a table, or in the vector.

mod asked;
mod differences;
mod evaluators;
#[cfg(feature = "json")]
mod frames;
mod machine;
mod random;
#[cfg(feature = "json")]
mod vectors;
