//! Comparison between a module and an object: units first, then whatever depends on all entries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gimli::constants as dw;

use super::calls::compare_call;
use super::code::compare_code;
use super::comparison::{Compare, Pending, Referring, compare_unit_header, is_type_unit};
use super::describe::{Describe, Hex};
use super::expressions::compare_function;
use super::extra::overlaps_described_code;
use super::frames::compare_call_frames;
use super::headers::compare_headers;
use super::lanes::{LaneBounds, compare_lanes};
use super::lines::{Lines, lines_of_others};
use super::locations::compare_location;
use super::lookup::{compare_addresses, compare_lookups};
use super::macros::compare_macros;
use super::other_types::compare_other_types;
use super::procedures::compare_procedures;
use super::report::FindingKind;
use super::structure::{compare_node, compare_scope};
use super::tree::{Entity, Reference};
use super::type_units::{compare_type_units, read_type_units, report_types_outside};
use super::unencodable::report_unencodable;
use super::values::compare_value;
use crate::error::At;
use crate::model::{self, UnitId};
use crate::read::{Dwarf, Entry, Object, Unit};

/// Units by name, each with its file's index. Units with the same name are in order.
pub(super) struct UnitsByName<'a, 'o>(BTreeMap<&'a str, VecDeque<(usize, &'a Unit<'o>)>>);

impl<'a, 'o> UnitsByName<'a, 'o> {
    pub(super) fn new(files: impl IntoIterator<Item = &'a Dwarf<'o>>) -> Self
    where
        'o: 'a,
    {
        let mut by_name = BTreeMap::<_, VecDeque<_>>::new();
        for (file, dwarf) in files.into_iter().enumerate() {
            for unit in dwarf.units().iter().filter(|unit| !is_type_unit(unit)) {
                by_name.entry(unit.name.as_deref().unwrap_or("")).or_default().push_back((file, unit));
            }
        }
        Self(by_name)
    }

    /// Takes the next unit with this name.
    pub(super) fn take(&mut self, name: &str) -> Option<(usize, &'a Unit<'o>)> {
        self.0.get_mut(name)?.pop_front()
    }
}

/// Runs the whole comparison.
pub(super) fn run(compare: &mut Compare<'_, '_>) {
    let object = compare.described.object;
    compare_header(compare, object);
    report_unencodable(compare);
    // Type units come first and last: units refer to their types, and what no unit referred to is a finding.
    read_type_units(compare);
    compare_units(compare);
    compare_type_units(compare);
    report_types_outside(compare);
    let dwarf = compare.file.dwarf;
    // Lookup tables name entries, so that they need `known` in full.
    let mut tables = compare.tables();
    compare_headers(&mut tables, object, dwarf);
    compare_lookups(&mut tables);
    compare_addresses(&mut tables);
    compare_pending(compare);
    compare_call_frames(&mut compare.meanings(), dwarf);
}

/// Runs the comparisons that depend on all entries in a file.
pub(super) fn compare_pending(compare: &mut Compare<'_, '_>) {
    compare_references(compare);
    let Pending { numbers, places, frames, calls, lanes, units, .. } = core::mem::take(&mut compare.pending);
    let mut meanings = compare.meanings();
    for (of, number, entry) in numbers {
        compare_value(&mut meanings, number, entry, of);
    }
    for (variable, entry, function) in places {
        if let Some(entry) = meanings.file.dwarf.entry_with_index(entry as usize) {
            compare_location(&mut meanings, variable, entry, function);
        }
    }
    for (function, entry) in frames {
        compare_function(&mut meanings, function, entry);
    }
    for (call, entry) in calls {
        compare_call(&mut meanings, call, entry);
    }
    let mut bounds = LaneBounds::default();
    for (scope, entry) in lanes {
        compare_lanes(&mut meanings, &mut bounds, scope, entry);
    }
    compare_procedures(&mut meanings, units);
}

/// Compares references to entities, after all entries are known.
fn compare_references(compare: &mut Compare<'_, '_>) {
    let dwarf = compare.file.dwarf;
    for Referring { of, attribute, entity, found } in core::mem::take(&mut compare.pending.references) {
        let entry = found.and_then(|index| dwarf.entry_with_index(index as usize));
        let reference = Reference { attribute, entity, found: entry };
        if let Some((kind, (expected, found))) = compare.known.differs(dwarf, reference) {
            compare.report.find(kind, compare.described.site(of), expected, found);
        }
    }
}

/// Compares the object's machine and processor with the module's target.
pub(super) fn compare_header(compare: &mut Compare<'_, '_>, object: &Object<'_>) {
    let target = &compare.described.module.target;
    compare.report.expect_equal(&At::default(), "ELF machine", &target.elf().machine, &object.machine());
    let name = |gfx: Option<crate::target::Gfx>| gfx.map(crate::target::Gfx::name);
    compare.report.expect_equal(&At::default(), "processor", &name(target.gfx()), &name(object.gfx()));
}

/// Compares every unit in the module. Units match by name, and units with the same name match in order.
fn compare_units(compare: &mut Compare<'_, '_>) {
    let mut known = UnitsByName::new([compare.file.dwarf]);
    for (id, unit) in compare.described.module.units() {
        match known.take(compare.described.module.string(unit.name)) {
            Some((_, found)) => compare_unit_with_root(compare, id, found),
            None => report_missing_unit(compare, unit),
        }
    }
    report_other_units(compare, known, &[compare.file.dwarf]);
}

/// Compares a unit, if it has a root entry.
pub(super) fn compare_unit_with_root<'a, 'o>(compare: &mut Compare<'a, 'o>, id: UnitId, found: &'a Unit<'o>) {
    let module = compare.described.module;
    let dwarf = compare.file.dwarf;
    let unit = module.unit(id);
    match dwarf.root(found) {
        Some(root) => compare_unit(compare, id, found, root),
        None => report_missing_unit(compare, unit),
    }
}

pub(super) fn report_missing_unit(compare: &mut Compare<'_, '_>, unit: &model::CompileUnit) {
    let text = format!("a unit `{}`", compare.described.module.string(unit.name));
    compare.report.find(
        FindingKind::MissingEntry,
        compare.described.module.at_scope(unit.scope),
        text,
        "none",
    );
}

/// Reports units that the module does not describe. Each unit has its file's index.
pub(super) fn report_other_units<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    rest: UnitsByName<'a, 'o>,
    files: &[&'a Dwarf<'o>],
) {
    let mut rest: Vec<_> = rest.0.into_values().flatten().collect();
    // File order, so that the report does not depend on names.
    rest.sort_by_key(|&(file, unit)| (file, unit.offset));
    let mut programs = BTreeSet::new();
    for (file, unit) in rest {
        let name = unit.name.as_deref().map(String::from);
        let text = format!("a unit `{}`", name.as_deref().unwrap_or_default());
        let site = At::new(|context| context.unit = name);
        let dwarf = files[file];
        let kind = if overlaps_described_code(compare.described, dwarf, unit) {
            FindingKind::Code
        } else {
            FindingKind::Extra
        };
        compare.report.find(kind, site.clone(), "no more", text);
        // Units can share a line program, whose rows are compared once.
        if programs.insert((file, unit.stmt_list)) {
            lines_of_others(compare.described, &mut compare.report, dwarf, unit, &site);
        }
    }
}

fn compare_unit<'a, 'o>(compare: &mut Compare<'a, 'o>, id: UnitId, found: &'a Unit<'o>, root: Entry<'a, 'o>) {
    let site = &compare.described.module.at_unit(id);
    compare.report.entries += 1;
    let is_split = compare.split.main.is_some();
    let kind = if is_split { dw::DW_UT_split_compile } else { dw::DW_UT_compile };
    compare_unit_header(compare, found, kind, site);
    // `File::new` skipped a program that cannot be read; the second attempt yields the error.
    if compare.file.program(found).is_none()
        && let Err(error) = compare.file.dwarf.lines(found)
    {
        compare.report.unreadable(compare.described.object, &error, site.clone());
    }
    compare_node(compare, &compare.described.unit(id, is_split), root, Entity::TypeUnit(id));
    // A split unit's ranges are in its skeleton.
    let has_code = if is_split { compare_skeleton(compare, id, found, site) } else { Some(root) };
    if let Some(has_code) = has_code {
        compare.known.units.insert(has_code.unit().offset, id);
        compare_code(compare, id, has_code, site);
    }
    compare_scope(compare, compare.described.module.unit(id).scope, root);
    compare_other_types(compare, id, root);
    compare.pending.units.push((id, root));
    compare_macros(compare, id, found, site);
    let program = compare.file.program(found);
    let program = program.as_deref();
    let rows = &compare.file.rows;
    Lines { described: compare.described, program, rows, report: &mut compare.report }.compare(id, site);
}

/// Compares a split unit's skeleton, except for its code. Returns the skeleton's entry.
pub(super) fn compare_skeleton<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    id: UnitId,
    split: &Unit<'o>,
    at: &At,
) -> Option<Entry<'a, 'o>> {
    // Units with equal contents have equal numbers: each skeleton matches once.
    let unmatched = compare.split.unmatched.get_mut(&split.dwo_id);
    let index = unmatched.and_then(VecDeque::pop_front);
    let skeleton = index.and_then(|index| compare.split.skeletons.get_mut(index));
    let Some((unit, is_taken)) = skeleton else {
        let text = format!("a skeleton with number {}", split.dwo_id.map(Hex).describe());
        compare.report.find(FindingKind::MissingEntry, at.clone(), text, "none");
        return None;
    };
    *is_taken = true;
    let unit: &'a Unit<'o> = unit;
    compare.split.of_file.insert(split.offset, unit);
    let main = compare.split.main?;
    let Some(root) = main.root(unit) else {
        compare.report.find(FindingKind::MissingEntry, at.clone(), "the unit entry of the skeleton", "none");
        return None;
    };
    compare.report.expect_equal(at, "entries of a skeleton", &1, &main.entries_of(unit).count());
    compare_unit_header(compare, unit, dw::DW_UT_skeleton, at);
    let node = compare.described.skeleton(id, &compare.split.names[id.as_u32() as usize]);
    compare_node(compare, &node, root, Entity::TypeUnit(id));
    Some(root)
}
