//! Imports template parameters for types and functions.

use super::importer::{Importer, Node};
use super::omissions::Made;
use super::order;
use crate::build::Template;
use crate::error::Result;
use crate::model::{TypeId, UnitId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// A template parameter and its argument.
pub(super) enum Parameter {
    Type(String, Option<TypeId>),
    Value(String, TypeId, Vec<u8>),
    Template(String, String),
    Pack(String, Vec<Parameter>),
}

impl Parameter {
    pub fn as_template(&self) -> Template<'_> {
        match self {
            Self::Type(name, ty) => Template::ty(name, *ty),
            Self::Value(name, ty, value) => Template::value(name, *ty, value),
            Self::Template(name, template) => Template::named(name, template),
            Self::Pack(name, all) => {
                Template::pack(name, all.iter().map(Self::as_template).collect::<Vec<_>>())
            }
        }
    }
}

pub(super) fn template_parameters(
    importer: &mut Importer<'_, '_>,
    template: &Fact<'_>,
    unit: UnitId,
) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    for id in template.ids(Field::Parameter) {
        let Some(fact) = importer.facts.get(id) else {
            importer.omissions.omit(template, Unimported::NotDebug(Field::Parameter, id.0));
            continue;
        };
        let made = template_parameter(importer, &fact, unit, true)?;
        parameters.extend(importer.omissions.made(&fact, made));
    }
    Ok(parameters)
}

fn template_parameter(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    unit: UnitId,
    is_outer: bool,
) -> Result<Made<Parameter>> {
    let name = importer.facts.text(fact, Field::Name);
    // The LLVM translator swaps 16 and 17: a template template parameter's name is where a pack's source is.
    let operand = |index: usize| fact.operands.get(index).copied().map(Id);
    let layout = importer.facts.layout();
    let is_string = |id: Id| layout.string(id).is_some();
    match fact.name() {
        Some(InstructionName::TypeTemplateParameter) => {
            if let Some(ty) = fact.id(Field::ActualType) {
                order::want(importer, Node::Type(ty, unit))?;
            }
            unlined(importer, fact);
            let ty = match importer.pointee(fact, Field::ActualType, unit) {
                Ok(ty) => ty,
                Err(what) => return Ok(Err(what)),
            };
            let value = fact.id(Field::Value).filter(|&value| !importer.facts.is_nothing(value));
            let Some(value) = value else { return Ok(Ok(Parameter::Type(name, ty))) };
            let Some(ty) = ty else { return Ok(Err(Unimported::ValueWithoutType)) };
            Ok(importer.constant(value, ty).map(|value| Parameter::Value(name, ty, value)))
        }
        Some(InstructionName::TypeTemplateTemplateParameter | InstructionName::TypeTemplateParameterPack) => {
            unlined(importer, fact);
            if let Some(template) = operand(1).filter(|&id| is_string(id)) {
                let template = layout.string(template).unwrap_or_default();
                return Ok(Ok(Parameter::Template(name, template)));
            }
            if !is_outer {
                return Ok(Err(Unimported::PackInPack));
            }
            let mut parameters = Vec::new();
            for &id in fact.operands.get(4..).unwrap_or_default() {
                let Some(inner) = importer.facts.get(Id(id)) else {
                    importer.omissions.omit(fact, Unimported::NotDebug(Field::Parameter, id));
                    continue;
                };
                // The recursion ends here, because a pack cannot contain a pack.
                let made = template_parameter(importer, &inner, unit, false)?;
                parameters.extend(importer.omissions.made(&inner, made));
            }
            Ok(Ok(Parameter::Pack(name, parameters)))
        }
        _ => Ok(Err(Unimported::NotTemplateParameter)),
    }
}

/// Lists a template parameter's line as not imported, because the model does not have it.
fn unlined(importer: &mut Importer<'_, '_>, fact: &Fact<'_>) {
    if importer.facts.word(fact, Field::Line) != 0 || importer.facts.word(fact, Field::Column) != 0 {
        importer.omissions.omit(fact, Unimported::TemplateParameterLine);
    }
}
