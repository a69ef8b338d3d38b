//! Tables of names before DWARF 5: `.debug_pubnames` and `.debug_pubtypes` (DWARF 4 sections 6.1.1 and 7.19), and
//! GNU's, which have an additional byte for each name.

use super::cursor::Cursor;
use super::sections::Sections;
use crate::error::Result;

/// Section of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicSection {
    /// `.debug_pubnames`: functions and variables.
    Names,
    /// `.debug_pubtypes`.
    Types,
    /// `.debug_gnu_pubnames`.
    GnuNames,
    /// `.debug_gnu_pubtypes`.
    GnuTypes,
}

impl PublicSection {
    /// All sections.
    pub const ALL: [Self; 4] = [Self::Names, Self::Types, Self::GnuNames, Self::GnuTypes];

    /// Returns the section's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Names => ".debug_pubnames",
            Self::Types => ".debug_pubtypes",
            Self::GnuNames => ".debug_gnu_pubnames",
            Self::GnuTypes => ".debug_gnu_pubtypes",
        }
    }

    fn bytes<'o>(self, sections: &Sections<'o>) -> &'o [u8] {
        match self {
            Self::Names => sections.debug_pubnames,
            Self::Types => sections.debug_pubtypes,
            Self::GnuNames => sections.debug_gnu_pubnames,
            Self::GnuTypes => sections.debug_gnu_pubtypes,
        }
    }

    fn has_flags(self) -> bool {
        matches!(self, Self::GnuNames | Self::GnuTypes)
    }
}

/// Public names of a unit.
#[derive(Debug, Clone)]
pub struct PublicNames<'o> {
    /// Section of the table.
    pub section: PublicSection,
    /// Header offset in the section, in bytes.
    pub offset: u64,
    /// Version: 2, in all DWARF versions.
    pub version: u16,
    /// 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// Unit offset in `.debug_info`.
    pub unit: u64,
    /// Unit size in `.debug_info`, in bytes.
    pub unit_bytes: u64,
    names: Cursor<'o>,
}

/// A public name.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicName<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Offset of the named entry from the unit's start.
    pub entry: u64,
    /// Kind (bits 4 to 6) and whether the name is static (bit 7), in GNU's tables.
    pub flags: Option<u8>,
    /// The name, without its zero byte.
    pub name: &'o [u8],
}

const WHAT: &str = "a set of public names";

impl<'o> PublicNames<'o> {
    /// Reads all headers of a table.
    ///
    /// # Errors
    /// [`Truncated`](crate::error::ErrorKind::Truncated) or [`Malformed`](crate::error::ErrorKind::Malformed) with the
    /// offset; [`Unsupported`](crate::error::ErrorKind::Unsupported) for other versions.
    pub fn read_all(sections: &Sections<'o>, section: PublicSection) -> Result<Vec<Self>> {
        Self::read_each(sections, section).into_iter().collect()
    }

    /// Reads each header of a table, or the error that [`read_all`](Self::read_all) has for it.
    pub fn read_each(sections: &Sections<'o>, section: PublicSection) -> Vec<Result<Self>> {
        let from = sections.cursor(section.name(), section.bytes(sections));
        from.each_table(WHAT, |mut table, offset, offset_bytes| {
            let version = 2;
            table.version(version, WHAT)?;
            let unit = table.uint(offset_bytes, WHAT)?;
            let unit_bytes = table.uint(offset_bytes, WHAT)?;
            Ok(Self { section, offset, version, offset_bytes, unit, unit_bytes, names: table })
        })
    }

    /// Returns the names, up to the terminating offset 0.
    ///
    /// # Errors
    /// [`Truncated`](crate::error::ErrorKind::Truncated) if the set ends before its terminator. The iterator ends after
    /// an error.
    pub fn names(&self) -> impl Iterator<Item = Result<PublicName<'o>>> + use<'o> {
        let mut from = self.names;
        let bytes = self.offset_bytes;
        let has_flags = self.section.has_flags();
        let mut is_done = false;
        let mut next = move || -> Result<Option<PublicName<'o>>> {
            let offset = from.offset();
            let entry = from.uint(bytes, WHAT)?;
            if entry == 0 {
                return Ok(None);
            }
            let flags = if has_flags { Some(from.u8(WHAT)?) } else { None };
            Ok(Some(PublicName { offset, entry, flags, name: from.string(WHAT)? }))
        };
        std::iter::from_fn(move || {
            let name = if is_done { None } else { next().transpose() };
            is_done = !matches!(name, Some(Ok(_)));
            name
        })
    }
}
