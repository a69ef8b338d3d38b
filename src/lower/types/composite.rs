//! Entries for structures, classes and unions, and for their children: DWARF 5 section 5.7.

use super::template;
use crate::emit::info::children;
use crate::emit::named::EntryRef;
use crate::error::Result;
use crate::lower::constants::{calling_convention, discriminant_list};
use crate::lower::entry::EntryWriter;
use crate::lower::open::{Open, has_children};
use crate::lower::variables;
use crate::model::{
    AttributeOwner, BaseOffset, CompositeType, Discriminant, Member, TypeId, VariantPartId, VariantValues,
};
use crate::omission::{Property, Subject, TemplateOwner};
use crate::op::{uleb_len, write_byte_uleb};

pub(super) fn write(
    out: &mut EntryWriter<'_>,
    id: TypeId,
    composite: &CompositeType,
) -> Result<Option<Open>> {
    let ty = &out.module.types[id];
    let CompositeType { name, scope, passed, templates, bases, members, variant_parts, kind: _ } = composite;
    let has_children = !(templates.is_empty()
        && bases.is_empty()
        && members.is_empty()
        && variant_parts.is_empty()
        && !has_children(out.units, *scope, None));
    out.info.begin_entry(ty.kind.tag(), children(has_children), Some(out.expressions.numbers.ty(id)));
    out.name(*name);
    out.byte_size(ty);
    if let Some(passed) = *passed {
        out.info.constant(gimli::DW_AT_calling_convention, calling_convention(passed).0.into());
    }
    out.type_attributes(id)?;
    out.info.end_entry();
    if !has_children {
        return Ok(None);
    }
    template::write(out, TemplateOwner::Type(id), templates)?;
    for (index, base) in (0..).zip(bases) {
        out.info.begin_entry(gimli::DW_TAG_inheritance, gimli::DW_CHILDREN_no, None);
        out.type_of(Some(base.ty));
        match base.offset {
            BaseOffset::Bytes(bytes) => at_byte(out, bytes),
            BaseOffset::Expr(expr) => {
                if out.expressions.location_of(Subject::Type(id), Property::Offset, expr, None)? {
                    out.expression_attribute(gimli::DW_AT_data_member_location);
                }
            }
        }
        out.accessibility(base.accessibility);
        if base.is_virtual {
            out.info.constant(gimli::DW_AT_virtuality, gimli::DW_VIRTUALITY_virtual.0.into());
        }
        out.attributes(AttributeOwner::Base(id, index))?;
        out.info.end_entry();
    }
    let mut statics = variables::StaticMembers::new(out, *scope);
    for (index, member) in (0..).zip(members) {
        statics.write_before(out, index)?;
        let owner = AttributeOwner::Member(id, index);
        let is = out.units.parts.member(id, index).map(|number| out.expressions.numbers.member(number));
        member_attributes(out, member, owner, is);
        out.attributes(owner)?;
        out.info.end_entry();
    }
    for part in composite.outer_parts(out.module) {
        write_variant_part(out, part)?;
    }
    Ok(Some(Open::new(out.units, *scope, None)))
}

/// Begins a member's entry.
fn member_attributes(
    out: &mut EntryWriter<'_>,
    member: &Member,
    owner: AttributeOwner,
    is: Option<EntryRef>,
) {
    out.info.begin_entry(gimli::DW_TAG_member, gimli::DW_CHILDREN_no, is);
    out.name(member.name);
    out.declared(member.line);
    out.type_of(Some(member.ty));
    match member.bits {
        // An attribute has the offset.
        None if out.module.has_computed_offset(owner) => {}
        None if member.offset_bits.is_multiple_of(8) => at_byte(out, member.offset_bits / 8),
        None => out.info.unsigned(gimli::DW_AT_data_bit_offset, member.offset_bits),
        Some(bits) if out.consumer.version < 4 => bit_field_in_unit(out, member, bits),
        Some(bits) => {
            out.info.unsigned(gimli::DW_AT_bit_size, bits);
            out.info.unsigned(gimli::DW_AT_data_bit_offset, member.offset_bits);
        }
    }
    out.accessibility(member.accessibility);
    if member.is_mutable {
        out.info.flag(gimli::DW_AT_mutable);
    }
    if member.is_artificial {
        out.info.flag(gimli::DW_AT_artificial);
    }
}

/// Writes a bit field before DWARF 4, in a storage unit as large as its type. The offset counts from the unit's most
/// significant bit to the field's. DWARF 3 section 5.5.6.
fn bit_field_in_unit(out: &mut EntryWriter<'_>, member: &Member, bits: u64) {
    let of_type = out.module.types[member.ty].bits.unwrap_or(bits).div_ceil(8).max(1);
    // The storage unit is aligned to its own size, as compilers place it.
    let aligned = member.offset_bits / 8 / of_type * of_type;
    // A field that crosses two such units gets a larger unit.
    let is_in_two = member.offset_bits - 8 * aligned + bits > 8 * of_type;
    let first = if is_in_two { member.offset_bits / 8 } else { aligned };
    let from_first = member.offset_bits - 8 * first;
    let bytes = of_type.max((from_first + bits).div_ceil(8));
    let offset = if out.module.target.is_big_endian() { from_first } else { 8 * bytes - from_first - bits };
    out.info.unsigned(gimli::DW_AT_byte_size, bytes);
    out.info.unsigned(gimli::DW_AT_bit_size, bits);
    out.info.unsigned(gimli::DW_AT_bit_offset, offset);
    at_byte(out, first);
}

/// Writes a member's byte offset. In DWARF 2 it is always an expression: section 5.5.4.
fn at_byte(out: &mut EntryWriter<'_>, bytes: u64) {
    if out.consumer.version > 2 {
        out.info.unsigned(gimli::DW_AT_data_member_location, bytes);
        return;
    }
    out.info.begin_expression(gimli::DW_AT_data_member_location, 1 + uleb_len(bytes));
    write_byte_uleb(&mut out.info.bytes, gimli::DW_OP_plus_uconst.0, bytes);
}

/// Writes a variant part: DWARF 5 section 5.7.10.
fn write_variant_part(out: &mut EntryWriter<'_>, id: VariantPartId) -> Result<()> {
    let part = &out.module.variant_parts[id];
    let has_children = matches!(part.discriminant, Discriminant::Member(_)) || !part.variants.is_empty();
    out.info.begin_entry(gimli::DW_TAG_variant_part, children(has_children), None);
    match part.discriminant {
        Discriminant::Member(_) => {
            out.info.reference(gimli::DW_AT_discr, out.expressions.numbers.discriminant(id));
        }
        Discriminant::Enclosing(ty, index) => out.refer_to_member(gimli::DW_AT_discr, ty, index),
        Discriminant::Type(ty) => out.type_of(Some(ty)),
        Discriminant::None => {}
    }
    out.info.end_entry();
    if let Discriminant::Member(member) = &part.discriminant {
        let is = Some(out.expressions.numbers.discriminant(id));
        member_attributes(out, member, AttributeOwner::Type(part.of), is);
        out.info.end_entry();
    }
    for number in 0..part.variants.len() as u32 {
        write_variant(out, id, number)?;
    }
    if has_children {
        out.info.end_children();
    }
    Ok(())
}

/// Writes a variant with its members and the variant parts in it. The builder limits their depth.
fn write_variant(out: &mut EntryWriter<'_>, id: VariantPartId, number: u32) -> Result<()> {
    let part = &out.module.variant_parts[id];
    let variant = &part.variants[number as usize];
    let has_children = !variant.members.is_empty() || !variant.parts.is_empty();
    out.info.begin_entry(gimli::DW_TAG_variant, children(has_children), None);
    match variant.values[..] {
        [] => {}
        [VariantValues::Single(value)] => out.wide_constant(gimli::DW_AT_discr_value, value),
        _ => {
            let is_signed = part.discriminant.ty(out.module).and_then(|ty| out.module.is_signed(ty));
            let list = discriminant_list(&variant.values, is_signed.unwrap_or(false));
            out.info.begin_block(gimli::DW_AT_discr_list, list.len());
            out.info.bytes.extend_from_slice(&list);
        }
    }
    out.info.end_entry();
    for (index, member) in (0..).zip(&variant.members) {
        let owner = AttributeOwner::VariantMember(id, number, index);
        member_attributes(out, member, owner, None);
        out.attributes(owner)?;
        out.info.end_entry();
    }
    for &part in &variant.parts {
        write_variant_part(out, part)?;
    }
    if has_children {
        out.info.end_children();
    }
    Ok(())
}
