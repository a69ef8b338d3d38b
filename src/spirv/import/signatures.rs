//! Imports function signatures: return types, parameters, template parameters.

use super::flags::{self, Flags};
use super::importer::{Importer, Node};
use super::omissions::refused;
use super::{order, templates};
use crate::error::Result;
use crate::model::{FunctionId, UnitId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// Imports return types, parameters and template parameters. Types must be imported before, because a parameter can
/// have any type.
pub(super) fn signatures(importer: &mut Importer<'_, '_>) -> Result<()> {
    for (id, function) in importer.entities.functions.clone() {
        let (Some(fact), Some(unit)) = (importer.facts.get(id), importer.unit_of(id)) else { continue };
        returns(importer, &fact, function, unit)?;
        let count = importer.references.parameters.get(&id).map_or(0, Vec::len) as u32;
        // The last parameter needs all parameters before it.
        if let Some(last) = count.checked_sub(1) {
            order::want(importer, Node::Parameter(id, last))?;
        }
        function_template(importer, id)?;
    }
    Ok(())
}

fn returns(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    function: FunctionId,
    unit: UnitId,
) -> Result<()> {
    let Some(ty) = importer.facts.named(fact, Field::Type, InstructionName::TypeFunction) else {
        importer.omissions.omit(fact, Unimported::NotFunctionType);
        return Ok(());
    };
    let mut flags = Flags(importer.facts.word(&ty, Field::Flags));
    flags.take(flags::PROTOTYPED);
    importer.omit_flags(&ty, flags);
    if let Some(returns) = ty.id(Field::ReturnType) {
        order::want(importer, Node::Type(returns, unit))?;
    }
    // A last parameter type that is nothing stands for variable arguments.
    let is_variadic = ty.ids(Field::ParameterType).last().is_some_and(|last| importer.facts.is_nothing(last));
    let made = importer.pointee(&ty, Field::ReturnType, unit);
    let Some(returns) = importer.omissions.made(&ty, made) else { return Ok(()) };
    let is_declared = importer.m.described().function(function).specification.is_some();
    let Ok(mut of) = importer.m.describe_function(function) else { return Ok(()) };
    if is_variadic && !is_declared {
        of.variadic();
    }
    if let Some(Err(error)) = returns.map(|returns| of.returns(returns).map(drop)) {
        importer.omissions.omit(fact, refused(error));
    }
    Ok(())
}

/// Adds a function's template parameters.
pub(super) fn function_template(importer: &mut Importer<'_, '_>, id: Id) -> Result<()> {
    let template = importer.references.templates.get(&id).and_then(|&template| importer.facts.get(template));
    let (Some(template), Some(unit)) = (template, importer.unit_of(id)) else { return Ok(()) };
    let Some(&function) = importer.entities.functions.get(&id) else { return Ok(()) };
    for parameter in templates::template_parameters(importer, &template, unit)? {
        let function = importer.m.describe_function(function);
        let made = function.and_then(|mut builder| builder.template(parameter.as_template()).map(drop));
        importer.omissions.made(&template, made.map_err(refused));
    }
    Ok(())
}
