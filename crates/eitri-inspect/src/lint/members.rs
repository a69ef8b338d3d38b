//! The finding about members that end after the type that contains them. DWARF 5 section 5.7.6.

use gimli::{DwTag, constants as dw};

use super::details::Details;
use eitri_dwarf::error::Count;
use eitri_dwarf::read::Entry;

/// Nested types that are looked at, because types that contain themselves have no end.
const MOST_STEPS: usize = 32;

/// Whether entries with a tag are parts of a type at an offset.
pub(super) fn is_member(tag: DwTag) -> bool {
    matches!(tag, dw::DW_TAG_member | dw::DW_TAG_inheritance)
}

/// Returns the finding about a member whose offset or end is certain to be after the end of its type.
pub(super) fn finding(member: Entry<'_, '_>) -> Option<Details> {
    let owner = owner(member)?;
    let bits = owner.number(dw::DW_AT_byte_size)?.checked_mul(8)?;
    let start = start(member, owner)?;
    let size = least_bits(member);
    if start.saturating_add(size) <= bits {
        return None;
    }
    let extent = match size {
        0 => format!("begins at bit {start}"),
        size => format!("has {} at bit {start}", Count(size, "bit")),
    };
    let name = |entry: Entry<'_, '_>| entry.name().map_or_else(String::new, |name| format!(" `{name}`"));
    let size = format!("{}{} has {}", owner.tag(), name(owner), Count(bits, "bit"));
    Some(Details::new(format!("{}{} {extent}", member.tag(), name(member))).evidence([size]))
}

/// Returns the type that contains a member, whose offset counts from its start: the parent, unless it is a variant.
fn owner<'r>(member: Entry<'r, 'r>) -> Option<Entry<'r, 'r>> {
    let mut owner = member.parent()?;
    while matches!(owner.tag(), dw::DW_TAG_variant | dw::DW_TAG_variant_part) {
        owner = owner.parent()?;
    }
    let is_owner = matches!(
        owner.tag(),
        dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type | dw::DW_TAG_interface_type
    );
    is_owner.then_some(owner)
}

/// Returns the first bit, if it is a constant. Before DWARF 4, bits of a bit field count in a unit of storage, which can end
/// after a packed structure. A static member is in no object.
fn start(member: Entry<'_, '_>, owner: Entry<'_, '_>) -> Option<u64> {
    if member.has(dw::DW_AT_external) || member.has(dw::DW_AT_declaration) {
        return None;
    }
    if let Some(bit) = member.number(dw::DW_AT_data_bit_offset) {
        return Some(bit);
    }
    if member.has(dw::DW_AT_bit_size) || member.has(dw::DW_AT_bit_offset) {
        return None;
    }
    match member.attr(dw::DW_AT_data_member_location) {
        Some(location) => location.unsigned()?.checked_mul(8),
        None => (owner.tag() == dw::DW_TAG_union_type).then_some(0),
    }
}

/// Returns the number of bits that a member has at least; 0 if they are not known. A base class can overlap what comes
/// after it, except for its first byte.
fn least_bits(member: Entry<'_, '_>) -> u64 {
    let own = member.number(dw::DW_AT_bit_size);
    let whole = || {
        let ty = member.ty().filter(|ty| has_stated_size(*ty, MOST_STEPS))?;
        ty.size_bits()
    };
    let bits = own.or_else(whole).unwrap_or(0);
    if member.tag() == dw::DW_TAG_inheritance { bits.min(8) } else { bits }
}

/// Whether no size in a type follows from the size of addresses, which can differ in another address space.
fn has_stated_size(ty: Entry<'_, '_>, steps: usize) -> bool {
    let Some((ty, steps)) = ty.unqualified().zip(steps.checked_sub(1)) else { return false };
    ty.has(dw::DW_AT_byte_size)
        || match ty.tag() {
            dw::DW_TAG_array_type => ty.ty().is_some_and(|element| has_stated_size(element, steps)),
            dw::DW_TAG_enumeration_type | dw::DW_TAG_subrange_type => {
                ty.ty().is_some_and(|values| has_stated_size(values, steps))
            }
            dw::DW_TAG_base_type => true,
            _ => false,
        }
}
