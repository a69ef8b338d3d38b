//! Imports variable locations and their expressions.

use super::importer::Importer;
use super::omissions::{Made, refused};
use crate::error::{Error, Result};
use crate::model::{Part, VariableId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::provider::{DebugOperation, Index, Provider};
use crate::spirv::provider_rules::Spot;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// The location that a `DebugDeclare` or `DebugValue` specifies for a variable.
pub(super) fn providers(
    importer: &Importer<'_, '_>,
    fact: &Fact<'_>,
    variable: VariableId,
) -> Made<Provider> {
    let is_declaration = fact.name() == Some(InstructionName::Declare);
    let field = if is_declaration { Field::Variable } else { Field::Value };
    let id = fact.id(field).ok_or(Unimported::Missing(field))?;
    let expression = fact.id(Field::Expression).ok_or(Unimported::Missing(Field::Expression))?;
    let operations = importer.facts.all.few_operations(expression).map_err(refused)?;
    let layout = importer.facts.layout();
    let mut provider = form(id, &operations, is_declaration);
    for index in fact.ids(Field::Index) {
        provider =
            provider.indexed(match layout.index(index).and_then(|number| u32::try_from(number).ok()) {
                Some(number) => Index::Number(number),
                None => Index::Id(index),
            });
    }
    can_provide(importer, fact, variable, &provider).map_err(refused)?;
    Ok(provider)
}

/// Checks that the location is allowed at this position and fits the variable.
fn can_provide(
    importer: &Importer<'_, '_>,
    fact: &Fact<'_>,
    variable: VariableId,
    provider: &Provider,
) -> Result<()> {
    let layout = importer.facts.layout();
    let module = importer.m.described();
    let function = layout.function_at(fact.at).map_or(0..0, |function| function.at.clone());
    let spot = Spot { function, at: fact.at };
    let is_declaration = fact.name() == Some(InstructionName::Declare);
    let defined = if is_declaration {
        layout.variable_at(provider.id(), &spot)?
    } else {
        layout.value_at(provider.id(), &spot)?
    };
    let variable = module.variable(variable).ty;
    let mut part = Some(Part::whole(variable));
    for index in provider.indexes() {
        if let Index::Id(id) = *index {
            layout.index_at(id, &spot)?;
        }
        // Indexes also count members that were not imported, so that they would select a wrong member.
        if let Some(whole) = part.filter(|part| importer.entities.partial.contains(&part.named(module))) {
            let called = module.called(whole.named(module));
            return Err(Error::bad_argument(format!("some members of {called} are not described")));
        }
        part = match part {
            Some(part) => part.select(module, index.number(|id| layout.index(id)))?,
            None => None,
        };
    }
    layout
        .fits(module, variable, provider, &provider.few_operations(is_declaration), (defined, is_declaration))
        .map(drop)
}

/// The simplest location with these operations, so that an import yields what a user would write.
fn form(id: Id, operations: &[DebugOperation], is_declaration: bool) -> Provider {
    use DebugOperation::{BitPiece, Constu, Deref, Fragment, Minus, PlusUconst, StackValue, Swap, Xderef};
    let (bits, all) = match operations.split_last() {
        Some((&Fragment { offset, size }, rest)) => (Some((offset, size)), rest),
        _ => (None, operations),
    };
    let (taken, rest) = match all.split_last() {
        Some((&BitPiece { offset, size }, rest)) => (Some((offset, size)), rest),
        _ => (None, all),
    };
    // A final read of memory means that the variable is in memory.
    let (mut provider, mut steps) = match *rest {
        [ref steps @ .., Constu(space), Swap, Xderef] => (Provider::pointer(id).in_space(space), steps),
        [ref steps @ .., Deref] => (Provider::pointer(id), steps),
        [ref steps @ .., StackValue] => (Provider::value(id), steps),
        ref steps => (Provider::value(id), steps),
    };
    loop {
        let (more, next) = match steps {
            [PlusUconst(more), next @ ..] => (i32::try_from(*more).ok(), next),
            [Constu(less), Minus, next @ ..] if *less > 0 => (i32::try_from(-i64::from(*less)).ok(), next),
            _ => break,
        };
        let Some(more) = more else { break };
        (provider, steps) = (provider.plus(more), next);
    }
    let range = |(offset, size): (u32, u32)| Some(offset..offset.checked_add(size)?);
    let taken = taken.map(range);
    let bits = bits.map(range);
    if let Some(Some(taken)) = taken.clone() {
        provider = provider.taken(taken);
    }
    if let Some(Some(bits)) = bits.clone() {
        provider = provider.bits(bits);
    }
    // The simple form may stand for other operations; then the operations are kept literally.
    if provider.few_operations(is_declaration)[..] == *operations {
        return provider;
    }
    match bits {
        Some(Some(bits)) => Provider::expression(id, all).bits(bits),
        _ => Provider::expression(id, operations),
    }
}
