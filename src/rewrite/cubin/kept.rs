//! Entries that the result has.

use gimli::constants as dw;

use super::copies::Gone;
use crate::import::{EqualTypes, is_root};
use crate::read::{Dwarf, Entry, ResolvedValue};

/// What the result has of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The entry.
    All,
    /// The entry without its code: something else refers to it.
    WithoutCode,
    Nothing,
    /// The entry if something refers to it.
    Referred,
}

/// Attributes that state where code or a variable is.
pub(super) fn is_code(name: gimli::DwAt) -> bool {
    matches!(
        name,
        dw::DW_AT_low_pc
            | dw::DW_AT_high_pc
            | dw::DW_AT_ranges
            | dw::DW_AT_entry_pc
            | dw::DW_AT_frame_base
            | dw::DW_AT_return_addr
            | dw::DW_AT_location
    )
}

/// What becomes of entries to which only removed entries refer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnlyReferred {
    Kept,
    Removed,
}

/// Returns what the result has of each entry, by index.
pub(super) fn parts(
    dwarf: &Dwarf<'_>,
    gone: &Gone,
    equal: &EqualTypes,
    only_referred: OnlyReferred,
) -> Vec<Part> {
    let mut parts = vec![Part::All; dwarf.entries().len()];
    // Other units refer to equal types.
    for entry in dwarf.entries().filter(|entry| equal.first(entry.index()).is_some()) {
        parts[entry.index()] = Part::Nothing;
    }
    let mut removed = Vec::new();
    let functions = gone.discarded.iter().chain(&gone.copies);
    for function in functions.filter_map(|&index| dwarf.entry_with_index(index)) {
        for inner in with_descendants(function) {
            parts[inner.index()] = Part::Nothing;
            removed.push(inner);
        }
    }
    if only_referred == OnlyReferred::Removed {
        while let Some(entry) = removed.pop() {
            for referred in references(entry, equal) {
                if parts[referred.index()] == Part::All && !is_root(referred) {
                    for inner in with_descendants(referred) {
                        if parts[inner.index()] == Part::All {
                            parts[inner.index()] = Part::Referred;
                            removed.push(inner);
                        }
                    }
                }
            }
        }
    }
    let mut open: Vec<Entry<'_, '_>> =
        dwarf.entries().filter(|entry| parts[entry.index()] == Part::All).collect();
    while let Some(entry) = open.pop() {
        for referred in references(entry, equal) {
            // What is around an entry is needed for it.
            let mut next = Some(referred);
            while let Some(entry) = next {
                match parts[entry.index()] {
                    Part::All | Part::WithoutCode => break,
                    Part::Nothing => {
                        parts[entry.index()] = Part::WithoutCode;
                        open.push(entry);
                    }
                    Part::Referred => {
                        for inner in with_descendants(entry) {
                            if parts[inner.index()] == Part::Referred {
                                parts[inner.index()] = Part::All;
                                open.push(inner);
                            }
                        }
                    }
                }
                next = entry.parent();
            }
        }
    }
    for part in &mut parts {
        if *part == Part::Referred {
            *part = Part::Nothing;
        }
    }
    parts
}

fn with_descendants<'r, 'o>(entry: Entry<'r, 'o>) -> impl Iterator<Item = Entry<'r, 'o>> {
    core::iter::once(entry).chain(entry.descendants())
}

/// Returns the entries to which an entry refers, apart from its place in the tree.
fn references<'r, 'o>(entry: Entry<'r, 'o>, equal: &EqualTypes) -> impl Iterator<Item = Entry<'r, 'o>> {
    let attributes = entry.attributes().filter(|attribute| attribute.name != dw::DW_AT_sibling);
    let references = attributes.filter(|it| matches!(it.value, ResolvedValue::Reference(_)));
    references.filter_map(move |attribute| {
        let referred = entry.referred(attribute.value)?;
        let first = equal.first(referred.index());
        first.map_or(Some(referred), |first| entry.dwarf().entry_with_index(first))
    })
}
