//! Structures, classes and unions: `DebugTypeComposite`, its members and base classes. Section 4.3.

use super::entities::{Globals, Operands};
use super::inverse::class_of;
use super::inverse::{encoded_bases, member_count};
use super::references::STRUCTURE;
use super::slots::{Item, State};
use super::writer::Word;
use super::{constants, references, scopes};
use crate::error::Result;
use crate::model::{
    Accessibility, Base, BaseOffset, CompositeKind, CompositeType, Member, Passed, TypeId, TypeKind,
    VariableId,
};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::mode::Feature;
use crate::spirv::names::{Enumeration, flags};
use crate::spirv::operand::Field;
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

pub(super) fn composite(out: &mut Globals<'_, '_, '_>, id: TypeId, composite: &CompositeType) -> Result<()> {
    let module = out.module;
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
    // LLVM's translator marks an incomplete type by `@` before its name.
    if ty.is_declaration {
        let name = composite.name.map_or("", |name| module.string(name));
        let name = out.text(&format!("@{name}"))?;
        return references::opaque(out, id, name, tag, flags::FWD_DECL | passed);
    }
    if !composite.variant_parts.is_empty() {
        out.omit(Subject::Type(id), Property::VariantParts, Reason::NoOperand);
    }
    // If the set has members before their type, they are written now; otherwise they only get their ids, and are
    // written after the type that they refer to.
    // The members' types may refer to this type.
    let mut members = Vec::new();
    for part in parts(out, id) {
        let result = out.writer.fresh()?;
        if out.writer.is_shader() {
            self::part(out, result, id, part)?;
        }
        members.push(result);
    }
    let subject = Subject::Type(id);
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(composite.name)?));
    operands.push((Field::Tag, tag.into()));
    operands.extend(out.place(ty.line, ty.unit, subject, Property::Line));
    operands.push((Field::Scope, scopes::scope(out, ty.scope, subject)?));
    operands.push((Field::LinkageName, out.text("")?));
    let bits = ty.bits.unwrap_or(0);
    operands.push((Field::Size, out.number(bits, subject, Property::Size)?));
    operands.push((Field::Flags, passed.into()));
    operands.extend(members.iter().map(|&member| (Field::Member, member.into())));
    for index in 0..out.described.relations.statics(id).len() {
        let member = out.described.relations.statics(id)[index];
        // A static member that is not written yet needs this type itself.
        if out.writer.is_shader() && out.slots.variables[member].state != State::Done {
            let reason = Reason::Cycle(module.variables[member].ty, true);
            out.omit(subject, Property::StaticMember, reason);
            continue;
        }
        operands.push((Field::Member, out.id(Item::Variable(member))?.into()));
    }
    for index in 0..out.described.relations.methods(id).len() {
        let method = out.described.relations.methods(id)[index];
        operands.push((Field::Member, out.id(Item::Function(method))?.into()));
    }
    references::define(out, id, InstructionName::TypeComposite, &operands)?;
    if !out.writer.is_shader() && !members.is_empty() {
        out.pending.composites.push_back((id, members));
    }
    omit_of_composite(out, id, composite);
    Ok(())
}

/// A base class or member that a type's instruction refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Base(u32),
    Member(u32),
}

/// Base classes and members that the set can encode, in instruction order.
pub(super) fn parts(out: &Globals<'_, '_, '_>, id: TypeId) -> Vec<Part> {
    let TypeKind::Composite(composite) = &out.module.types[id].kind else { return Vec::new() };
    let mode = out.writer.mode;
    let bases = encoded_bases(mode, out.module, composite).map(|(index, _)| Part::Base(index));
    let members = 0..member_count(mode, out.module, composite) as u32;
    bases.chain(members.map(Part::Member)).collect()
}

/// The type that a base class or member refers to.
pub(super) fn referenced(out: &Globals<'_, '_, '_>, id: TypeId, part: Part) -> Option<Item> {
    let TypeKind::Composite(composite) = &out.module.types[id].kind else { return None };
    match part {
        Part::Base(index) => class_of(out.module, composite.bases[index as usize].ty).map(Item::Type),
        Part::Member(index) => references::type_item(out, composite.members[index as usize].ty),
    }
}

/// Writes a base class or member.
pub(super) fn part(out: &mut Globals<'_, '_, '_>, result: Id, id: TypeId, part: Part) -> Result<()> {
    let module = out.module;
    let TypeKind::Composite(composite) = &module.types[id].kind else { return Ok(()) };
    match part {
        Part::Base(index) => inheritance(out, result, id, index, &composite.bases[index as usize]),
        Part::Member(index) => member(out, result, id, index, &composite.members[index as usize]),
    }
}

fn omit_of_composite(out: &mut Globals<'_, '_, '_>, id: TypeId, composite: &CompositeType) {
    let mode = out.writer.mode;
    let encoded: Vec<u32> = encoded_bases(mode, out.module, composite).map(|(index, _)| index).collect();
    for index in (0..composite.bases.len() as u32).filter(|index| !encoded.contains(index)) {
        let reason =
            if mode.has(Feature::Inheritance) { Reason::BaseNotFixed } else { Reason::Mode(mode.name) };
        out.omit(Subject::Base(id, index), Property::Entity, reason);
    }
    if let Some(&(encoded, of)) = out.described.relations.crowded.get(&id) {
        out.omit(Subject::Type(id), Property::Members, Reason::NoRoom(encoded, of));
    }
}

fn inheritance(out: &mut Globals<'_, '_, '_>, result: Id, id: TypeId, index: u32, base: &Base) -> Result<()> {
    let module = out.module;
    let subject = Subject::Base(id, index);
    let class = class_of(module, base.ty).unwrap_or(base.ty);
    if class != base.ty {
        out.omit(subject, Property::Named, Reason::NamedAs(base.ty));
    }
    let BaseOffset::Bytes(offset) = base.offset else { return Ok(()) };
    let mut operands = Operands::new();
    operands.push((Field::Child, out.id(Item::Type(id))?.into()));
    operands.push((Field::Parent, references::type_word(out, Some(class), subject)?));
    operands.push((Field::Offset, out.number(offset.saturating_mul(8), subject, Property::Offset)?));
    let bits = module.types[class].bits.unwrap_or(0);
    operands.push((Field::Size, out.number(bits, subject, Property::Size)?));
    operands.push((Field::Flags, access(base.accessibility).into()));
    out.writer.define(result, InstructionName::TypeInheritance, &operands)
}

fn member(out: &mut Globals<'_, '_, '_>, result: Id, id: TypeId, index: u32, member: &Member) -> Result<()> {
    let module = out.module;
    let ty = &module.types[id];
    let subject = Subject::Member(id, index);
    if member.is_mutable {
        out.omit(subject, Property::Mutable, Reason::NoOperand);
    }
    let has_flag = Enumeration::Flags.has(flags::BIT_FIELD, out.writer.mode.set);
    // Without the flag, only a size that differs from the type's size marks a bit field.
    if member.bits.is_some() && member.bits == module.types[member.ty].bits && !has_flag {
        out.omit(subject, Property::BitField, Reason::WholeType);
    }
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(member.name)?));
    operands.push((Field::Type, references::type_word(out, Some(member.ty), subject)?));
    operands.extend(out.place(member.line, ty.unit, subject, Property::Line));
    operands.push((Field::Scope, out.id(Item::Type(id))?.into()));
    operands.push((Field::Offset, out.number(member.offset_bits, subject, Property::Offset)?));
    let bits = member.bits.or(module.types[member.ty].bits).unwrap_or(0);
    operands.push((Field::Size, out.number(bits, subject, Property::Size)?));
    let artificial = if member.is_artificial { flags::ARTIFICIAL } else { 0 };
    let bit_field = if member.bits.is_some() && has_flag { flags::BIT_FIELD } else { 0 };
    operands.push((Field::Flags, (access(member.accessibility) | artificial | bit_field).into()));
    out.writer.define(result, InstructionName::TypeMember, &operands)
}

/// Writes a static member.
pub(super) fn static_member(out: &mut Globals<'_, '_, '_>, id: VariableId, of: TypeId) -> Result<()> {
    let module = out.module;
    let variable = &module.variables[id];
    let subject = Subject::Variable(id);
    let mut operands = Operands::new();
    operands.push((Field::Name, out.name(variable.name)?));
    operands.push((Field::Type, references::type_word(out, Some(variable.ty), subject)?));
    operands.extend(out.place(variable.line, module.types[of].unit, subject, Property::Line));
    operands.push((Field::Scope, out.id(Item::Type(of))?.into()));
    operands.push((Field::Offset, Word::Id(out.writer.constant(0)?)));
    let bits = module.types[variable.ty].bits.unwrap_or(0);
    operands.push((Field::Size, out.number(bits, subject, Property::Size)?));
    let artificial = if variable.is_artificial { flags::ARTIFICIAL } else { 0 };
    let bits = flags::STATIC_MEMBER | access(variable.accessibility) | artificial;
    operands.push((Field::Flags, bits.into()));
    if let Some(value) = constants::constant_of(out, id)? {
        operands.push((Field::Value, value.into()));
    }
    let result = out.id(Item::Variable(id))?;
    out.writer.define(result, InstructionName::TypeMember, &operands)
}

/// The flag for a member's accessibility.
pub(super) fn access(accessibility: Option<Accessibility>) -> u32 {
    match accessibility {
        None => 0,
        Some(Accessibility::Public) => flags::PUBLIC,
        Some(Accessibility::Protected) => flags::PROTECTED,
        Some(Accessibility::Private) => flags::PRIVATE,
    }
}
