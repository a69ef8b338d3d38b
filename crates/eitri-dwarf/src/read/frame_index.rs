//! Lookup of frame description entries by pc.

use super::frame::Fde;

/// Code of frame description entries, by address.
#[derive(Debug, Clone, Default)]
pub(super) struct FdeIndex(Vec<Code>);

#[derive(Debug, Clone, Copy)]
struct Code {
    /// Address of the first byte.
    first: u64,
    /// Address of the last byte.
    last: u64,
    /// Largest `last` up to and including this element.
    reach: u64,
    /// Entry index.
    fde: usize,
}

impl FdeIndex {
    pub(super) fn new(fdes: &[Fde<'_>]) -> Self {
        let mut ranges = Vec::with_capacity(fdes.len());
        let mut add = |first, last, fde| ranges.push(Code { first, last, reach: last, fde });
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
        ranges.sort_by_key(|code| code.first);
        let mut reach = 0;
        for code in &mut ranges {
            reach = code.last.max(reach);
            code.reach = reach;
        }
        Self(ranges)
    }

    /// Returns the first entry whose code contains the pc. Only overlapping entries need more than one comparison.
    pub(super) fn find(&self, pc: u64) -> Option<usize> {
        let before = self.0.partition_point(|code| code.first <= pc);
        let near = self.0[..before].iter().rev().take_while(|code| code.reach >= pc);
        near.filter(|code| code.last >= pc).map(|code| code.fde).min()
    }
}
