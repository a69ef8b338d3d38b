//! Expressions, and what holds a variable.

use super::{Made, Raiser, refused};
use crate::spirv::held::{DebugOperation, Held, Index};
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'a> Raiser<'_, 'a> {
    /// What a `DebugDeclare` or a `DebugValue` says of a variable.
    pub(super) fn held(&self, fact: &Fact<'a>) -> Made<Held> {
        let is_declaration = fact.name() == Some(Name::Declare);
        let id = fact.id(if is_declaration { Field::Variable } else { Field::Value });
        let id = id.ok_or("nothing holds it")?;
        let layout = self.facts.layout();
        if layout.definition(id).is_none() && !layout.may_be_defined(id) {
            return Err(format!("{id} is not defined"));
        }
        if self.get(id).is_some() {
            return Err(format!("{id} is a debug instruction"));
        }
        let expression = fact.id(Field::Expression).ok_or("it has no expression")?;
        let operations = self.facts.operations(expression).map_err(refused)?;
        let mut held = form(id, &operations, is_declaration);
        for index in fact.ids(Field::Index) {
            let number = layout.constant(index).and_then(|constant| constant.value);
            held = held.indexed(match number.and_then(|number| u32::try_from(number).ok()) {
                Some(number) => Index::Number(number),
                None => Index::Id(index),
            });
        }
        Ok(held)
    }
}

/// The plainest form that has these operations.
fn form(id: Id, operations: &[DebugOperation], is_declaration: bool) -> Held {
    use DebugOperation::{BitPiece, Constu, Deref, Fragment, Minus, PlusUconst, StackValue, Swap, Xderef};
    let (bits, all) = match operations.split_last() {
        Some((&Fragment { offset, size }, rest)) => (Some((offset, size)), rest),
        _ => (None, operations),
    };
    let (taken, rest) = match all.split_last() {
        Some((&BitPiece { offset, size }, rest)) => (Some((offset, size)), rest),
        _ => (None, all),
    };
    let (mut held, mut steps) = match *rest {
        [ref steps @ .., Constu(space), Swap, Xderef] => (Held::pointer(id).in_space(space), steps),
        [ref steps @ .., Deref] => (Held::pointer(id), steps),
        [ref steps @ .., StackValue] => (Held::value(id), steps),
        ref steps => (Held::value(id), steps),
    };
    loop {
        let (more, next) = match steps {
            [PlusUconst(more), next @ ..] => (i32::try_from(*more).ok(), next),
            [Constu(less), Minus, next @ ..] if *less > 0 => (i32::try_from(-i64::from(*less)).ok(), next),
            _ => break,
        };
        let Some(more) = more else { break };
        (held, steps) = (held.plus(more), next);
    }
    let range = |(offset, size): (u32, u32)| Some(offset..offset.checked_add(size)?);
    let (taken, bits) = (taken.map(range), bits.map(range));
    if let Some(Some(taken)) = taken.clone() {
        held = held.taken(taken);
    }
    if let Some(Some(bits)) = bits.clone() {
        held = held.bits(bits);
    }
    if held.operations(is_declaration)[..] == *operations {
        return held;
    }
    match bits {
        Some(Some(bits)) => Held::expression(id, all).bits(bits),
        _ => Held::expression(id, operations),
    }
}
