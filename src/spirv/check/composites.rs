//! Structures, classes and unions, and template parameters.

use super::described::{Projection, Properties};
use super::shapes::{Part, Quoted, Shape, shape};
use crate::model::{
    Accessibility, BaseOffset, Composite, Passed, TemplateArgument, TemplateParameter, TypeId,
};
use crate::omission::{Property, Reason, Subject, TemplateOwner};
use crate::spirv::names::{Enumeration, flags};

impl<'m> Projection<'m> {
    pub(super) fn composite(&mut self, id: TypeId, composite: &Composite, all: &mut Properties) {
        let module = self.module;
        let ty = module.ty(id);
        let size = match ty.bits().filter(|_| !ty.is_declaration()) {
            Some(bits) => {
                // Sizes are read back in whole bytes.
                let encoded = self.omissions.number(Subject::Type(id), Property::Size);
                if let Some(encoded) = encoded {
                    let name = ty.name().map_or("", |name| module.string(name));
                    self.unimported_layout(name, 0, encoded);
                }
                let bits = encoded.map_or(bits, |encoded| encoded.next_multiple_of(8));
                shape!(self.shapes; bits, "bits")
            }
            None => shape!(self.shapes; "incomplete"),
        };
        all.push((Property::Size, "size".into(), size));
        if let Some(passed) = composite.passed {
            let passed = match passed {
                Passed::ByValue => "by value",
                Passed::ByReference => "by reference",
            };
            all.push((Property::Convention, "passed".into(), shape!(self.shapes; passed)));
        }
        let bases = (0..).zip(&composite.bases).map(|(place, base)| (Subject::Base(id, place), base));
        let bases = bases.filter(|&(subject, _)| !self.omissions.has(subject, Property::Entity));
        for (index, (subject, base)) in bases.collect::<Vec<_>>().into_iter().enumerate() {
            let class = self.ty(self.class(base.ty));
            let access = self.access(base.accessibility);
            let encoded = self.omissions.number(subject, Property::Offset);
            if encoded.or(self.omissions.number(subject, Property::Size)).is_some() {
                let bits = module.ty(base.ty).bits().unwrap_or_default();
                let bits = self.omissions.number(subject, Property::Size).unwrap_or(bits);
                self.unimported_layout("", encoded.unwrap_or_default(), bits);
            }
            let offset = match base.offset {
                BaseOffset::Bytes(offset) => {
                    shape!(self.shapes; encoded.map_or(offset, |encoded| encoded / 8))
                }
                BaseOffset::Expr(_) => shape!(self.shapes; "computed"),
            };
            let base = shape!(self.shapes; class, "at", offset, access);
            all.push((Property::Members, format!("base class {index}").into(), base));
        }
        let room = self.omissions.room(Subject::Type(id), Property::Members);
        let whole =
            self.omissions.number(Subject::Type(id), Property::Size).or(ty.bits()).unwrap_or(u64::MAX);
        let whole = whole.div_ceil(8).saturating_mul(8);
        let mut index = 0;
        for (place, member) in (0..).zip(&composite.members).take(room) {
            let subject = Subject::Member(id, place);
            let name = member.name.map_or("", |name| module.string(name));
            let of_type = module.ty(member.ty).bits();
            let number = |property| self.omissions.number(subject, property);
            let (encoded_offset, encoded_bits) = (number(Property::Offset), number(Property::Size));
            let offset = encoded_offset.unwrap_or(member.offset_bits);
            if encoded_offset.or(encoded_bits).is_some() {
                let bits = encoded_bits.or(member.bits).or(of_type).unwrap_or_default();
                self.unimported_layout(name, offset, bits);
                // A member that lies beyond the type, because its encoded offset is another number, is not imported.
                if encoded_offset.is_some() && offset.saturating_add(bits) > whole {
                    continue;
                }
            }
            let (of, is_sized) = self.element(subject, member.ty);
            let is_sized = of_type.is_some() && is_sized;
            // A member as large as its type is not a bit field.
            let has_flag = self.has_bit_fields();
            let bits = member.bits.filter(|&bits| is_sized && (Some(bits) < of_type || has_flag));
            let bits = bits.unwrap_or_default();
            let bits = encoded_bits.unwrap_or(bits);
            let access = self.access(member.accessibility);
            let line = self.line(member.line, subject, Property::Line);
            let made = if member.is_artificial { "artificial" } else { "" };
            let value = shape!(
                self.shapes; Quoted(name), "of", of, "at bit", offset, "of", bits, access, made, line
            );
            all.push((Property::Members, format!("member {index} `{name}`").into(), value));
            index += 1;
        }
        self.templates(TemplateOwner::Type(id), &composite.templates, all);
    }

    /// Whether a flag marks bit fields, so that one as large as its type differs from another member.
    pub(super) fn has_bit_fields(&self) -> bool {
        Enumeration::Flags.has(flags::BIT_FIELD, self.mode.set)
    }

    /// Expects an instruction that is not imported because its number replaces a larger one.
    pub(super) fn unimported_layout(&mut self, name: &str, offset: u64, bits: u64) {
        let layout = self.layout_shape(name, offset, bits);
        *self.described.unimported.entry(layout).or_default() += 1;
    }

    pub(super) fn layout_shape(&mut self, name: &str, offset: u64, bits: u64) -> Shape {
        shape!(self.shapes; Quoted(name), "at bit", offset, "of", bits, "bits")
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
        all: &mut Properties,
    ) {
        let whole = match owner {
            TemplateOwner::Type(id) => Subject::Type(id),
            TemplateOwner::Function(id) => Subject::Function(id),
        };
        if matches!(self.omissions.why(whole, Property::TemplateParameters), Some(Reason::NotTemplate)) {
            return;
        }
        let mut encoded = Vec::new();
        for (index, parameter) in (0..).zip(parameters) {
            let subject = Subject::TemplateParameter(owner, index, None);
            let TemplateArgument::Pack(inner) = &parameter.argument else {
                encoded.extend(self.template(subject, parameter));
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
                encoded.extend(inner);
                continue;
            }
            let name = self.parameter_name(parameter);
            let mut parts = vec![Part::from("pack"), name.into()];
            parts.extend(inner.into_iter().map(Part::from));
            encoded.push(self.shapes.of(&parts));
        }
        encoded.truncate(self.omissions.room(whole, Property::TemplateParameters));
        all.extend(encoded.into_iter().enumerate().map(|(index, shape)| {
            (Property::TemplateParameters, format!("template parameter {index}").into(), shape)
        }));
    }

    pub(super) fn parameter_name(&self, parameter: &TemplateParameter) -> Quoted<'m> {
        Quoted(parameter.name.map_or("", |name| self.module.string(name)))
    }

    /// A parameter that is not a pack; `None` where it is omitted.
    pub(super) fn template(&mut self, subject: Subject, parameter: &TemplateParameter) -> Option<Shape> {
        if self.omissions.has(subject, Property::Entity) {
            return None;
        }
        let name = self.parameter_name(parameter);
        Some(match &parameter.argument {
            &TemplateArgument::Type(ty) => {
                let ty = self.pointee(subject, ty);
                shape!(self.shapes; "type", name, ty)
            }
            &TemplateArgument::Value { ty, value } => {
                let number = self.module.constant(value).and_then(|bytes| self.integer(ty, bytes));
                let number = number.map_or(Part::from("unknown"), Part::from);
                shape!(self.shapes; "value", name, self.ty(ty), number)
            }
            &TemplateArgument::Template(template) => {
                shape!(self.shapes; "template", name, Quoted(self.module.string(template)))
            }
            TemplateArgument::Pack(_) => return None,
        })
    }
}
