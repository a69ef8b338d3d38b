//! Members and base classes: DWARF 5 sections 5.7.3 and 5.7.6.

use gimli::constants as dw;

use crate::build::{DataMember, HasMembers, VariantId};
use crate::import::importer::Importer;
use crate::import::unimported::UnimportedReason;
use crate::model::{Accessibility, AttributeOwner, TypeId};
use crate::read::{Entry, ResolvedValue};

/// `DW_AT_accessibility`: DWARF 5 table 7.16.
pub(in crate::import) const ACCESSIBILITIES: [(u64, Accessibility); 3] = [
    (dw::DW_ACCESS_public.0 as u64, Accessibility::Public),
    (dw::DW_ACCESS_protected.0 as u64, Accessibility::Protected),
    (dw::DW_ACCESS_private.0 as u64, Accessibility::Private),
];

/// Numbers of the parts that a type has so far.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) members: u32,
    bases: u32,
    pub(super) templates: u32,
}

/// Imports a data member.
pub(super) fn member<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    owner: TypeId,
    counts: &mut Counts,
) {
    if add(importer, part, owner) {
        importer.own(part, AttributeOwner::Member(owner, counts.members));
        counts.members += 1;
    }
}

/// Imports a data member of a variant. Returns whether it is added.
pub(super) fn of_variant<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    variant: VariantId,
    index: u32,
) -> bool {
    let is_added = add(importer, part, variant);
    if is_added {
        let number = u32::try_from(variant.index).unwrap_or(u32::MAX);
        importer.own(part, AttributeOwner::VariantMember(variant.part, number, index));
    }
    is_added
}

/// Adds a member to a type or a variant. Returns whether it is added.
fn add<'d, 'o>(importer: &mut Importer<'d, 'o>, part: Entry<'d, 'o>, to: impl HasMembers) -> bool {
    let name = importer.text(part, dw::DW_AT_name).unwrap_or_default();
    let Some(member) = described(importer, part, &name) else { return false };
    match importer.m.data_member(to, member) {
        Ok(_) => {
            importer.import(part);
            true
        }
        Err(error) => {
            importer.leave_entry(part, UnimportedReason::Refused(error));
            false
        }
    }
}

/// Takes a member's properties.
pub(super) fn described<'d, 'o, 'n>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    name: &'n str,
) -> Option<DataMember<'n>> {
    importer.want_type(part);
    let ty = importer.type_of(part)?;
    let bytes = offset(importer, part);
    let bits = importer.number(part, dw::DW_AT_bit_size);
    let bit_offset = importer.number(part, dw::DW_AT_data_bit_offset);
    let offset_bits = match (bit_offset, bits) {
        (Some(bits), _) => bits,
        (None, Some(bits)) => bit_in_unit(importer, part, ty, bytes.unwrap_or(0), bits),
        (None, None) => bytes.unwrap_or(0).saturating_mul(8),
    };
    let mut member = match bits {
        Some(bits) => DataMember::bit_field(name, ty, offset_bits, bits),
        None if offset_bits.is_multiple_of(8) => DataMember::new(name, ty, offset_bits / 8),
        // A member that begins inside a byte has as many bits as its type.
        None => {
            let bits = importer.m.described().ty(ty).bits().unwrap_or(0);
            DataMember::bit_field(name, ty, offset_bits, bits)
        }
    };
    if let Some(line) = importer.declared(part) {
        member = member.declared(line);
    }
    if let Some(accessibility) = importer.coded(part, dw::DW_AT_accessibility, &ACCESSIBILITIES) {
        member = member.accessibility(accessibility);
    }
    if importer.flag(part, dw::DW_AT_mutable) {
        member = member.mutable();
    }
    if importer.flag(part, dw::DW_AT_artificial) {
        member = member.artificial();
    }
    Some(member)
}

/// Takes a byte offset: a number, or, in DWARF 2, an expression that adds a number. Another expression remains an attribute
/// of the member.
fn offset<'d, 'o>(importer: &mut Importer<'d, 'o>, part: Entry<'d, 'o>) -> Option<u64> {
    let name = dw::DW_AT_data_member_location;
    let is_computed = |bytes: &[u8]| bytes.first() != Some(&dw::DW_OP_plus_uconst.0);
    let is_member = part.tag() == dw::DW_TAG_member && !part.has(dw::DW_AT_bit_size);
    if matches!(part.attr(name), Some(ResolvedValue::Expr(bytes)) if is_computed(bytes)) && is_member {
        return None;
    }
    let value = importer.take(part, name)?;
    let offset = match value {
        ResolvedValue::Expr(bytes) => match bytes.split_first() {
            Some((&code, rest)) if code == dw::DW_OP_plus_uconst.0 => {
                let (number, length) = crate::op::read_uleb(rest, 0)?;
                Some(number).filter(|_| length == rest.len())
            }
            _ => None,
        },
        value => value.unsigned(),
    };
    if offset.is_none() {
        importer.leave(
            part,
            name,
            UnimportedReason::class(value, "a number, or an expression that adds a number"),
        );
    }
    offset
}

/// Returns the first bit of a bit field before DWARF 4: its offset counts from the most significant bit of a storage unit.
/// DWARF 3 section 5.5.6.
fn bit_in_unit<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    ty: TypeId,
    bytes: u64,
    bits: u64,
) -> u64 {
    let start = bytes.saturating_mul(8);
    let unit = importer.number(part, dw::DW_AT_byte_size);
    // A field that begins before its storage unit has a negative offset.
    let offset = importer.take_as(part, dw::DW_AT_bit_offset, "a number", ResolvedValue::integer);
    let Some(offset) = offset else { return start };
    let of_type = importer.m.described().ty(ty).bits().unwrap_or(bits);
    let unit = unit.map_or(of_type, |bytes| bytes.saturating_mul(8));
    let distance = if importer.m.target().is_big_endian() {
        offset
    } else {
        i128::from(unit) - offset - i128::from(bits)
    };
    u64::try_from(i128::from(start) + distance).unwrap_or_else(|_| {
        importer.leave(part, dw::DW_AT_bit_offset, UnimportedReason::ValueRange(offset));
        start
    })
}

/// Imports a base class.
pub(super) fn base<'d, 'o>(
    importer: &mut Importer<'d, 'o>,
    part: Entry<'d, 'o>,
    owner: TypeId,
    counts: &mut Counts,
) {
    importer.want_type(part);
    let Some(ty) = importer.type_of(part) else { return };
    let accessibility = importer.coded(part, dw::DW_AT_accessibility, &ACCESSIBILITIES);
    let is_virtual =
        importer.coded(part, dw::DW_AT_virtuality, &[(0, false), (1, true), (2, true)]) == Some(true);
    let name = dw::DW_AT_data_member_location;
    let added = match part.attr(name) {
        Some(ResolvedValue::Expr(bytes)) if is_virtual => {
            importer.mark(part, name);
            match importer.raw(part, bytes) {
                Ok(expr) => importer.m.virtual_base(owner, ty, expr, accessibility).map(drop),
                Err(reason) => return importer.leave_entry(part, reason),
            }
        }
        _ => {
            let bytes = offset(importer, part).unwrap_or(0);
            if is_virtual {
                importer.leave(part, dw::DW_AT_virtuality, UnimportedReason::NoProperty);
            }
            importer.m.base(owner, ty, bytes, accessibility).map(drop)
        }
    };
    match added {
        Ok(()) => {
            importer.own(part, AttributeOwner::Base(owner, counts.bases));
            counts.bases += 1;
        }
        Err(error) => importer.leave_entry(part, UnimportedReason::Refused(error)),
    }
}
