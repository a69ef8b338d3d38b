//! Contents of debug sections: repeated strings and lists, operations, forms.

use std::collections::{BTreeMap, HashMap};

use gimli::constants as dw;

use crate::op::Decoder;
use crate::read::{Dwarf, Value};

/// Contents that a section has more than once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Number of copies beyond the first.
    pub copies: u64,
    /// Bytes of these copies.
    pub bytes: u64,
}

/// Contents of the debug sections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Strings of `.debug_str` and `.debug_line_str`.
    pub strings: Repeated,
    /// Lists of locations, by their expressions and pcs.
    pub lists: Repeated,
    /// Numbers of operations in locations, by name.
    pub operations: BTreeMap<String, u64>,
    /// Numbers of attributes, by the name of their form.
    pub forms: BTreeMap<String, u64>,
}

pub(super) fn contents(dwarf: &Dwarf<'_>) -> Contents {
    let mut found = Contents::default();
    for section in [dwarf.sections().debug_str, dwarf.sections().debug_line_str] {
        let mut seen: HashMap<&[u8], ()> = HashMap::new();
        for text in section.split_inclusive(|byte| *byte == 0) {
            if seen.insert(text, ()).is_some() {
                add(&mut found.strings, text.len());
            }
        }
    }
    let mut operations: HashMap<&str, u64> = HashMap::new();
    let mut forms: HashMap<gimli::DwForm, u64> = HashMap::new();
    let mut lists: HashMap<Vec<u8>, Vec<u64>> = HashMap::new();
    for entry in dwarf.entries() {
        crate::work::step();
        for attribute in entry.attributes() {
            *forms.entry(attribute.form).or_default() += 1;
        }
        let list = entry.locations(dw::DW_AT_location).ok().flatten().unwrap_or_default();
        for one in &list {
            for decoded in Decoder::new(one.expr, entry.unit().encoding).map_while(Result::ok) {
                *operations.entry(decoded.op.row().text).or_default() += 1;
            }
        }
        if let Some(Value::LocList(offset)) = entry.attr(dw::DW_AT_location) {
            let mut key = Vec::new();
            for one in &list {
                key.extend(one.start.to_le_bytes());
                key.extend(one.end.to_le_bytes());
                key.extend((one.expr.len() as u64).to_le_bytes());
                key.extend(one.expr);
            }
            // A list to which several variables refer is there once.
            let known = lists.entry(key).or_default();
            if !known.contains(&offset) {
                if !known.is_empty() {
                    add(&mut found.lists, super::walk::list_bytes(&list));
                }
                known.push(offset);
            }
        }
    }
    found.operations = operations.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    found.forms = forms.into_iter().map(|(form, count)| (form.to_string(), count)).collect();
    found
}

fn add(to: &mut Repeated, bytes: usize) {
    to.copies += 1;
    to.bytes += bytes as u64;
}
