//! String numbers: the module's, and those that lowering adds.

use std::borrow::Cow;

use super::units::Units;
use crate::model::{StringId, UnitId};

/// String number, counted from the end of the module's strings, for an unnamed namespace: DWARF 5 section 6.1.1.1. No
/// type has 0 bits, so the types' numbers do not collide with it.
const ANONYMOUS: u32 = 0;

/// Exclusive size limit, in bits, for the unsigned types that eitri adds for expressions.
const UNSIGNED: u32 = 64;

/// String number for an unnamed namespace's name.
pub(super) fn anonymous(units: &Units<'_>) -> u32 {
    units.module.strings.len() as u32 + ANONYMOUS
}

/// String number for an unsigned base type that expressions use and the program does not have.
pub(super) fn unsigned(units: &Units<'_>, bits: u32) -> u32 {
    units.module.strings.len() as u32 + bits
}

/// String number for a split file's name.
pub(super) fn split_name(units: &Units<'_>, unit: UnitId) -> u32 {
    units.module.strings.len() as u32 + UNSIGNED + unit.as_u32()
}

/// String number for a compiler with its command line.
pub(super) fn producer(units: &Units<'_>, text: &str) -> u32 {
    let index = units.producers.get_index_of(text).unwrap_or_default();
    split_name(units, units.module.units.next_key()) + index as u32
}

/// String text, by its number. The module's strings come first, then the unnamed namespace and the added unsigned types
/// by their size in bits, the split files' names, and the compilers with their command lines.
pub(super) fn text<'u>(units: &'u Units<'_>, number: u32) -> Cow<'u, str> {
    match number.checked_sub(units.module.strings.len() as u32) {
        None => units.module.string(StringId::from_u32(number)).into(),
        Some(ANONYMOUS) => "(anonymous namespace)".into(),
        Some(bits) if bits < UNSIGNED => format!("unsigned_{bits}").into(),
        Some(other) => {
            let other = (other - UNSIGNED) as usize;
            let file = units.split_names.get(other).filter(|_| other < units.module.units.len());
            let producer = || units.producers.get_index(other.wrapping_sub(units.module.units.len()));
            file.or_else(producer).map_or("", String::as_str).into()
        }
    }
}
