//! Which frame description entry a pc belongs to.

use super::frame::Fde;

/// Code of frame description entries, by address.
#[derive(Debug, Clone, Default)]
pub(super) struct FdeIndex(Vec<Code>);

#[derive(Debug, Clone, Copy)]
struct Code {
    /// The address of the first byte.
    first: u64,
    /// The address of the last byte.
    last: u64,
    /// The largest `last` up to here.
    reach: u64,
    /// The index of the entry.
    fde: usize,
}

impl FdeIndex {
    pub(super) fn of(fdes: &[Fde<'_>]) -> Self {
        let mut all = Vec::with_capacity(fdes.len());
        let mut add = |first, last, fde| all.push(Code { first, last, reach: last, fde });
        for (index, fde) in fdes.iter().enumerate() {
            let Some(more) = fde.length.checked_sub(1) else { continue };
            match fde.start.checked_add(more) {
                Some(last) => add(fde.start, last, index),
                // It goes on at address 0.
                None => {
                    add(fde.start, u64::MAX, index);
                    add(0, fde.start.wrapping_add(more), index);
                }
            }
        }
        all.sort_by_key(|code| code.first);
        let mut reach = 0;
        for code in &mut all {
            reach = code.last.max(reach);
            code.reach = reach;
        }
        Self(all)
    }

    /// The first entry whose code the pc is in. Entries should not overlap; where they do, more are looked at.
    pub(super) fn find(&self, pc: u64) -> Option<usize> {
        let before = self.0.partition_point(|code| code.first <= pc);
        let near = self.0[..before].iter().rev().take_while(|code| code.reach >= pc);
        near.filter(|code| code.last >= pc).map(|code| code.fde).min()
    }
}
