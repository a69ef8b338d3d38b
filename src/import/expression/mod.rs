//! One DWARF expression as a typed location or number.
//!
//! The operations are run on symbols instead of contents: a stack element is a number, a location or a composite, each a
//! tree of [`Node`](crate::model::Node)s. What an operation does is defined by the specification, as in
//! [`eval`](crate::eval), which runs the same operations on a machine's contents.
//!
//! 1. [`run`] and [`operations`] execute the operations on [`terms`], each of which is stored once, so that `dup` costs
//!    nothing. [`numbers`] are calculated with their type; [`places`] are moved and composed. A conditional branch
//!    becomes a choice between two numbers.
//! 2. [`typed`] rewrites the result with what the run did not know: how many bits are read, the address space of a
//!    number, the function's stack frame. `regx v2; push_lane; lit4; mul; offset` becomes `per_lane(v2)` here.
//! 3. [`write`] lists the nodes in postfix order, within a limit, because a tree can be exponentially larger than its
//!    terms.
//!
//! The result means what the expression means, evaluation errors included, or there is no result: an expression that no
//! node expresses is [`Untyped`], with the operation and the reason.

mod context;
mod numbers;
mod operations;
mod places;
mod run;
mod terms;
mod typed;
mod typed_numbers;
mod untyped;
mod write;

pub use context::{Context, EntryOffset, InitialStack, Procedure, References};
pub use untyped::{Unresolved, Untyped, UntypedReason};

use crate::model::{Loc, Val};
use crate::target::SpaceId;
use context::Result;
use run::Run;
use typed::Typing;

/// Returns the location that an expression computes.
///
/// # Errors
/// The reason why the model has no location for it.
pub fn location<'a>(
    context: &Context<'a>,
    references: &mut dyn References<'a>,
    expr: &'a [u8],
) -> Result<Loc> {
    let mut run = Run::new(*context, references);
    let place = run.location(expr)?;
    let (terms, called) = run.into_terms();
    let mut typing = Typing::new(*context, references, terms, called);
    let place = typing.object(place)?;
    Ok(Loc::of_nodes(write::nodes(typing.terms(), place)?.into_iter()))
}

/// Returns the number that an expression computes, in at most 64 bits: a bound, a size, a value at a call.
///
/// # Errors
/// The reason why the model has no number for it.
pub fn value<'a>(context: &Context<'a>, references: &mut dyn References<'a>, expr: &'a [u8]) -> Result<Val> {
    sum(context, references, expr, 0)
}

/// Returns the number that an expression computes, plus a constant: the number of elements before an upper bound.
///
/// # Errors
/// The reason why the model has no number for it.
pub fn sum<'a>(
    context: &Context<'a>,
    references: &mut dyn References<'a>,
    expr: &'a [u8],
    by: i64,
) -> Result<Val> {
    let mut run = Run::new(*context, references);
    let number = run.sum(expr, by)?;
    let (terms, called) = run.into_terms();
    let mut typing = Typing::new(*context, references, terms, called);
    let number = typing.number(number, SpaceId::DEFAULT)?;
    Ok(Val::of_nodes(write::nodes(typing.terms(), number)?.into_iter()))
}
