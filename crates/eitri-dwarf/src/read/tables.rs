//! Tables of indexed elements: `.debug_str_offsets` (DWARF 5 section 7.26) and `.debug_addr` (section 7.27).

use super::cursor::{Cursor, is_address_size};
use super::sections::Sections;
use crate::error::{Count, ErrorKind, Result};

/// A number table: offsets of strings in `.debug_str`, or addresses.
#[derive(Debug, Clone)]
pub struct IndexTable<'o> {
    /// Header offset in the section, in bytes.
    pub offset: u64,
    /// Version: 5.
    pub version: u16,
    /// Offset of element 0 in the section, which is the base in the units that use the table.
    pub base: u64,
    /// Element size in bytes.
    pub element_bytes: u8,
    elements: Cursor<'o>,
}

const WHAT: &str = "a table of indices";

impl<'o> IndexTable<'o> {
    /// Reads all headers of `.debug_str_offsets`. Before DWARF 5 the section has no headers, and must not be read here.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed) with the offset;
    /// [`Unsupported`](ErrorKind::Unsupported) for other versions.
    pub fn str_offsets(sections: &Sections<'o>) -> Result<Vec<Self>> {
        Self::each_str_offsets(sections).into_iter().collect()
    }

    /// Reads each header of `.debug_str_offsets`, or the error that [`str_offsets`](Self::str_offsets) has for it.
    pub fn each_str_offsets(sections: &Sections<'o>) -> Vec<Result<Self>> {
        let from = sections.cursor(".debug_str_offsets", sections.debug_str_offsets);
        read_each(from, |from, offset_bytes| {
            from.u16(WHAT)?;
            Ok(offset_bytes)
        })
    }

    /// Reads all headers of `.debug_addr`.
    ///
    /// # Errors
    /// The errors that [`str_offsets`](Self::str_offsets) returns.
    pub fn addresses(sections: &Sections<'o>) -> Result<Vec<Self>> {
        Self::each_addresses(sections).into_iter().collect()
    }

    /// Reads each header of `.debug_addr`, or the error that [`addresses`](Self::addresses) has for it.
    pub fn each_addresses(sections: &Sections<'o>) -> Vec<Result<Self>> {
        read_each(sections.cursor(".debug_addr", sections.debug_addr), |from, _| {
            let start = from.offset();
            let address_bytes = from.u8(WHAT)?;
            let segment_bytes = from.u8(WHAT)?;
            if is_address_size(address_bytes) && segment_bytes == 0 {
                return Ok(address_bytes);
            }
            let text = format!(
                "{WHAT}: invalid address size, {address_bytes}, or segment selector size, {segment_bytes}",
                address_bytes = Count(address_bytes, "byte")
            );
            Err(from.error(ErrorKind::Malformed(text), start))
        })
    }

    /// Returns the elements, in order.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) for an incomplete last element. The iterator ends after the error.
    pub fn elements(&self) -> impl Iterator<Item = Result<u64>> + use<'o> {
        let mut from = self.elements;
        let bytes = self.element_bytes;
        std::iter::from_fn(move || {
            if from.is_at_end() {
                return None;
            }
            Some(from.uint(bytes, WHAT).inspect_err(|_| from.finish()))
        })
    }
}

fn read_each<'o>(
    from: Cursor<'o>,
    rest: impl Fn(&mut Cursor<'o>, u8) -> Result<u8>,
) -> Vec<Result<IndexTable<'o>>> {
    from.each_table(WHAT, |mut table, offset, offset_bytes| {
        let version = 5;
        table.version(version, WHAT)?;
        let element_bytes = rest(&mut table, offset_bytes)?;
        Ok(IndexTable { offset, version, base: table.offset(), element_bytes, elements: table })
    })
}
