//! Lookup of frame description entries by pc.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::frame::Fde;

/// Code of frame description entries: disjoint pc ranges, sorted, each with the first entry whose code contains it.
#[derive(Debug, Clone, Default)]
pub(super) struct FdeIndex(Vec<Code>);

#[derive(Debug, Clone, Copy)]
struct Code {
    /// Address of the first byte.
    first: u64,
    /// Address of the last byte.
    last: u64,
    /// Entry index.
    fde: usize,
}

impl FdeIndex {
    pub(super) fn new(fdes: &[Fde<'_>]) -> Self {
        let mut codes = Vec::with_capacity(fdes.len());
        let mut add = |first, last, fde| codes.push(Code { first, last, fde });
        for (index, fde) in fdes.iter().enumerate() {
            let Some(more) = fde.length.checked_sub(1) else { continue };
            match fde.start.checked_add(more) {
                Some(last) => add(fde.start, last, index),
                // The code continues at address 0.
                None => {
                    add(fde.start, u64::MAX, index);
                    add(0, fde.start.wrapping_add(more), index);
                }
            }
        }
        codes.sort_by_key(|code| code.first);
        let is_disjoint = codes.windows(2).all(|codes| codes[0].last < codes[1].first);
        Self(if is_disjoint { codes } else { disjoint(&codes) })
    }

    /// Returns the ranges, each with the entry's index. The last byte of the address space is outside.
    pub(super) fn ranges(&self) -> impl Iterator<Item = (Range<u64>, usize)> {
        self.0.iter().map(|code| (code.first..code.last.saturating_add(1), code.fde))
    }

    /// Returns the first entry whose code contains the pc.
    pub(super) fn find(&self, pc: u64) -> Option<usize> {
        let before = self.0.partition_point(|code| code.first <= pc);
        self.0[..before].last().filter(|code| code.last >= pc).map(|code| code.fde)
    }
}

/// Cuts overlapping code, sorted by address, into disjoint ranges, each with the first of its entries.
fn disjoint(codes: &[Code]) -> Vec<Code> {
    let mut cuts: Vec<u64> =
        codes.iter().flat_map(|code| [Some(code.first), code.last.checked_add(1)]).flatten().collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut disjoint = Vec::new();
    let mut codes = codes.iter().peekable();
    // Entries whose code begins before the cut, the first entry on top; entries that end before the cut are removed
    // when they come to the top.
    let mut open = BinaryHeap::new();
    for (index, &first) in cuts.iter().enumerate() {
        while let Some(code) = codes.next_if(|code| code.first <= first) {
            open.push(Reverse((code.fde, code.last)));
        }
        while open.peek().is_some_and(|Reverse((_, last))| *last < first) {
            open.pop();
        }
        if let Some(Reverse((fde, _))) = open.peek() {
            let last = cuts.get(index + 1).map_or(u64::MAX, |next| next - 1);
            disjoint.push(Code { first, last, fde: *fde });
        }
    }
    disjoint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_entries_are_found_as_by_a_search_through_all() {
        let mut state = 1u64;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        for _ in 0..200 {
            let count = next(12);
            let codes: Vec<_> = (0..count).map(|_| (next(40), next(20))).collect();
            let mut sorted: Vec<Code> = (codes.iter().enumerate())
                .map(|(fde, (first, more))| Code { first: *first, last: first + more, fde })
                .collect();
            sorted.sort_by_key(|code| code.first);
            let index = FdeIndex(disjoint(&sorted));
            for pc in 0..64 {
                let expected = codes.iter().position(|(first, more)| (*first..=first + more).contains(&pc));
                assert_eq!(index.find(pc), expected, "{codes:?} at {pc}");
            }
        }
    }
}
