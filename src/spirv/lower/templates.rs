//! Template instances: section 4.4.

use super::entities::{Globals, Operands};
use super::order::Item;
use super::types::class_of;
use super::writer::Word;
use crate::error::Result;
use crate::model::{SourceLine, TemplateArgument, TemplateParameter, TypeKind, UnitId};
use crate::omission::{Property, Reason, Subject, TemplateOwner};
use crate::spirv::mode::Feature;
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// An instance of a template.
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

impl Globals<'_, '_, '_> {
    /// Writes a `DebugTypeTemplate` for every instance, after the instantiated entity.
    pub(super) fn templates(&mut self) -> Result<()> {
        let module = self.module;
        for (id, ty) in &module.types {
            if let TypeKind::Composite(composite) = &ty.kind
                && !composite.templates.is_empty()
            {
                let instance = Instance { unit: ty.unit, line: ty.line, owner: TemplateOwner::Type(id) };
                let is_class = class_of(module, id).is_some();
                self.template(Item::Type(id), is_class, &instance, &composite.templates)?;
            }
        }
        for (id, function) in &module.functions {
            if !function.templates.is_empty() {
                let instance = Instance {
                    unit: module.scopes[function.scope].unit,
                    line: self.line_of(id),
                    owner: TemplateOwner::Function(id),
                };
                let has_body = self.described.relations.has_body(id);
                self.template(Item::Function(id), has_body, &instance, &function.templates)?;
            }
        }
        Ok(())
    }

    fn template(
        &mut self,
        item: Item,
        can_be: bool,
        instance: &Instance,
        parameters: &[TemplateParameter],
    ) -> Result<()> {
        if !can_be {
            self.omit(instance.subject(), Property::TemplateParameters, Reason::NotTemplate);
            return Ok(());
        }
        let mut all = Vec::new();
        for (index, parameter) in (0..).zip(parameters) {
            let subject = Subject::TemplateParameter(instance.owner, index, None);
            let TemplateArgument::Pack(inner) = &parameter.argument else {
                all.extend(self.template_parameter(instance, subject, parameter)?);
                continue;
            };
            self.omit_default(subject, parameter);
            if self.writer.mode.has(Feature::Packs) {
                all.extend(self.pack(instance, index, parameter, inner)?);
                continue;
            }
            self.omit(subject, Property::Pack, Reason::PackInto(inner.len()));
            for (place, parameter) in (0..).zip(inner) {
                let subject = Subject::TemplateParameter(instance.owner, index, Some(place));
                all.extend(self.template_parameter(instance, subject, parameter)?);
            }
        }
        if all.is_empty() {
            return Ok(());
        }
        let all = self.room(&all, 6, 1, instance.subject(), Property::TemplateParameters);
        let mut operands = vec![(Field::Target, self.id(item)?.into())];
        operands.extend(all.iter().map(|&id| (Field::Parameter, id.into())));
        self.writer.instruction(Name::TypeTemplate, &operands)?;
        Ok(())
    }

    /// A parameter that is not a pack; `None` if the set cannot encode it.
    fn template_parameter(
        &mut self,
        instance: &Instance,
        subject: Subject,
        parameter: &TemplateParameter,
    ) -> Result<Option<Id>> {
        let module = self.module;
        let (ty, value) = match &parameter.argument {
            TemplateArgument::Pack(_) => return Ok(None),
            &TemplateArgument::Template(name) => {
                if !self.writer.mode.has(Feature::TemplateTemplates) {
                    self.omit(subject, Property::Entity, Reason::Mode(self.writer.mode.name));
                    return Ok(None);
                }
                self.omit_default(subject, parameter);
                let operands = [
                    (Field::Name, self.name(parameter.name)?),
                    (Field::TemplateName, self.name(Some(name))?),
                ];
                let operands: Operands = operands.into_iter().chain(self.nowhere(instance)).collect();
                return self.writer.instruction(Name::TypeTemplateTemplateParameter, &operands).map(Some);
            }
            TemplateArgument::Type(ty) => (*ty, self.none()?),
            &TemplateArgument::Value { ty, value } => {
                let bytes = module.constant(value);
                let value = bytes.map_or(Ok(None), |bytes| self.integer(ty, bytes))?;
                let Some(value) = value else {
                    self.omit(subject, Property::Entity, Reason::ValueNotInteger);
                    return Ok(None);
                };
                (Some(ty), value.into())
            }
        };
        self.omit_default(subject, parameter);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(parameter.name)?));
        operands.push((Field::ActualType, self.type_word(ty, subject)?));
        operands.push((Field::Value, value));
        operands.extend(self.nowhere(instance));
        self.writer.instruction(Name::TypeTemplateParameter, &operands).map(Some)
    }

    fn pack(
        &mut self,
        instance: &Instance,
        index: u32,
        parameter: &TemplateParameter,
        inner: &[TemplateParameter],
    ) -> Result<Option<Id>> {
        let mut all = Vec::new();
        for (place, parameter) in (0..).zip(inner) {
            let subject = Subject::TemplateParameter(instance.owner, index, Some(place));
            match parameter.argument {
                TemplateArgument::Template(_) => self.omit(subject, Property::Entity, Reason::InPack),
                _ => all.extend(self.template_parameter(instance, subject, parameter)?),
            }
        }
        let subject = Subject::TemplateParameter(instance.owner, index, None);
        if all.is_empty() {
            self.omit(subject, Property::Entity, Reason::EmptyPack);
            return Ok(None);
        }
        let all = self.room(&all, 9, 1, subject, Property::Pack);
        let mut operands = vec![(Field::Name, self.name(parameter.name)?)];
        operands.extend(self.nowhere(instance));
        operands.extend(all.iter().map(|&id| (Field::Parameter, Word::Id(id))));
        self.writer.instruction(Name::TypeTemplateParameterPack, &operands).map(Some)
    }

    fn omit_default(&mut self, subject: Subject, parameter: &TemplateParameter) {
        if parameter.is_default {
            self.omit(subject, Property::Default, Reason::NoOperand);
        }
    }

    /// Source operands of the instance, without a line: the line of a parameter is unknown.
    fn nowhere(&self, instance: &Instance) -> [(Field, Word); 3] {
        let file = instance.line.map_or(self.module.units[instance.unit].file, |line| line.file);
        [self.files.source(file), (Field::Line, 0.into()), (Field::Column, 0.into())]
    }
}
