//! Name index, as a reader uses it: DWARF 5 section 6.1.1.
//!
//! What an index must contain follows from the entries in `.debug_info`, which are compared with the module.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use gimli::{DwTag, DwUt, constants as dw};

use super::describe::{Describe, Hex};
use super::report::FindingKind;
use super::tables::{
    Tables, at_offset, in_section, in_tables, is_described, is_in_another_file, is_of_others, named,
    not_asked_for, with_tables,
};
use crate::error::{At, Count, Result};
use crate::eval;
use crate::op::{Decoder, Op};
use crate::read::{Entry, NameEntry, NameIndex, NameParent, NameUnit, ResolvedValue, name_hash};

/// An entry's kind for lookup by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Code,
    Data,
    Type,
    Namespace,
}

const SECTION: &str = ".debug_names";
/// Name for an unnamed namespace: DWARF 5 section 6.1.1.1.
const ANONYMOUS: &str = "(anonymous namespace)";
/// Augmentation that lets `DW_IDX_parent` be a flag, if the parent is not in the index, or an index entry's offset.
/// The standard fixes no form for either.
const WITH_PARENTS: &[u8] = b"LLVM0700";

/// Name in the index for an entry, if it has one.
pub(super) fn name<'o>(entry: Entry<'_, 'o>) -> Option<Cow<'o, str>> {
    let is_namespace = entry.tag() == dw::DW_TAG_namespace;
    entry.name().or(is_namespace.then_some(Cow::Borrowed(ANONYMOUS)))
}

/// An entry's class by the rules in DWARF 5 section 6.1.1.1, except for linkage names; `None` if the entry is not
/// indexed.
///
/// A constant counts as data, although it has no location. Location and `DW_AT_declaration` are not inherited,
/// because a static member's definition refers to a declaration.
pub(super) fn class<'a, 'o>(compare: &Tables<'_, 'a, 'o>, entry: Entry<'a, 'o>) -> Option<Class> {
    let is_declaration = matches!(entry.attr(dw::DW_AT_declaration), Some(ResolvedValue::Flag(true)));
    if is_declaration || name(entry).is_none() {
        return None;
    }
    let has = |name| entry.inherited(name).is_some();
    let class = match entry.tag() {
        dw::DW_TAG_namespace => Class::Namespace,
        dw::DW_TAG_constant => Class::Data,
        dw::DW_TAG_variable => return has_address(compare, entry).then_some(Class::Data),
        dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine | dw::DW_TAG_label => {
            let places = [dw::DW_AT_low_pc, dw::DW_AT_high_pc, dw::DW_AT_ranges, dw::DW_AT_entry_pc];
            return places.into_iter().any(has).then_some(Class::Code);
        }
        tag => return is_type(tag).then_some(Class::Type),
    };
    Some(class)
}

/// Returns whether a variable's location has an operation whose operand is a link-time address.
fn has_address<'a, 'o>(compare: &Tables<'_, 'a, 'o>, entry: Entry<'a, 'o>) -> bool {
    let encoding = entry.unit().encoding;
    let has = |expr: &[u8]| {
        Decoder::new(expr, encoding)
            .flatten()
            .any(|decoded| matches!(decoded.op, Op::Addr { .. } | Op::Addrx { .. } | Op::FormTlsAddress {}))
    };
    match entry.attr(dw::DW_AT_location) {
        Some(ResolvedValue::Expr(expr)) => has(expr),
        Some(ResolvedValue::LocList(_)) => {
            let list = compare.file.list(entry);
            list.iter()
                .flat_map(|list| &list.entries)
                .any(|listed: &eval::LocationListEntry<'_>| has(&listed.expr))
        }
        _ => false,
    }
}

/// Returns whether the tag belongs to a type: DWARF 5 chapter 5.
fn is_type(tag: DwTag) -> bool {
    const TYPES: [DwTag; 30] = [
        dw::DW_TAG_array_type,
        dw::DW_TAG_atomic_type,
        dw::DW_TAG_base_type,
        dw::DW_TAG_class_type,
        dw::DW_TAG_coarray_type,
        dw::DW_TAG_const_type,
        dw::DW_TAG_dynamic_type,
        dw::DW_TAG_enumeration_type,
        dw::DW_TAG_file_type,
        dw::DW_TAG_generic_subrange,
        dw::DW_TAG_immutable_type,
        dw::DW_TAG_interface_type,
        dw::DW_TAG_packed_type,
        dw::DW_TAG_pointer_type,
        dw::DW_TAG_ptr_to_member_type,
        dw::DW_TAG_reference_type,
        dw::DW_TAG_restrict_type,
        dw::DW_TAG_rvalue_reference_type,
        dw::DW_TAG_set_type,
        dw::DW_TAG_shared_type,
        dw::DW_TAG_string_type,
        dw::DW_TAG_structure_type,
        dw::DW_TAG_subrange_type,
        dw::DW_TAG_subroutine_type,
        dw::DW_TAG_template_alias,
        dw::DW_TAG_thrown_type,
        dw::DW_TAG_typedef,
        dw::DW_TAG_union_type,
        dw::DW_TAG_unspecified_type,
        dw::DW_TAG_volatile_type,
    ];
    TYPES.contains(&tag)
}

/// Offsets of the entries that the indices list, by the index entry's offset.
type Indexed = BTreeMap<u64, u64>;

/// Lookup results by name, so that a name with many entries is looked up once.
type LookedUp<'o> = BTreeMap<Cow<'o, str>, Result<BTreeMap<u64, Vec<NameEntry>>>>;

/// Checks that a reader finds each name with all its entries, and no others.
pub(super) fn compare_name_indices(tables: &mut Tables<'_, '_, '_>) {
    let indices = match with_tables(tables).names() {
        Ok(indices) => indices,
        Err(error) => {
            return tables.report.unreadable(tables.described.object, &error, in_section(SECTION, None));
        }
    };
    if !tables.described.consumer.tables.names {
        let units = indices.iter().filter(|_| tables.split.is_first);
        let units = units.flat_map(|index| index.units.iter().chain(&index.type_units)).copied();
        return not_asked_for(tables, SECTION, &units.collect::<Vec<_>>());
    }
    if tables.split.is_first {
        compare_indexed_units(tables, &indices);
    }
    let mut indexed = Indexed::new();
    let mut listed = Vec::new();
    for index in &indices {
        if let Err(error) = compare_index(tables, index, &mut indexed, &mut listed) {
            tables.report.unreadable(tables.described.object, &error, in_section(SECTION, None));
        }
    }
    let dwarf = tables.file.dwarf;
    let mut expected = BTreeSet::new();
    let mut looked_up = LookedUp::new();
    for unit in dwarf.units() {
        if !is_described(tables, unit) {
            continue;
        }
        for entry in dwarf.entries_of(unit) {
            let Some((class, name)) = class(tables, entry).zip(name(entry)) else { continue };
            let linkage = entry.inherited(dw::DW_AT_linkage_name).and_then(ResolvedValue::text);
            // The linkage name is a second name: section 6.1.1.1 requires both.
            let linkage = linkage.filter(|_| class == Class::Code);
            for name in [Some(name), linkage].into_iter().flatten() {
                if !looked_up.contains_key(&name) {
                    let listed = look_up(tables, &indices, &name);
                    looked_up.insert(name.clone(), listed);
                }
                is_found_once(tables, &looked_up[&name], &indexed, entry, &name);
                expected.insert((entry.offset(), name));
            }
        }
    }
    for (name, entry, offset) in listed {
        let is_described = dwarf.unit_at(entry).is_none_or(|unit| is_described(tables, unit));
        if is_described && !expected.contains(&(entry, Cow::Borrowed(&*name))) {
            let entity = dwarf.entry_at(entry).map_or_else(At::default, Entry::place);
            let site = in_section(SECTION, Some(entity)).with(|context| context.offset = offset);
            tables.report.find(
                FindingKind::Table,
                site,
                "nothing of this entry",
                format!("the name `{name}`"),
            );
        }
    }
}

/// Checks that every unit is in exactly one index.
fn compare_indexed_units<'o>(tables: &mut Tables<'_, '_, 'o>, indices: &[NameIndex<'o>]) {
    let unit_offsets = |is_type: bool| {
        let units = with_tables(tables).units().iter().filter(move |unit| is_type == is_type_unit(unit.kind));
        let offsets = units.map(|unit| unit.offset);
        offsets.filter(|&offset| !is_of_others(tables, offset)).collect::<Vec<_>>()
    };
    let expected = unit_offsets(false);
    let expected_types = unit_offsets(true);
    let indexed = |list: for<'i> fn(&'i NameIndex<'o>) -> &'i [u64]| {
        let listed = indices.iter().flat_map(list).copied();
        let mut indexed: Vec<u64> = listed.filter(|&offset| !is_of_others(tables, offset)).collect();
        indexed.sort_unstable();
        indexed
    };
    let actual = indexed(|index| &index.units);
    let types = indexed(|index| &index.type_units);
    let foreign = indexed(|index| &index.foreign_type_units);
    for (expected, actual, what) in [
        (expected, actual, "units"),
        (expected_types, types, "type units"),
        (Vec::new(), foreign, "type units elsewhere"),
    ] {
        if expected != actual {
            let site = in_section(SECTION, None);
            let expected = format!("{what} at {}", offsets(&expected));
            let actual = offsets(&actual);
            tables.report.find(FindingKind::Table, site, expected, actual);
        }
    }
}

/// Checks the hash table by DWARF 5 section 6.1.1.4.5. Collects all index entries: the name, the named entry's
/// offset, and the index entry's offset.
fn compare_index<'o>(
    tables: &mut Tables<'_, '_, 'o>,
    index: &NameIndex<'o>,
    indexed: &mut Indexed,
    found: &mut Vec<(String, u64, Option<u64>)>,
) -> Result<()> {
    let wrong = |compare: &mut Tables, expected: String, found: String| {
        // Units and hashes are in one table for all files, and are reported once.
        if !compare.split.is_first {
            return;
        }
        let site = in_section(SECTION, None);
        compare.report.find(FindingKind::Table, site, expected, found);
    };
    if index.augmentation != WITH_PARENTS {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let expected = format!("the rules of `{}`", text(WITH_PARENTS));
        wrong(tables, expected, format!("`{}`", text(index.augmentation)));
    }
    let mut first = vec![0; index.bucket_count as usize];
    let mut known = BTreeSet::new();
    for name in index.names() {
        let name = name?;
        let text = String::from_utf8_lossy(name.name).into_owned();
        // A reader stops at the first match in a bucket and would miss the second.
        if !known.insert(name.name) {
            wrong(tables, format!("the name `{text}` once"), "it again".into());
        }
        if let Some(hash) = name.hash {
            let expected = name_hash(name.name);
            if hash != expected {
                wrong(tables, format!("the hash {expected:#010x} of `{text}`"), format!("{hash:#010x}"));
            }
            let bucket = &mut first[(hash % index.bucket_count) as usize];
            // A bucket refers to the first name with its hash; names of one bucket are adjacent.
            *bucket = if *bucket == 0 { name.number } else { *bucket };
        }
        for entry in index.entries(&name)? {
            let entry = entry?;
            let place = at_offset(tables, SECTION, entry.offset);
            match named(tables, &entry) {
                Some(named) => {
                    indexed.insert(entry.offset, named.offset());
                    found.push((text.clone(), named.offset(), place.offset));
                }
                None if is_in_another_file(tables, &entry) => {}
                None => {
                    let expected = format!("an entry that has the name `{text}`");
                    tables.report.find(
                        FindingKind::Table,
                        place,
                        expected,
                        format!("none at {}", entry.entry.map(Hex).describe()),
                    );
                }
            }
        }
    }
    for (bucket, first) in (0..).zip(first) {
        let actual = index.bucket(bucket)?;
        if actual != first {
            let expected = format!("bucket {bucket} to begin with name {first}");
            wrong(tables, expected, format!("name {actual}"));
        }
    }
    Ok(())
}

/// Looks a name up, as a reader does. Returns the index entries, by the offset that their entry has in `.debug_info`.
fn look_up<'o>(
    tables: &Tables<'_, '_, 'o>,
    indices: &[NameIndex<'o>],
    name: &str,
) -> Result<BTreeMap<u64, Vec<NameEntry>>> {
    let mut results = BTreeMap::<_, Vec<_>>::new();
    for index in indices {
        for name in index.find(name.as_bytes())? {
            for entry in index.entries(&name)? {
                let entry = entry?;
                if let Some(named) = named(tables, &entry) {
                    results.entry(named.offset()).or_default().push(entry);
                }
            }
        }
    }
    Ok(results)
}

/// Compares a name's results with an entry: the index must list the entry once, with its own tag and parent.
fn is_found_once<'a, 'o>(
    tables: &mut Tables<'_, 'a, 'o>,
    found: &Result<BTreeMap<u64, Vec<NameEntry>>>,
    indexed: &Indexed,
    entry: Entry<'a, 'o>,
    name: &str,
) {
    tables.report.names += 1;
    // A deeply nested entry's location is expensive, so that it is computed for findings alone.
    let place = || in_section(SECTION, Some(entry.place()));
    let entries = match found {
        Ok(found) => found.get(&entry.offset()).map_or(&[][..], Vec::as_slice),
        Err(error) => return tables.report.unreadable(tables.described.object, error, place()),
    };
    let [found] = entries[..] else {
        let expected = format!("a {} to be found by its name `{name}`, once", entry.tag().describe());
        return tables.report.find(
            FindingKind::Table,
            place(),
            expected,
            format!("it {}", Count(entries.len(), "time")),
        );
    };
    for (expected, found) in report_differences(tables, entry, &found, indexed) {
        let site =
            place().with(|context| context.offset = at_offset(tables, SECTION, entries[0].offset).offset);
        tables.report.find(FindingKind::Table, site, format!("{expected}, of `{name}`"), found);
    }
}

/// Returns the properties that the index has wrong for an entry.
fn report_differences<'a, 'o>(
    tables: &Tables<'_, 'a, 'o>,
    entry: Entry<'a, 'o>,
    found: &NameEntry,
    indexed: &Indexed,
) -> Vec<(String, String)> {
    let mut differences = Vec::new();
    if found.tag != entry.tag() {
        differences.push((entry.tag().describe(), found.tag.describe()));
    }
    let expected = in_tables(tables, entry.unit()).map(|unit| {
        if is_type_unit(unit.kind) { NameUnit::Type(unit.offset) } else { NameUnit::Compile(unit.offset) }
    });
    if found.unit != expected {
        differences.push((expected.describe(), found.unit.describe()));
    }
    let parent = entry.parent().filter(|&parent| class(tables, parent).is_some());
    let is_right = match (parent, found.parent) {
        (None, NameParent::NotIndexed) => true,
        (Some(parent), NameParent::Entry(offset)) => indexed.get(&offset) == Some(&parent.offset()),
        _ => false,
    };
    if !is_right {
        let expected = parent.map_or_else(
            || "a parent that is not indexed".into(),
            |parent| format!("the parent {}", parent.describe()),
        );
        differences.push((expected, found.parent.describe()));
    }
    differences
}

fn offsets(all: &[u64]) -> String {
    all.iter().map(|&offset| Hex(offset)).collect::<Vec<_>>().describe()
}

fn is_type_unit(kind: DwUt) -> bool {
    matches!(kind, dw::DW_UT_type | dw::DW_UT_split_type)
}
