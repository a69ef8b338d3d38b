//! Imports the contents of composite types: members, base classes, template parameters.

use super::flags::{self, Flags};
use super::importer::{Importer, Node};
use super::omissions::{Made, refused};
use super::{order, templates};
use crate::build::DataMember;
use crate::error::Result;
use crate::model::{TypeId, UnitId};
use crate::omission::Unimported;
use crate::spirv::operand::Field;
use crate::spirv::read::Fact;
use crate::spirv::table::{InstructionName, Set};

/// Imports members of composite types, in order. Types must be imported before, because a member can have any type.
pub(super) fn members(importer: &mut Importer<'_, '_>) -> Result<()> {
    while let Some((id, unit, ty)) = importer.pending.composites.pop() {
        let Some(fact) = importer.facts.get(id) else { continue };
        let is_own = importer.own_unit(id) == unit;
        for member in fact.ids(Field::Member) {
            let Some(member) = importer.facts.get(member).filter(|member| member.set == fact.set) else {
                importer.omissions.omit(&fact, Unimported::NotDebug(Field::Member, member.0));
                continue;
            };
            let made = match member.name() {
                // Static members are variables, which are imported with them.
                Some(InstructionName::TypeMember) if importer.facts.is_static_member(&member) => Ok(()),
                Some(InstructionName::TypeMember) => import_member(importer, &member, unit, ty)?,
                Some(InstructionName::TypeInheritance) => import_base(importer, &member, unit, ty)?,
                Some(InstructionName::Function | InstructionName::FunctionDeclaration) => {
                    let scope = member.id(Field::Scope).map(|scope| importer.facts.not_template(scope));
                    if scope == Some(id) || !is_own { Ok(()) } else { Err(Unimported::OtherScope) }
                }
                _ => Err(Unimported::NotMember(id.0)),
            };
            // Expressions that select parts by index need to know that members are missing.
            if importer.omissions.made(&member, made).is_none()
                && member.name() == Some(InstructionName::TypeMember)
            {
                importer.entities.partial.insert(ty);
            }
        }
        if let Some(template) =
            importer.references.templates.get(&id).and_then(|&template| importer.facts.get(template))
        {
            for parameter in templates::template_parameters(importer, &template, unit)? {
                let made = importer.m.template(ty, parameter.as_template()).map(drop).map_err(refused);
                importer.omissions.made(&template, made);
            }
        }
    }
    Ok(())
}

fn import_member(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    unit: UnitId,
    of: TypeId,
) -> Result<Made<()>> {
    if let Some(ty) = fact.id(Field::Type) {
        order::want(importer, Node::Type(ty, unit))?;
    }
    Ok(data_member(importer, fact, unit, of))
}

fn data_member(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId, of: TypeId) -> Made<()> {
    let ty = importer.ty(fact, Field::Type, unit)?;
    let name = importer.facts.text(fact, Field::Name);
    let (offset, bits) = match importer.pending.offsets.get(&(fact.result, unit)) {
        Some(&offset) => (offset, None),
        None => {
            let offset =
                importer.facts.number(fact, Field::Offset).ok_or(Unimported::Unknown(Field::Offset))?;
            (offset, importer.facts.number(fact, Field::Size))
        }
    };
    let data = importer.m.described().ty(ty);
    let whole = data.bits();
    let of_values = data.value_bits();
    let is_larger = bits.zip(whole).is_some_and(|(bits, whole)| bits > whole);
    if is_larger {
        importer.omissions.omit(fact, Unimported::LargerThanType);
    }
    // A three-element vector may have no padding for a fourth element if it is the last member.
    let has = importer.m.described().ty(of).bits();
    let has_room = |bits: u64| has.is_none_or(|has| offset.saturating_add(bits) <= has);
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let is_bit_field = flags.take(flags::BIT_FIELD) && bits.is_some_and(|bits| bits > 0) && !is_larger;
    // Without the flag, a bit field is recognized by a size other than its type's size.
    let is_whole = !is_bit_field
        && (is_larger
            || bits.is_none()
            || whole.is_none()
            || bits == whole
            || bits == of_values && whole.is_none_or(has_room));
    let mut member = if is_whole && offset.is_multiple_of(8) {
        DataMember::new(&name, ty, offset / 8)
    } else {
        DataMember::bit_field(&name, ty, offset, bits.filter(|_| !is_whole).or(whole).unwrap_or_default())
    };
    if let Some(access) = flags.access() {
        member = member.accessibility(access);
    }
    if flags.take(flags::ARTIFICIAL) {
        member = member.artificial();
    }
    importer.omit_flags(fact, flags);
    if let Some(line) = importer.line(fact, unit) {
        member = member.declared(line);
    }
    if fact.operand(Field::Value).is_some() {
        importer.omissions.omit(fact, Unimported::MemberValue);
    }
    importer.m.data_member(of, member).map(drop).map_err(refused)
}

fn import_base(
    importer: &mut Importer<'_, '_>,
    fact: &Fact<'_>,
    unit: UnitId,
    of: TypeId,
) -> Result<Made<()>> {
    if let Some(parent) = fact.id(Field::Parent) {
        order::want(importer, Node::Type(parent, unit))?;
    }
    Ok(base_class(importer, fact, unit, of))
}

fn base_class(importer: &mut Importer<'_, '_>, fact: &Fact<'_>, unit: UnitId, of: TypeId) -> Made<()> {
    let parent = importer.ty(fact, Field::Parent, unit)?;
    let offset = importer.facts.number(fact, Field::Offset).ok_or(Unimported::Unknown(Field::Offset))?;
    // The model's base classes have offsets in bytes.
    if !offset.is_multiple_of(8) {
        return Err(Unimported::BaseBit(offset));
    }
    let mut flags = Flags(importer.facts.word(fact, Field::Flags));
    let access = flags.access();
    importer.omit_flags(fact, flags);
    if fact.set == Set::OpenCl
        && fact.id(Field::Child) != importer.references.owners.get(&fact.result).copied()
    {
        importer.omissions.omit(fact, Unimported::OtherDerived);
    }
    let size = importer.facts.number(fact, Field::Size);
    if size != importer.m.described().ty(parent).bits() {
        importer.omissions.omit(fact, Unimported::BaseSize);
    }
    importer.m.base(of, parent, offset / 8, access).map(drop).map_err(refused)
}
