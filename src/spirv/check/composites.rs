//! Structures, classes and unions, and template parameters.

use super::described::Projection;
use super::shapes::{Part, Shape, shape};
use crate::model::{
    Accessibility, BaseOffset, Composite, CompositeKind, Passed, TemplateArgument, TemplateParameter, TypeId,
    TypeKind,
};
use crate::omission::{Property, Reason, Subject, TemplateOwner};

impl Projection<'_, '_> {
    pub(super) fn composite(&mut self, id: TypeId, composite: &Composite, all: &mut Vec<(String, Shape)>) {
        let module = self.module;
        let ty = module.ty(id);
        let size = match ty.bits().filter(|_| !ty.is_declaration()) {
            Some(bits) => {
                // Sizes are read back in whole bytes.
                let encoded = self.omissions.number(Subject::Type(id), Property::Size);
                let bits = encoded.map_or(bits, |encoded| encoded.next_multiple_of(8));
                shape!(self.shapes; bits, "bits")
            }
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
        let room = self.omissions.room(Subject::Type(id), Property::Members);
        let whole =
            self.omissions.number(Subject::Type(id), Property::Size).or(ty.bits()).unwrap_or(u64::MAX);
        // A member that lies beyond the type, because its encoded offset is another number, cannot be imported.
        let is_inside = |place: u32, member: &crate::model::Member| {
            let bits = member.bits.or(module.ty(member.ty).bits()).unwrap_or_default();
            let offset = self.omissions.number(Subject::Member(id, place), Property::Offset);
            offset.is_none_or(|offset| offset.saturating_add(bits) <= whole.div_ceil(8).saturating_mul(8))
        };
        let members = (0..).zip(&composite.members).take(room);
        let members = members.filter(|&(place, member)| !is_lost(member.ty) && is_inside(place, member));
        let members: Vec<(u32, _)> = members.collect();
        for (index, (place, member)) in members.into_iter().enumerate() {
            let subject = Subject::Member(id, place);
            let name = member.name.map_or("", |name| module.string(name)).to_owned();
            let whole = module.ty(member.ty).bits();
            let is_sized = whole.is_some() && self.types[member.ty.as_u32() as usize].is_sized;
            // A member as large as its type is not a bit field.
            let bits = member.bits.filter(|&bits| is_sized && Some(bits) < whole).unwrap_or_default();
            let bits = self.omissions.number(subject, Property::Size).unwrap_or(bits);
            let access = self.access(member.accessibility);
            let line = self.line(member.line);
            let made = if member.is_artificial { "artificial" } else { "" };
            let offset = self.omissions.number(subject, Property::Offset).unwrap_or(member.offset_bits);
            let value = shape!(
                self.shapes; name.clone(), "of", self.ty(member.ty), "at bit", offset, "of", bits, access, made, line
            );
            all.push((format!("member {index} `{name}`"), value));
        }
        if composite.kind != CompositeKind::Union {
            self.templates(TemplateOwner::Type(id), &composite.templates, all);
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

    pub(super) fn templates(
        &mut self,
        owner: TemplateOwner,
        parameters: &[TemplateParameter],
        all: &mut Vec<(String, Shape)>,
    ) {
        let mut said = Vec::new();
        for (index, parameter) in (0..).zip(parameters) {
            let subject = Subject::TemplateParameter(owner, index, None);
            let TemplateArgument::Pack(inner) = &parameter.argument else {
                said.extend(self.template(subject, parameter));
                continue;
            };
            if self.omissions.has(subject, Property::Entity) {
                continue;
            }
            let why = self.omissions.why(subject, Property::Pack);
            let room = self.omissions.room(subject, Property::Pack);
            let inner = (0..).zip(inner).filter_map(|(place, parameter)| {
                self.template(Subject::TemplateParameter(owner, index, Some(place)), parameter)
            });
            let inner: Vec<_> = inner.take(room).collect();
            if matches!(why, Some(Reason::PackInto(_))) {
                said.extend(inner);
                continue;
            }
            let name = self.parameter_name(parameter);
            let mut parts = vec![Part::from("pack"), name.into()];
            parts.extend(inner.into_iter().map(Part::from));
            said.push(self.shapes.of(parts));
        }
        let whole = match owner {
            TemplateOwner::Type(id) => Subject::Type(id),
            TemplateOwner::Function(id) => Subject::Function(id),
        };
        said.truncate(self.omissions.room(whole, Property::TemplateParameters));
        all.extend(
            said.into_iter().enumerate().map(|(index, shape)| (format!("template parameter {index}"), shape)),
        );
    }

    pub(super) fn parameter_name(&self, parameter: &TemplateParameter) -> String {
        parameter.name.map_or("", |name| self.module.string(name)).to_owned()
    }

    /// A parameter that is not a pack; `None` where it is omitted.
    pub(super) fn template(&mut self, subject: Subject, parameter: &TemplateParameter) -> Option<Shape> {
        if self.omissions.has(subject, Property::Entity) {
            return None;
        }
        let name = self.parameter_name(parameter);
        let cut = |of: &TypeId| self.omissions.is_cut(subject, self.stand_in(*of));
        Some(match &parameter.argument {
            &TemplateArgument::Type(ty) => {
                let ty = match ty.filter(cut) {
                    Some(ty) => self.nothing(Some(ty)),
                    None => self.maybe(ty),
                };
                shape!(self.shapes; "type", name, ty)
            }
            &TemplateArgument::Value { ty, value } => {
                let number = self.integer(ty, self.module.constant(value)?)?;
                shape!(self.shapes; "value", name, self.ty(ty), number)
            }
            &TemplateArgument::Template(template) => {
                shape!(self.shapes; "template", name, self.module.string(template).to_owned())
            }
            TemplateArgument::Pack(_) => return None,
        })
    }
}
