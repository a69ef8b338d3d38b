//! `.debug_frame`: the descriptions of code in the file, with their common entries. nvlink removes the relocation of a
//! description whose function it drops.

use hashbrown::{HashMap, HashSet};

use super::names::FRAMES;
use super::section::{Copied, Offsets, Original};
use crate::emit::elf::frame_entry::FrameEntry;
use crate::error::Result;
use crate::read::{Fde, Frames};

pub(super) fn entry(from: &Original<'_>, offset: u64) -> Result<FrameEntry> {
    let entry = FrameEntry::read(from.bytes, usize::try_from(offset).unwrap_or(usize::MAX));
    entry.map_err(|error| error.in_section(from.name).at_offset(offset))
}

/// Returns the descriptions whose code is in the file: their first address has a relocation, and no other copy of the
/// function has replaced theirs.
///
/// # Errors
/// An entry ends after its section.
pub(super) fn kept<'f, 'o>(
    from: &Original<'_>,
    frames: &'f Frames<'o>,
    replaced: &HashSet<u64>,
) -> Result<Vec<&'f Fde<'o>>> {
    let mut kept = Vec::new();
    for fde in &frames.fdes {
        if from.relocation(entry(from, fde.offset)?.address()).is_some() && !replaced.contains(&fde.offset) {
            kept.push(fde);
        }
    }
    Ok(kept)
}

/// Appends the [`kept`] descriptions, and their common entries. Returns the offsets of the other descriptions in the
/// original.
pub(super) fn copy(
    from: &Original<'_>,
    frames: &Frames<'_>,
    replaced: &HashSet<u64>,
    offsets: &Offsets<'_>,
    to: &mut Copied,
) -> Result<Vec<u64>> {
    let mut dropped = Vec::new();
    // New offsets of common entries.
    let mut common: HashMap<u64, u64> = HashMap::new();
    for fde in &frames.fdes {
        let FrameEntry { start: old, id, offset_bytes, end } = entry(from, fde.offset)?;
        if from.relocation(id + offset_bytes).is_none() || replaced.contains(&fde.offset) {
            dropped.push(fde.offset);
            continue;
        }
        let cie = frames.cie(fde).offset;
        let moved = match common.get(&cie) {
            Some(&moved) => moved,
            None => {
                let moved = to.bytes.len() as u64;
                let entry = entry(from, cie)?;
                to.part(from, entry.start..entry.end)?;
                common.insert(cie, moved);
                moved
            }
        };
        let start = to.bytes.len();
        to.part(from, old..end)?;
        to.set_offset(start + id - old, moved, offset_bytes, offsets.to(FRAMES, offset_bytes))?;
    }
    Ok(dropped)
}
