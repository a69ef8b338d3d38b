//! Debug sections of a file, with access by offset or index.

use core::ops::Range;

use gimli::{EndianSlice, RunTimeEndian};

use super::Object;
use super::cursor::{Cursor, is_address_size};
use super::pc_notation::PcNotation;
use super::unreadable::{UnreadableField, of_section, within};
use super::value::Slice;
use crate::error::{Error, ErrorKind, Result};
use crate::op::Encoding;

/// Defines the table of sections: the fields, and their names in an object.
macro_rules! sections { ($($field:ident $name:literal $dwo:literal;)*) => {
    /// Contents of the debug sections. A section missing in the file is empty.
    #[derive(Debug, Clone, Copy, Default)]
    #[allow(missing_docs, reason = "each field is the section of that name")]
    #[non_exhaustive]
    pub struct Sections<'o> {
        /// Whether the most significant byte of a number comes first.
        pub big_endian: bool,
        /// Whether these are the `.dwo` sections of split units (DWARF 5 section 7.3.2), which need neither relocations
        /// nor base attributes.
        pub is_split: bool,
        /// Whether these are [Mercury copies](Object::read_mercury), whose names in the file begin with `.nv.merc`.
        pub is_mercury: bool,
        /// Address size in bytes, for sections that do not encode it. 0 if unknown, which means 8.
        pub address_bytes: u8,
        /// The object's ELF machine (`e_machine`); 0 if unknown.
        pub machine: u16,
        /// Address at which `.eh_frame` is loaded.
        pub eh_frame_address: u64,
        /// Addresses of the sections with code, sorted by their start. Empty if there is none, or it is unknown.
        pub code: &'o [Range<u64>],
        /// Notation of pcs.
        pub pcs: PcNotation<'o>,
        /// Fields whose relocations cannot be applied, sorted by section and offset.
        pub unreadable: &'o [UnreadableField],
        $(pub $field: &'o [u8],)*
    }

    impl<'o> Sections<'o> {
        /// Returns an object's sections, with relocations applied.
        pub fn of(object: &'o Object<'_>) -> Self {
            let data = |name| object.section(name).map_or(&[][..], |section| &section.data);
            Self {
                big_endian: object.is_big_endian(),
                is_split: false,
                is_mercury: object.is_mercury(),
                address_bytes: object.address_bytes(),
                machine: object.machine(),
                eh_frame_address: object.section_address(".eh_frame").unwrap_or(0),
                code: object.code(),
                pcs: object.pc_notation(),
                unreadable: object.unreadable_fields(),
                $($field: data($name),)*
            }
        }

        /// Returns the sections of split units in an object, whose names end in `.dwo`.
        pub fn of_split(object: &'o Object<'_>) -> Self {
            let data = |name: &str| match name {
                "" => &[][..],
                name => object.section(name).map_or(&[][..], |section| &section.data),
            };
            Self {
                big_endian: object.is_big_endian(),
                is_split: true,
                is_mercury: false,
                address_bytes: object.address_bytes(),
                machine: object.machine(),
                eh_frame_address: 0,
                code: &[],
                pcs: PcNotation::default(),
                unreadable: object.unreadable_fields(),
                $($field: data($dwo),)*
            }
        }
    }

    /// Returns the name that a section has for split units.
    fn split_name(name: &'static str) -> &'static str {
        match name {
            $($name if !$dwo.is_empty() => $dwo,)*
            _ => name,
        }
    }

    /// Returns the name that a section's Mercury copy has.
    fn mercury_name(name: &'static str) -> &'static str {
        match name {
            $($name => concat!(".nv.merc", $name),)*
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
    /// Whether a field that cannot be read is at a section offset: the object has the error.
    #[doc(hidden)]
    pub fn is_unreadable(&self, section: &str, offset: u64) -> bool {
        !within(of_section(self.unreadable, section), offset..offset.saturating_add(1)).is_empty()
    }

    /// Whether an error belongs to a field that cannot be read.
    #[doc(hidden)]
    pub fn has_error(&self, error: &Error) -> bool {
        let place = error.at().section.as_deref().zip(error.at().offset);
        place.is_some_and(|(section, offset)| self.is_unreadable(section, offset))
    }

    /// Returns the address size in bytes, for sections that do not encode it.
    pub(super) fn address_bytes_or_8(&self) -> u8 {
        if is_address_size(self.address_bytes) { self.address_bytes } else { 8 }
    }

    /// Returns the name of a section in this file.
    #[inline]
    #[doc(hidden)]
    pub fn name(&self, name: &'static str) -> &'static str {
        match (self.is_split, self.is_mercury) {
            (true, _) => split_name(name),
            (_, true) => mercury_name(name),
            _ => name,
        }
    }

    /// Returns the string at an offset of `.debug_str`, without its zero byte.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if there is no string.
    pub fn string(&self, offset: u64) -> Result<&'o [u8]> {
        self.cursor(".debug_str", self.debug_str).at(offset, "a string")?.string("a string")
    }

    /// Returns the string at an offset of `.debug_line_str`, without its zero byte.
    ///
    /// # Errors
    /// The errors that [`string`](Self::string) returns.
    pub fn line_string(&self, offset: u64) -> Result<&'o [u8]> {
        self.cursor(".debug_line_str", self.debug_line_str).at(offset, "a string")?.string("a string")
    }

    /// Returns string `index` in the `.debug_str_offsets` table at `base`. Indices count from 0.
    ///
    /// # Errors
    /// The errors that [`string`](Self::string) returns; and an error without a base in DWARF 5.
    pub(super) fn indexed_string(&self, base: Base, index: u64) -> Result<&'o [u8]> {
        self.string(self.indexed_string_offset(base, index)?)
    }

    /// Returns the `.debug_str` offset for string `index` in the table at `base`.
    #[inline]
    pub(super) fn indexed_string_offset(&self, base: Base, index: u64) -> Result<u64> {
        let table = self.cursor(".debug_str_offsets", self.debug_str_offsets);
        base.number(table, index, base.encoding.offset_bytes, "a string by index")
    }

    /// Returns address `index` in the `.debug_addr` table at `base`. Indices count from 0.
    pub(super) fn indexed_address(&self, base: Base, index: u64) -> Result<u64> {
        base.address(self.cursor(".debug_addr", self.debug_addr), index)
    }

    /// Returns section bytes as input for `gimli`.
    pub(super) fn slice(&self, bytes: &'o [u8]) -> Slice<'o> {
        EndianSlice::new(bytes, if self.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little })
    }

    pub(super) fn cursor(&self, name: &'static str, bytes: &'o [u8]) -> Cursor<'o> {
        let cursor = Cursor::new(self.name(name), bytes, self.big_endian);
        if self.unreadable.is_empty() {
            cursor
        } else {
            cursor.around(of_section(self.unreadable, self.name(name)))
        }
    }
}

/// Start of a table with indexed elements, and the elements' encoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    pub(super) offset: Option<u64>,
    pub(super) encoding: Encoding,
}

/// Returns the size in bytes of a table's header in `.debug_str_offsets`, from DWARF 5 on. Section 7.26.
pub(super) fn str_offsets_header(encoding: Encoding) -> u64 {
    if encoding.offset_bytes == 8 { 16 } else { 8 }
}

/// Returns the size in bytes of a list table's header. DWARF 5 sections 7.28 and 7.29.
pub(super) fn lists_header(encoding: Encoding) -> u64 {
    if encoding.offset_bytes == 8 { 20 } else { 12 }
}

impl Base {
    /// Returns the number with `bytes` bytes at a table index. Without a base, a table before DWARF 5 starts with the
    /// section.
    #[inline]
    pub(super) fn number(self, table: Cursor<'_>, index: u64, bytes: u8, item: &str) -> Result<u64> {
        debug_assert!(is_address_size(bytes));
        let base = match self.offset {
            Some(base) => base,
            None if self.encoding.version < 5 => 0,
            None => return Err(no_base(index, item)),
        };
        let offset = index.checked_mul(bytes.into()).and_then(|distance| distance.checked_add(base));
        if let (Some(offset), Some(end)) = (offset, self.end(table))
            && offset >= end
        {
            return Err(no_element(table, base, index, item));
        }
        let number = offset.and_then(|offset| table.uint_at(usize::try_from(offset).ok()?, bytes));
        number.ok_or_else(|| no_number(table, offset.unwrap_or(u64::MAX), bytes, item))
    }

    /// Returns the end of the unit's own table, from DWARF 5 on, where tables have headers: 7.26 and 7.27. `None` without
    /// a header before the base, where the end is the section's.
    fn end(self, table: Cursor<'_>) -> Option<u64> {
        let base = self.offset.filter(|_| self.encoding.version >= 5)?;
        let header = str_offsets_header(self.encoding);
        let start = usize::try_from(base.checked_sub(header)?).ok()?;
        let length_bytes = self.encoding.offset_bytes;
        // After 0xffffffff, if the length has eight bytes.
        let start = if length_bytes == 8 { start + 4 } else { start };
        let length = table.uint_at(start, length_bytes)?;
        let contents = start + usize::from(length_bytes);
        (table.uint_at(contents, 2)? == 5).then(|| length.saturating_add(contents as u64))
    }

    /// Returns address `index` in an address table.
    #[inline]
    pub(super) fn address(self, table: Cursor<'_>, index: u64) -> Result<u64> {
        self.number(table, index, self.encoding.address_bytes, "an address by index")
    }
}

fn no_number(table: Cursor<'_>, offset: u64, bytes: u8, item: &str) -> Error {
    let rest = table.at(offset, item);
    rest.map_or_else(|error| error, |rest| rest.no_number(offset as usize, bytes, item))
}

fn no_element(table: Cursor<'_>, base: u64, index: u64, item: &str) -> Error {
    let text = format!("{item} {index}: the unit's table at {base:#x} ends before it");
    table.error(ErrorKind::Malformed(text), base)
}

fn no_base(index: u64, item: &str) -> Error {
    Error::new(ErrorKind::Malformed(format!("{item} {index}: the unit has no base for its table")))
}
