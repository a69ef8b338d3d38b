//! Variables of inlined functions whose instances have no entry for them.

use std::collections::HashMap;

use gimli::DwTag;
use gimli::constants as dw;

use eitri_dwarf::read::{Entry, Object, Value};

/// Offset in the input section, and tag, of a variable in an abstract instance.
pub(super) type Abstract = (u64, DwTag);

/// Variables of abstract instances, by the offset of the function.
pub(super) type Origins = HashMap<u64, Vec<Abstract>>;

/// Calls a function for each variable and parameter of a function outside of inlined calls.
fn variables<'r, 'o>(function: Entry<'r, 'o>, mut each: impl FnMut(Entry<'r, 'o>)) {
    let mut scopes = vec![function];
    while let Some(scope) = scopes.pop() {
        for child in scope.children() {
            match child.tag() {
                dw::DW_TAG_formal_parameter | dw::DW_TAG_variable => each(child),
                dw::DW_TAG_lexical_block => scopes.push(child),
                _ => {}
            }
        }
    }
}

/// Returns the variables of an abstract instance, in an input section with this start.
pub(super) fn abstract_variables(function: Entry<'_, '_>, start: u64) -> Vec<Abstract> {
    let mut abstracts = Vec::new();
    variables(function, |one| abstracts.push((one.offset() - start, one.tag())));
    abstracts
}

/// Removes the variables that have a location in a concrete instance. The input section of the function begins at
/// `start`.
pub(super) fn remove_located(function: Entry<'_, '_>, start: u64, all: &mut Vec<Abstract>) {
    variables(function, |one| {
        if is_located(one)
            && let Some(origin) = origin(one, start)
        {
            all.retain(|known| known.0 != origin);
        }
    });
}

pub(super) fn is_located(entry: Entry<'_, '_>) -> bool {
    entry.has(dw::DW_AT_location) || entry.has(dw::DW_AT_const_value)
}

/// Sections `.debug_info` of an unlinked file, which are concatenated: each group of a type unit has one.
#[derive(Debug, Default)]
pub(super) struct InputSections {
    /// Start offsets without the first, and the end offset.
    starts: Vec<u64>,
}

impl InputSections {
    pub(super) fn of(object: &Object<'_>) -> Self {
        let sections = object.sections().iter().filter(|section| section.name == ".debug_info");
        let ends = sections.scan(0u64, |end, section| {
            *end = end.saturating_add(section.size);
            Some(*end)
        });
        Self { starts: ends.collect() }
    }

    /// Returns the start of the section that has an offset in the concatenation.
    pub(super) fn start(&self, offset: u64) -> u64 {
        let number = self.starts.partition_point(|start| *start <= offset);
        number.checked_sub(1).map_or(0, |at| self.starts[at])
    }
}

/// Returns the number of `DW_AT_abstract_origin` as encoded, in an input section with this start. Version 9 compares the
/// number with offsets in the section, also where it is an offset in the unit.
pub(super) fn origin(entry: Entry<'_, '_>, start: u64) -> Option<u64> {
    let mut attributes = entry.attributes();
    let origin = attributes.find(|one| one.name == dw::DW_AT_abstract_origin)?;
    let Value::Reference(offset) = origin.value else { return None };
    match origin.form {
        dw::DW_FORM_ref_addr => offset.checked_sub(start),
        _ => offset.checked_sub(entry.unit().offset),
    }
}
