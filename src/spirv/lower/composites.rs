//! Structures, classes and unions: `DebugTypeComposite`, its members and base classes. Section 4.3.

use super::entities::{Globals, Operands};
use super::inverse::{encoded_bases, member_count};
use super::order::{Item, State};
use super::types::{STRUCTURE, class_of};
use super::writer::Word;
use crate::error::Result;
use crate::model::{
    Accessibility, Base, BaseOffset, Composite, CompositeKind, Member, Passed, TypeId, TypeKind, VariableId,
};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::names::{Enumeration, flags};
use crate::spirv::operand::Field;
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl<'m> Globals<'_, '_, 'm> {
    pub(super) fn composite(&mut self, id: TypeId, composite: &'m Composite) -> Result<()> {
        let module = self.module;
        let ty = &module.types[id];
        let tag = match composite.kind {
            CompositeKind::Class => 0,
            CompositeKind::Struct => STRUCTURE,
            CompositeKind::Union => 2,
        };
        let passed = match composite.passed {
            None => 0,
            Some(Passed::ByValue) => flags::PASS_BY_VALUE,
            Some(Passed::ByReference) => flags::PASS_BY_REFERENCE,
        };
        if ty.is_declaration {
            let name = composite.name.map_or("", |name| module.string(name));
            let name = self.text(&format!("@{name}"))?;
            return self.opaque(id, name, tag, flags::FWD_DECL | passed);
        }
        if !composite.variant_parts.is_empty() {
            self.omit(Subject::Type(id), Property::VariantParts, Reason::NoOperand);
        }
        // Members before their type get ids now; members after it get their ids in advance.
        let members = match self.writer.is_shader() {
            true => self.write_members(id, composite, None)?,
            false => {
                let count = encoded_bases(self.writer.mode, module, composite).count()
                    + member_count(self.writer.mode, module, composite);
                (0..count).map(|_| self.writer.fresh()).collect::<Result<Vec<_>>>()?
            }
        };
        let subject = Subject::Type(id);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(composite.name)?));
        operands.push((Field::Tag, tag.into()));
        operands.extend(self.place(ty.line, ty.unit, subject, Property::Line));
        operands.push((Field::Scope, self.scope(ty.scope, subject)?));
        operands.push((Field::LinkageName, self.text("")?));
        let bits = ty.bits.unwrap_or(0);
        operands.push((Field::Size, self.number(bits, subject, Property::Size)?));
        operands.push((Field::Flags, passed.into()));
        operands.extend(members.iter().map(|&member| (Field::Member, member.into())));
        for index in 0..self.described.relations.statics(id).len() {
            let member = self.described.relations.statics(id)[index];
            if self.writer.is_shader() && self.slots.variables[member].state != State::Done {
                let reason = Reason::Cycle(module.variables[member].ty, true);
                self.omit(subject, Property::StaticMember, reason);
                continue;
            }
            operands.push((Field::Member, self.id(Item::Variable(member))?.into()));
        }
        for index in 0..self.described.relations.methods(id).len() {
            let method = self.described.relations.methods(id)[index];
            operands.push((Field::Member, self.id(Item::Function(method))?.into()));
        }
        self.define(id, Name::TypeComposite, &operands)?;
        if !self.writer.is_shader() && !members.is_empty() {
            self.pending.composites.push_back((id, members));
        }
        self.omit_of_composite(id, composite);
        Ok(())
    }

    /// Writes the members and base classes of a type, under the ids that the type already refers to.
    pub(super) fn members(&mut self, (id, ids): (TypeId, Vec<Id>)) -> Result<()> {
        let module = self.module;
        let TypeKind::Composite(composite) = &module.types[id].kind else { return Ok(()) };
        self.write_members(id, composite, Some(&ids)).map(|_| ())
    }

    /// Writes base classes and members, under the ids allocated for them.
    fn write_members(&mut self, id: TypeId, composite: &'m Composite, ids: Option<&[Id]>) -> Result<Vec<Id>> {
        let mut all = Vec::new();
        let mut next = |this: &mut Self| {
            let id = match ids {
                Some(ids) => ids.get(all.len()).copied().unwrap_or(Id(0)),
                None => this.writer.fresh()?,
            };
            all.push(id);
            Ok::<_, crate::Error>(id)
        };
        let module = self.module;
        for (index, base) in encoded_bases(self.writer.mode, module, composite) {
            if ids.is_some()
                && let Some(class) = class_of(module, base.ty)
            {
                self.visit(Item::Type(class))?;
            }
            let result = next(self)?;
            self.inheritance(result, id, index, base)?;
        }
        let count = member_count(self.writer.mode, module, composite);
        for (index, member) in (0..).zip(&composite.members[..count]) {
            if ids.is_some()
                && let Some(item) = self.type_item(member.ty)
            {
                self.visit(item)?;
            }
            let result = next(self)?;
            self.member(result, id, index, member)?;
        }
        Ok(all)
    }

    fn omit_of_composite(&mut self, id: TypeId, composite: &Composite) {
        let mode = self.writer.mode;
        let encoded: Vec<u32> = encoded_bases(mode, self.module, composite).map(|(index, _)| index).collect();
        for index in (0..composite.bases.len() as u32).filter(|index| !encoded.contains(index)) {
            let reason =
                if mode.has(Feature::Inheritance) { Reason::BaseNotFixed } else { Reason::Mode(mode.name) };
            self.omit(Subject::Base(id, index), Property::Entity, reason);
        }
        if let Some(&(encoded, of)) = self.described.relations.crowded.get(&id) {
            self.omit(Subject::Type(id), Property::Members, Reason::NoRoom(encoded, of));
        }
    }

    fn inheritance(&mut self, result: Id, id: TypeId, index: u32, base: &Base) -> Result<()> {
        let module = self.module;
        let subject = Subject::Base(id, index);
        let class = class_of(module, base.ty).unwrap_or(base.ty);
        if class != base.ty {
            self.omit(subject, Property::Named, Reason::NamedAs(base.ty));
        }
        let BaseOffset::Bytes(offset) = base.offset else { return Ok(()) };
        let mut operands = Operands::new();
        operands.push((Field::Child, self.id(Item::Type(id))?.into()));
        operands.push((Field::Parent, self.type_word(Some(class), subject)?));
        operands.push((Field::Offset, self.number(offset.saturating_mul(8), subject, Property::Offset)?));
        let bits = module.types[class].bits.unwrap_or(0);
        operands.push((Field::Size, self.number(bits, subject, Property::Size)?));
        operands.push((Field::Flags, access(base.accessibility).into()));
        self.writer.define(result, Name::TypeInheritance, &operands)
    }

    fn member(&mut self, result: Id, id: TypeId, index: u32, member: &Member) -> Result<()> {
        let module = self.module;
        let ty = &module.types[id];
        let subject = Subject::Member(id, index);
        if member.is_mutable {
            self.omit(subject, Property::Mutable, Reason::NoOperand);
        }
        let has_flag = Enumeration::Flags.has(flags::BIT_FIELD, self.writer.mode.set);
        if member.bits.is_some() && member.bits == module.types[member.ty].bits && !has_flag {
            self.omit(subject, Property::BitField, Reason::WholeType);
        }
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(member.name)?));
        operands.push((Field::Type, self.type_word(Some(member.ty), subject)?));
        operands.extend(self.place(member.line, ty.unit, subject, Property::Line));
        operands.push((Field::Scope, self.id(Item::Type(id))?.into()));
        operands.push((Field::Offset, self.number(member.offset_bits, subject, Property::Offset)?));
        let bits = member.bits.or(module.types[member.ty].bits).unwrap_or(0);
        operands.push((Field::Size, self.number(bits, subject, Property::Size)?));
        let artificial = if member.is_artificial { flags::ARTIFICIAL } else { 0 };
        let bit_field = if member.bits.is_some() && has_flag { flags::BIT_FIELD } else { 0 };
        operands.push((Field::Flags, (access(member.accessibility) | artificial | bit_field).into()));
        self.writer.define(result, Name::TypeMember, &operands)
    }

    /// Writes a static member.
    pub(super) fn static_member(&mut self, id: VariableId, of: TypeId) -> Result<()> {
        let module = self.module;
        let variable = &module.variables[id];
        let subject = Subject::Variable(id);
        let mut operands = Operands::new();
        operands.push((Field::Name, self.name(variable.name)?));
        operands.push((Field::Type, self.type_word(Some(variable.ty), subject)?));
        operands.extend(self.place(variable.line, module.types[of].unit, subject, Property::Line));
        operands.push((Field::Scope, self.id(Item::Type(of))?.into()));
        operands.push((Field::Offset, Word::Id(self.writer.constant(0)?)));
        let bits = module.types[variable.ty].bits.unwrap_or(0);
        operands.push((Field::Size, self.number(bits, subject, Property::Size)?));
        let artificial = if variable.is_artificial { flags::ARTIFICIAL } else { 0 };
        let all = flags::STATIC_MEMBER | access(variable.accessibility) | artificial;
        operands.push((Field::Flags, all.into()));
        if let Some(value) = self.constant_of(id)? {
            operands.push((Field::Value, value.into()));
        }
        let result = self.id(Item::Variable(id))?;
        self.writer.define(result, Name::TypeMember, &operands)
    }
}

/// Flag for the accessibility of a member.
pub(super) fn access(accessibility: Option<Accessibility>) -> u32 {
    match accessibility {
        None => 0,
        Some(Accessibility::Public) => flags::PUBLIC,
        Some(Accessibility::Protected) => flags::PROTECTED,
        Some(Accessibility::Private) => flags::PRIVATE,
    }
}
