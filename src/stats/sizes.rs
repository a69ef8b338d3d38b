//! Bytes of debug information: repeated parts, and forms and operations in use.

use core::hash::{BuildHasher, Hash, Hasher};
use std::collections::BTreeMap;

use gimli::{DwForm, constants as dw};
use hashbrown::hash_table::Entry as Slot;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};

use crate::op::Decoder;
use crate::read::{ByAbbreviation, Dwarf, Entry, ListEntry, Unit, Value};

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
    let mut locations = ByAbbreviation::default();
    let mut list = Vec::new();
    for (unit, number) in dwarf.units().iter().zip(0..) {
        for entry in dwarf.entries_of(unit) {
            crate::work::step();
            forms.count(entry);
            let position = *locations.of(entry, || {
                let mut names = entry.names();
                names.position(|name| name == dw::DW_AT_location).map(|position| position as u32)
            });
            let mut location = entry.attributes_at(position.iter());
            match location.next().and_then(|location| location.value(entry)) {
                Some(Value::Expr(expr)) => *expressions.entry(expr).or_default() += 1,
                Some(Value::LocList(offset)) => {
                    read(dwarf, unit, offset, &mut list);
                    for one in &list {
                        *expressions.entry(one.expr).or_default() += 1;
                    }
                    if lists.is_repeated(number, offset, &list) {
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

/// Reads a list in place of another one; empty if it cannot be read.
fn read<'r>(dwarf: &'r Dwarf<'r>, unit: &Unit<'r>, offset: u64, list: &mut Vec<ListEntry<'r>>) {
    list.clear();
    if dwarf.read_locations(unit, offset, list).is_err() {
        list.clear();
    }
}

/// Numbers of attributes by form.
#[derive(Debug, Default)]
struct Forms<'r> {
    /// Entries of one abbreviation have the same forms: one of the entries, and their number.
    abbreviations: HashMap<(u32, u32), (Entry<'r, 'r>, u64)>,
    /// The last entries, of one abbreviation.
    last: Option<(Entry<'r, 'r>, u64)>,
    /// Numbers of attributes of entries that have forms of their own.
    counts: HashMap<DwForm, u64>,
}

impl<'r> Forms<'r> {
    fn count(&mut self, entry: Entry<'r, 'r>) {
        match &mut self.last {
            Some((last, count)) if last.abbreviation_number() == entry.abbreviation_number() => *count += 1,
            _ => {
                self.count_last();
                match entry.specs().iter().any(|spec| spec.form() == dw::DW_FORM_indirect) {
                    true => self.add(entry, 1),
                    false => self.last = Some((entry, 1)),
                }
            }
        }
    }

    fn count_last(&mut self) {
        if let Some((entry, count)) = self.last.take() {
            self.abbreviations.entry(entry.abbreviation_number()).or_insert((entry, 0)).1 += count;
        }
    }

    fn add(&mut self, entry: Entry<'_, '_>, number: u64) {
        for attribute in entry.attributes() {
            *self.counts.entry(attribute.form).or_default() += number;
        }
    }

    fn by_name(mut self) -> BTreeMap<String, u64> {
        self.count_last();
        for (entry, number) in std::mem::take(&mut self.abbreviations).into_values() {
            self.add(entry, number);
        }
        self.counts.into_iter().map(|(form, count)| (form.to_string(), count)).collect()
    }
}

/// A list: part of its hash, the index of its unit, and its offset.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    unit: u32,
    offset: u64,
}

/// Location lists that differ.
struct Lists<'r> {
    dwarf: &'r Dwarf<'r>,
    hasher: DefaultHashBuilder,
    /// Offsets of the lists that equal another one.
    copies: HashSet<u64>,
    /// Lists are compared by reading them again: they take no memory.
    different: HashTable<Place>,
    other: Vec<ListEntry<'r>>,
}

impl<'r> Lists<'r> {
    fn new(dwarf: &'r Dwarf<'r>) -> Self {
        let (hasher, copies) = (DefaultHashBuilder::default(), HashSet::new());
        Self { dwarf, hasher, copies, different: HashTable::new(), other: Vec::new() }
    }

    /// Whether another list has the same pcs and expressions. A list to which several variables refer is there once.
    fn is_repeated(&mut self, unit: u32, offset: u64, list: &[ListEntry<'r>]) -> bool {
        if self.copies.contains(&offset) {
            return false;
        }
        let key = |one: &ListEntry<'r>| (one.start, one.end, one.expr);
        let mut hasher = self.hasher.build_hasher();
        list.iter().for_each(|one| key(one).hash(&mut hasher));
        let hash = (hasher.finish() >> 32) as u32;
        let whole = |hash: u32| u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (dwarf, other) = (self.dwarf, &mut self.other);
        let is_equal = |place: &Place| {
            place.hash == hash
                && (place.offset == offset || {
                    dwarf.units().get(place.unit as usize).is_some_and(|unit| {
                        read(dwarf, unit, place.offset, other);
                        other.iter().map(key).eq(list.iter().map(key))
                    })
                })
        };
        match self.different.entry(whole(hash), is_equal, |place| whole(place.hash)) {
            Slot::Occupied(known) => known.get().offset != offset && self.copies.insert(offset),
            Slot::Vacant(slot) => {
                slot.insert(Place { hash, unit, offset });
                false
            }
        }
    }
}

fn add(to: &mut Repeated, bytes: usize) {
    to.copies += 1;
    to.bytes += bytes as u64;
}
