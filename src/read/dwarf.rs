//! Units and entries: the tree of `.debug_info`, flat. DWARF 5 sections 2 and 7.5.

use std::borrow::Cow;
use std::ops::Range;

use gimli::{DwTag, DwUt, constants as dw};

use super::Object;
use super::entry::Entry;
use super::frame::{FrameSection, Frames};
use super::line::LineProgram;
use super::lists::{List, ListFormat, RawList};
use super::sections::{Base, Sections};
use super::units::Reader;
use super::value::Attribute;
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Dialect, DraftCodes, Encoding};

/// What `.debug_info` says, and the way from there to the other sections.
///
/// Entries are kept in the order of the file, all units after one another; attributes likewise. [`Entry`]
/// is a view of one of them. Offsets of units and entries are those in `.debug_info`. The type units of
/// DWARF 4 have a section of their own, `.debug_types`; they come last here, and their offsets go on where
/// `.debug_info` ends, so that an offset means one entry: [`place`](Self::place) gives the section's own.
#[derive(Debug, Clone)]
pub struct Dwarf<'o> {
    pub(super) sections: Sections<'o>,
    pub(super) units: Vec<Unit<'o>>,
    pub(super) nodes: Vec<Node>,
    pub(super) attributes: Vec<Attribute<'o>>,
    /// Signatures of type units with the index of the unit, sorted.
    pub(super) signatures: Vec<(u64, u32)>,
    /// For expressions in sections that have no units, and what else these do not say.
    pub(super) encoding: Encoding,
    /// Of split units, the sections of the file that has their skeletons.
    pub(super) main: Option<Sections<'o>>,
}

/// A unit and what its first entry says for all of it. DWARF 5 sections 3.1 and 7.5.1.
#[derive(Debug, Clone)]
pub struct Unit<'o> {
    /// The offset of its header, in bytes, counted as [`Dwarf`] says.
    pub offset: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// What kind of unit it is. Before DWARF 5, which brought the field, by section and first entry.
    pub kind: DwUt,
    /// Of a type unit, the signature by which others refer to its type. DWARF 5 section 7.5.1.3.
    pub signature: Option<u64>,
    /// Of a type unit, the offset of the type's entry, counted as `offset` is.
    pub type_offset: Option<u64>,
    /// Of a skeleton or a split unit, the number that both have: of the header, or `DW_AT_GNU_dwo_id`.
    pub dwo_id: Option<u64>,
    /// Of a skeleton, the file that has the split unit: `DW_AT_dwo_name`.
    pub dwo_name: Option<Cow<'o, str>>,
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
    /// `DW_AT_GNU_ranges_base`: from where a split unit of DWARF 4 counts offsets in `.debug_ranges`.
    pub ranges_base: Option<u64>,
    /// `DW_AT_stmt_list`: the offset of the unit's line program in `.debug_line`.
    pub stmt_list: Option<u64>,
    /// Whether it is a split unit whose skeleton is known: its addresses, and its lines, are in the
    /// skeleton's file.
    pub has_skeleton: bool,
    /// How many entries have children that do not end before the unit does.
    pub(crate) unclosed: usize,
    /// Its entries, by index.
    pub(super) entries: Range<u32>,
}

/// An entry, as it is kept.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) offset: u64,
    pub(super) abbrev: u64,
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
    /// Reads the units and entries of an object. Where it has no `.debug_info` but `.debug_info.dwo`, it is a
    /// file of split units, and these are read; addresses are known by index only then, and
    /// [`read_split`](Self::read_split) does better.
    ///
    /// Expressions are taken to be in the dialect of LLVM, which has all operations of standard DWARF:
    /// nothing in a file names its dialect. A file without `.debug_info` has no units.
    ///
    /// # Errors
    /// [`Truncated`](ErrorKind::Truncated) or [`Malformed`](ErrorKind::Malformed), with section and
    /// offset, where the tree or something that an attribute refers to cannot be read;
    /// [`Unsupported`](ErrorKind::Unsupported) for versions and forms that are not known.
    pub fn read(object: &'o Object<'_>) -> Result<Self> {
        Self::read_as(object, Dialect::Llvm, DraftCodes::NONE)
    }

    /// The same with another dialect. `draft` are numbers for operations of the DWARF 6 draft.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_as(object: &'o Object<'_>, dialect: Dialect, draft: DraftCodes) -> Result<Self> {
        let main = Sections::of(object);
        let split = Sections::of_split(object);
        if main.debug_info.is_empty() && !split.debug_info.is_empty() {
            refuse_package(object)?;
            return Self::from_sections(split, dialect, draft);
        }
        Self::from_sections(main, dialect, draft)
    }

    /// Reads split units: the `.dwo` sections of an object, with what the file that has their skeletons,
    /// `main`, knows: addresses, where lists count from, lines. Both can be of one object. DWARF 5 sections
    /// 3.1.2 and 3.1.3, and GNU's forerunner in DWARF 4. A unit goes with the skeleton of its
    /// [`dwo_id`](Unit::dwo_id); without one it is read as if alone.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_split(main: &Dwarf<'o>, dwo: &'o Object<'_>) -> Result<Self> {
        refuse_package(dwo)?;
        let sections = Sections::of_split(dwo);
        let Encoding { dialect, draft, .. } = main.encoding;
        Reader::new(sections, dialect, draft).with_main(main).read()
    }

    /// The same from sections that are in no object.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn from_sections(sections: Sections<'o>, dialect: Dialect, draft: DraftCodes) -> Result<Self> {
        Reader::new(sections, dialect, draft).read()
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

    /// The entry at an offset, counted as [`Dwarf`] says.
    pub fn entry_at(&self, offset: u64) -> Option<Entry<'_, 'o>> {
        let index = self.nodes.binary_search_by_key(&offset, |node| node.offset).ok()?;
        Some(Entry { dwarf: self, index: index as u32 })
    }

    /// The entry of the type that has this signature (`DW_FORM_ref_sig8`), if its unit is here.
    pub fn type_of_signature(&self, signature: u64) -> Option<Entry<'_, 'o>> {
        let at = self.signatures.binary_search_by_key(&signature, |&(signature, _)| signature).ok()?;
        let unit = &self.units[self.signatures[at].1 as usize];
        self.entry_at(unit.type_offset?)
    }

    /// The unit whose header or entries are at an offset, counted as [`Dwarf`] says.
    pub fn unit_at(&self, offset: u64) -> Option<&Unit<'o>> {
        let after = self.units.partition_point(|unit| unit.offset <= offset);
        self.units.get(after.checked_sub(1)?).filter(|unit| offset < unit.end)
    }

    /// The section of an offset, and the offset in that section: `.debug_info` or `.debug_types`.
    pub fn place(&self, offset: u64) -> (&'static str, u64) {
        match offset.checked_sub(self.sections.debug_info.len() as u64) {
            Some(offset) if !self.sections.debug_types.is_empty() => {
                (self.sections.name(".debug_types"), offset)
            }
            _ => (self.sections.name(".debug_info"), offset),
        }
    }

    /// Whether addresses by index can be looked up in this unit.
    pub fn knows_addresses(&self, unit: &Unit<'o>) -> bool {
        !unit.is_split() || unit.has_skeleton
    }

    /// The file of the unit's skeleton where it is a split unit, and else its own.
    pub(super) fn main_sections(&self, unit: &Unit<'o>) -> &Sections<'o> {
        self.main.as_ref().filter(|_| unit.has_skeleton).unwrap_or(&self.sections)
    }

    /// Address `index` of the unit, from `.debug_addr`: the operand of `addrx`. Indices count from 0.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) or [`Truncated`](ErrorKind::Truncated) if
    /// there is none; [`Unsupported`](ErrorKind::Unsupported) of a split unit without its skeleton.
    pub fn address(&self, unit: &Unit<'o>, index: u64) -> Result<u64> {
        if !self.knows_addresses(unit) {
            let text = format!("address {index} of the unit is in the file of its skeleton");
            return Err(Error::new(ErrorKind::Unsupported(text)));
        }
        self.main_sections(unit)
            .indexed_address(Base { offset: unit.addr_base, encoding: unit.encoding }, index)
    }

    /// The entries of the location list at an offset, with addresses worked out.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside of the section.
    pub fn locations(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        Ok(List::new(self.raw_locations(unit, offset)?, self, unit))
    }

    /// The entries of the location list at an offset, as they are encoded.
    ///
    /// # Errors
    /// As [`locations`](Self::locations).
    pub fn raw_locations(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        RawList::new(&self.sections, unit.location_format(), unit.encoding, offset)
    }

    /// The location list at an offset as bytes, from its first entry to the end of the section. `None` if the
    /// offset is outside of the section.
    pub fn location_bytes(&self, unit: &Unit<'o>, offset: u64) -> Option<(ListFormat, &'o [u8])> {
        let format = unit.location_format();
        let bytes = format.bytes(&self.sections).get(usize::try_from(offset).ok()?..)?;
        Some((format, bytes))
    }

    /// The entries of the range list at an offset, with addresses worked out.
    ///
    /// # Errors
    /// As [`locations`](Self::locations).
    pub fn ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<List<'o>> {
        Ok(List::new(self.raw_ranges(unit, offset)?, self, unit))
    }

    /// The entries of the range list at an offset, as they are encoded.
    ///
    /// # Errors
    /// As [`locations`](Self::locations); [`Unsupported`](ErrorKind::Unsupported) of a split unit of before DWARF 5
    /// without its skeleton.
    pub fn raw_ranges(&self, unit: &Unit<'o>, offset: u64) -> Result<RawList<'o>> {
        if unit.encoding.version >= 5 {
            return RawList::new(&self.sections, ListFormat::Rnglists, unit.encoding, offset);
        }
        // Of split units these are in the file of the skeleton, which has the relocations.
        if !self.knows_addresses(unit) {
            let text = "range lists of the unit are in the file of its skeleton";
            return Err(Error::new(ErrorKind::Unsupported(text.into())));
        }
        RawList::new(self.main_sections(unit), ListFormat::Ranges, unit.encoding, offset)
    }

    /// The call frame information of one of the two sections. Addresses have as many bytes as in the units where
    /// the section does not say.
    ///
    /// # Errors
    /// As [`Frames::read`].
    pub fn frames(&self, section: FrameSection) -> Result<Frames<'o>> {
        let address_bytes = match self.units.first() {
            Some(unit) => unit.encoding.address_bytes,
            None => self.sections.address_bytes_or_8(),
        };
        Frames::read(&self.sections, section, Encoding { address_bytes, ..self.encoding })
    }

    /// The line program of a unit, if it has one; of a split unit, that of its skeleton.
    ///
    /// # Errors
    /// As [`LineProgram::read`].
    pub fn lines(&self, unit: &Unit<'o>) -> Result<Option<LineProgram<'o>>> {
        let strings = Base { offset: unit.str_offsets_base, encoding: unit.encoding };
        let sections = match unit.kind {
            dw::DW_UT_split_compile => self.main_sections(unit),
            _ => &self.sections,
        };
        unit.stmt_list.map(|offset| LineProgram::read_with(sections, offset, strings)).transpose()
    }
}

/// In a package each unit has its own part of every section, which an index tells. DWARF 5 section 7.3.5.
fn refuse_package(dwo: &Object<'_>) -> Result<()> {
    let index = [".debug_cu_index", ".debug_tu_index"].into_iter().find(|name| dwo.section(name).is_some());
    match index {
        Some(index) => {
            let text = "a package of split units, which is not supported";
            Err(Error::new(ErrorKind::Unsupported(text.into())).in_section(index))
        }
        None => Ok(()),
    }
}

impl Unit<'_> {
    /// How its location lists are encoded, and with that where they stand.
    fn location_format(&self) -> ListFormat {
        match self.encoding.version {
            5.. => ListFormat::Loclists,
            _ if self.is_split() => ListFormat::SplitLoc,
            _ => ListFormat::Loc,
        }
    }

    /// Whether it is a split unit, of a `.dwo` section.
    pub fn is_split(&self) -> bool {
        matches!(self.kind, dw::DW_UT_split_compile | dw::DW_UT_split_type)
    }
}
