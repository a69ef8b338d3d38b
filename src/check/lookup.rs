//! Lookup tables by address, and by name before DWARF 5: DWARF 5 section 6.1.2, DWARF 4 section 6.1.1.

use gimli::constants as dw;
use hashbrown::HashMap;

use super::code::is_code_of;
use super::comparison::is_type_unit;
use super::name_index::{Class, class, compare_name_indices, name};
use super::report::{CheckFinding, CheckReport, FindingKind};
use super::tables::{
    ADDRESSES, MOST_STEPS, Tables, at_offset, in_section, in_tables, is_described, is_of_others, less,
    not_asked_for, with_tables,
};
use crate::error::{At, Result};
use crate::read::{
    AddressRanges, Entry, INFO_BEHIND, NameIndex, Object, PublicNames, PublicSection, ResolvedValue,
    Sections, Unit,
};

/// Compares the consumer's name tables, and reports name tables that the consumer does not have.
pub(super) fn compare_lookups(tables: &mut Tables<'_, '_, '_>) {
    compare_name_indices(tables);
    for section in PublicSection::ALL {
        compare_public(tables, section);
    }
}

/// Compares each unit's address ranges with its functions.
pub(super) fn compare_addresses(tables: &mut Tables<'_, '_, '_>) {
    let sets = match AddressRanges::read_all(with_tables(tables).sections()) {
        Ok(sets) => sets,
        Err(error) => {
            return tables.report.unreadable(tables.described.object, &error, in_section(ADDRESSES, None));
        }
    };
    if !tables.described.consumer.tables.aranges {
        return not_asked_for(tables, ADDRESSES, &sets.iter().map(|set| set.unit).collect::<Vec<_>>());
    }
    for set in sets.iter().filter(|set| !is_of_others(tables, set.unit)).collect::<Vec<_>>() {
        let site = at_offset(tables, ADDRESSES, set.offset);
        tables.report.expect_equal(
            &site,
            "bytes of an address",
            &tables.described.module.target.address_bytes(),
            &set.address_bytes,
        );
        tables.report.expect_equal(&site, "bytes of a segment", &0, &set.segment_bytes);
        if !tables.known.units.contains_key(&set.unit) {
            tables.report.find(
                FindingKind::Table,
                site,
                "a table of a unit",
                format!("one of offset {:#x}", set.unit),
            );
        }
    }
    let by_unit = by_unit(&sets, |set| set.unit);
    for (&offset, &id) in &tables.known.units {
        let mut expected = tables.described.unit_code(id);
        expected.retain(|code| code.start != code.end);
        expected.sort_unstable_by_key(|code| (code.start, code.end));
        let unit = tables.described.module.at_scope(tables.described.module.unit(id).scope);
        let site = in_section(ADDRESSES, Some(unit));
        let mut actual = Vec::new();
        let mut of_unit = by_unit.get(&offset).into_iter().flatten();
        for range in of_unit.next().into_iter().flat_map(|set| set.ranges()) {
            match range {
                Ok(range) => actual.push(range.start..range.start.wrapping_add(range.length)),
                Err(error) => return tables.report.unreadable(tables.described.object, &error, site),
            }
        }
        actual.sort_unstable_by_key(|code| (code.start, code.end));
        if of_unit.next().is_some() {
            tables.report.find(FindingKind::Table, site.clone(), "one table of the unit", "a second table");
        }
        // Functions without code have no range.
        if !is_code_of(&actual, &expected) || actual.iter().any(|code| code.start == code.end) {
            let pcs = tables.described.object.pc_notation();
            let [expected, actual] = [expected, actual].map(|code| super::tree::code_text(pcs, &code));
            tables.report.find(FindingKind::Table, site, expected, actual);
        }
    }
}

/// Tables by their unit's offset.
fn by_unit<T>(sets: &[T], unit: impl Fn(&T) -> u64) -> HashMap<u64, Vec<&T>> {
    let mut by_unit = HashMap::<u64, Vec<&T>>::new();
    for set in sets {
        by_unit.entry(unit(set)).or_default().push(set);
    }
    by_unit
}

/// Compares a unit's public names: functions and variables in one section, types in the other.
fn compare_public(tables: &mut Tables<'_, '_, '_>, section: PublicSection) {
    let sets = match PublicNames::read_all(with_tables(tables).sections(), section) {
        Ok(sets) => sets,
        Err(error) => {
            return tables.report.unreadable(
                tables.described.object,
                &error,
                in_section(section.name(), None),
            );
        }
    };
    let is_standard = matches!(section, PublicSection::Names | PublicSection::Types);
    if !tables.described.consumer.tables.pubs || !is_standard {
        let units = sets.iter().filter(|_| tables.split.is_first).map(|set| set.unit);
        return not_asked_for(tables, section.name(), &units.collect::<Vec<_>>());
    }
    let dwarf = tables.file.dwarf;
    for set in sets.iter().filter(|_| tables.split.is_first).collect::<Vec<_>>() {
        let site = at_offset(tables, section.name(), set.offset);
        match with_tables(tables).unit_at(set.unit).filter(|unit| unit.offset == set.unit) {
            Some(unit) => {
                let expected = unit.end - unit.offset;
                tables.report.expect_equal(&site, "bytes of a unit", &expected, &set.unit_bytes);
            }
            None => {
                let actual = format!("names of offset {:#x}", set.unit);
                tables.report.find(FindingKind::Table, site, "the names of a unit", actual);
            }
        }
    }
    let by_unit = by_unit(&sets, |set| set.unit);
    // Tables refer to offsets in `.debug_info`, for units that no linker drops.
    for unit in dwarf.units().iter().filter(|unit| !is_type_unit(unit)) {
        if !is_described(tables, unit) {
            continue;
        }
        // A split unit's names are listed under its skeleton.
        let offset = in_tables(tables, unit).map(|unit| unit.offset);
        let of_unit = offset.and_then(|offset| by_unit.get(&offset)).cloned().unwrap_or_default();
        compare_public_names(tables, section, unit, of_unit);
    }
}

fn compare_public_names<'a, 'o>(
    tables: &mut Tables<'_, 'a, 'o>,
    section: PublicSection,
    unit: &'a Unit<'o>,
    sets: Vec<&PublicNames<'o>>,
) {
    let unit_name = unit.name.as_deref().map(String::from);
    let site = in_section(section.name(), Some(At::new(|context| context.unit = unit_name)));
    if sets.len() > 1 {
        tables.report.find(
            FindingKind::Table,
            site.clone(),
            "one table of the unit",
            format!("{}", sets.len()),
        );
    }
    let is_here = |class| (class == Class::Type) == (section == PublicSection::Types);
    let public = tables.file.dwarf.entries_of(unit).filter(|&entry| {
        let class = class(tables, entry).filter(|&class| class != Class::Namespace && is_here(class));
        class.is_some_and(|class| is_public(entry, class))
    });
    let by_linkage_name = tables.described.consumer.tables.has_public_linkage_names;
    let listed = |entry: Entry<'_, '_>| {
        linkage_name(entry).filter(|_| by_linkage_name).unwrap_or_else(|| qualified(entry))
    };
    let mut expected: Vec<_> = public.map(|entry| (entry.offset() - unit.offset, listed(entry))).collect();
    tables.report.names += expected.len() as u64;
    let mut actual = Vec::new();
    for name in sets.into_iter().flat_map(PublicNames::names) {
        match name {
            Ok(name) => actual.push((name.entry, String::from_utf8_lossy(name.name).into_owned())),
            Err(error) => return tables.report.unreadable(tables.described.object, &error, site),
        }
    }
    expected.sort_unstable();
    actual.sort_unstable();
    let text = |offset: u64, name: &str| format!("`{name}` of the entry at {offset:#x} of the unit");
    for (offset, name) in less(&expected, &actual) {
        tables.report.find(FindingKind::Table, site.clone(), text(*offset, name), "no such name");
    }
    for (offset, name) in less(&actual, &expected) {
        tables.report.find(FindingKind::Table, site.clone(), "no such name", text(*offset, name));
    }
}

/// Returns whether an entry is visible to other units: it is outside functions, and a type or external.
fn is_public(entry: Entry<'_, '_>, class: Class) -> bool {
    let is_external = matches!(entry.inherited(dw::DW_AT_external), Some(ResolvedValue::Flag(true)));
    // A name inside a function is not visible to other units, even if it is external.
    let is_inside = std::iter::successors(entry.parent(), |around| around.parent())
        .any(|around| around.tag() == dw::DW_TAG_subprogram);
    !is_inside && (is_external || class == Class::Type)
}

/// Linkage name of a function or an instance of one.
fn linkage_name(entry: Entry<'_, '_>) -> Option<String> {
    let is_code =
        matches!(entry.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_label);
    let names = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name].into_iter().filter(|_| is_code);
    names.filter_map(|name| entry.inherited(name)?.text()).next().map(Into::into)
}

/// Name qualified by the enclosing namespaces and types; a definition is qualified by those around its declaration. The
/// code of an inlined function inside another has an entry outside them.
fn qualified(entry: Entry<'_, '_>) -> String {
    let mut declared = entry;
    // Definitions and instances refer to the entry that they complete, possibly in several steps.
    for _ in 0..MOST_STEPS {
        let definition = declared.reference(dw::DW_AT_specification);
        let Some(origin) = definition.or_else(|| declared.reference(dw::DW_AT_abstract_origin)) else {
            break;
        };
        declared = origin;
    }
    let around = std::iter::successors(declared.parent(), |around| around.parent());
    let is_part = |around: &Entry<'_, '_>| around.depth() > 0 && around.tag() != dw::DW_TAG_subprogram;
    let mut names: Vec<_> = around.filter(is_part).filter_map(name).collect();
    names.reverse();
    names.extend(name(entry));
    names.join("::")
}

/// Checks that the linker relocates the unit offsets in tables, including the first unit's offset, which without
/// relocation is right by accident.
pub(super) fn units_are_relocated(report: &mut CheckReport, object: &Object<'_>, behind: &Object<'_>) {
    if !object.is_relocatable() {
        return;
    }
    // Other comparisons report tables that cannot be read.
    let Ok(all) = units_of_tables(object) else { return };
    // A relocation of another field can make the moved tables unreadable.
    let moved = units_of_tables(behind).unwrap_or_default();
    for (index, (section, unit)) in all.into_iter().enumerate() {
        if moved.get(index).is_none_or(|&(_, moved)| moved != unit.wrapping_add(INFO_BEHIND)) {
            report.findings.push(CheckFinding {
                kind: FindingKind::Table,
                at: At::new(|context| context.section = Some(section.into())),
                lane: None,
                expected: format!("the offset {unit:#x} of a unit, with a relocation"),
                found: "a number".into(),
                trace: Vec::new(),
            });
        }
    }
}

/// Unit offsets in all tables.
fn units_of_tables(object: &Object<'_>) -> Result<Vec<(&'static str, u64)>> {
    let sections = &Sections::of(object);
    let mut offsets = Vec::new();
    for index in NameIndex::read_all(sections)? {
        offsets.extend(index.units.iter().chain(&index.type_units).map(|&unit| (".debug_names", unit)));
    }
    offsets.extend(AddressRanges::read_all(sections)?.iter().map(|set| (ADDRESSES, set.unit)));
    for section in PublicSection::ALL {
        let sets = PublicNames::read_all(sections, section)?;
        offsets.extend(sets.iter().map(|set| (section.name(), set.unit)));
    }
    Ok(offsets)
}
