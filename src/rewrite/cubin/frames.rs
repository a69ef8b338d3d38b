//! `.debug_frame`: the descriptions of code in the file, with their common entries. nvlink removes the relocation of a
//! description whose function it drops.

use core::ops::Range;

use hashbrown::HashMap;

use super::section::{Copied, Original};
use crate::error::Result;
use crate::read::{Fde, Frames};

/// An entry's length field, and what the entry contains.
fn entry(from: &Original<'_>, offset: usize) -> Result<(Range<usize>, usize)> {
    let is_64 = from.number(offset, 4)? == 0xffff_ffff;
    let (length, size) = if is_64 { (offset + 4, 8) } else { (offset, 4) };
    let end = from.number(length, size)?.checked_add((length + size) as u64);
    let end = end.and_then(|end| usize::try_from(end).ok()).filter(|&end| end <= from.bytes.len());
    let end = end.ok_or_else(|| from.malformed("call frame entry ends after its section", offset))?;
    Ok((offset..end, size))
}

/// Returns the offset of the pointer to the common entry, which follows the length. The first address follows it.
fn pointer(start: usize, size: usize) -> usize {
    start + if size == 8 { 12 } else { 4 }
}

/// Whether the code of a description is in the file.
pub(super) fn is_kept(from: &Original<'_>, fde: &Fde<'_>) -> bool {
    let start = fde.offset as usize;
    let size = if from.number(start, 4) == Ok(0xffff_ffff) { 8 } else { 4 };
    from.relocation(pointer(start, size) + size).is_some()
}

/// Appends the descriptions whose first address has a relocation, and their common entries. Returns the offsets of the
/// other descriptions in the original.
pub(super) fn copy(from: &Original<'_>, frames: &Frames<'_>, to: &mut Copied) -> Result<Vec<u64>> {
    let mut dropped = Vec::new();
    // New offsets of common entries.
    let mut common: HashMap<u64, u64> = HashMap::new();
    for fde in &frames.fdes {
        let (range, size) = entry(from, fde.offset as usize)?;
        if !is_kept(from, fde) {
            dropped.push(fde.offset);
            continue;
        }
        let pointer = pointer(range.start, size);
        let cie = frames.cie(fde).offset;
        let moved = match common.get(&cie) {
            Some(&moved) => moved,
            None => {
                let moved = to.bytes.len() as u64;
                let (range, _) = entry(from, cie as usize)?;
                to.part(from, range)?;
                common.insert(cie, moved);
                moved
            }
        };
        let start = to.bytes.len();
        to.part(from, range.clone())?;
        to.set(start + pointer - range.start, moved, size)?;
    }
    Ok(dropped)
}
