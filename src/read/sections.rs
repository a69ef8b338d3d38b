//! The debug sections of a file, and what other sections find in them by offset or index.

use super::Object;
use super::cursor::{Cursor, is_address_size};
use crate::error::{ErrorKind, Result};
use crate::op::Encoding;

/// Makes the table of sections: the fields, and how an object fills them.
macro_rules! sections { ($($field:ident $name:literal $dwo:literal;)*) => {
    /// The contents of the debug sections. One that the file does not have is empty.
    #[derive(Debug, Clone, Copy, Default)]
    #[allow(missing_docs, reason = "each field is the section of that name")]
    pub struct Sections<'o> {
        /// Whether the most significant byte of a number comes first.
        pub big_endian: bool,
        /// Whether these are the `.dwo` sections of split units (DWARF 5 section 7.3.2), which do without
        /// relocations and leave out bases.
        pub is_split: bool,
        /// Bytes of an address, for sections that do not say. 0 where it is not known either: 8 then.
        pub address_bytes: u8,
        /// The address at which `.eh_frame` is loaded.
        pub eh_frame_address: u64,
        $(pub $field: &'o [u8],)*
    }

    impl<'o> Sections<'o> {
        /// The sections of an object, with relocations applied.
        pub fn of(object: &'o Object<'_>) -> Self {
            let of = |name| object.section(name).map_or(&[][..], |section| &section.data);
            Self {
                big_endian: object.is_big_endian(),
                is_split: false,
                address_bytes: object.address_bytes(),
                eh_frame_address: object.section_address(".eh_frame").unwrap_or(0),
                $($field: of($name),)*
            }
        }

        /// The sections of split units in an object: those whose names end in `.dwo`.
        pub fn of_split(object: &'o Object<'_>) -> Self {
            let of = |name: &str| match name {
                "" => &[][..],
                name => object.section(name).map_or(&[][..], |section| &section.data),
            };
            Self {
                big_endian: object.is_big_endian(),
                is_split: true,
                address_bytes: object.address_bytes(),
                eh_frame_address: 0,
                $($field: of($dwo),)*
            }
        }
    }

    /// The name of a section where it is one of a split unit.
    fn split_name(name: &'static str) -> &'static str {
        match name {
            $($name if !$dwo.is_empty() => $dwo,)*
            _ => name,
        }
    }
} }

sections! {
    debug_abbrev ".debug_abbrev" ".debug_abbrev.dwo";
    debug_addr ".debug_addr" "";
    debug_aranges ".debug_aranges" "";
    debug_frame ".debug_frame" "";
    debug_gnu_pubnames ".debug_gnu_pubnames" "";
    debug_gnu_pubtypes ".debug_gnu_pubtypes" "";
    debug_info ".debug_info" ".debug_info.dwo";
    debug_line ".debug_line" ".debug_line.dwo";
    debug_line_str ".debug_line_str" "";
    debug_loc ".debug_loc" ".debug_loc.dwo";
    debug_loclists ".debug_loclists" ".debug_loclists.dwo";
    debug_macinfo ".debug_macinfo" ".debug_macinfo.dwo";
    debug_macro ".debug_macro" ".debug_macro.dwo";
    debug_names ".debug_names" "";
    debug_pubnames ".debug_pubnames" "";
    debug_pubtypes ".debug_pubtypes" "";
    debug_ranges ".debug_ranges" "";
    debug_rnglists ".debug_rnglists" ".debug_rnglists.dwo";
    debug_str ".debug_str" ".debug_str.dwo";
    debug_str_offsets ".debug_str_offsets" ".debug_str_offsets.dwo";
    debug_types ".debug_types" ".debug_types.dwo";
    eh_frame ".eh_frame" "";
}

impl<'o> Sections<'o> {
    /// Bytes of an address, for sections that do not say.
    pub(super) fn address_bytes_or_8(&self) -> u8 {
        if is_address_size(self.address_bytes) { self.address_bytes } else { 8 }
    }

    /// What the section is called in this file.
    pub(crate) fn name(&self, name: &'static str) -> &'static str {
        if self.is_split { split_name(name) } else { name }
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
        Cursor::new(self.name(name), bytes, self.big_endian)
    }
}

/// Where a table of indices starts, and what its elements depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) offset: Option<u64>,
    pub(super) encoding: Encoding,
}

/// Bytes of the header of a table of `.debug_str_offsets`, from DWARF 5 on. Section 7.26.
pub(super) fn str_offsets_header(encoding: Encoding) -> u64 {
    if encoding.offset_bytes == 8 { 16 } else { 8 }
}

/// Bytes of the header of a table of lists. DWARF 5 sections 7.28 and 7.29.
pub(super) fn lists_header(encoding: Encoding) -> u64 {
    if encoding.offset_bytes == 8 { 20 } else { 12 }
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
