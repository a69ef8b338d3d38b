//! Bytes of debug information: repeated parts, and forms and operations in use.

use core::hash::{BuildHasher, Hash, Hasher};
use std::collections::BTreeMap;

use gimli::DwForm;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

use super::expressions::Expressions;
use crate::op::Decoder;
use crate::read::{Dwarf, ListEntry, Unit};

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

/// Contents of several units.
#[derive(Debug)]
pub(super) struct Tally {
    /// Numbers of attributes.
    pub(super) forms: HashMap<DwForm, u64>,
    operations: HashMap<&'static str, u64>,
    lists: Lists,
}

impl Tally {
    /// Makes an empty one. Those that are [appended](Self::append) to it have the same hasher.
    pub(super) fn new(hasher: &DefaultHashBuilder) -> Self {
        let lists = Lists { hasher: hasher.clone(), places: Vec::new(), hashes: Vec::new() };
        Self { forms: HashMap::new(), operations: HashMap::new(), lists }
    }

    /// Counts a location list, by the index of its unit and its offset.
    pub(super) fn list(&mut self, unit: u32, offset: u64, list: &[ListEntry<'_>]) {
        self.lists.add(unit, offset, list);
    }

    /// Counts the operations of the expressions of a unit.
    pub(super) fn operations(&mut self, expressions: &Expressions<'_>, unit: &Unit<'_>) {
        for (expr, count) in expressions.counts() {
            for decoded in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
                *self.operations.entry(decoded.op.row().text).or_default() += count;
            }
        }
    }

    /// Adds the contents of later units.
    pub(super) fn append(&mut self, later: Self) {
        for (form, number) in later.forms {
            *self.forms.entry(form).or_default() += number;
        }
        for (name, number) in later.operations {
            *self.operations.entry(name).or_default() += number;
        }
        let first = self.lists.places.len() as u64;
        self.lists.places.extend(later.lists.places);
        self.lists.hashes.extend(later.lists.hashes.iter().map(|one| one + first));
    }

    /// Sorts the lists of all units that were added.
    pub(super) fn finish(&mut self) {
        let places = self.lists.places.iter().zip(0..);
        self.lists.hashes = places.map(|(place, index)| u64::from(place.hash) << 32 | index).collect();
        self.lists.hashes.sort_unstable();
    }

    pub(super) fn contents(self, dwarf: &Dwarf<'_>) -> Contents {
        let mut strings = Repeated::default();
        for section in [dwarf.sections().debug_str, dwarf.sections().debug_line_str] {
            let mut seen = HashSet::new();
            for text in section.split_inclusive(|byte| *byte == 0) {
                if !seen.insert(text) {
                    add(&mut strings, text.len());
                }
            }
        }
        let forms = self.forms.into_iter().map(|(form, count)| (form.to_string(), count)).collect();
        let operations = self.operations.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        Contents { strings, lists: self.lists.repeated(dwarf), operations, forms }
    }
}

/// Reads a list in place of another one; empty if it cannot be read.
fn read<'r>(dwarf: &Dwarf<'r>, unit: &Unit<'r>, offset: u64, list: &mut Vec<ListEntry<'r>>) {
    list.clear();
    if dwarf.read_locations(unit, offset, list).is_err() {
        list.clear();
    }
}

/// A list: part of its hash, the index of its unit, and its offset.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    unit: u32,
    offset: u64,
}

/// Location lists. They are compared by reading them again, and take no memory.
#[derive(Debug)]
struct Lists {
    hasher: DefaultHashBuilder,
    places: Vec<Place>,
    /// The hash of each place, and its index.
    hashes: Vec<u64>,
}

/// Pcs and expression of an entry.
fn key<'r>(one: &ListEntry<'r>) -> (u64, u64, &'r [u8]) {
    (one.start, one.end, one.expr)
}

impl Lists {
    fn add(&mut self, unit: u32, offset: u64, list: &[ListEntry<'_>]) {
        // Variables of one place often follow each other.
        if self.places.last().is_some_and(|last| last.offset == offset) {
            return;
        }
        let mut hasher = self.hasher.build_hasher();
        list.iter().for_each(|one| key(one).hash(&mut hasher));
        self.places.push(Place { hash: (hasher.finish() >> 32) as u32, unit, offset });
    }

    /// Counts the lists with the same pcs and expressions as another one. A list to which several variables refer is
    /// there once.
    fn repeated(mut self, dwarf: &Dwarf<'_>) -> Repeated {
        // The hashes of each part of the units are sorted, and are merged.
        self.hashes.sort();
        let (mut found, mut list) = (Repeated::default(), Vec::new());
        for same in self.hashes.chunk_by(|one, other| one >> 32 == other >> 32).filter(|same| same.len() > 1)
        {
            let mut same: Vec<&Place> = same.iter().map(|one| &self.places[*one as u32 as usize]).collect();
            same.sort_unstable_by_key(|place| (place.offset, place.unit));
            same.dedup_by_key(|place| place.offset);
            let mut different: Vec<Vec<ListEntry<'_>>> = Vec::new();
            for place in same {
                let Some(unit) = dwarf.units().get(place.unit as usize) else { continue };
                read(dwarf, unit, place.offset, &mut list);
                match different.iter().any(|one| one.iter().map(key).eq(list.iter().map(key))) {
                    true => add(&mut found, super::walk::list_bytes(&list)),
                    false => different.push(list.clone()),
                }
            }
        }
        found
    }
}

fn add(to: &mut Repeated, bytes: usize) {
    to.copies += 1;
    to.bytes += bytes as u64;
}
