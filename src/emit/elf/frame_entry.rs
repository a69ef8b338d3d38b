//! Bounds of entries in `.debug_frame` of cubins, which are little-endian: DWARF 3 section 6.4.1.

use crate::error::{Error, ErrorKind, Result};

/// An entry in `.debug_frame`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameEntry {
    /// Offset of the length.
    pub start: usize,
    /// Offset of the id, or of the pointer to the common entry, which the first address follows.
    pub id: usize,
    /// Size of the id in bytes: 4 or 8.
    pub offset_bytes: usize,
    /// Offset after the entry.
    pub end: usize,
}

impl FrameEntry {
    /// Reads the bounds of the entry at an offset of the section.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`] for an entry that ends after the section, or before its first address.
    pub fn read(section: &[u8], start: usize) -> Result<Self> {
        let cut = || Error::from(ErrorKind::Truncated("a frame entry".into()));
        let number = |at: usize, size: usize| {
            let bytes = section.get(at..at.checked_add(size)?)?;
            Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
        };
        let (length, id, offset_bytes) = match number(start, 4).ok_or_else(cut)? {
            0xffff_ffff => (number(start + 4, 8).ok_or_else(cut)?, start + 12, 8),
            length => (length, start + 4, 4),
        };
        let end = usize::try_from(length).ok().and_then(|length| id.checked_add(length));
        let end = end.filter(|end| *end <= section.len() && *end >= id + offset_bytes).ok_or_else(cut)?;
        Ok(Self { start, id, offset_bytes, end })
    }

    /// Whether the entry is a common entry.
    pub fn is_common(&self, section: &[u8]) -> bool {
        section[self.id..self.id + self.offset_bytes].iter().all(|byte| *byte == 0xff)
    }

    /// Returns the offset of a function's first address.
    pub fn address(&self) -> usize {
        self.id + self.offset_bytes
    }
}
