//! Unit properties that every section depends on.

/// Version, sizes and byte order of a unit's parts in the sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Format {
    /// The DWARF version: 2 to 5.
    pub(crate) version: u16,
    /// Section offset size in bytes: 4 in the 32-bit format, 8 in the 64-bit format.
    pub(crate) offset_bytes: u8,
    /// Address size in bytes, for the default space.
    pub(crate) address_bytes: u8,
    /// Whether the most significant byte comes first.
    pub(crate) big_endian: bool,
}

impl Format {
    /// DWARF 5 in the 32-bit format, little-endian.
    #[cfg(test)]
    pub(crate) const SMALL: Self = Self { version: 5, offset_bytes: 4, address_bytes: 8, big_endian: false };

    /// Initial length size in bytes: DWARF 5 section 7.4.
    pub(crate) fn length_bytes(self) -> usize {
        if self.offset_bytes == 8 { 12 } else { 4 }
    }

    /// Size in bytes of an entry's offset from the start of `.debug_info` (`DW_FORM_ref_addr`): DWARF 2 uses the size
    /// of an address.
    pub(crate) fn entry_bytes(self) -> u8 {
        if self.version < 3 { self.address_bytes } else { self.offset_bytes }
    }

    /// Appends a number in 1 to 8 bytes.
    #[inline(always)]
    pub(crate) fn fixed(self, out: &mut Vec<u8>, value: u64, bytes: u8) {
        let end = out.len() + usize::from(bytes);
        // Append eight bytes and truncate, because a copy with a constant size is faster.
        if self.big_endian {
            out.extend_from_slice(&(value << (64 - 8 * u32::from(bytes))).to_be_bytes());
        } else {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.truncate(end);
    }

    /// Overwrites `bytes` bytes at offset `at` with a number.
    #[inline]
    pub(crate) fn patch(self, out: &mut [u8], at: usize, value: u64, bytes: u8) {
        let bytes = usize::from(bytes);
        let field = &mut out[at..at + bytes];
        if self.big_endian {
            field.copy_from_slice(&value.to_be_bytes()[8 - bytes..]);
        } else {
            field.copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }

    /// Appends a version, or another two-byte number.
    pub(crate) fn half(self, out: &mut Vec<u8>, value: u16) {
        self.fixed(out, value.into(), 2);
    }

    /// Appends a section offset.
    pub(crate) fn offset(self, out: &mut Vec<u8>, value: u64) {
        self.fixed(out, value, self.offset_bytes);
    }

    /// Begins a structure with an initial length. Returns the offset after the length field, for
    /// [`end_length`](Self::end_length).
    pub(crate) fn begin_length(self, out: &mut Vec<u8>) -> usize {
        if self.offset_bytes == 8 {
            // This reserved length marks the 64-bit format.
            out.extend_from_slice(&[0xff; 4]);
        }
        self.offset(out, 0);
        out.len()
    }

    /// Fills in the length for the structure that begins at `start`.
    pub(crate) fn end_length(self, out: &mut [u8], start: usize) {
        let length = (out.len() - start) as u64;
        self.patch(out, start - usize::from(self.offset_bytes), length, self.offset_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_what_follows_them() {
        let mut out = vec![9];
        let start = Format::SMALL.begin_length(&mut out);
        Format::SMALL.half(&mut out, 5);
        Format::SMALL.end_length(&mut out, start);
        assert_eq!(out, [9, 2, 0, 0, 0, 5, 0]);

        let large = Format { offset_bytes: 8, big_endian: true, ..Format::SMALL };
        let mut out = Vec::new();
        let start = large.begin_length(&mut out);
        large.half(&mut out, 5);
        large.end_length(&mut out, start);
        assert_eq!(out, [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 2, 0, 5]);
        assert_eq!(start, large.length_bytes());
    }
}
