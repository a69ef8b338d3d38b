//! Copies of location lists.

use core::hash::{BuildHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use hashbrown::DefaultHashBuilder;

use super::sizes::{Repeated, add};
use super::walk::list_bytes;
use crate::read::{Dwarf, ListEntry, Unit, threads};

/// A list: part of its hash, the index of its unit, and its offset.
#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    unit: u32,
    offset: u64,
}

/// Location lists of several units. They are compared by reading them again, and take no memory.
#[derive(Debug)]
pub(super) struct Lists {
    hasher: DefaultHashBuilder,
    places: Vec<Place>,
}

impl Lists {
    /// Makes an empty one. Those that are compared have the same hasher.
    pub(super) fn new(hasher: &DefaultHashBuilder) -> Self {
        Self { hasher: hasher.clone(), places: Vec::new() }
    }

    /// Adds a list, by the index of its unit and its offset.
    pub(super) fn add(&mut self, unit: u32, offset: u64, list: &[ListEntry<'_>]) {
        // Variables of one place often follow each other.
        if self.places.last().is_some_and(|last| last.offset == offset) {
            return;
        }
        let mut hasher = self.hasher.build_hasher();
        list.iter().for_each(|one| key(one).hash(&mut hasher));
        self.places.push(Place { hash: (hasher.finish() >> 32) as u32, unit, offset });
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
    let (mut found, mut list, mut same) = (Repeated::default(), Vec::new(), Vec::new());
    while let Some(hash) = rest.iter().filter_map(|places| Some(places.first()?.hash)).min() {
        same.clear();
        for places in &mut rest {
            while let Some((place, others)) = places.split_first().filter(|(place, _)| place.hash == hash) {
                same.push(*place);
                *places = others;
            }
        }
        if same.len() < 2 {
            continue;
        }
        same.sort_unstable_by_key(|place| (place.offset, place.unit));
        same.dedup_by_key(|place| place.offset);
        let mut different: Vec<Vec<ListEntry<'_>>> = Vec::new();
        for place in &same {
            let Some(unit) = dwarf.units().get(place.unit as usize) else { continue };
            read(dwarf, unit, place.offset, &mut list);
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
