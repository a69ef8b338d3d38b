//! Variables of inlined functions whose instances have no entry for them.

use std::collections::HashMap;

use gimli::DwTag;
use gimli::constants as dw;

use crate::read::{Entry, Value};

/// Offset and tag of a variable in an abstract instance.
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

/// Returns the variables of an abstract instance.
pub(super) fn abstract_variables(function: Entry<'_, '_>) -> Vec<Abstract> {
    let mut all = Vec::new();
    variables(function, |one| all.push((one.offset(), one.tag())));
    all
}

/// Removes the variables that have a place in a concrete instance.
pub(super) fn remove_located(function: Entry<'_, '_>, all: &mut Vec<Abstract>) {
    variables(function, |one| {
        if is_located(one)
            && let Some(origin) = origin(one)
        {
            all.retain(|known| known.0 != origin);
        }
    });
}

pub(super) fn is_located(entry: Entry<'_, '_>) -> bool {
    entry.has(dw::DW_AT_location) || entry.has(dw::DW_AT_const_value)
}

/// Returns the number of `DW_AT_abstract_origin` as encoded. Version 9 compares it with offsets in the section, also
/// where it is an offset in the unit.
pub(super) fn origin(entry: Entry<'_, '_>) -> Option<u64> {
    let mut attributes = entry.attributes();
    let found = attributes.find(|one| one.name == dw::DW_AT_abstract_origin)?;
    let Value::Reference(offset) = found.value else { return None };
    match found.form {
        dw::DW_FORM_ref_addr => Some(offset),
        _ => offset.checked_sub(entry.unit().offset),
    }
}
