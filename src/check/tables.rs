//! What the comparisons of lookup tables share: which units and entries a table refers to, and whether the module
//! describes these.

use super::file::File;
use super::known::{Known, Split};
use super::report::{CheckReport, FindingKind};
use super::tree::Described;
use crate::error::At;
use crate::read::{Dwarf, Entry, NameEntry, NameUnit, Unit};

/// State for comparing lookup tables, by name and by address.
pub(super) struct Tables<'t, 'a, 'o> {
    pub(super) described: Described<'a>,
    pub(super) file: &'t File<'a, 'o>,
    pub(super) known: &'t Known,
    pub(super) split: &'t Split<'a, 'o>,
    pub(super) report: &'t mut CheckReport,
}

/// Position in a section, with an entity's position.
pub(super) fn in_section(section: &str, entity: Option<At>) -> At {
    entity.unwrap_or_default().with(|context| context.section = Some(section.into()))
}

pub(super) const ADDRESSES: &str = ".debug_aranges";
/// Limit for steps along references, which can be circular.
pub(super) const MOST_STEPS: usize = 16;

/// Object with the tables: for split units, the object with their skeletons.
pub(super) fn with_tables<'a, 'o>(tables: &Tables<'_, 'a, 'o>) -> &'a Dwarf<'o> {
    tables.split.main.unwrap_or(tables.file.dwarf)
}

/// Unit as these tables refer to it: for a split unit, its skeleton.
pub(super) fn in_tables<'a, 'o>(tables: &Tables<'_, 'a, 'o>, unit: &'a Unit<'o>) -> Option<&'a Unit<'o>> {
    if tables.split.main.is_some() { tables.split.of_file.get(&unit.offset).copied() } else { Some(unit) }
}

/// Entry that an index entry refers to, if it is in this file. DWARF 5 section 6.1.1.2.
pub(super) fn named<'a, 'o>(tables: &Tables<'_, 'a, 'o>, entry: &NameEntry) -> Option<Entry<'a, 'o>> {
    if tables.split.main.is_none() {
        return tables.file.dwarf.named(entry);
    }
    let Some(NameUnit::Compile(offset)) = entry.unit else { return None };
    let (&unit, _) = tables.split.of_file.iter().find(|(_, skeleton)| skeleton.offset == offset)?;
    tables.file.dwarf.entry_at(unit.checked_add(entry.entry?)?)
}

/// Returns whether an index entry refers to another skeleton's file.
pub(super) fn is_in_another_file(tables: &Tables<'_, '_, '_>, entry: &NameEntry) -> bool {
    let Some((main, NameUnit::Compile(offset))) = tables.split.main.zip(entry.unit) else { return false };
    let is_here = tables.split.of_file.values().any(|skeleton| skeleton.offset == offset);
    !is_here && main.unit_at(offset).is_some_and(|unit| unit.offset == offset)
}

/// Returns whether the module describes the unit. Table entries for other units are not compared.
pub(super) fn is_described<'a, 'o>(tables: &Tables<'_, 'a, 'o>, unit: &'a Unit<'o>) -> bool {
    match unit.type_offset {
        Some(ty) => tables.known.type_entries.contains(&ty),
        None => in_tables(tables, unit).is_some_and(|unit| tables.known.units.contains_key(&unit.offset)),
    }
}

/// Returns whether a table belongs to a unit that is not described, given the unit's offset in the tables.
pub(super) fn is_of_others(tables: &Tables<'_, '_, '_>, offset: u64) -> bool {
    let unit = with_tables(tables).unit_at(offset).filter(|unit| unit.offset == offset);
    unit.is_some_and(|unit| match unit.type_offset {
        Some(ty) => !tables.known.type_entries.contains(&ty),
        None => !tables.known.units.contains_key(&offset),
    })
}

/// Position of an offset in the file's section, before linking.
pub(super) fn at_offset(tables: &Tables<'_, '_, '_>, section: &str, offset: u64) -> At {
    let moved = tables.described.object.section(section).map_or(0, |section| section.moved);
    in_section(section, None).with(|context| context.offset = Some(offset.saturating_sub(moved)))
}

/// Reports these units' tables, which the consumer does not have.
pub(super) fn not_asked_for(tables: &mut Tables<'_, '_, '_>, section: &str, units: &[u64]) {
    if units.is_empty() {
        return;
    }
    let is_of_others = units.iter().all(|&unit| is_of_others(tables, unit));
    let kind = if is_of_others { FindingKind::Extra } else { FindingKind::Table };
    tables.report.find(kind, in_section(section, None), "no such table", "a table");
}

/// Returns the elements in a sorted list that another sorted list does not have.
pub(super) fn less<'l, T: Ord>(all: &'l [T], others: &[T]) -> Vec<&'l T> {
    let mut others = others.iter().peekable();
    let mut rest = Vec::new();
    for element in all {
        // Both lists are sorted, so that one pass is enough.
        while others.next_if(|other| *other < element).is_some() {}
        if others.next_if(|other| *other == element).is_none() {
            rest.push(element);
        }
    }
    rest
}
