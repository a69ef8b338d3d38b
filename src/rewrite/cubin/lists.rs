//! Location lists and range lists of DWARF 2 to 4: `.debug_loc` and `.debug_ranges`. Equal lists are stored once.

use core::ops::Range;

use hashbrown::HashMap;

use super::section::{Copied, Original};
use crate::emit::elf::CubinRelocation;
use crate::error::Result;

/// What the entries of a list have after their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    /// An expression with its size in two bytes.
    Locations,
    /// Nothing.
    Ranges,
}

/// Bytes of a list, and its relocations with offsets from its start.
type Contents<'c> = (&'c [u8], Vec<CubinRelocation>);

/// Lists that the result has.
#[derive(Debug)]
pub(super) struct Lists<'c> {
    kind: ListKind,
    from: Option<Original<'c>>,
    known: HashMap<Contents<'c>, u64>,
    /// New offsets by old offsets.
    moved: HashMap<u64, u64>,
    /// Number of bytes that may still be read. Lists of a file's producers do not overlap.
    room: usize,
    pub(super) to: Copied,
}

impl<'c> Lists<'c> {
    pub(super) fn new(from: Option<Original<'c>>, kind: ListKind) -> Self {
        let room = from.map_or(0, |from| from.bytes.len());
        let to = from.as_ref().map(Copied::with_room).unwrap_or_default();
        Self { kind, from, known: HashMap::new(), moved: HashMap::new(), room, to }
    }

    /// Returns the new offset of a list; `None` without the section.
    ///
    /// # Errors
    /// A list that does not end in the section; lists that overlap, because their copies could take unlimited memory.
    pub(super) fn moved(&mut self, offset: u64, address: usize) -> Result<Option<u64>> {
        let Some(from) = self.from else { return Ok(None) };
        if let Some(&moved) = self.moved.get(&offset) {
            return Ok(Some(moved));
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let range = start..self.end(&from, start, address)?;
        let room = self.room.checked_sub(range.len());
        self.room = room.ok_or_else(|| from.malformed("lists overlap", start))?;
        let relocations = from.relocations_in(range.clone()).iter();
        let relocations = relocations.map(|it| CubinRelocation { offset: it.offset - offset, ..*it });
        let contents = (&from.bytes[range.clone()], relocations.collect());
        if let Some(&known) = self.known.get(&contents) {
            self.moved.insert(offset, known);
            return Ok(Some(known));
        }
        let moved = self.to.bytes.len() as u64;
        self.moved.insert(offset, moved);
        self.to.part(&from, range)?;
        self.known.insert(contents, moved);
        Ok(Some(moved))
    }

    /// Returns where a list ends: after two zeros that are no addresses.
    fn end(&self, from: &Original<'_>, start: usize, address: usize) -> Result<usize> {
        let most = if address >= 8 { u64::MAX } else { (1 << (8 * address)) - 1 };
        let mut at = start;
        loop {
            let bounds = [from.number(at, address)?, from.number(at.saturating_add(address), address)?];
            let is_plain = from.relocations_in(bound(at, 2 * address)).is_empty();
            at += 2 * address;
            if is_plain && bounds == [0, 0] {
                return Ok(at);
            }
            // A base address selection entry has no expression: DWARF 3 section 2.6.6.
            if self.kind == ListKind::Locations && !(is_plain && bounds[0] == most) {
                at += 2 + from.number(at, 2)? as usize;
            }
        }
    }
}

fn bound(start: usize, bytes: usize) -> Range<usize> {
    start..start + bytes
}
