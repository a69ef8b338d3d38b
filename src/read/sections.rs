//! The debug sections of a file, and what other sections find in them by offset or index.

use super::Object;
use super::cursor::{Cursor, is_address_size};
use crate::error::{ErrorKind, Result};
use crate::op::Encoding;

/// The contents of the debug sections. One that the file does not have is empty.
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "each field is the section of that name")]
pub struct Sections<'o> {
    /// Whether the most significant byte of a number comes first.
    pub big_endian: bool,
    pub debug_abbrev: &'o [u8],
    pub debug_addr: &'o [u8],
    pub debug_info: &'o [u8],
    pub debug_line: &'o [u8],
    pub debug_line_str: &'o [u8],
    pub debug_loc: &'o [u8],
    pub debug_loclists: &'o [u8],
    pub debug_ranges: &'o [u8],
    pub debug_rnglists: &'o [u8],
    pub debug_str: &'o [u8],
    pub debug_str_offsets: &'o [u8],
}

impl<'o> Sections<'o> {
    /// The sections of an object, with relocations applied.
    pub fn of(object: &'o Object<'_>) -> Self {
        let of = |name| object.section(name).map_or(&[][..], |section| &section.data);
        Self {
            big_endian: object.is_big_endian(),
            debug_abbrev: of(".debug_abbrev"),
            debug_addr: of(".debug_addr"),
            debug_info: of(".debug_info"),
            debug_line: of(".debug_line"),
            debug_line_str: of(".debug_line_str"),
            debug_loc: of(".debug_loc"),
            debug_loclists: of(".debug_loclists"),
            debug_ranges: of(".debug_ranges"),
            debug_rnglists: of(".debug_rnglists"),
            debug_str: of(".debug_str"),
            debug_str_offsets: of(".debug_str_offsets"),
        }
    }

    /// The string at an offset of `.debug_str`, without its zero byte.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if there is none.
    pub fn string(&self, offset: u64) -> Result<&'o [u8]> {
        self.cursor(".debug_str", self.debug_str).at(offset, "a string")?.string("a string")
    }

    /// The string at an offset of `.debug_line_str`, without its zero byte.
    ///
    /// # Errors
    /// As [`string`](Self::string).
    pub fn line_string(&self, offset: u64) -> Result<&'o [u8]> {
        self.cursor(".debug_line_str", self.debug_line_str).at(offset, "a string")?.string("a string")
    }

    /// String `index` of the table at `base` of `.debug_str_offsets`. Indices count from 0.
    ///
    /// # Errors
    /// As [`string`](Self::string); without a base in DWARF 5.
    pub(super) fn indexed_string(&self, base: Base, index: u64) -> Result<&'o [u8]> {
        let bytes = base.encoding.offset_bytes;
        let from = self.cursor(".debug_str_offsets", self.debug_str_offsets);
        let offset =
            base.element(from, index, bytes, "a string by index")?.uint(bytes, "a string by index")?;
        self.string(offset)
    }

    /// Address `index` of the table at `base` of `.debug_addr`. Indices count from 0.
    pub(super) fn indexed_address(&self, base: Base, index: u64) -> Result<u64> {
        let bytes = base.encoding.address_bytes;
        let from = self.cursor(".debug_addr", self.debug_addr);
        base.element(from, index, bytes, "an address by index")?.uint(bytes, "an address by index")
    }

    pub(super) fn cursor(&self, name: &'static str, bytes: &'o [u8]) -> Cursor<'o> {
        Cursor::new(name, bytes, self.big_endian)
    }
}

/// Where a table of indices starts, and what its elements depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) offset: Option<u64>,
    pub(super) encoding: Encoding,
}

impl Base {
    /// The element of an index. Without a base, a table of before DWARF 5 starts with the section.
    pub(super) fn element<'o>(
        self,
        from: Cursor<'o>,
        index: u64,
        bytes: u8,
        what: &str,
    ) -> Result<Cursor<'o>> {
        debug_assert!(is_address_size(bytes));
        let base = match self.offset {
            Some(base) => base,
            None if self.encoding.version < 5 => 0,
            None => {
                let text = format!("{what} {index}, but the unit does not say where its table starts");
                return Err(crate::Error::new(ErrorKind::Malformed(text)));
            }
        };
        let offset = index.checked_mul(bytes.into()).and_then(|by| by.checked_add(base));
        from.at(offset.unwrap_or(u64::MAX), what)
    }
}
