//! The pc ranges of entries.
//!
//! Functions, inlined calls and blocks can reference the same range list. [`RangeLists`] reads a long list once, and
//! [`CodeRanges`] answers what the rooms ask about it (bytes, overlap with a location's pcs) without visiting its ranges
//! again, so that work depends on the file's size, not on the number of references times the length of the list.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::rc::Rc;

use gimli::constants as dw;
use hashbrown::HashMap;

use eitri_dwarf::error::Result;
use eitri_dwarf::read::{Bases, Entry, ResolvedValue};

/// Entry count from which on a list is remembered.
pub(crate) const LONG_LIST: usize = 16;

/// An entry's pc ranges, in file order. Entries that reference the same long list share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct CodeRanges(Rc<Ranges>);

#[derive(Debug, Default)]
struct Ranges {
    list: Vec<Range<u64>>,
    /// Bytes in the ranges; a byte in several ranges counts several times.
    bytes: u64,
    /// Whether a linker kept any of the code.
    is_live: bool,
    sums: OnceCell<Sums>,
    wrong: OnceCell<Option<usize>>,
}

/// Starts and ends of ranges that are not empty, sorted, each with the sum of the numbers before it.
#[derive(Debug)]
struct Sums {
    starts: Vec<(u64, u128)>,
    ends: Vec<(u64, u128)>,
}

impl Sums {
    fn new(ranges: &[Range<u64>]) -> Self {
        let ranges = || ranges.iter().filter(|range| range.start < range.end);
        Self {
            starts: summed(ranges().map(|range| range.start).collect()),
            ends: summed(ranges().map(|range| range.end).collect()),
        }
    }

    /// Returns the number of bytes in the ranges before a pc: each range that starts before the pc contributes the
    /// distance from its start, less the distance from its end if it also ends before the pc.
    fn before(&self, pc: u64) -> u128 {
        distances(&self.starts, pc) - distances(&self.ends, pc)
    }
}

fn summed(mut numbers: Vec<u64>) -> Vec<(u64, u128)> {
    numbers.sort_unstable();
    let with_sum = |sum: &mut u128, number: u64| {
        let before = *sum;
        *sum += u128::from(number);
        Some((number, before))
    };
    numbers.into_iter().scan(0, with_sum).collect()
}

/// Returns the sum of the distances from all numbers below a pc to the pc.
fn distances(numbers: &[(u64, u128)], pc: u64) -> u128 {
    let count = numbers.partition_point(|number| number.0 < pc);
    let Some((last, before)) = count.checked_sub(1).map(|last| numbers[last]) else { return 0 };
    count as u128 * u128::from(pc) - (before + u128::from(last))
}

impl CodeRanges {
    fn new(entry: Entry<'_, '_>) -> Result<Self> {
        let list = entry.ranges()?;
        let bytes = |sum: u64, range: &Range<u64>| sum.saturating_add(range.end.saturating_sub(range.start));
        let is_live = list.iter().any(|range| entry.dwarf().is_code(range.start));
        Ok(Self(Rc::new(Ranges { bytes: list.iter().fold(0, bytes), is_live, list, ..Ranges::default() })))
    }

    /// Returns the number of bytes in the ranges.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Whether a linker kept any of the code.
    pub(crate) fn is_live(&self) -> bool {
        self.0.is_live
    }

    /// Returns the number of bytes of the ranges that are in other pcs.
    pub(crate) fn overlap(&self, pcs: &Range<u64>) -> u64 {
        if let [range] = &self.0.list[..] {
            return range.end.min(pcs.end).saturating_sub(range.start.max(pcs.start));
        }
        if pcs.start >= pcs.end {
            return 0;
        }
        let sums = self.0.sums.get_or_init(|| Sums::new(&self.0.list));
        u64::try_from(sums.before(pcs.end) - sums.before(pcs.start)).unwrap_or(u64::MAX)
    }

    /// Returns the first range for which `is_wrong` is true. The answer is kept: all calls must pass the same function.
    pub(crate) fn first_wrong(&self, is_wrong: impl Fn(&Range<u64>) -> bool) -> Option<&Range<u64>> {
        let index = self.0.wrong.get_or_init(|| self.0.list.iter().position(is_wrong));
        index.map(|index| &self.0.list[index])
    }
}

impl Deref for CodeRanges {
    type Target = [Range<u64>];

    fn deref(&self) -> &[Range<u64>] {
        &self.0.list
    }
}

/// Key of a list's ranges: its offset, the address size and version in the encoding, and the addresses that
/// its entries are relative to.
type Key = (u64, u16, Option<u64>, Bases);

/// Long range lists that a file's entries reference.
#[derive(Debug, Default)]
pub(crate) struct RangeLists(HashMap<Key, CodeRanges>);

impl RangeLists {
    /// Returns an entry's ranges.
    ///
    /// # Errors
    /// The errors that [`Entry::ranges`] returns.
    pub(crate) fn ranges(&mut self, entry: Entry<'_, '_>) -> Result<CodeRanges> {
        let Some(ResolvedValue::RngList(offset)) = entry.attr(dw::DW_AT_ranges) else {
            return CodeRanges::new(entry);
        };
        let unit = entry.unit();
        let key = (offset, unit.encoding.version, unit.low_pc, unit.bases);
        if let Some(known) = self.0.get(&key) {
            return Ok(known.clone());
        }
        let ranges = CodeRanges::new(entry)?;
        if ranges.len() >= LONG_LIST {
            self.0.insert(key, ranges.clone());
        }
        Ok(ranges)
    }

    /// Returns an entry's ranges, unless they are in a long list that an earlier call returned.
    pub(crate) fn unseen(&mut self, entry: Entry<'_, '_>) -> Result<Option<CodeRanges>> {
        let known = self.0.len();
        let ranges = self.ranges(entry)?;
        Ok((ranges.len() < LONG_LIST || self.0.len() > known).then_some(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_the_sum_over_all_ranges() {
        let lists: [&[Range<u64>]; 5] = [
            &[],
            &[0..4, 8..12],
            &[8..12, 0..4, 10..20, 10..20],
            &[u64::MAX - 4..u64::MAX, 0..u64::MAX, 5..5, Range { start: 9, end: 3 }],
            &[2..3],
        ];
        let edges = [0, 1, 2, 3, 4, 5, 8, 9, 11, 15, 30, u64::MAX - 1, u64::MAX];
        for list in lists {
            let ranges = CodeRanges(Rc::new(Ranges { list: list.to_vec(), ..Ranges::default() }));
            for (start, end) in edges.iter().flat_map(|start| edges.map(|end| (*start, end))) {
                let shared_bytes =
                    |range: &Range<u64>| range.end.min(end).saturating_sub(range.start.max(start));
                let sum = list.iter().map(shared_bytes).fold(0u64, u64::saturating_add);
                assert_eq!(ranges.overlap(&(start..end)), sum, "{list:?}, {start}..{end}");
            }
        }
    }
}
