//! The order in which units are imported. Link-time optimization describes code in a unit that refers to types of later units.
//! These units are imported first, so that such a type is one type, in its unit.

use gimli::constants as dw;
use hashbrown::HashMap;

use super::importer::Importer;
use super::node::{Class, class};
use super::shared::ImportedTypes;
use crate::read::{Dwarf, Entry, Unit};

/// Returns the file's units in the order of their import, and makes the units of the module in the order of the file.
pub(super) fn units<'d, 'o>(importer: &mut Importer<'d, 'o>) -> Vec<&'d Unit<'o>> {
    let file = importer.dwarf;
    let units = || file.units().iter();
    let is_compile = |unit: &Unit<'_>| unit.kind == dw::DW_UT_compile;
    // Types that are copied for each unit need no order.
    if importer.types.how == ImportedTypes::Copied || units().filter(|unit| is_compile(unit)).count() < 2 {
        return units().collect();
    }
    let (refers_ahead, others): (Vec<_>, Vec<_>) =
        units().partition(|unit| is_compile(unit) && refers_ahead(file, unit));
    if refers_ahead.is_empty() {
        return others;
    }
    let made = units().filter(|unit| is_compile(unit) && file.root(unit).is_some());
    let m = &mut importer.m;
    let made = made.map(|unit| (unit.offset, m.unit(unit.name.as_deref().unwrap_or_default())));
    importer.types.units = made.collect::<HashMap<_, _>>();
    others.into_iter().chain(refers_ahead).collect()
}

/// Whether a unit refers to a type of a later unit, or to what such a type declares. A reference to a function is none: the
/// function is imported for each unit.
fn refers_ahead(file: &Dwarf<'_>, unit: &Unit<'_>) -> bool {
    let is_ahead = |entry: Entry<'_, '_>| {
        let mut attributes = entry.attributes().filter(|attribute| attribute.form == dw::DW_FORM_ref_addr);
        attributes.any(|attribute| {
            let referred = entry.referred(attribute.value);
            referred.is_some_and(|referred| {
                let to = referred.unit();
                core::ptr::eq(referred.dwarf(), file)
                    && is_shared(referred)
                    && to.kind == dw::DW_UT_compile
                    && to.offset > unit.offset
            })
        })
    };
    let can_be = |entry: &Entry<'_, '_>| entry.specs().iter().any(|spec| spec.form() == dw::DW_FORM_ref_addr);
    file.entries_of(unit).filter(can_be).any(is_ahead)
}

/// Whether an entry is a type, or declared by a type.
fn is_shared(entry: Entry<'_, '_>) -> bool {
    class(entry) == Class::Type || entry.parent().is_some_and(|around| class(around) == Class::Type)
}
