//! Location lists, indexed by pc.

use gimli::constants as dw;
use smallvec::SmallVec;

use super::ranges::Ranges;
use crate::eval::LocationListEntry;
use crate::read::{Entry, ResolvedValue};

/// Location list.
#[derive(Debug)]
pub(super) struct List<'o> {
    pub(super) entries: Vec<LocationListEntry<'o>>,
    /// Bounds, for the entries that have bounds.
    bounds: Ranges,
    /// Indices of default entries, which have no bounds.
    defaults: Vec<usize>,
}

impl<'o> List<'o> {
    pub(super) fn new(entries: Vec<LocationListEntry<'o>>) -> Self {
        let bounds = entries.iter().zip(0..).filter_map(|(entry, number)| Some((entry.bounds?, number)));
        let bounds = Ranges::new(bounds.map(|((start, end), number)| (start..end, number)));
        let defaults = (0..entries.len()).filter(|&number| entries[number].bounds.is_none()).collect();
        Self { entries, bounds, defaults }
    }

    /// Reads an entry's location list; `None` if it has no list that can be read.
    pub(super) fn of_entry(entry: Entry<'_, 'o>) -> Option<Self> {
        Self::read(entry, list_of(entry)?)
    }

    /// Reads an entry's location list at an offset; `None` if it cannot be read.
    pub(super) fn read(entry: Entry<'_, 'o>, offset: u64) -> Option<Self> {
        let mut entries = Vec::new();
        entry.dwarf().read_locations(entry.unit(), offset, &mut entries).ok()?;
        Some(Self::new(entries.into_iter().map(Into::into).collect()))
    }

    /// Returns entries with the same meaning at a pc as the whole list: the entries that apply, if they follow each
    /// other in the list.
    pub(super) fn part_at(&self, pc: u64) -> &[LocationListEntry<'o>] {
        let numbers = self.numbers_at(pc);
        let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else { return &[] };
        let are_consecutive = last - first + 1 == numbers.len();
        if are_consecutive { &self.entries[first..=last] } else { &self.entries }
    }

    /// Returns the entries that apply at a pc (A.2.5.5): those whose bounds contain it; if there are none, the
    /// default entries.
    pub(super) fn applicable(
        &self,
        pc: u64,
    ) -> impl ExactSizeIterator<Item = &LocationListEntry<'o>> + Clone {
        self.numbers_at(pc).into_iter().map(|number| {
            crate::work::step();
            &self.entries[number]
        })
    }

    /// Indices of the entries that apply at a pc, ascending.
    fn numbers_at(&self, pc: u64) -> SmallVec<[usize; 2]> {
        let mut numbers = self.bounds.containing(pc);
        if numbers.is_empty() {
            numbers.extend_from_slice(&self.defaults);
        }
        numbers
    }

    /// Returns all entries' bounds, in bytes from an address.
    pub(super) fn bounds_from(&self, start: u64) -> impl Iterator<Item = u64> + Clone {
        let bounds = self.entries.iter().filter_map(|entry| entry.bounds);
        bounds.flat_map(move |(first, end)| [first.wrapping_sub(start), end.wrapping_sub(start)])
    }
}

/// Returns the offset of an entry's location list, if it has a list.
pub(super) fn list_of(entry: Entry<'_, '_>) -> Option<u64> {
    match entry.attr(dw::DW_AT_location)? {
        ResolvedValue::LocList(offset) => Some(offset),
        _ => None,
    }
}
