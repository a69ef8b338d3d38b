//! Bytes of debug information: repeated parts, and forms and operations in use.

use core::hash::BuildHasher;
use std::collections::BTreeMap;

use gimli::{DwForm, constants as dw};
use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use smallvec::SmallVec;

use crate::op::Decoder;
use crate::read::{Dwarf, Entry, ListEntry, Unit, Value};

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

pub(super) fn contents<'r>(dwarf: &'r Dwarf<'r>) -> Contents {
    let mut found = Contents::default();
    for section in [dwarf.sections().debug_str, dwarf.sections().debug_line_str] {
        let mut seen = HashSet::new();
        for text in section.split_inclusive(|byte| *byte == 0) {
            if !seen.insert(text) {
                add(&mut found.strings, text.len());
            }
        }
    }
    let mut forms = Forms::default();
    let mut operations: HashMap<&str, u64> = HashMap::new();
    let mut expressions: HashMap<&[u8], u64> = HashMap::new();
    let mut lists = Lists::new(dwarf);
    for unit in dwarf.units() {
        for entry in dwarf.entries_of(unit) {
            crate::work::step();
            forms.count(entry);
            match entry.attr(dw::DW_AT_location) {
                Some(Value::Expr(expr)) => *expressions.entry(expr).or_default() += 1,
                Some(Value::LocList(offset)) => {
                    let list = read(dwarf, unit, offset);
                    for one in &list {
                        *expressions.entry(one.expr).or_default() += 1;
                    }
                    if lists.is_repeated(unit, offset, &list) {
                        add(&mut found.lists, super::walk::list_bytes(&list));
                    }
                }
                _ => {}
            }
        }
        for (expr, count) in expressions.drain() {
            for decoded in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
                *operations.entry(decoded.op.row().text).or_default() += count;
            }
        }
    }
    found.operations = operations.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
    found.forms = forms.by_name();
    found
}

/// Returns a list; empty if it cannot be read.
fn read<'r>(dwarf: &'r Dwarf<'r>, unit: &Unit<'r>, offset: u64) -> Vec<ListEntry<'r>> {
    dwarf.locations(unit, offset).and_then(Iterator::collect).unwrap_or_default()
}

/// Numbers of attributes by form.
#[derive(Debug, Default)]
struct Forms<'r> {
    /// Entries of one abbreviation have the same forms: one of the entries, and their number.
    abbreviations: HashMap<(u32, u32), (Entry<'r, 'r>, u64)>,
    /// Numbers of attributes of entries that have forms of their own.
    counts: HashMap<DwForm, u64>,
}

impl<'r> Forms<'r> {
    fn count(&mut self, entry: Entry<'r, 'r>) {
        if entry.forms().any(|form| form == dw::DW_FORM_indirect) {
            self.add(entry, 1);
        } else {
            self.abbreviations.entry(entry.abbreviation_number()).or_insert((entry, 0)).1 += 1;
        }
    }

    fn add(&mut self, entry: Entry<'_, '_>, number: u64) {
        for attribute in entry.attributes() {
            *self.counts.entry(attribute.form).or_default() += number;
        }
    }

    fn by_name(mut self) -> BTreeMap<String, u64> {
        for (entry, number) in std::mem::take(&mut self.abbreviations).into_values() {
            self.add(entry, number);
        }
        self.counts.into_iter().map(|(form, count)| (form.to_string(), count)).collect()
    }
}

/// Location lists that differ.
struct Lists<'r> {
    dwarf: &'r Dwarf<'r>,
    hasher: DefaultHashBuilder,
    seen: HashSet<u64>,
    /// Hash of the list, offset of its unit, and its own. Lists are compared by reading them again: they take no memory.
    different: HashTable<(u64, u64, u64)>,
}

impl<'r> Lists<'r> {
    fn new(dwarf: &'r Dwarf<'r>) -> Self {
        let (hasher, seen) = (DefaultHashBuilder::default(), HashSet::new());
        Self { dwarf, hasher, seen, different: HashTable::new() }
    }

    /// Whether another list has the same pcs and expressions. A list to which several variables refer is there once.
    fn is_repeated(&mut self, unit: &Unit<'r>, offset: u64, list: &[ListEntry<'r>]) -> bool {
        if !self.seen.insert(offset) {
            return false;
        }
        let (dwarf, key) = (self.dwarf, |one: &ListEntry<'r>| (one.start, one.end, one.expr));
        let hash = self.hasher.hash_one(list.iter().map(key).collect::<SmallVec<[_; 4]>>());
        let is_equal = |place: &(u64, u64, u64)| {
            let stored = || dwarf.unit_at(place.1).map(|unit| read(dwarf, unit, place.2)).unwrap_or_default();
            place.0 == hash && stored().iter().map(key).eq(list.iter().map(key))
        };
        let slot = self.different.entry(hash, is_equal, |place| place.0);
        let is_known = matches!(slot, Slot::Occupied(_));
        slot.or_insert((hash, unit.offset, offset));
        is_known
    }
}

fn add(to: &mut Repeated, bytes: usize) {
    to.copies += 1;
    to.bytes += bytes as u64;
}
