//! Compiled expressions: instructions on plain numbers, whose kinds are known before the evaluation.
//!
//! Compiling proves the height of the stack and the kind of each element at each operation, so that the evaluation
//! checks neither. An expression without such a proof has no instructions. An evaluation that meets a possible fault
//! returns nothing. In both cases the full evaluator evaluates the bytes, from their start: it alone has faults.

mod code;
mod compile;
mod evaluator;
mod expression;
mod kinds;
mod machine;
mod run;

pub use expression::Compiled;
pub(super) use run::Stack;
