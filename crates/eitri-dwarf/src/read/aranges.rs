//! Address ranges of units: `.debug_aranges`. DWARF 5 sections 6.1.2 and 7.21.

use super::cursor::{Cursor, is_address_size};
use super::sections::Sections;
use crate::error::{Count, ErrorKind, Result};

/// A unit's set of address ranges.
#[derive(Debug, Clone)]
pub struct AddressRanges<'o> {
    /// Header offset in the section, in bytes.
    pub offset: u64,
    /// Version: 2, in all DWARF versions.
    pub version: u16,
    /// 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// Unit offset in `.debug_info`.
    pub unit: u64,
    /// Address size in bytes.
    pub address_bytes: u8,
    /// Size of a segment selector in bytes: 0 without segments.
    pub segment_bytes: u8,
    ranges: Cursor<'o>,
}

/// A range of addresses.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRange {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Segment; 0 without segments.
    pub segment: u64,
    /// First address.
    pub start: u64,
    /// Size in bytes.
    pub length: u64,
}

impl From<AddressRange> for gimli::Range {
    /// The addresses, modulo 2^64, without the segment.
    fn from(AddressRange { start, length, .. }: AddressRange) -> Self {
        Self { begin: start, end: start.wrapping_add(length) }
    }
}

const WHAT: &str = "a set of address ranges";

impl<'o> AddressRanges<'o> {
    /// Reads all headers of `.debug_aranges`.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed) with the offset;
    /// [`Unsupported`](ErrorKind::Unsupported) for other versions.
    pub fn read_all(sections: &Sections<'o>) -> Result<Vec<Self>> {
        Self::read_each(sections).into_iter().collect()
    }

    /// Reads each header of `.debug_aranges`, or the error that [`read_all`](Self::read_all) has for it.
    pub fn read_each(sections: &Sections<'o>) -> Vec<Result<Self>> {
        sections.cursor(".debug_aranges", sections.debug_aranges).each_table(WHAT, Self::read)
    }

    fn read(mut from: Cursor<'o>, offset: u64, offset_bytes: u8) -> Result<Self> {
        let version = 2;
        let version_offset = from.offset();
        from.version(version, WHAT)?;
        let unit = from.uint(offset_bytes, WHAT)?;
        let address_bytes = from.u8(WHAT)?;
        let segment_bytes = from.u8(WHAT)?;
        if !is_address_size(address_bytes) || segment_bytes > 8 {
            let text = format!(
                "{WHAT}: invalid address size, {address_bytes}, or segment selector size, {segment_bytes}",
                address_bytes = Count(address_bytes, "byte")
            );
            return Err(from.error(ErrorKind::Malformed(text), version_offset));
        }
        // The first range is aligned to its size, from the set's start.
        let size = u64::from(segment_bytes) + 2 * u64::from(address_bytes);
        let header = from.offset() - offset;
        from.take(header.next_multiple_of(size) - header, WHAT)?;
        Ok(Self { offset, version, offset_bytes, unit, address_bytes, segment_bytes, ranges: from })
    }

    /// Returns the ranges, up to the terminating range of zeros.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) if the set ends before its terminator. The iterator ends after an error.
    pub fn ranges(&self) -> impl Iterator<Item = Result<AddressRange>> + use<'o> {
        let mut from = self.ranges;
        let address = self.address_bytes;
        let segment = self.segment_bytes;
        let mut is_done = false;
        let mut next = move || -> Result<Option<AddressRange>> {
            let offset = from.offset();
            let segment = if segment == 0 { 0 } else { from.uint(segment, WHAT)? };
            let start = from.uint(address, WHAT)?;
            let length = from.uint(address, WHAT)?;
            let range = AddressRange { offset, segment, start, length };
            Ok(Some(range).filter(|_| (segment, start, length) != (0, 0, 0)))
        };
        std::iter::from_fn(move || {
            let range = if is_done { None } else { next().transpose() };
            is_done = !matches!(range, Some(Ok(_)));
            range
        })
    }
}
