//! Repeated location lists.

use core::hash::{BuildHasher, Hash, Hasher};
use core::ops::AddAssign;
use core::sync::atomic::{AtomicUsize, Ordering};

use gimli::constants as dw;
use hashbrown::DefaultHashBuilder;

use eitri_dwarf::read::{Dwarf, Entry, ListEntry, ResolvedValue, Unit, threads};

/// Contents that a section has more than once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repeated {
    /// Number of copies beyond the first.
    pub copies: u64,
    /// Bytes in these copies.
    pub bytes: u64,
}

impl AddAssign for Repeated {
    fn add_assign(&mut self, other: Self) {
        self.copies += other.copies;
        self.bytes += other.bytes;
    }
}

/// A list: part of its hash, and the index of the entry whose location it is.
#[derive(Debug, Clone, Copy)]
struct HashedList {
    hash: u32,
    entry: u32,
}

/// Number of groups. Lists with equal hashes are in the same group.
const GROUPS: usize = 32;

/// Location lists in several units. Lists are read again to compare them, so that they take no memory.
#[derive(Debug, Default)]
pub(super) struct Lists {
    hasher: DefaultHashBuilder,
    groups: [Vec<HashedList>; GROUPS],
    /// Last list's offset.
    last: Option<u64>,
}

impl Lists {
    /// Creates an empty set, with memory for `entries` lists. Unused memory is not touched. Sets that are compared have
    /// the same hasher.
    pub(super) fn new(hasher: &DefaultHashBuilder, entries: usize) -> Self {
        let groups = std::array::from_fn(|_| Vec::with_capacity(entries / GROUPS));
        Self { hasher: hasher.clone(), groups, last: None }
    }

    /// Adds an entry's location list, by its offset.
    pub(super) fn add(&mut self, entry: Entry<'_, '_>, offset: u64, list: &[ListEntry<'_>]) {
        // Consecutive variables often have the same list.
        if self.last.replace(offset) == Some(offset) {
            return;
        }
        let mut hasher = self.hasher.build_hasher();
        list.iter().for_each(|entry| key(entry).hash(&mut hasher));
        let hash = (hasher.finish() >> 32) as u32;
        // An index fits this type.
        self.groups[hash as usize % GROUPS].push(HashedList { hash, entry: entry.index() as u32 });
    }
}

/// Counts the lists that repeat an earlier list's pcs and expressions, on several threads. The function takes groups
/// from `next`, so that a second call counts only the remaining groups. A list that several variables reference counts
/// once.
pub(super) fn repeated(sets: &[Lists], next: &AtomicUsize, dwarf: &Dwarf<'_>, threads: usize) -> Repeated {
    let parts = threads::each(&vec![(); threads.min(GROUPS)], |()| {
        let mut repeated = Repeated::default();
        let groups = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        groups
            .take_while(|group| *group < GROUPS)
            .for_each(|group| repeated_in(group, sets, dwarf, &mut repeated));
        repeated
    });
    let mut repeated = Repeated::default();
    parts.into_iter().for_each(|part| repeated += part);
    repeated
}

fn repeated_in(group: usize, sets: &[Lists], dwarf: &Dwarf<'_>, repeated: &mut Repeated) {
    let mut places: Vec<_> = sets.iter().flat_map(|lists| &lists.groups[group]).copied().collect();
    places.sort_unstable_by_key(|place| place.hash);
    let mut list = Vec::new();
    let mut lists = Vec::new();
    for same in places.chunk_by(|list, next| list.hash == next.hash).filter(|same| same.len() > 1) {
        lists.clear();
        lists.extend(same.iter().filter_map(|place| {
            let entry = dwarf.entry_with_index(place.entry as usize)?;
            let Some(ResolvedValue::LocList(offset)) = entry.attr(dw::DW_AT_location) else { return None };
            Some((offset, entry))
        }));
        lists.sort_unstable_by_key(|(offset, entry)| (*offset, entry.index()));
        lists.dedup_by_key(|list| list.0);
        let mut different: Vec<Vec<ListEntry<'_>>> = Vec::new();
        for (offset, entry) in &lists {
            if !read(dwarf, entry.unit(), *offset, &mut list) {
                continue;
            }
            if different.iter().any(|earlier| earlier.iter().map(key).eq(list.iter().map(key))) {
                add(repeated, list_bytes(&list))
            } else {
                different.push(list.clone())
            }
        }
    }
}

/// Replaces what `list` contains by a location list. Returns whether the list can be read: others are not compared.
fn read<'r>(dwarf: &Dwarf<'r>, unit: &Unit<'r>, offset: u64, list: &mut Vec<ListEntry<'r>>) -> bool {
    list.clear();
    dwarf.read_locations(unit, offset, list).is_ok()
}

/// An entry's pcs and expression.
fn key<'r>(entry: &ListEntry<'r>) -> (u64, u64, &'r [u8]) {
    (entry.start, entry.end, entry.expr)
}

/// Counts a copy with this many bytes.
pub(super) fn add(to: &mut Repeated, bytes: usize) {
    to.copies += 1;
    to.bytes += bytes as u64;
}

/// Bytes for the pcs and expressions in a location list.
pub(super) fn list_bytes(list: &[ListEntry<'_>]) -> usize {
    list.iter().map(|entry| 16 + entry.expr.len()).sum()
}
