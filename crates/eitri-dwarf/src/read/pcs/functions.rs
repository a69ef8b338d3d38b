//! Functions by their code.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use gimli::constants as dw;

use super::index::PcIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::read::errors::MOST;
use crate::read::{Dwarf, Entry};

/// The functions with code in a file, by pc.
#[derive(Debug, Clone)]
pub(in crate::read) struct Functions {
    /// Entry index for each pc range.
    by_pc: PcIndex<u32>,
    /// Entry index of the innermost function from each pc up to the next, sorted by pc.
    innermost: Vec<(u64, Option<u32>)>,
    /// Errors of the functions whose ranges cannot be read.
    pub(super) errors: Vec<Error>,
}

impl Functions {
    fn read(dwarf: &Dwarf<'_>) -> Self {
        let mut ranges = Vec::new();
        let mut own = Vec::new();
        let mut errors = Vec::new();
        // Each range takes bytes in the file, unless functions share a list. A small file could otherwise exhaust the
        // memory.
        let sections = dwarf.sections();
        let most = [sections.debug_info, sections.debug_ranges, sections.debug_rnglists].map(<[u8]>::len);
        let most = most.iter().sum::<usize>().saturating_add(0x10000);
        // Entries around the current entry, by index.
        let mut around: Vec<u32> = Vec::new();
        let mut depths = Vec::new();
        for entry in dwarf.entries() {
            crate::work::step();
            let parent = entry.parent().map(|parent| parent.index);
            while around.last().is_some_and(|&last| Some(last) != parent) {
                around.pop();
            }
            let depth = around.len();
            around.push(entry.index);
            if entry.tag() != dw::DW_TAG_subprogram {
                continue;
            }
            let read = if ranges.len() < most {
                read_code_ranges(entry, &mut own)
            } else {
                Err(ErrorKind::TooLarge("functions share range lists: too many ranges".into()).into())
            };
            depths.extend(own.iter().map(|_| depth));
            ranges.extend(own.drain(..).map(|pcs| (pcs, entry.index)));
            if let Err(error) = read
                && errors.len() < MOST
            {
                errors.push(error.or_at(entry.place()));
            }
        }
        let innermost = innermost(&ranges, &depths);
        Self { by_pc: PcIndex::new(ranges), innermost, errors }
    }
}

/// Returns the entry index of the innermost function from each pc up to the next: the deepest entry, and of several the
/// first. `depths` has the depth of each range's entry.
fn innermost(ranges: &[(Range<u64>, u32)], depths: &[usize]) -> Vec<(u64, Option<u32>)> {
    let with_pcs = ranges.iter().zip(depths).filter(|((pcs, _), _)| !pcs.is_empty());
    let mut starts: Vec<_> = with_pcs.collect();
    starts.sort_unstable_by_key(|((pcs, _), _)| pcs.start);
    let mut bounds: Vec<u64> = starts.iter().flat_map(|((pcs, _), _)| [pcs.start, pcs.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut starts = starts.into_iter().peekable();
    // The functions that began, the innermost on top. A function that has ended can stay below another.
    let mut open = BinaryHeap::new();
    let mut innermost: Vec<(u64, Option<u32>)> = Vec::with_capacity(bounds.len());
    for bound in bounds {
        crate::work::step();
        while let Some(((pcs, index), depth)) = starts.next_if(|((pcs, _), _)| pcs.start == bound) {
            open.push((*depth, Reverse(*index), pcs.end));
        }
        while open.peek().is_some_and(|&(_, _, end)| end <= bound) {
            open.pop();
        }
        let top = open.peek().map(|&(_, Reverse(index), _)| index);
        if innermost.last().is_none_or(|&(_, last)| last != top) {
            innermost.push((bound, top));
        }
    }
    innermost
}

/// Returns the index of a file's functions.
pub(super) fn index<'r>(dwarf: &'r Dwarf<'_>) -> &'r Functions {
    dwarf.functions.get_or_init(|| Functions::read(dwarf))
}

/// Returns what [`Dwarf::functions_at`] returns.
pub(in crate::read) fn functions_at<'r, 'o>(dwarf: &'r Dwarf<'o>, pc: u64) -> Vec<Entry<'r, 'o>> {
    let mut indices: Vec<u32> = index(dwarf).by_pc.at(pc).copied().collect();
    indices.sort_unstable();
    indices.dedup();
    let mut entries: Vec<_> =
        indices.iter().filter_map(|&index| dwarf.entry_with_index(index as usize)).collect();
    // Nested functions are in their parents' entries.
    if entries.len() > 1 {
        entries.sort_by_cached_key(|entry| Reverse(entry.depth()));
    }
    entries
}

/// Returns the first of the [functions at a pc](Dwarf::functions_at), without memory for a list.
pub(crate) fn function_at<'r, 'o>(dwarf: &'r Dwarf<'o>, pc: u64) -> Option<Entry<'r, 'o>> {
    let innermost = &index(dwarf).innermost;
    let after = innermost.partition_point(|&(from, _)| from <= pc);
    let (_, index) = innermost.get(after.checked_sub(1)?)?;
    dwarf.entry_with_index((*index)? as usize)
}

/// Returns the functions with code, in file order.
pub(crate) fn functions_with_code<'r, 'o>(dwarf: &'r Dwarf<'o>) -> impl Iterator<Item = Entry<'r, 'o>> {
    let mut indices: Vec<u32> = index(dwarf).by_pc.items().copied().collect();
    indices.sort_unstable();
    indices.dedup();
    indices.into_iter().filter_map(|index| dwarf.entry_with_index(index as usize))
}

/// Replaces ranges by an entry's pc ranges, as [`ranges`](Entry::ranges) returns them, without those that a linker
/// discarded.
///
/// # Errors
/// The errors of [`ranges`](Entry::ranges), and that of an address in another file. The ranges before the error are
/// good.
pub(super) fn read_code_ranges(entry: Entry<'_, '_>, ranges: &mut Vec<Range<u64>>) -> Result<()> {
    ranges.clear();
    let read = entry.read_ranges(ranges);
    let is_described = read.is_err() || !ranges.is_empty();
    // A linker that drops code leaves its ranges at addresses that are not code.
    ranges.retain(|range| entry.dwarf.is_code(range.start));
    read?;
    if is_described {
        return Ok(());
    }
    entry.unknown_address().map_or(Ok(()), Err)
}
