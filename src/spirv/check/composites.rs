//! Structures, classes and unions, and the parameters of templates.

use super::shapes::{Part, Shape, shape};
use super::told::Teller;
use crate::model::{
    Accessibility, BaseOffset, Composite, CompositeKind, Passed, TemplateArgument, TemplateParameter, TypeId,
    TypeKind,
};

impl Teller<'_, '_> {
    pub(super) fn composite(&mut self, id: TypeId, composite: &Composite, all: &mut Vec<(String, Shape)>) {
        let module = self.module;
        let ty = module.ty(id);
        let size = match ty.bits().filter(|_| !ty.is_declaration()) {
            Some(bits) => shape!(self.shapes; bits, "bits"),
            None => shape!(self.shapes; "incomplete"),
        };
        all.push(("size".into(), size));
        if let Some(passed) = composite.passed {
            let passed = match passed {
                Passed::ByValue => "by value",
                Passed::ByReference => "by reference",
            };
            all.push(("passed".into(), shape!(self.shapes; passed)));
        }
        let bases = composite.bases.iter().filter(|base| self.mode.has_inheritance && !base.is_virtual);
        let bases: Vec<_> = bases.map(|base| (self.class(base.ty), *base)).collect();
        let mut index = 0;
        for (class, base) in bases {
            let is_class =
                matches!(module.ty(class).kind(), TypeKind::Composite(of) if of.kind != CompositeKind::Union);
            if let (BaseOffset::Bytes(offset), true) = (base.offset, is_class) {
                let access = self.access(base.accessibility);
                let base = shape!(self.shapes; self.ty(class), "at", offset, access);
                all.push((format!("base class {index}"), base));
                index += 1;
            }
        }
        let is_lost = |ty: TypeId| self.types[ty.as_u32() as usize].is_lost;
        let members: Vec<_> = composite.members.iter().filter(|member| !is_lost(member.ty)).collect();
        for (index, member) in members.into_iter().enumerate() {
            let name = member.name.map_or("", |name| module.string(name)).to_owned();
            let whole = module.ty(member.ty).bits();
            let is_sized = whole.is_some() && self.types[member.ty.as_u32() as usize].is_sized;
            // One that is as large as its type is no bit field.
            let bits = member.bits.filter(|&bits| is_sized && Some(bits) < whole).unwrap_or_default();
            let access = self.access(member.accessibility);
            let line = self.line(member.line);
            let made = if member.is_artificial { "artificial" } else { "" };
            let offset = member.offset_bits;
            let value = shape!(
                self.shapes; name.clone(), "of", self.ty(member.ty), "at bit", offset, "of", bits, access, made, line
            );
            all.push((format!("member {index} `{name}`"), value));
        }
        if composite.kind != CompositeKind::Union {
            self.templates(&composite.templates, all);
        }
    }

    pub(super) fn access(&mut self, access: Option<Accessibility>) -> Shape {
        let word = match access {
            None => "no access",
            Some(Accessibility::Public) => "public",
            Some(Accessibility::Protected) => "protected",
            Some(Accessibility::Private) => "private",
        };
        shape!(self.shapes; word)
    }

    pub(super) fn templates(&mut self, parameters: &[TemplateParameter], all: &mut Vec<(String, Shape)>) {
        let mut said = Vec::new();
        for parameter in parameters {
            match &parameter.argument {
                TemplateArgument::Pack(inner) => {
                    let inner = inner.iter().filter(|one| {
                        !matches!(one.argument, TemplateArgument::Template(_)) || !self.mode.has_packs
                    });
                    let inner: Vec<_> = inner.filter_map(|one| self.template(one)).collect();
                    match self.mode.has_packs {
                        true if inner.is_empty() => {}
                        true => {
                            let name = self.parameter_name(parameter);
                            let mut parts = vec![Part::from("pack"), name.into()];
                            parts.extend(inner.into_iter().map(Part::from));
                            said.push(self.shapes.of(parts));
                        }
                        false => said.extend(inner),
                    }
                }
                _ => said.extend(self.template(parameter)),
            }
        }
        all.extend(
            said.into_iter().enumerate().map(|(index, shape)| (format!("template parameter {index}"), shape)),
        );
    }

    pub(super) fn parameter_name(&self, parameter: &TemplateParameter) -> String {
        parameter.name.map_or("", |name| self.module.string(name)).to_owned()
    }

    pub(super) fn template(&mut self, parameter: &TemplateParameter) -> Option<Shape> {
        let name = self.parameter_name(parameter);
        Some(match &parameter.argument {
            &TemplateArgument::Type(ty) => {
                let ty = self.maybe(ty);
                shape!(self.shapes; "type", name, ty)
            }
            &TemplateArgument::Value { ty, value } => {
                let number = self.integer(ty, self.module.constant(value)?)?;
                shape!(self.shapes; "value", name, self.ty(ty), number)
            }
            &TemplateArgument::Template(template) if self.mode.has_template_templates => {
                shape!(self.shapes; "template", name, self.module.string(template).to_owned())
            }
            TemplateArgument::Template(_) | TemplateArgument::Pack(_) => return None,
        })
    }
}
