//! Macros: `.debug_macro` (DWARF 5 sections 6.3 and 7.23, and GNU's version 4), and `.debug_macinfo` (DWARF 4
//! sections 6.3 and 7.22).

use std::sync::Arc;

use gimli::{DwForm, constants as dw};

use super::cursor::Cursor;
use super::dwarf::Dwarf;
use super::sections::{Base, Sections};
use super::unit::Unit;
use super::value::ResolvedValue;
use crate::error::{ErrorKind, Result};

/// A macro list with its decoded header. [`entries`](Self::entries) reads the list.
#[derive(Debug, Clone)]
pub struct Macros<'o> {
    /// Header offset, or the offset of the first entry in `.debug_macinfo`, which has no header.
    pub offset: u64,
    /// Version of `.debug_macro`, 4 or 5. `None` in `.debug_macinfo`.
    pub version: Option<u16>,
    /// 4 in the 32-bit DWARF format, 8 in the 64-bit format.
    pub offset_bytes: u8,
    /// Offset in `.debug_line` of the line program that numbers the files.
    pub line_program: Option<u64>,
    /// Vendors' opcodes with the forms of their operands.
    pub vendor_opcodes: Vec<(u8, &'o [u8])>,
    sections: Sections<'o>,
    /// The supplementary file, if it was read with the object.
    supplementary: Option<Arc<Dwarf<'o>>>,
    strings: Base,
    from: Cursor<'o>,
}

/// An entry in a macro list. Lines count from 1; 0 means outside all lines of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are those of the specification")]
pub enum MacroAction<'o> {
    /// A definition: the name, optional parameters in parentheses, a space, and the replacement.
    Define { line: u64, text: &'o [u8] },
    /// Ends a definition. The text is the name.
    Undef { line: u64, text: &'o [u8] },
    /// Start of an included file: its number in the line program.
    StartFile { line: u64, file: u64 },
    /// Ends the file.
    EndFile,
    /// Includes the entries of a list in the same section, by its offset.
    Import { offset: u64 },
    /// Includes the entries of a list in the supplementary file, by its offset there.
    ImportSup { offset: u64 },
    /// A definition in a supplementary file that was not read with the object.
    DefineSup { line: u64, offset: u64 },
    /// End of a definition whose name is in a supplementary file that was not read with the object.
    UndefSup { line: u64, offset: u64 },
    /// A vendor's entry of `.debug_macinfo`.
    Vendor { number: u64, text: &'o [u8] },
    /// An entry with a vendor's opcode in `.debug_macro`.
    Other,
}

/// An entry of a macro list with its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MacroEntry<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Opcode of the entry.
    pub opcode: u8,
    /// Decoded entry.
    pub entry: MacroAction<'o>,
}

const WHAT: &str = "a macro unit";

impl<'o> Macros<'o> {
    /// Reads the header at an offset of `.debug_macro`. Strings by index need the unit: [`Dwarf::macros`].
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed) with the offset;
    /// [`Unsupported`](ErrorKind::Unsupported) for other versions.
    pub fn read(sections: &Sections<'o>, offset: u64) -> Result<Self> {
        let encoding = crate::op::Encoding::new(8, crate::op::Dialect::Dwarf5);
        Self::read_with(sections, None, offset, Base { offset: None, encoding })
    }

    fn read_with(
        sections: &Sections<'o>,
        supplementary: Option<Arc<Dwarf<'o>>>,
        offset: u64,
        mut strings: Base,
    ) -> Result<Self> {
        let mut from = sections.cursor(".debug_macro", sections.debug_macro).at(offset, WHAT)?;
        let version = from.u16(WHAT)?;
        if !matches!(version, 4 | 5) {
            return Err(from
                .error(ErrorKind::Unsupported(format!("unsupported version {version} of {WHAT}")), offset));
        }
        let start = from.offset();
        let flags = from.u8(WHAT)?;
        // Other flags have unknown effects on the header.
        if flags > 7 {
            return Err(
                from.error(ErrorKind::Unsupported(format!("unknown flags {flags:#04x} of {WHAT}")), start)
            );
        }
        let offset_bytes = if flags & 1 != 0 { 8 } else { 4 };
        let line_program = if flags & 2 != 0 { Some(from.uint(offset_bytes, WHAT)?) } else { None };
        let mut vendor_opcodes = Vec::new();
        if flags & 4 != 0 {
            for _ in 0..from.u8(WHAT)? {
                let opcode = from.u8(WHAT)?;
                let count = from.uleb(WHAT)?;
                vendor_opcodes.push((opcode, from.take(count, WHAT)?));
            }
        }
        strings.encoding.offset_bytes = offset_bytes;
        let sections = *sections;
        let version = Some(version);
        Ok(Self {
            offset,
            version,
            offset_bytes,
            line_program,
            vendor_opcodes,
            sections,
            supplementary,
            strings,
            from,
        })
    }

    /// Returns the list at an offset of `.debug_macinfo`.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside the section.
    pub fn read_macinfo(sections: &Sections<'o>, offset: u64) -> Result<Self> {
        let from = sections.cursor(".debug_macinfo", sections.debug_macinfo).at(offset, WHAT)?;
        let encoding = crate::op::Encoding::new(8, crate::op::Dialect::Dwarf5);
        Ok(Self {
            offset,
            version: None,
            offset_bytes: 4,
            line_program: None,
            vendor_opcodes: Vec::new(),
            sections: *sections,
            supplementary: None,
            strings: Base { offset: None, encoding },
            from,
        })
    }

    /// Returns the list at the offset of an [`Import`](MacroAction::Import) in this list.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    pub fn import(&self, offset: u64) -> Result<Self> {
        Self::read_with(&self.sections, self.supplementary.clone(), offset, self.strings)
    }

    /// Returns the supplementary file's list at the offset of an [`ImportSup`](MacroAction::ImportSup) in this list. `None`
    /// if that file was not read with the object.
    ///
    /// # Errors
    /// The errors that [`read`](Self::read) returns.
    pub fn import_supplementary(&self, offset: u64) -> Option<Result<Self>> {
        let other = self.supplementary.as_deref()?;
        Some(Self::read(&other.sections, offset).map_err(|error| error.or_at(other.at())))
    }

    /// Returns the next entry, and moves the start of the list after the entry.
    #[doc(hidden)]
    pub fn next_entry(&mut self) -> Option<Result<MacroEntry<'o>>> {
        let mut entries = self.entries();
        let entry = entries.next();
        self.from = entries.from;
        entry
    }

    /// Returns the entries, up to the terminating opcode 0.
    pub fn entries(&self) -> MacroEntries<'_, 'o> {
        MacroEntries { list: self, from: self.from }
    }

    fn entry(&self, from: &mut Cursor<'o>) -> Result<Option<MacroEntry<'o>>> {
        const WHAT: &str = "a macro entry";
        let offset = from.offset();
        let opcode = from.u8(WHAT)?;
        let line = |from: &mut Cursor<'o>| from.uleb(WHAT);
        let section_offset = |from: &mut Cursor<'o>| from.uint(self.offset_bytes, WHAT);
        let by_offset = |from: &mut Cursor<'o>| self.sections.string(section_offset(from)?);
        let by_index = |from: &mut Cursor<'o>| self.sections.indexed_string(self.strings, from.uleb(WHAT)?);
        let entry = match (opcode, self.version) {
            (0, _) => return Ok(None),
            (1, _) => MacroAction::Define { line: line(from)?, text: from.string(WHAT)? },
            (2, _) => MacroAction::Undef { line: line(from)?, text: from.string(WHAT)? },
            (3, _) => MacroAction::StartFile { line: line(from)?, file: from.uleb(WHAT)? },
            (4, _) => MacroAction::EndFile,
            (0xff, None) => MacroAction::Vendor { number: from.uleb(WHAT)?, text: from.string(WHAT)? },
            (5, Some(_)) => MacroAction::Define { line: line(from)?, text: by_offset(from)? },
            (6, Some(_)) => MacroAction::Undef { line: line(from)?, text: by_offset(from)? },
            (7, Some(_)) => MacroAction::Import { offset: section_offset(from)? },
            (8 | 9, Some(_)) => {
                let line = line(from)?;
                let offset = section_offset(from)?;
                let text = self
                    .supplementary
                    .as_deref()
                    .map(|other| other.sections.string(offset).map_err(|error| error.or_at(other.at())));
                let text = text.transpose()?;
                match (opcode, text) {
                    (8, Some(text)) => MacroAction::Define { line, text },
                    (8, None) => MacroAction::DefineSup { line, offset },
                    (_, Some(text)) => MacroAction::Undef { line, text },
                    (_, None) => MacroAction::UndefSup { line, offset },
                }
            }
            (10, Some(_)) => MacroAction::ImportSup { offset: section_offset(from)? },
            (11, Some(5..)) => MacroAction::Define { line: line(from)?, text: by_index(from)? },
            (12, Some(5..)) => MacroAction::Undef { line: line(from)?, text: by_index(from)? },
            _ => {
                let known = self.vendor_opcodes.iter().find(|(known, _)| *known == opcode);
                let Some((_, forms)) = known else {
                    let text = format!("{WHAT}: unknown opcode {opcode:#04x}");
                    return Err(from.error(ErrorKind::Unsupported(text), offset));
                };
                for &form in *forms {
                    self.skip(from, DwForm(form.into()))?;
                }
                MacroAction::Other
            }
        };
        Ok(Some(MacroEntry { offset, opcode, entry }))
    }

    /// Skips an operand of a vendor's opcode, in a form that the specification allows.
    fn skip(&self, from: &mut Cursor<'o>, form: DwForm) -> Result<()> {
        const WHAT: &str = "a macro operand";
        let start = from.offset();
        let len = match form {
            dw::DW_FORM_data1 | dw::DW_FORM_flag | dw::DW_FORM_strx1 => 1,
            dw::DW_FORM_data2 | dw::DW_FORM_strx2 => 2,
            dw::DW_FORM_strx3 => 3,
            dw::DW_FORM_data4 | dw::DW_FORM_strx4 => 4,
            dw::DW_FORM_data8 => 8,
            dw::DW_FORM_data16 => 16,
            dw::DW_FORM_block1 => from.uint(1, WHAT)?,
            dw::DW_FORM_block2 => from.uint(2, WHAT)?,
            dw::DW_FORM_block4 => from.uint(4, WHAT)?,
            dw::DW_FORM_block => from.uleb(WHAT)?,
            dw::DW_FORM_line_strp | dw::DW_FORM_sec_offset | dw::DW_FORM_strp | dw::DW_FORM_strp_sup => {
                self.offset_bytes.into()
            }
            dw::DW_FORM_sdata => return from.sleb(WHAT).map(|_| ()),
            dw::DW_FORM_udata | dw::DW_FORM_strx => return from.uleb(WHAT).map(|_| ()),
            dw::DW_FORM_string => return from.string(WHAT).map(|_| ()),
            _ => {
                let text = format!("{WHAT}: unsupported form {:#x}", form.0);
                return Err(from.error(ErrorKind::Unsupported(text), start));
            }
        };
        from.take(len, WHAT).map(|_| ())
    }
}

/// The entries of a macro list, in order.
///
/// # Errors
/// [`Truncated`](ErrorKind::Truncated), [`Malformed`](ErrorKind::Malformed) or
/// [`Unsupported`](ErrorKind::Unsupported) for an entry that cannot be read, with the offset. The iterator
/// ends after an error.
#[derive(Debug, Clone)]
pub struct MacroEntries<'l, 'o> {
    list: &'l Macros<'o>,
    from: Cursor<'o>,
}

impl<'o> Iterator for MacroEntries<'_, 'o> {
    type Item = Result<MacroEntry<'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.from.is_finished() {
            return None;
        }
        let entry = self.list.entry(&mut self.from).transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.from.finish();
        }
        entry
    }
}

impl<'o> Dwarf<'o> {
    /// Returns a unit's macros, if any: `DW_AT_macros`, GNU's predecessor, or `DW_AT_macro_info`.
    ///
    /// # Errors
    /// The errors that [`Macros::read`] returns.
    pub fn macros(&self, unit: &Unit<'o>) -> Result<Option<Macros<'o>>> {
        let Some(root) = self.root(unit) else { return Ok(None) };
        let offset = |name| match root.attr(name)? {
            // Before DWARF 4 the form does not distinguish an offset from a number.
            ResolvedValue::Offset(offset) | ResolvedValue::Unsigned(offset) => Some(offset),
            _ => None,
        };
        if let Some(offset) = offset(dw::DW_AT_macros).or_else(|| offset(dw::DW_AT_GNU_macros)) {
            let strings = Base { offset: unit.bases.str_offsets, encoding: unit.encoding };
            return Macros::read_with(&self.sections, self.supplementary.clone(), offset, strings).map(Some);
        }
        offset(dw::DW_AT_macro_info).map(|offset| Macros::read_macinfo(&self.sections, offset)).transpose()
    }
}
