//! Writes template instances: section 4.4.

use super::entities::{Globals, Operands};
use super::inverse::{class_of, line_of};
use super::slots::Item;
use super::writer::Word;
use super::{constants, references};
use crate::error::Result;
use crate::model::{SourceLine, TemplateArgument, TemplateParameter, TypeKind, UnitId};
use crate::omission::{Property, Reason, Subject, TemplateOwner};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// A template instance.
struct Instance {
    unit: UnitId,
    line: Option<SourceLine>,
    owner: TemplateOwner,
}

impl Instance {
    fn subject(&self) -> Subject {
        match self.owner {
            TemplateOwner::Type(id) => Subject::Type(id),
            TemplateOwner::Function(id) => Subject::Function(id),
        }
    }
}

/// Writes a `DebugTypeTemplate` for every instance, after the instantiated entity.
pub(super) fn templates(out: &mut Globals<'_, '_, '_>) -> Result<()> {
    let module = out.module;
    for (id, ty) in &module.types {
        // The template refers to the entity, so that all entities exist at this point.
        if let TypeKind::Composite(composite) = &ty.kind
            && !composite.templates.is_empty()
        {
            let instance = Instance { unit: ty.unit, line: ty.line, owner: TemplateOwner::Type(id) };
            let is_class = class_of(module, id).is_some();
            template(out, Item::Type(id), is_class, &instance, &composite.templates)?;
        }
    }
    for (id, function) in &module.functions {
        if !function.templates.is_empty() {
            let instance = Instance {
                unit: module.scopes[function.scope].unit,
                line: line_of(module, id),
                owner: TemplateOwner::Function(id),
            };
            let has_body = out.described.relations.has_body(id);
            template(out, Item::Function(id), has_body, &instance, &function.templates)?;
        }
    }
    Ok(())
}

fn template(
    out: &mut Globals<'_, '_, '_>,
    item: Item,
    can_be: bool,
    instance: &Instance,
    parameters: &[TemplateParameter],
) -> Result<()> {
    if !can_be {
        out.omit(instance.subject(), Property::TemplateParameters, Reason::NotTemplate);
        return Ok(());
    }
    let mut arguments = Vec::new();
    for (index, parameter) in (0..).zip(parameters) {
        let subject = Subject::TemplateParameter(instance.owner, index, None);
        let TemplateArgument::Pack(inner) = &parameter.argument else {
            arguments.extend(template_parameter(out, instance, subject, parameter)?);
            continue;
        };
        omit_default(out, subject, parameter);
        if out.writer.mode.has(Feature::Packs) {
            arguments.extend(pack(out, instance, index, parameter, inner)?);
            continue;
        }
        // Without packs, their parameters join the template's own.
        out.omit(subject, Property::Pack, Reason::PackInto(inner.len()));
        for (place, parameter) in (0..).zip(inner) {
            let subject = Subject::TemplateParameter(instance.owner, index, Some(place));
            arguments.extend(template_parameter(out, instance, subject, parameter)?);
        }
    }
    // A template without parameters would be invalid.
    if arguments.is_empty() {
        return Ok(());
    }
    let arguments = out.room(&arguments, 6, 1, instance.subject(), Property::TemplateParameters);
    let mut operands = vec![(Field::Target, out.id(item)?.into())];
    operands.extend(arguments.iter().map(|&id| (Field::Parameter, id.into())));
    out.writer.instruction(InstructionName::TypeTemplate, &operands)?;
    Ok(())
}

/// A parameter that is not a pack; `None` if the set cannot encode it.
fn template_parameter(
    out: &mut Globals<'_, '_, '_>,
    instance: &Instance,
    subject: Subject,
    parameter: &TemplateParameter,
) -> Result<Option<Id>> {
    let module = out.module;
    let (ty, value) = match &parameter.argument {
        TemplateArgument::Pack(_) => return Ok(None),
        &TemplateArgument::Template(name) => {
            if !out.writer.mode.has(Feature::TemplateTemplates) {
                out.omit(subject, Property::Entity, Reason::Mode(out.writer.mode.name));
                return Ok(None);
            }
            omit_default(out, subject, parameter);
            let operands =
                [(Field::Name, out.name(parameter.name)?), (Field::TemplateName, out.name(Some(name))?)];
            let operands: Operands = operands.into_iter().chain(nowhere(out, instance)).collect();
            return out
                .writer
                .instruction(InstructionName::TypeTemplateTemplateParameter, &operands)
                .map(Some);
        }
        // A type argument has no value, and the set requires the operand.
        TemplateArgument::Type(ty) => (*ty, out.none()?),
        &TemplateArgument::Value { ty, value } => {
            let bytes = module.constant(value);
            let value = bytes.map_or(Ok(None), |bytes| constants::integer(out, ty, bytes))?;
            let Some(value) = value else {
                out.omit(subject, Property::Entity, Reason::ValueNotInteger);
                return Ok(None);
            };
            (Some(ty), value.into())
        }
    };
    omit_default(out, subject, parameter);
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(parameter.name)?));
    operands.push((Field::ActualType, references::type_word(out, ty, subject)?));
    operands.push((Field::Value, value));
    operands.extend(nowhere(out, instance));
    out.writer.instruction(InstructionName::TypeTemplateParameter, &operands).map(Some)
}

fn pack(
    out: &mut Globals<'_, '_, '_>,
    instance: &Instance,
    index: u32,
    parameter: &TemplateParameter,
    inner: &[TemplateParameter],
) -> Result<Option<Id>> {
    let mut pack = Vec::new();
    for (place, parameter) in (0..).zip(inner) {
        let subject = Subject::TemplateParameter(instance.owner, index, Some(place));
        match parameter.argument {
            // A pack contains only type and value parameters.
            TemplateArgument::Template(_) => out.omit(subject, Property::Entity, Reason::InPack),
            _ => pack.extend(template_parameter(out, instance, subject, parameter)?),
        }
    }
    let subject = Subject::TemplateParameter(instance.owner, index, None);
    if pack.is_empty() {
        out.omit(subject, Property::Entity, Reason::EmptyPack);
        return Ok(None);
    }
    let pack = out.room(&pack, 9, 1, subject, Property::Pack);
    let mut operands = vec![(Field::Name, out.name(parameter.name)?)];
    operands.extend(nowhere(out, instance));
    operands.extend(pack.iter().map(|&id| (Field::Parameter, Word::Id(id))));
    out.writer.instruction(InstructionName::TypeTemplateParameterPack, &operands).map(Some)
}

fn omit_default(out: &mut Globals<'_, '_, '_>, subject: Subject, parameter: &TemplateParameter) {
    if parameter.is_default {
        out.omit(subject, Property::Default, Reason::NoOperand);
    }
}

/// The instance's source operands, without a line, because a parameter's line is unknown.
fn nowhere(out: &Globals<'_, '_, '_>, instance: &Instance) -> [(Field, Word); 3] {
    let file = instance.line.map_or(out.module.units[instance.unit].file, |line| line.file);
    [out.files.source(file), (Field::Line, 0.into()), (Field::Column, 0.into())]
}
