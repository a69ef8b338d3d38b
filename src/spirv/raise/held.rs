//! Expressions, and what holds a variable.

use smallvec::SmallVec;

use super::{Made, Raiser};
use crate::spirv::held::{DebugOperation, Held, Index};
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Facts<'_> {
    /// The operations of a `DebugExpression`.
    ///
    /// # Errors
    /// In words, if it is none, or one of them is none of the ten with its operands.
    pub(in crate::spirv) fn operations(
        &self,
        expression: &Fact<'_>,
    ) -> Result<SmallVec<[DebugOperation; 4]>, String> {
        if expression.name() != Some(Name::Expression) {
            return Err(format!("{} is no DebugExpression", expression.result));
        }
        let operation = |id: Id| {
            let fact = self.get(id).filter(|fact| fact.name() == Some(Name::Operation));
            let fact = fact.ok_or_else(|| format!("{id} is no DebugOperation"))?;
            let word = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
            let number = word(self.number(&fact, Field::Operation));
            let operands = fact.operands().skip(1).map(|operand| match operand.row?.kind.is_literal(fact.set) {
                true => Some(operand.word),
                false => word(self.layout().constant(Id(operand.word))?.value),
            });
            let operands: Option<SmallVec<[u32; 2]>> = operands.collect();
            let operation = number.zip(operands).and_then(|(number, of)| DebugOperation::new(number, &of));
            operation.ok_or_else(|| format!("the operation {id} is not known"))
        };
        expression.ids(Field::Operation).map(operation).collect()
    }
}

impl<'a> Raiser<'_, 'a> {
    pub(super) fn operations(&self, expression: &Fact<'_>) -> Made<SmallVec<[DebugOperation; 4]>> {
        self.facts.operations(expression)
    }

    /// What a `DebugDeclare` or a `DebugValue` says of a variable.
    pub(super) fn held(&self, fact: &Fact<'a>) -> Made<Held> {
        let is_declaration = fact.name() == Some(Name::Declare);
        let id = fact.id(if is_declaration { Field::Variable } else { Field::Value });
        let id = id.ok_or("nothing holds it")?;
        let layout = self.facts.layout();
        if layout.definition(id).is_none() && !layout.may_be_defined(id) {
            return Err(format!("{id} is not defined"));
        }
        if self.facts.get(id).is_some() {
            return Err(format!("{id} is a debug instruction"));
        }
        let expression = self.facts.named(fact, Field::Expression).ok_or("it has no expression")?;
        let operations = self.operations(&expression)?;
        let mut held = form(id, &operations, is_declaration);
        for index in fact.ids(Field::Index) {
            let number = layout.constant(index).and_then(|constant| constant.value);
            held.indexes.push(match number.and_then(|number| u32::try_from(number).ok()) {
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
            [Constu(less), Minus, next @ ..] if *less > 0 => {
                (i32::try_from(-i64::from(*less)).ok(), next)
            }
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
