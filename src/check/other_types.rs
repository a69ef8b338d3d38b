//! Types that no other entity refers to.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use gimli::{DwTag, constants as dw};

use super::comparison::Compare;
use super::describe::Describe;
use super::report::FindingKind;
use super::structure::compare_scope;
use super::tree::{Entity, is_type};
use super::types::{MatchedType, defer, same_type};
use crate::model::{ExtraValue, Module, TypeId, UnitId};
use crate::omission::{Property, Subject};
use crate::read::Entry;

/// Compares the types that no entity in the module refers to with the remaining entries, and composite types' scopes.
pub(super) fn compare_other_types<'a, 'o>(compare: &mut Compare<'a, 'o>, unit: UnitId, root: Entry<'a, 'o>) {
    let module = compare.described.module;
    compare_type_scopes(compare);
    let mut entries = BTreeMap::<(u16, Cow<'_, str>), VecDeque<Entry<'a, 'o>>>::new();
    for entry in root.descendants().filter(|entry| is_type(*entry)) {
        let key = (entry.tag().0, entry.name().unwrap_or_default());
        entries.entry(key).or_default().push_back(entry);
    }
    let site = module.at_scope(module.unit(unit).scope);
    let span = root.unit().offset..root.unit().end;
    for &id in &compare.described.index.types[unit] {
        let is_omitted = compare.described.omitted.count(Subject::Type(id), Property::Entity) > 0;
        if is_omitted || is_compared(compare, id, &span) {
            continue;
        }
        let ty = module.ty(id);
        let tag = ty.kind().tag();
        let name = name(module, id);
        let of_kind = entries.entry((tag.0, name.into())).or_default();
        // Entries that a reference matched are no longer candidates. Usually these are the first, because entries are in
        // module order.
        let is_taken = |entry: &Entry<'_, '_>| compare.known.type_entries.contains(&entry.offset());
        while of_kind.front().is_some_and(is_taken) {
            of_kind.pop_front();
        }
        match first_like(compare, id, of_kind, (tag, name)) {
            Some(matched) => {
                defer(compare, matched, Entity::Inside(module.unit(unit).scope));
                // A matched type can declare types, whose entries are then taken.
                compare_type_scopes(compare);
            }
            None => {
                compare.report.find(
                    FindingKind::Type,
                    site.clone(),
                    format!("{} `{name}`", tag.describe()),
                    "none like it",
                );
            }
        }
    }
    for entry in root.descendants().filter(|entry| is_type(*entry)) {
        // Expressions use base types of their own, even if all expressions that need such a type are omitted.
        let is_own = |entry: Entry<'_, '_>| {
            entry.tag() == dw::DW_TAG_base_type
                && !entry.has(dw::DW_AT_location)
                && compare.file.references.entries().contains_key(&entry.offset())
        };
        let is_known = compare.known.type_entries.contains(&entry.offset()) || is_own(entry);
        if !is_known && !is_for_expressions(compare, entry) {
            let name = entry.name().unwrap_or_default();
            let actual = format!("{} `{name}`", entry.tag().describe());
            compare.report.find(FindingKind::Extra, site.clone(), "no more types", actual);
        }
    }
}

/// Returns the name of a type's entry: the type's, or a name that is an attribute of a kind of type without names, such
/// as Go's pointers.
fn name(module: &Module, id: TypeId) -> &str {
    let attribute = || {
        let name = module.attributes(id).iter().find(|attribute| attribute.name == dw::DW_AT_name)?;
        match name.value {
            ExtraValue::Text(text) => Some(text),
            _ => None,
        }
    };
    module.ty(id).name().or_else(attribute).map_or("", |name| module.string(name))
}

/// Compares a type with the entries of its kind, and then with those in type units, until an entry matches. An entry in
/// the type's own scope has priority.
fn first_like<'a, 'o>(
    compare: &mut Compare<'a, 'o>,
    id: TypeId,
    of_kind: &VecDeque<Entry<'a, 'o>>,
    (tag, name): (DwTag, &'a str),
) -> Option<MatchedType<'a, 'o>> {
    let scope = compare.described.module.ty(id).scope();
    for in_scope in [true, false] {
        for &entry in of_kind {
            crate::work::step();
            let is_in_scope = entry.parent().is_some_and(|parent| compare.known.is_scope(scope, parent));
            if is_in_scope == in_scope
                && !compare.known.type_entries.contains(&entry.offset())
                && let Ok(matched) = same_type(compare, id, entry)
            {
                return Some(matched);
            }
        }
    }
    // A type unit is the last choice, because entries in the unit itself are more likely.
    let in_type_units: Vec<_> = in_type_units(compare, tag, name).collect();
    in_type_units.into_iter().find_map(|entry| same_type(compare, id, entry).ok())
}

/// Returns whether an entry is a base type for narrow registers in typed expressions, by the name that LLVM gives
/// it.
fn is_for_expressions<'a, 'o>(compare: &Compare<'a, 'o>, entry: Entry<'a, 'o>) -> bool {
    let is_typed =
        entry.tag() == dw::DW_TAG_base_type && !compare.described.consumer.has_locations_on_the_stack();
    let bits = entry.number(dw::DW_AT_byte_size).unwrap_or(0).saturating_mul(8);
    is_typed && entry.name().is_some_and(|name| name == format!("unsigned_{bits}"))
}

/// Compares the scopes of composite types seen so far.
fn compare_type_scopes(compare: &mut Compare<'_, '_>) {
    while let Some((scope, entry)) = compare.pending.types.pop() {
        compare_scope(compare, scope, entry);
    }
}

/// Entries for types with this tag and name that have type units.
pub(super) fn in_type_units<'a, 'o>(
    compare: &Compare<'a, 'o>,
    tag: DwTag,
    name: &'a str,
) -> impl Iterator<Item = Entry<'a, 'o>> {
    let entries = compare.type_units.get(&(tag.0, Cow::Borrowed(name)));
    entries.map_or(&[][..], Vec::as_slice).iter().copied()
}

/// Returns whether a type was compared with an entry in this offset range, or with a type unit's subject.
pub(super) fn is_compared(compare: &Compare<'_, '_>, id: TypeId, unit: &Range<u64>) -> bool {
    let mut entries = compare.known.types.range((id, 0)..=(id, u64::MAX)).map(|&(_, offset)| offset);
    entries.any(|offset| {
        let is_own =
            || compare.file.dwarf.unit_at(offset).is_some_and(|unit| unit.type_offset == Some(offset));
        unit.contains(&offset) || is_own()
    })
}
