//! Members of an object, by their entries.

use gimli::constants as dw;

use super::attributes::MemberLocation;
use super::context::Context;
use super::debug_info::attribute_body;
use super::evaluator::Evaluator;
use super::fault::{Fault, error};
use super::location::Location;
use super::machine::{Body, Machine};
use crate::read::{self, ResolvedValue};

/// Evaluates where a member or base class is in an object at `container`, by all attributes that its entry can have: an
/// offset in bytes or bits, an expression, or DWARF 2's bit offset in a storage unit (DWARF 5 section 5.7.6, DWARF 3
/// section 5.5.6). The size is the entry's [`size_bits`](read::Entry::size_bits), also of a bit field.
///
/// [`members`](read::Entry::members) are the members of a type. The context needs a target; unit and encoding are those
/// of the entry.
///
/// # Errors
/// An evaluation error for a static member, which is not in the object; the errors of
/// [`Evaluator::data_member_location`].
pub fn member_location(
    member: read::Entry<'_, '_>,
    container: &Location,
    machine: &dyn Machine,
    context: &Context<'_>,
) -> Result<Location, Fault> {
    let unit = member.unit();
    let context = Context { unit: unit.offset, encoding: unit.encoding, ..*context };
    if member.has(dw::DW_AT_external) || member.tag() == dw::DW_TAG_variable {
        return Err(error("a static member is not in the object"));
    }
    let location = match member.attr(dw::DW_AT_data_member_location) {
        // Also the members of a union, which start with it.
        None => MemberLocation::Bits(member.number(dw::DW_AT_data_bit_offset).unwrap_or(0)),
        Some(ResolvedValue::Signed(bytes)) => MemberLocation::Bytes(bytes),
        Some(value) => match (value.unsigned(), attribute_body(member, dw::DW_AT_data_member_location)) {
            (Some(bytes), _) => MemberLocation::Bytes(i64::try_from(bytes).map_err(|_| unreadable())?),
            (None, Body::Nothing | Body::Unreadable) => return Err(unreadable()),
            (None, body) => MemberLocation::Expression(body),
        },
    };
    let location = Evaluator::new().data_member_location(location, container, machine, &context)?;
    // The number of bits between the most significant bit of the storage unit and that of the field, which can begin before
    // the unit.
    let Some(from_top) = member.attr(dw::DW_AT_bit_offset).and_then(ResolvedValue::integer) else {
        return Ok(location);
    };
    if unit.encoding.big_endian {
        return location.moved(from_top);
    }
    let bits = member.number(dw::DW_AT_bit_size);
    let unit_bits = match member.number(dw::DW_AT_byte_size) {
        Some(bytes) => bytes.checked_mul(8),
        None => member.ty().and_then(read::Entry::size_bits),
    };
    let (Some(bits), Some(unit_bits)) = (bits, unit_bits) else { return Err(unreadable()) };
    location.moved(i128::from(unit_bits) - from_top - i128::from(bits))
}

fn unreadable() -> Fault {
    error("the attributes of the member do not give a location")
}
