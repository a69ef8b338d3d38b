//! The order in which units are imported. Link-time optimization describes code in a unit that refers to types and functions of
//! later units. These units are imported first, so that such an entity is one entity, in its unit.

use gimli::constants as dw;
use hashbrown::{HashMap, HashSet};

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
    let known = References::new(file);
    let (refers_ahead, others): (Vec<_>, Vec<_>) =
        units().partition(|unit| is_compile(unit) && known.is_late(unit.offset));
    importer.types.of_functions = known.of_functions;
    if refers_ahead.is_empty() {
        return others;
    }
    let made = units().filter(|unit| is_compile(unit) && file.root(unit).is_some());
    let m = &mut importer.m;
    let made = made.map(|unit| (unit.offset, m.unit(unit.name.as_deref().unwrap_or_default())));
    importer.types.units = made.collect::<HashMap<_, _>>();
    others.into_iter().chain(refers_ahead).collect()
}

/// References of units to other units, by the offsets of the units.
#[derive(Default)]
struct References {
    /// Units that refer to a type of a later unit, or to what such a type declares.
    to_later_types: HashSet<u64>,
    /// Units that refer to another entry of a later unit, such as a function, which is imported with its types.
    to_later_entries: HashSet<u64>,
    /// Units to whose types other units refer.
    of_types: HashSet<u64>,
    /// Units to whose functions and variables other units refer.
    of_functions: HashSet<u64>,
}

impl References {
    fn new(file: &Dwarf<'_>) -> Self {
        let mut known = Self::default();
        for unit in file.units() {
            let can_be =
                |entry: &Entry<'_, '_>| entry.specs().iter().any(|spec| spec.form() == dw::DW_FORM_ref_addr);
            for entry in file.entries_of(unit).filter(can_be) {
                let attributes =
                    entry.attributes().filter(|attribute| attribute.form == dw::DW_FORM_ref_addr);
                let referred = attributes.filter_map(|attribute| entry.referred(attribute.value));
                referred.for_each(|referred| known.add(file, unit.offset, referred));
            }
        }
        known
    }

    fn add(&mut self, file: &Dwarf<'_>, from: u64, referred: Entry<'_, '_>) {
        let to = referred.unit();
        if !core::ptr::eq(referred.dwarf(), file) || to.kind != dw::DW_UT_compile || to.offset == from {
            return;
        }
        let is_type = is_shared(referred);
        let of = if is_type { &mut self.of_types } else { &mut self.of_functions };
        of.insert(to.offset);
        if to.offset > from {
            let later = if is_type { &mut self.to_later_types } else { &mut self.to_later_entries };
            later.insert(from);
        }
    }

    /// Whether a unit is imported after the units to which it refers. A unit whose types other units use is imported before
    /// them.
    fn is_late(&self, unit: u64) -> bool {
        self.to_later_types.contains(&unit)
            || self.to_later_entries.contains(&unit) && !self.of_types.contains(&unit)
    }
}

/// Whether an entry is a type, or declared by a type.
fn is_shared(entry: Entry<'_, '_>) -> bool {
    class(entry) == Class::Type || entry.parent().is_some_and(|around| class(around) == Class::Type)
}
