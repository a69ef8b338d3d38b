//! Copies of location lists.

use core::hash::{BuildHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use gimli::constants as dw;
use hashbrown::DefaultHashBuilder;

use super::sizes::{Repeated, add};
use super::walk::list_bytes;
use crate::read::{Dwarf, Entry, ListEntry, Unit, Value, threads};

/// A list: part of its hash, and the index of the entry whose location it is.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    entry: u32,
}

/// Location lists of several units. They are compared by reading them again, and take no memory.
#[derive(Debug)]
pub(super) struct Lists {
    hasher: DefaultHashBuilder,
    places: Vec<Place>,
    /// Offset of the last list.
    last: Option<u64>,
}

impl Lists {
    /// Makes an empty one. Those that are compared have the same hasher.
    pub(super) fn new(hasher: &DefaultHashBuilder) -> Self {
        Self { hasher: hasher.clone(), places: Vec::new(), last: None }
    }

    /// Adds the location list of an entry, by its offset.
    pub(super) fn add(&mut self, entry: Entry<'_, '_>, offset: u64, list: &[ListEntry<'_>]) {
        // Variables of one place often follow each other.
        if self.last.replace(offset) == Some(offset) {
            return;
        }
        let mut hasher = self.hasher.build_hasher();
        list.iter().for_each(|one| key(one).hash(&mut hasher));
        // An index is a number of this type.
        self.places.push(Place { hash: (hasher.finish() >> 32) as u32, entry: entry.index() as u32 });
    }

    /// Sorts the lists by their hashes.
    pub(super) fn sort(&mut self) {
        self.places.sort_unstable_by_key(|place| place.hash);
    }

    /// Returns the lists whose hashes are in a range.
    fn within(&self, hashes: &RangeInclusive<u32>) -> &[Place] {
        let start = self.places.partition_point(|place| place.hash < *hashes.start());
        let end = self.places.partition_point(|place| place.hash <= *hashes.end());
        &self.places[start..end]
    }
}

/// Counts the lists with the same pcs and expressions as another one, on a thread for each of several sorted [`Lists`]. A
/// list to which several variables refer is there once.
pub(super) fn repeated(all: &[Lists], dwarf: &Dwarf<'_>) -> Repeated {
    let threads = all.len() as u64;
    let bound = |number: u64| ((number << 32) / threads) as u32;
    let hashes = |number| bound(number)..=bound(number + 1).wrapping_sub(1);
    let hashes: Vec<_> = (0..threads).map(hashes).collect();
    let mut found = Repeated::default();
    for one in threads::each(&hashes, |hashes| repeated_within(all, dwarf, &hashes)) {
        found.copies += one.copies;
        found.bytes += one.bytes;
    }
    found
}

fn repeated_within(all: &[Lists], dwarf: &Dwarf<'_>, hashes: &RangeInclusive<u32>) -> Repeated {
    let mut rest: Vec<&[Place]> = all.iter().map(|lists| lists.within(hashes)).collect();
    let (mut found, mut list) = (Repeated::default(), Vec::new());
    let (mut same, mut lists) = (Vec::new(), Vec::new());
    while let Some(hash) = rest.iter().filter_map(|places| Some(places.first()?.hash)).min() {
        same.clear();
        for places in &mut rest {
            while let Some((place, others)) = places.split_first().filter(|(place, _)| place.hash == hash) {
                same.push(place.entry);
                *places = others;
            }
        }
        if same.len() < 2 {
            continue;
        }
        lists.clear();
        lists.extend(same.iter().filter_map(|entry| {
            let entry = dwarf.entry_with_index(*entry as usize)?;
            let Some(Value::LocList(offset)) = entry.attr(dw::DW_AT_location) else { return None };
            Some((offset, entry))
        }));
        lists.sort_unstable_by_key(|(offset, entry)| (*offset, entry.index()));
        lists.dedup_by_key(|one| one.0);
        let mut different: Vec<Vec<ListEntry<'_>>> = Vec::new();
        for (offset, entry) in &lists {
            read(dwarf, entry.unit(), *offset, &mut list);
            match different.iter().any(|one| one.iter().map(key).eq(list.iter().map(key))) {
                true => add(&mut found, list_bytes(&list)),
                false => different.push(list.clone()),
            }
        }
    }
    found
}

/// Reads a list in place of another one; empty if it cannot be read.
fn read<'r>(dwarf: &Dwarf<'r>, unit: &Unit<'r>, offset: u64, list: &mut Vec<ListEntry<'r>>) {
    list.clear();
    if dwarf.read_locations(unit, offset, list).is_err() {
        list.clear();
    }
}

/// Pcs and expression of an entry.
fn key<'r>(one: &ListEntry<'r>) -> (u64, u64, &'r [u8]) {
    (one.start, one.end, one.expr)
}
