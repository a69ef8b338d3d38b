//! Units and entries: the tree of `.debug_info`, flat. DWARF 5 sections 2 and 7.5.

use std::borrow::Cow;
use std::ops::Range;

use gimli::{DebugAbbrev, DebugInfo, DwTag, DwUt, EndianSlice, RunTimeEndian, constants as dw};

use super::Object;
use super::cursor::is_address_size;
use super::entry::Entry;
use super::line::LineProgram;
use super::lists::{List, ListFormat, RawList};
use super::sections::{Base, Sections};
use super::value::{Attribute, Slice, Value, resolve};
use crate::error::{At, Error, ErrorKind, Result};
use crate::op::{Dialect, DraftCodes, Encoding};

/// What `.debug_info` says, and the way from there to the other sections.
///
/// Entries are kept in the order of the file, all units after one another; attributes likewise. [`Entry`]
/// is a view of one of them.
#[derive(Debug, Clone)]
pub struct Dwarf<'o> {
    pub(super) sections: Sections<'o>,
    pub(super) units: Vec<Unit<'o>>,
    pub(super) nodes: Vec<Node>,
    pub(super) attributes: Vec<Attribute<'o>>,
}

/// A unit and what its first entry says for all of it. DWARF 5 sections 3.1 and 7.5.1.
#[derive(Debug, Clone)]
pub struct Unit<'o> {
    /// The offset of its header in `.debug_info`, in bytes.
    pub offset: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// What kind of unit it is. `DW_UT_compile` or `DW_UT_partial` before DWARF 5, by the first entry.
    pub kind: DwUt,
    /// Version, sizes and dialect, as expressions need them.
    pub encoding: Encoding,
    /// `DW_AT_name`.
    pub name: Option<Cow<'o, str>>,
    /// `DW_AT_comp_dir`.
    pub comp_dir: Option<Cow<'o, str>>,
    /// `DW_AT_producer`.
    pub producer: Option<Cow<'o, str>>,
    /// `DW_AT_language`.
    pub language: Option<u64>,
    /// `DW_AT_low_pc`: what the unit's lists count from until they say otherwise.
    pub low_pc: Option<u64>,
    /// `DW_AT_addr_base`: the offset of the unit's first address in `.debug_addr`.
    pub addr_base: Option<u64>,
    /// `DW_AT_str_offsets_base`: the offset of the unit's first string in `.debug_str_offsets`.
    pub str_offsets_base: Option<u64>,
    /// `DW_AT_loclists_base`: the offset of the unit's table of lists in `.debug_loclists`.
    pub loclists_base: Option<u64>,
    /// `DW_AT_rnglists_base`: the offset of the unit's table of lists in `.debug_rnglists`.
    pub rnglists_base: Option<u64>,
    /// `DW_AT_stmt_list`: the offset of the unit's line program in `.debug_line`.
    pub stmt_list: Option<u64>,
    /// How many entries have children that do not end before the unit does.
    pub(crate) unclosed: usize,
    /// Its entries, by index.
    pub(super) entries: Range<u32>,
}

/// An entry, as it is kept.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) offset: u64,
    pub(super) tag: DwTag,
    pub(super) unit: u32,
    pub(super) depth: u32,
    /// The index of the parent; its own at the top.
    pub(super) parent: u32,
    /// The index after its last descendant.
    pub(super) end: u32,
    pub(super) attributes: Range<u32>,
}

impl<'o> Dwarf<'o> {
    /// Reads the units and entries of an object.
    ///
    /// Expressions are taken to be in the dialect of LLVM, which has all operations of standard DWARF:
    /// nothing in a file names its dialect. A file without `.debug_info` has no units.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with section and
    /// offset, where the tree or something that an attribute refers to cannot be read;
    /// [`Unsupported`](ErrorKind::Unsupported) if there are type units of DWARF 4 (`.debug_types`).
    pub fn read(object: &'o Object<'_>) -> Result<Self> {
        Self::read_as(object, Dialect::Llvm, DraftCodes::NONE)
    }

    /// The same with another dialect. `draft` are numbers for operations of the DWARF 6 draft.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_as(object: &'o Object<'_>, dialect: Dialect, draft: DraftCodes) -> Result<Self> {
        if object.section(".debug_types").is_some_and(|section| !section.data.is_empty()) {
            let text = "type units of DWARF 4 are not supported";
            return Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(".debug_types"));
        }
        Self::from_sections(Sections::of(object), dialect, draft)
    }

    /// The same from sections that are in no object.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_sections(sections: Sections<'o>, dialect: Dialect, draft: DraftCodes) -> Result<Self> {
        let mut reader = Reader {
            dwarf: Dwarf { sections, units: Vec::new(), nodes: Vec::new(), attributes: Vec::new() },
            dialect,
            draft,
        };
        reader.read()?;
        Ok(reader.dwarf)
    }

    /// The sections that this was read from.
    pub fn sections(&self) -> &Sections<'o> {
        &self.sections
    }

    /// Every unit, in the order of the file.
    pub fn units(&self) -> &[Unit<'o>] {
        &self.units
    }

    /// Every entry of all units, in the order of the file: parents before children.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_, 'o>> + Clone {
        (0..self.nodes.len() as u32).map(|index| Entry { dwarf: self, index })
    }

    /// The entries of a unit, the first of them the unit's own.
    pub fn entries_of(&self, unit: &Unit<'o>) -> impl Iterator<Item = Entry<'_, 'o>> + Clone {
        let end = unit.entries.end.min(self.nodes.len() as u32);
        (unit.entries.start..end).map(|index| Entry { dwarf: self, index })
    }

    /// The first entry of a unit, which describes all of it. `None` if the unit is empty.
    pub fn root(&self, unit: &Unit<'o>) -> Option<Entry<'_, 'o>> {
        self.entries_of(unit).next()
    }

    /// The entry at an offset of `.debug_info`.
    pub fn entry_at(&self, offset: u64) -> Option<Entry<'_, 'o>> {
        let index = self.nodes.binary_search_by_key(&offset, |node| node.offset).ok()?;
        Some(Entry { dwarf: self, index: index as u32 })
    }

    /// Address `index` of the unit, from `.debug_addr`: the operand of `addrx`. Indices count from 0.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if there is none.
    pub fn address(&self, unit: &Unit<'o>, index: u64) -> Result<u64> {
        self.sections.indexed_address(Base { offset: unit.addr_base, encoding: unit.encoding }, index)
    }

    /// The entries of the location list at an offset, with addresses worked out.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside of the section.
    pub fn locations(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        Ok(List::new(self.raw_locations(unit, offset)?, self.sections, unit))
    }

    /// The entries of the location list at an offset, as they are encoded.
    ///
    /// # Errors
    /// As [`locations`](Self::locations).
    pub fn raw_locations(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        let format = if unit.encoding.version < 5 { ListFormat::Loc } else { ListFormat::Loclists };
        RawList::new(&self.sections, format, unit.encoding, offset)
    }

    /// The entries of the range list at an offset, with addresses worked out.
    ///
    /// # Errors
    /// As [`locations`](Self::locations).
    pub fn ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        Ok(List::new(self.raw_ranges(unit, offset)?, self.sections, unit))
    }

    /// The entries of the range list at an offset, as they are encoded.
    ///
    /// # Errors
    /// As [`locations`](Self::locations).
    pub fn raw_ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        let format = if unit.encoding.version < 5 { ListFormat::Ranges } else { ListFormat::Rnglists };
        RawList::new(&self.sections, format, unit.encoding, offset)
    }

    /// The line program of a unit, if it has one.
    ///
    /// # Errors
    /// As [`LineProgram::read`].
    pub fn lines(&self, unit: &Unit<'o>) -> Result<Option<LineProgram<'o>>> {
        let strings = Base { offset: unit.str_offsets_base, encoding: unit.encoding };
        unit.stmt_list.map(|offset| LineProgram::read_with(&self.sections, offset, strings)).transpose()
    }
}

/// An attribute before what it refers to is looked up.
type Raw<'o> = gimli::read::Attribute<Slice<'o>>;

struct Reader<'o> {
    dwarf: Dwarf<'o>,
    dialect: Dialect,
    draft: DraftCodes,
}

impl<'o> Reader<'o> {
    fn read(&mut self) -> Result<()> {
        let sections = self.dwarf.sections;
        let endian = if sections.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let info = DebugInfo::from(EndianSlice::new(sections.debug_info, endian));
        let abbrevs = DebugAbbrev::from(EndianSlice::new(sections.debug_abbrev, endian));
        // Units of one producer often share a table.
        let mut table = None;
        let mut headers = info.units();
        let mut next = 0;
        loop {
            let header = match headers.next() {
                Ok(Some(header)) => header,
                Ok(None) => return Ok(()),
                Err(error) => return Err(broken(error, "a unit header", ".debug_info", next)),
            };
            let start = next;
            next += header.length_including_self() as u64;
            let offset = header.debug_abbrev_offset();
            let table = match &table {
                Some((known, table)) if *known == offset => table,
                _ => {
                    let read = header.abbreviations(&abbrevs);
                    let read =
                        read.map_err(|e| broken(e, "the abbreviations", ".debug_abbrev", offset.0 as u64))?;
                    &table.insert((offset, read)).1
                }
            };
            self.unit(&header, table, start..next)?;
        }
    }

    fn unit(
        &mut self,
        header: &gimli::UnitHeader<Slice<'o>>,
        table: &gimli::Abbreviations,
        span: Range<u64>,
    ) -> Result<()> {
        let encoding = Encoding {
            address_bytes: header.address_size(),
            offset_bytes: header.format().word_size(),
            version: header.version(),
            big_endian: self.dwarf.sections.big_endian,
            dialect: self.dialect,
            draft: self.draft,
        };
        if !is_address_size(encoding.address_bytes) {
            let text = format!("addresses of {} bytes", encoding.address_bytes);
            return Err(Error::malformed(text).in_section(".debug_info").at_offset(span.start));
        }
        let first = self.next_index(span.start)?;
        let mut unit = Unit {
            offset: span.start,
            end: span.end,
            kind: match header.type_() {
                gimli::UnitType::Compilation => dw::DW_UT_compile,
                gimli::UnitType::Type { .. } => dw::DW_UT_type,
                gimli::UnitType::Partial => dw::DW_UT_partial,
                gimli::UnitType::Skeleton(_) => dw::DW_UT_skeleton,
                gimli::UnitType::SplitCompilation(_) => dw::DW_UT_split_compile,
                gimli::UnitType::SplitType { .. } => dw::DW_UT_split_type,
            },
            encoding,
            name: None,
            comp_dir: None,
            producer: None,
            language: None,
            low_pc: None,
            addr_base: None,
            str_offsets_base: None,
            loclists_base: None,
            rnglists_base: None,
            stmt_list: None,
            unclosed: 0,
            entries: first..first,
        };
        let number = self.dwarf.units.len() as u32;
        let mut open: Vec<u32> = Vec::new();
        let mut raw: Vec<Raw<'o>> = Vec::new();
        let broken = |error, offset| broken(error, "an entry", ".debug_info", offset);
        let mut entries = header.entries_raw(table, None).map_err(|error| broken(error, span.start))?;
        while !entries.is_empty() {
            let offset = span.start + entries.next_offset().0 as u64;
            let Some(abbrev) = entries.read_abbreviation().map_err(|error| broken(error, offset))? else {
                if let Some(parent) = open.pop() {
                    self.dwarf.nodes[parent as usize].end = self.next_index(offset)?;
                }
                continue;
            };
            raw.clear();
            for &spec in abbrev.attributes() {
                raw.push(entries.read_attribute(spec).map_err(|error| broken(error, offset))?);
            }
            let index = self.next_index(offset)?;
            if index == first {
                unit.set_bases(&raw);
            }
            let place = |error: Error| {
                error.in_section(".debug_info").or_at(At {
                    unit: unit.name.as_deref().map(String::from),
                    offset: Some(offset),
                    ..At::default()
                })
            };
            let start = self.next_attribute(offset)?;
            for one in &raw {
                let value =
                    resolve(&self.dwarf.sections, &unit, one.name(), one.raw_value()).map_err(place)?;
                let (name, form) = (one.name(), one.form());
                self.dwarf.attributes.push(Attribute { name, form, value });
            }
            let attributes = start..self.next_attribute(offset)?;
            if index == first {
                unit.set_rest(&self.dwarf.attributes[start as usize..]);
            }
            self.dwarf.nodes.push(Node {
                offset,
                tag: abbrev.tag(),
                unit: number,
                depth: open.len() as u32,
                parent: open.last().copied().unwrap_or(index),
                end: index + 1,
                attributes,
            });
            if abbrev.has_children() {
                open.push(index);
            }
        }
        unit.entries.end = self.next_index(span.end)?;
        unit.unclosed = open.len();
        for parent in open {
            self.dwarf.nodes[parent as usize].end = unit.entries.end;
        }
        self.dwarf.units.push(unit);
        Ok(())
    }

    fn next_index(&self, offset: u64) -> Result<u32> {
        u32::try_from(self.dwarf.nodes.len()).ok().filter(|&index| index < u32::MAX).ok_or_else(|| {
            let text = "more than 4294967294 entries".into();
            Error::new(ErrorKind::TooLarge(text)).in_section(".debug_info").at_offset(offset)
        })
    }

    fn next_attribute(&self, offset: u64) -> Result<u32> {
        // Attributes can have no bytes in `.debug_info`. A file in which that is the rule is made to
        // exhaust its reader.
        let most = self.dwarf.sections.debug_info.len().saturating_mul(16).saturating_add(0x10000);
        let len = self.dwarf.attributes.len();
        u32::try_from(len).ok().filter(|_| len <= most).ok_or_else(|| {
            let text = format!("{len} attributes in a section of this size");
            Error::new(ErrorKind::TooLarge(text)).in_section(".debug_info").at_offset(offset)
        })
    }
}

impl<'o> Unit<'o> {
    /// Takes what the other attributes of the first entry depend on.
    fn set_bases(&mut self, raw: &[Raw<'o>]) {
        for one in raw {
            // Before DWARF 4 the form does not tell an offset from a number.
            let Some(offset) = one.offset_value() else { continue };
            let base = match one.name() {
                dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => &mut self.addr_base,
                dw::DW_AT_str_offsets_base => &mut self.str_offsets_base,
                dw::DW_AT_loclists_base => &mut self.loclists_base,
                dw::DW_AT_rnglists_base => &mut self.rnglists_base,
                _ => continue,
            };
            *base = Some(offset as u64);
        }
    }

    /// Takes what the attributes of the first entry say for the whole unit.
    fn set_rest(&mut self, attributes: &[Attribute<'o>]) {
        for Attribute { name, value, .. } in attributes {
            match (*name, value) {
                (dw::DW_AT_name, _) => self.name = value.text(),
                (dw::DW_AT_comp_dir, _) => self.comp_dir = value.text(),
                (dw::DW_AT_producer, _) => self.producer = value.text(),
                (dw::DW_AT_language, _) => self.language = value.unsigned(),
                (dw::DW_AT_low_pc, &Value::Address(address)) => self.low_pc = Some(address),
                (dw::DW_AT_stmt_list, &Value::LineProgram(offset)) => self.stmt_list = Some(offset),
                _ => {}
            }
        }
    }
}

/// An error of `gimli`'s as one of ours.
#[cold]
fn broken(error: gimli::Error, what: &str, section: &str, offset: u64) -> Error {
    let kind = match error {
        gimli::Error::UnexpectedEof(_) => ErrorKind::Truncated(what.into()),
        gimli::Error::UnknownVersion(_) | gimli::Error::UnknownForm(_) | gimli::Error::UnknownUnitType(_) => {
            ErrorKind::Unsupported(format!("{what}: {error}"))
        }
        _ => ErrorKind::Malformed(format!("{what}: {error}")),
    };
    Error::new(kind).in_section(section).at_offset(offset)
}
