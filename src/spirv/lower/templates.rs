//! Template instances: section 4.4.

use super::entities::{Globals, Operands};
use super::order::Item;
use super::types::class_of;
use super::writer::Word;
use crate::error::{At, Result};
use crate::model::{SourceLine, TemplateArgument, TemplateParameter, TypeKind, UnitId};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// An instance of a template.
struct Instance {
    unit: UnitId,
    line: Option<SourceLine>,
    at: At,
    /// Name of the instance for messages, if its location does not identify it.
    called: String,
}

impl Globals<'_, '_, '_> {
    /// Writes a `DebugTypeTemplate` for every instance, after the instantiated entity.
    pub(super) fn templates(&mut self) -> Result<()> {
        let module = self.module;
        for (id, ty) in &module.types {
            if let TypeKind::Composite(composite) = &ty.kind
                && !composite.templates.is_empty()
            {
                let instance = Instance {
                    unit: ty.unit,
                    line: ty.line,
                    at: module.at_type(id),
                    called: format!("{}: ", module.called(id)),
                };
                let is_class = class_of(module, id).is_some();
                self.template(Item::Type(id), is_class, &instance, &composite.templates)?;
            }
        }
        for (id, function) in &module.functions {
            if !function.templates.is_empty() {
                let instance = Instance {
                    unit: module.scopes[function.scope].unit,
                    line: self.line_of(id),
                    at: self.at_function(id),
                    called: String::new(),
                };
                let has_body = self.related.has_body(id);
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
            self.leave_of_instance(
                instance,
                "the parameters of the template: it is a union or a declaration",
            );
            return Ok(());
        }
        let mut all = Vec::new();
        for parameter in parameters {
            if let TemplateArgument::Pack(_) = parameter.argument {
                self.leave_default(instance, parameter);
            }
            match &parameter.argument {
                TemplateArgument::Pack(inner) if self.writer.mode.has_packs => {
                    all.extend(self.pack(instance, parameter, inner)?);
                }
                TemplateArgument::Pack(inner) => {
                    let name = self.parameter_text(parameter);
                    self.leave_of_instance(instance, &format!("that {name} is a pack of {}", inner.len()));
                    for parameter in inner {
                        all.extend(self.template_parameter(instance, parameter)?);
                    }
                }
                _ => all.extend(self.template_parameter(instance, parameter)?),
            }
        }
        if all.is_empty() {
            return Ok(());
        }
        let all = self
            .room(&all, 6, 1, |_| (instance.at.clone(), format!("{}template parameters", instance.called)));
        let mut operands = vec![(Field::Target, self.id(item)?.into())];
        operands.extend(all.iter().map(|&id| (Field::Parameter, id.into())));
        self.writer.instruction(Name::TypeTemplate, &operands)?;
        Ok(())
    }

    /// A parameter that is not a pack; `None` if the set cannot encode it.
    fn template_parameter(
        &mut self,
        instance: &Instance,
        parameter: &TemplateParameter,
    ) -> Result<Option<Id>> {
        let module = self.module;
        let text = self.parameter_text(parameter);
        let (ty, value) = match &parameter.argument {
            TemplateArgument::Pack(_) => return Ok(None),
            &TemplateArgument::Template(name) => {
                if !self.writer.mode.has_template_templates {
                    let mode = self.writer.mode.name;
                    let what = format!("{text}: the {mode} mode has no templates as parameters");
                    self.leave_of_instance(instance, &what);
                    return Ok(None);
                }
                self.leave_default(instance, parameter);
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
                    self.leave_of_instance(
                        instance,
                        &format!("{text}: its value is no integer that is known"),
                    );
                    return Ok(None);
                };
                (Some(ty), value.into())
            }
        };
        self.leave_default(instance, parameter);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(parameter.name)?));
        operands.push((Field::ActualType, self.type_word(ty, |_| (instance.at.clone(), text))?));
        operands.push((Field::Value, value));
        operands.extend(self.nowhere(instance));
        self.writer.instruction(Name::TypeTemplateParameter, &operands).map(Some)
    }

    fn pack(
        &mut self,
        instance: &Instance,
        parameter: &TemplateParameter,
        inner: &[TemplateParameter],
    ) -> Result<Option<Id>> {
        let text = self.parameter_text(parameter);
        let mut all = Vec::new();
        for parameter in inner {
            match parameter.argument {
                TemplateArgument::Template(_) => {
                    self.leave_of_instance(instance, &format!("a template in {text}"));
                }
                _ => all.extend(self.template_parameter(instance, parameter)?),
            }
        }
        if all.is_empty() {
            self.leave_of_instance(instance, &format!("{text}, which is an empty pack"));
            return Ok(None);
        }
        let all = self.room(&all, 9, 1, |_| (instance.at.clone(), format!("{}{text}", instance.called)));
        let mut operands = vec![(Field::Name, self.name(parameter.name)?)];
        operands.extend(self.nowhere(instance));
        operands.extend(all.iter().map(|&id| (Field::Parameter, Word::Id(id))));
        self.writer.instruction(Name::TypeTemplateParameterPack, &operands).map(Some)
    }

    fn leave_default(&mut self, instance: &Instance, parameter: &TemplateParameter) {
        if parameter.is_default {
            let text = self.parameter_text(parameter);
            self.leave_of_instance(instance, &format!("that {text} is what it is where nothing is said"));
        }
    }

    /// Source operands of the instance, without a line: the line of a parameter is unknown.
    fn nowhere(&self, instance: &Instance) -> [(Field, Word); 3] {
        let file = instance.line.map_or(self.module.units[instance.unit].file, |line| line.file);
        [self.source(file), (Field::Line, 0.into()), (Field::Column, 0.into())]
    }

    fn leave_of_instance(&mut self, instance: &Instance, what: &str) {
        self.writer.leave_out(instance.at.clone(), format!("{}{what}", instance.called));
    }

    fn parameter_text(&self, parameter: &TemplateParameter) -> String {
        format!("template parameter `{}`", parameter.name.map_or("", |name| self.module.string(name)))
    }
}
