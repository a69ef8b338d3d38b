//! Declarations of a type that a type unit completes. A unit repeats the functions and static members of the type that it
//! defines, because it cannot refer into a type unit: they are those of the complete type. DWARF 5 section 3.1.4.

use gimli::{DwAt, DwTag, constants as dw};
use hashbrown::HashMap;

use super::node::{Class, Key, class};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// Identity of a type's part. A nested type that is described in a type unit of its own, as by clang, has a signature only.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Part<'o> {
    tag: DwTag,
    name: Option<&'o [u8]>,
    linkage_name: Option<&'o [u8]>,
    /// Without a linkage name. The files of a type unit and of its declaration can have a function in different lines.
    line: Option<u64>,
    /// The type in the type unit that the signature names.
    described: Option<Key>,
}

/// Parts of complete types, by the offset of the type.
#[derive(Debug, Default)]
pub(super) struct CompletedTypes<'o> {
    /// Whether the file has type units.
    pub(super) has_any: bool,
    /// `None` for a part that is there several times.
    parts: HashMap<Key, HashMap<Part<'o>, Option<Key>>>,
}

impl<'o> CompletedTypes<'o> {
    pub(super) fn new(dwarf: &Dwarf<'o>) -> Self {
        let has_any = dwarf.units().iter().any(|unit| unit.kind == dw::DW_UT_type);
        Self { has_any, parts: HashMap::new() }
    }

    /// Returns the entry that an entry of a declaration repeats: a part of the complete type, or a parameter of such a part.
    pub(super) fn repeated<'d>(&mut self, entry: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
        if !self.has_any {
            return None;
        }
        let part = self.part(entry);
        part.or_else(|| {
            let around = entry.parent()?;
            let repeated = self.part(around)?;
            let index = repeated.index() + (entry.index() - around.index());
            let same = repeated.dwarf().entry_with_index(index)?;
            (around.descendants().len() > 0 && same.tag() == entry.tag()).then_some(same)
        })
    }

    /// Returns the part of the complete type that a part of a declaration repeats.
    fn part<'d>(&mut self, entry: Entry<'d, 'o>) -> Option<Entry<'d, 'o>> {
        let ty = entry.parent()?.reference(dw::DW_AT_signature)?;
        let parts = self.parts.entry(ty.offset()).or_insert_with(|| {
            let mut parts = HashMap::new();
            for child in ty.children() {
                parts.entry(key(child)).and_modify(|part| *part = None).or_insert(Some(child.offset()));
            }
            parts
        });
        let part = entry.dwarf().entry_at(parts.get(&key(entry)).copied().flatten()?)?;
        // A declaration can be without parameters.
        let inside = entry.descendants().len();
        (inside == 0 || inside == part.descendants().len()).then_some(part)
    }
}

/// Returns what tells a part apart.
fn key<'o>(entry: Entry<'_, 'o>) -> Part<'o> {
    let text = |name| match entry.attr(name) {
        Some(ResolvedValue::String(text)) => Some(text.bytes()),
        _ => None,
    };
    let linkage_name = text(dw::DW_AT_linkage_name).or_else(|| text(dw::DW_AT_MIPS_linkage_name));
    Part {
        tag: entry.tag(),
        name: text(dw::DW_AT_name),
        linkage_name,
        line: entry.number(dw::DW_AT_decl_line).filter(|_| linkage_name.is_none()),
        described: entry.reference(dw::DW_AT_signature).map(|ty| ty.offset()),
    }
}

/// Returns whether the part of a complete type has an attribute of a part of its declaration. Positions in a unit differ in
/// the number of the file, and a declaration says that it is one.
pub(super) fn says<'o>(
    part: Entry<'_, 'o>,
    entry: Entry<'_, 'o>,
    name: DwAt,
    value: ResolvedValue<'o>,
) -> bool {
    if matches!(name, dw::DW_AT_declaration | dw::DW_AT_sibling | dw::DW_AT_decl_file) {
        return true;
    }
    let Some(complete) = part.attr(name) else { return value == ResolvedValue::Flag(false) };
    match (entry.referred(value), part.referred(complete)) {
        (Some(referred), Some(complete)) => are_alike(referred, complete),
        // Abbreviations have a number as an implicit constant, too.
        (None, None) => match (value.unsigned(), complete.unsigned()) {
            (Some(number), Some(complete)) => number == complete,
            _ => value == complete,
        },
        _ => false,
    }
}

/// Returns whether two entries have equal tags and names. Types without a name are spelled as in a source; a declaration of clang
/// has only the signature of its type.
fn are_alike<'o>(left: Entry<'_, 'o>, right: Entry<'_, 'o>) -> bool {
    let [left, right] = [left, right].map(|entry| entry.signed().unwrap_or(entry));
    let are_named_alike = match class(left) {
        Class::Type => left.type_name() == right.type_name(),
        _ => left.name() == right.name(),
    };
    left.tag() == right.tag() && are_named_alike
}
