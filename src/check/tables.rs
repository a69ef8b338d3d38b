//! Lookup tables by address, and by name before DWARF 5: DWARF 5 section 6.1.2, DWARF 4 section 6.1.1.

use gimli::constants as dw;

use super::compare::{Known, Split};
use super::file::File;
use super::name_index::{Class, class, name};
use super::report::{Finding, Kind, Report};
use super::tree::Described;
use super::type_units::is_type_unit;
use crate::error::{At, Result};
use crate::read::{
    AddressRanges, Dwarf, Entry, INFO_BEHIND, NameEntry, NameIndex, NameUnit, Object, PublicNames,
    PublicSection, Sections, Unit, Value,
};

/// Checks that the linker relocates the unit offsets of tables, also that of the first unit, which is right without
/// relocation by accident.
pub(super) fn units_are_relocated(report: &mut Report, object: &Object<'_>, behind: &Object<'_>) {
    if !object.is_relocatable() {
        return;
    }
    // Other comparisons report tables that cannot be read.
    let (Ok(all), Ok(moved)) = (units_of_tables(object), units_of_tables(behind)) else { return };
    for ((section, unit), (_, moved)) in all.into_iter().zip(moved) {
        if moved != unit.wrapping_add(INFO_BEHIND) {
            report.findings.push(Finding {
                kind: Kind::Table,
                at: At { section: Some(section.into()), ..At::default() },
                lane: None,
                expected: format!("the offset {unit:#x} of a unit, with a relocation"),
                found: "a number".into(),
                trace: Vec::new(),
            });
        }
    }
}

/// Unit offsets of all tables.
fn units_of_tables(object: &Object<'_>) -> Result<Vec<(&'static str, u64)>> {
    let sections = &Sections::of(object);
    let mut all = Vec::new();
    for index in NameIndex::read_all(sections)? {
        all.extend(index.units.iter().chain(&index.type_units).map(|&unit| (".debug_names", unit)));
    }
    all.extend(AddressRanges::read_all(sections)?.iter().map(|set| (ADDRESSES, set.unit)));
    for section in PublicSection::ALL {
        let sets = PublicNames::read_all(sections, section)?;
        all.extend(sets.iter().map(|set| (section.name(), set.unit)));
    }
    Ok(all)
}

/// Comparison of lookup tables, by name and by address.
pub(super) struct Tables<'t, 'a, 'o> {
    pub(super) described: Described<'a>,
    pub(super) file: &'t File<'a, 'o>,
    pub(super) known: &'t Known,
    pub(super) split: &'t Split<'a, 'o>,
    pub(super) report: &'t mut Report,
}

/// Place in a section, with the place of an entity.
pub(super) fn in_section(section: &str, of: Option<At>) -> At {
    At { section: Some(section.into()), ..of.unwrap_or_default() }
}

const ADDRESSES: &str = ".debug_aranges";
/// Limit of steps along references, which can be circular.
const MOST_STEPS: usize = 16;

impl<'a, 'o> Tables<'_, 'a, 'o> {
    /// Compares the consumer's name tables, and reports others.
    pub(super) fn lookups(&mut self) {
        self.name_indices();
        for section in PublicSection::ALL {
            self.public(section);
        }
    }

    /// Object with the tables: for split units, that of their skeletons.
    pub(super) fn with_tables(&self) -> &'a Dwarf<'o> {
        self.split.main.unwrap_or(self.file.dwarf)
    }

    /// Unit as these tables refer to it: for a split unit, its skeleton.
    pub(super) fn in_tables(&self, unit: &'a Unit<'o>) -> Option<&'a Unit<'o>> {
        if self.split.main.is_some() { self.split.of_file.get(&unit.offset).copied() } else { Some(unit) }
    }

    /// Entry that an index entry refers to, if it is in this file. DWARF 5 section 6.1.1.2.
    pub(super) fn named(&self, entry: &NameEntry) -> Option<Entry<'a, 'o>> {
        if self.split.main.is_none() {
            return self.file.dwarf.named(entry);
        }
        let Some(NameUnit::Compile(offset)) = entry.unit else { return None };
        let (&unit, _) = self.split.of_file.iter().find(|(_, skeleton)| skeleton.offset == offset)?;
        self.file.dwarf.entry_at(unit.checked_add(entry.entry?)?)
    }

    /// Returns whether an index entry refers to the file of another skeleton.
    pub(super) fn is_in_another_file(&self, entry: &NameEntry) -> bool {
        let Some((main, NameUnit::Compile(offset))) = self.split.main.zip(entry.unit) else { return false };
        let is_here = self.split.of_file.values().any(|skeleton| skeleton.offset == offset);
        !is_here && main.units().iter().any(|unit| unit.offset == offset)
    }

    /// Returns whether the module describes the unit. Table entries of other units are not compared.
    pub(super) fn is_described(&self, unit: &'a Unit<'o>) -> bool {
        match unit.type_offset {
            Some(ty) => self.known.type_entries.contains(&ty),
            None => self.in_tables(unit).is_some_and(|unit| self.known.units.contains_key(&unit.offset)),
        }
    }

    /// Returns whether a table belongs to a unit that is not described, given the unit's offset in the tables.
    pub(super) fn is_of_others(&self, offset: u64) -> bool {
        let unit = self.with_tables().unit_at(offset).filter(|unit| unit.offset == offset);
        unit.is_some_and(|unit| match unit.type_offset {
            Some(ty) => !self.known.type_entries.contains(&ty),
            None => !self.known.units.contains_key(&offset),
        })
    }

    /// Place of an offset in a section of the file before linking.
    pub(super) fn at_offset(&self, section: &str, offset: u64) -> At {
        let moved = self.described.object.section(section).map_or(0, |section| section.moved);
        At { offset: Some(offset.saturating_sub(moved)), ..in_section(section, None) }
    }

    /// Reports tables of these units that the consumer does not have.
    pub(super) fn not_asked_for(&mut self, section: &str, units: &[u64]) {
        if units.is_empty() {
            return;
        }
        let is_of_others = units.iter().all(|&unit| self.is_of_others(unit));
        let kind = if is_of_others { Kind::Extra } else { Kind::Table };
        self.report.find(kind, in_section(section, None), "no such table", "one");
    }

    /// Compares the address ranges of each unit with its functions.
    pub(super) fn addresses(&mut self) {
        let sets = match AddressRanges::read_all(self.with_tables().sections()) {
            Ok(sets) => sets,
            Err(error) => {
                return self.report.unreadable(self.described.object, &error, in_section(ADDRESSES, None));
            }
        };
        if !self.described.consumer.tables.aranges {
            return self.not_asked_for(ADDRESSES, &sets.iter().map(|set| set.unit).collect::<Vec<_>>());
        }
        for set in sets.iter().filter(|set| !self.is_of_others(set.unit)).collect::<Vec<_>>() {
            let at = self.at_offset(ADDRESSES, set.offset);
            self.report.expect_equal(
                &at,
                "bytes of an address",
                &self.described.module.target.address_bytes(),
                &set.address_bytes,
            );
            self.report.expect_equal(&at, "bytes of a segment", &0, &set.segment_bytes);
            if !self.known.units.contains_key(&set.unit) {
                self.report.find(
                    Kind::Table,
                    at,
                    "a table of a unit",
                    format!("one of offset {:#x}", set.unit),
                );
            }
        }
        for (&offset, &id) in &self.known.units {
            let functions = &self.described.index.functions[id];
            let code = functions.iter().filter_map(|&function| {
                let start = self.described.address(function)?;
                Some((start, self.described.module.function(function).bytes)).filter(|&(_, bytes)| bytes > 0)
            });
            let mut expected: Vec<(u64, u64)> = code.collect();
            expected.sort_unstable();
            let unit = self.described.module.at_scope(self.described.module.unit(id).scope);
            let at = in_section(ADDRESSES, Some(unit));
            let mut found = Vec::new();
            let mut of_unit = sets.iter().filter(|set| set.unit == offset);
            for range in of_unit.next().into_iter().flat_map(AddressRanges::ranges) {
                match range {
                    Ok(range) => found.push((range.start, range.length)),
                    Err(error) => return self.report.unreadable(self.described.object, &error, at),
                }
            }
            found.sort_unstable();
            if of_unit.next().is_some() {
                self.report.find(Kind::Table, at.clone(), "one table of the unit", "another one");
            }
            if expected != found {
                let text = |ranges: &[(u64, u64)]| {
                    let ranges = ranges.iter().map(|&(start, bytes)| start..start.wrapping_add(bytes));
                    super::tree::hex(&ranges.collect::<Vec<_>>())
                };
                self.report.find(Kind::Table, at, text(&expected), text(&found));
            }
        }
    }

    /// Compares a unit's public names: functions and variables in one section, types in the other.
    fn public(&mut self, section: PublicSection) {
        let sets = match PublicNames::read_all(self.with_tables().sections(), section) {
            Ok(sets) => sets,
            Err(error) => {
                return self.report.unreadable(
                    self.described.object,
                    &error,
                    in_section(section.name(), None),
                );
            }
        };
        let is_standard = matches!(section, PublicSection::Names | PublicSection::Types);
        if !self.described.consumer.tables.pubs || !is_standard {
            let units = sets.iter().filter(|_| self.split.is_first).map(|set| set.unit);
            return self.not_asked_for(section.name(), &units.collect::<Vec<_>>());
        }
        let dwarf = self.file.dwarf;
        for set in sets.iter().filter(|_| self.split.is_first).collect::<Vec<_>>() {
            let at = self.at_offset(section.name(), set.offset);
            match self.with_tables().units().iter().find(|unit| unit.offset == set.unit) {
                Some(unit) => {
                    let expected = unit.end - unit.offset;
                    self.report.expect_equal(&at, "bytes of a unit", &expected, &set.unit_bytes);
                }
                None => {
                    let found = format!("names of offset {:#x}", set.unit);
                    self.report.find(Kind::Table, at, "the names of a unit", found);
                }
            }
        }
        // Tables refer to offsets in `.debug_info`, of units that no linker drops.
        for unit in dwarf.units().iter().filter(|unit| !is_type_unit(unit)) {
            if !self.is_described(unit) {
                continue;
            }
            let offset = self.in_tables(unit).map(|unit| unit.offset);
            let of_unit = sets.iter().filter(|set| Some(set.unit) == offset);
            self.public_of(section, unit, of_unit.collect());
        }
    }

    fn public_of(&mut self, section: PublicSection, unit: &'a Unit<'o>, sets: Vec<&PublicNames<'o>>) {
        let unit_name = unit.name.as_deref().map(String::from);
        let at = in_section(section.name(), Some(At { unit: unit_name, ..At::default() }));
        if sets.len() > 1 {
            self.report.find(Kind::Table, at.clone(), "one table of the unit", format!("{}", sets.len()));
        }
        let is_here = |class| (class == Class::Type) == (section == PublicSection::Types);
        let public = self.file.dwarf.entries_of(unit).filter(|&entry| {
            let class = class(self, entry).filter(|&class| class != Class::Namespace && is_here(class));
            class.is_some_and(|class| is_public(entry, class))
        });
        let mut expected: Vec<_> =
            public.map(|entry| (entry.offset() - unit.offset, qualified(entry))).collect();
        self.report.names += expected.len() as u64;
        let mut found = Vec::new();
        for name in sets.into_iter().flat_map(PublicNames::names) {
            match name {
                Ok(name) => found.push((name.entry, String::from_utf8_lossy(name.name).into_owned())),
                Err(error) => return self.report.unreadable(self.described.object, &error, at),
            }
        }
        expected.sort_unstable();
        found.sort_unstable();
        let text = |offset: u64, name: &str| format!("`{name}` of the entry at {offset:#x} of the unit");
        for (offset, name) in less(&expected, &found) {
            self.report.find(Kind::Table, at.clone(), text(*offset, name), "no such name");
        }
        for (offset, name) in less(&found, &expected) {
            self.report.find(Kind::Table, at.clone(), "no such name", text(*offset, name));
        }
    }
}

/// Returns the elements of one sorted list that another does not have.
pub(super) fn less<'l, T: Ord>(all: &'l [T], others: &[T]) -> Vec<&'l T> {
    let mut others = others.iter().peekable();
    let mut rest = Vec::new();
    for one in all {
        while others.next_if(|other| *other < one).is_some() {}
        if others.next_if(|other| *other == one).is_none() {
            rest.push(one);
        }
    }
    rest
}

/// Returns whether an entry is visible to other units: it is outside of functions, and a type or external.
fn is_public(entry: Entry<'_, '_>, class: Class) -> bool {
    let is_external = matches!(entry.inherited(dw::DW_AT_external), Some(Value::Flag(true)));
    let is_inside = std::iter::successors(entry.parent(), |around| around.parent())
        .any(|around| around.tag() == dw::DW_TAG_subprogram);
    !is_inside && (is_external || class == Class::Type)
}

/// Name qualified by the enclosing namespaces and types; for a definition, those of its declaration.
fn qualified(entry: Entry<'_, '_>) -> String {
    let mut declared = entry;
    for _ in 0..MOST_STEPS {
        let definition = declared.reference(dw::DW_AT_specification);
        let Some(origin) = definition.or_else(|| declared.reference(dw::DW_AT_abstract_origin)) else {
            break;
        };
        declared = origin;
    }
    let around = std::iter::successors(declared.parent(), |around| around.parent());
    let mut names: Vec<_> = around.filter(|around| around.depth() > 0).filter_map(name).collect();
    names.reverse();
    names.extend(name(entry));
    names.join("::")
}
