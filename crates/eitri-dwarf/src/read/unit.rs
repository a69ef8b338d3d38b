//! Units: fields from the header, and from the first entry.

use std::borrow::Cow;
use std::ops::Range;

use gimli::{DwUt, constants as dw};

use super::dwarf::Dwarf;
use super::lists::ListFormat;
use super::sections::{lists_header, str_offsets_header};
use super::units::Raw;
use super::unreadable::{UnreadableField, within};
use super::value::{ResolvedValue, Slice};
use crate::error::{Error, Result};
use crate::op::Encoding;

/// A unit, with the attributes of its first entry that apply to the whole unit. DWARF 5 sections 3.1 and 7.5.1.
#[derive(Debug, Clone)]
pub struct Unit<'o> {
    /// Header offset in bytes, counted as described at [`Dwarf`](super::Dwarf).
    pub offset: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// Unit type. Before DWARF 5, which introduced the field, it is derived from the section and the first entry.
    pub kind: DwUt,
    /// Version, sizes and dialect, for expressions.
    pub encoding: Encoding,
    /// Signature of a type unit, by which other units refer to its type. DWARF 5 section 7.5.1.3.
    pub signature: Option<u64>,
    /// Offset of the type's entry in a type unit, counted like `offset`.
    pub type_offset: Option<u64>,
    /// Id shared by a skeleton and its split unit: from the header, or `DW_AT_GNU_dwo_id`.
    pub dwo_id: Option<u64>,
    /// File name of the split unit, in a skeleton: `DW_AT_dwo_name`.
    pub dwo_name: Option<Cow<'o, str>>,
    /// Whether it is a split unit with a known skeleton: its addresses and lines are in the skeleton's file.
    pub has_skeleton: bool,
    /// `DW_AT_name`.
    pub name: Option<Cow<'o, str>>,
    /// `DW_AT_comp_dir`.
    pub comp_dir: Option<Cow<'o, str>>,
    /// `DW_AT_producer`.
    pub producer: Option<Cow<'o, str>>,
    /// `DW_AT_language`.
    pub language: Option<u64>,
    /// `DW_AT_low_pc`: the initial base address of the unit's lists.
    pub low_pc: Option<u64>,
    /// `DW_AT_stmt_list`: the offset of the unit's line program in `.debug_line`.
    pub stmt_list: Option<u64>,
    /// Offsets of the unit's parts in other sections.
    pub bases: Bases,
    /// Bytes and entries.
    #[doc(hidden)]
    pub contents: Contents<'o>,
}

/// Offsets of a unit's parts in other sections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bases {
    /// `DW_AT_addr_base`: the offset of the unit's first address in `.debug_addr`.
    pub addr: Option<u64>,
    /// `DW_AT_str_offsets_base`: the offset of the unit's first string in `.debug_str_offsets`.
    pub str_offsets: Option<u64>,
    /// `DW_AT_loclists_base`: the offset of the unit's list table in `.debug_loclists`.
    pub loclists: Option<u64>,
    /// `DW_AT_rnglists_base`: the offset of the unit's list table in `.debug_rnglists`.
    pub rnglists: Option<u64>,
    /// `DW_AT_GNU_ranges_base`: the base of a DWARF 4 split unit's offsets in `.debug_ranges`.
    pub ranges: Option<u64>,
}

/// Bytes and entries of a unit.
#[derive(Debug, Clone)]
pub struct Contents<'o> {
    /// Bytes of the unit from its header on.
    pub(super) bytes: Slice<'o>,
    /// Sizes of forms.
    pub(super) forms: gimli::Encoding,
    /// Index of the unit's abbreviation table.
    pub(super) table: u32,
    /// Offset of the table in its section.
    pub(super) table_offset: u64,
    /// Entries, by index.
    pub(super) entries: Range<u32>,
    /// Unit offset in its section.
    pub(super) start: u64,
    /// Fields of the unit that cannot be read.
    pub(super) unreadable: &'o [UnreadableField],
    /// Error for `DW_AT_low_pc`, if it cannot be read: the lists' base address is then unknown.
    pub(super) unreadable_base: Option<Box<Error>>,
    /// Number of entries whose children are not terminated before the unit's end.
    #[doc(hidden)]
    pub unclosed: usize,
}

/// Returns a unit with the fields of its header.
pub(super) fn new_unit<'o>(
    header: &gimli::UnitHeader<Slice<'o>>,
    bytes: Slice<'o>,
    offset: u64,
    encoding: Encoding,
    is_split: bool,
) -> Unit<'o> {
    let mut signature = None;
    let mut type_offset = None;
    let mut dwo_id = None;
    let mut take = |kind, type_signature: gimli::DebugTypeSignature, type_start: gimli::UnitOffset| {
        signature = Some(type_signature.0);
        type_offset = Some(Dwarf::offset_after(offset, type_start.0 as u64));
        kind
    };
    let kind: DwUt = match header.type_() {
        gimli::UnitType::Compilation if is_split => dw::DW_UT_split_compile,
        gimli::UnitType::Compilation => dw::DW_UT_compile,
        gimli::UnitType::Type { type_signature, type_offset } => {
            take(if is_split { dw::DW_UT_split_type } else { dw::DW_UT_type }, type_signature, type_offset)
        }
        gimli::UnitType::Partial => dw::DW_UT_partial,
        gimli::UnitType::Skeleton(id) => {
            dwo_id = Some(id.0);
            dw::DW_UT_skeleton
        }
        gimli::UnitType::SplitCompilation(id) => {
            dwo_id = Some(id.0);
            dw::DW_UT_split_compile
        }
        gimli::UnitType::SplitType { type_signature, type_offset } => {
            take(dw::DW_UT_split_type, type_signature, type_offset)
        }
    };
    let mut unit = Unit {
        offset,
        end: offset + bytes.len() as u64,
        kind,
        encoding,
        signature,
        type_offset,
        dwo_id,
        dwo_name: None,
        has_skeleton: false,
        name: None,
        comp_dir: None,
        producer: None,
        language: None,
        low_pc: None,
        stmt_list: None,
        bases: Bases::default(),
        contents: Contents {
            bytes,
            forms: header.encoding(),
            table: 0,
            table_offset: header.debug_abbrev_offset().0 as u64,
            entries: 0..0,
            start: 0,
            unreadable: &[],
            unreadable_base: None,
            unclosed: 0,
        },
    };
    if unit.is_split() && encoding.version >= 5 {
        // The section has only the tables of this unit, so they need no base attribute.
        unit.bases.str_offsets = Some(str_offsets_header(encoding));
        unit.bases.loclists = Some(lists_header(encoding));
        unit.bases.rnglists = Some(lists_header(encoding));
    }
    unit
}

impl<'o> Contents<'o> {
    /// Checks that the base address of the unit's lists can be read.
    #[inline]
    pub(super) fn check_base(&self) -> Result<()> {
        self.unreadable_base.as_deref().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Returns the first unreadable field that begins at or after the start of `from`, and before `to`. Both are rests
    /// of the unit.
    pub(super) fn unreadable(&self, from: &Slice<'o>, to: &Slice<'o>) -> Option<&'o UnreadableField> {
        let offset = |rest: &Slice<'o>| self.start + (self.bytes.len() - rest.len()) as u64;
        within(self.unreadable, offset(from)..offset(to)).first()
    }
}

impl<'o> Unit<'o> {
    /// Whether it is a skeleton unit, whose entries are in a split unit.
    pub fn is_skeleton(&self) -> bool {
        self.kind == dw::DW_UT_skeleton
    }

    /// Whether it is a split unit, from a `.dwo` section.
    pub fn is_split(&self) -> bool {
        matches!(self.kind, dw::DW_UT_split_compile | dw::DW_UT_split_type)
    }

    /// Returns the encoding of the unit's location lists, which determines their section.
    pub(super) fn location_format(&self) -> ListFormat {
        match self.encoding.version {
            5.. => ListFormat::Loclists,
            _ if self.is_split() => ListFormat::SplitLoc,
            _ => ListFormat::Loc,
        }
    }

    /// Sets the fields that the other attributes of the first entry depend on.
    pub(super) fn set_bases(&mut self, tag: gimli::DwTag, raw: &[Raw<'o>]) {
        if self.encoding.version < 5 && tag == dw::DW_TAG_partial_unit && self.kind == dw::DW_UT_compile {
            self.kind = dw::DW_UT_partial;
        }
        for attribute in raw {
            if attribute.name() == dw::DW_AT_GNU_dwo_id {
                self.dwo_id = self.dwo_id.or(attribute.udata_value());
            }
            if attribute.name() == dw::DW_AT_GNU_dwo_name && self.kind == dw::DW_UT_compile {
                self.kind = dw::DW_UT_skeleton;
            }
            // Before DWARF 4 the form does not distinguish an offset from a number.
            let Some(offset) = attribute.offset_value() else { continue };
            let base = match attribute.name() {
                dw::DW_AT_addr_base | dw::DW_AT_GNU_addr_base => &mut self.bases.addr,
                dw::DW_AT_str_offsets_base => &mut self.bases.str_offsets,
                dw::DW_AT_loclists_base => &mut self.bases.loclists,
                dw::DW_AT_rnglists_base => &mut self.bases.rnglists,
                dw::DW_AT_GNU_ranges_base => &mut self.bases.ranges,
                _ => continue,
            };
            *base = Some(offset as u64);
        }
    }

    /// Takes the error for an attribute of the first entry that cannot be read.
    pub(super) fn set_unreadable(&mut self, name: gimli::DwAt, error: Error) {
        match name {
            dw::DW_AT_low_pc => self.contents.unreadable_base = Some(Box::new(error)),
            // Without these attributes of GNU the base is 0; nothing is at this base.
            dw::DW_AT_GNU_addr_base => self.bases.addr = Some(u64::MAX),
            dw::DW_AT_GNU_ranges_base => self.bases.ranges = Some(u64::MAX),
            _ => {}
        }
    }

    /// Sets a field from an attribute of the first entry that applies to the whole unit.
    pub(super) fn set_rest(&mut self, name: gimli::DwAt, value: ResolvedValue<'o>) {
        match (name, value) {
            (dw::DW_AT_name, _) => self.name = value.text(),
            (dw::DW_AT_comp_dir, _) => self.comp_dir = value.text(),
            (dw::DW_AT_dwo_name | dw::DW_AT_GNU_dwo_name, _) => self.dwo_name = value.text(),
            (dw::DW_AT_producer, _) => self.producer = value.text(),
            (dw::DW_AT_language, _) => self.language = value.unsigned(),
            (dw::DW_AT_low_pc, ResolvedValue::Address(address)) => self.low_pc = Some(address),
            (dw::DW_AT_stmt_list, ResolvedValue::LineProgram(offset)) => self.stmt_list = Some(offset),
            _ => {}
        }
    }
}
