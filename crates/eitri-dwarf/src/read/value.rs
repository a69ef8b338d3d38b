//! Attribute values, independent of their forms. DWARF 5 sections 7.5.4 to 7.5.6.

use core::fmt;
use std::borrow::Cow;

use gimli::{
    AttributeSpecification, AttributeValue, DwAt, DwForm, EndianSlice, RunTimeEndian, constants as dw,
};

use super::cursor::max_address;
use super::dwarf::Dwarf;
use super::sections::{Base, Sections};
use super::unit::Unit;
use crate::error::{Count, ErrorKind, Result};

/// Input of `gimli`.
pub(super) type Slice<'o> = EndianSlice<'o, RunTimeEndian>;

/// An attribute of an entry.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribute<'o> {
    /// Attribute name.
    pub name: DwAt,
    /// Form in the file.
    pub form: DwForm,
    /// Value of the attribute.
    pub value: ResolvedValue<'o>,
}

/// Value of an attribute. Indices and string offsets are already resolved.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ResolvedValue<'o> {
    /// An unsigned number, or a number with unknown signedness (`data1` to `data8`), which has as many bits as the
    /// form.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A number of 16 bytes.
    Wide(u128),
    /// An address.
    Address(u64),
    /// An address by its index in the unit's table, which is in the skeleton's file.
    AddressIndex(u64),
    /// An address as a sum: an address by its index in such a table, plus an offset in bytes.
    AddressIndexOffset(u64, u32),
    /// A string.
    String(Str<'o>),
    /// Reference to an entry by its offset, counted as described at [`Dwarf`]. The entry can be in the supplementary file.
    Reference(u64),
    /// Reference to a type in a type unit, by its signature.
    Signature(u64),
    /// An expression.
    Expr(&'o [u8]),
    /// A location list, by its offset in `.debug_loclists`, or in `.debug_loc` before DWARF 5.
    LocList(u64),
    /// A range list, by its offset in `.debug_rnglists`, or in `.debug_ranges` before DWARF 5.
    RngList(u64),
    /// A line program, by its offset in `.debug_line`.
    LineProgram(u64),
    /// Offset into a section that depends on the attribute's name.
    Offset(u64),
    /// A flag.
    Flag(bool),
    /// A block of bytes.
    Block(&'o [u8]),
    /// A value that cannot be read: [`Entry::problem`](super::Entry::problem) has the error.
    Unreadable,
    /// Reference to an entry or string of a supplementary file that was not read with the object.
    Other,
}

impl fmt::Display for ResolvedValue<'_> {
    /// Writes addresses, offsets and bytes in hexadecimal, and other numbers in decimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Signed(number) => write!(f, "{number}"),
            Self::Wide(number) => write!(f, "{number:#x}"),
            Self::Address(address) => write!(f, "address {address:#x}"),
            Self::AddressIndex(index) => write!(f, "address with index {index}"),
            Self::AddressIndexOffset(index, by) => write!(f, "address with index {index} plus {by:#x}"),
            Self::String(text) => write!(f, "{:?}", text.text()),
            Self::Reference(offset) => write!(f, "reference to the entry at {offset:#x}"),
            Self::Signature(signature) => write!(f, "reference to the type with signature {signature:#x}"),
            Self::Expr(bytes) => write!(f, "expression {bytes:02x?}"),
            Self::LocList(offset) => write!(f, "location list at {offset:#x}"),
            Self::RngList(offset) => write!(f, "range list at {offset:#x}"),
            Self::LineProgram(offset) => write!(f, "line program at {offset:#x}"),
            Self::Offset(offset) => write!(f, "offset {offset:#x}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Block(bytes) => write!(f, "block {bytes:02x?}"),
            Self::Unreadable => f.write_str("a value that cannot be read"),
            Self::Other => f.write_str("a value in a supplementary file"),
        }
    }
}

/// A string of a file. Its end, the first zero byte, is searched each time the bytes are requested.
#[derive(Clone, Copy)]
pub struct Str<'o>(
    /// The string and what follows it in the section.
    &'o [u8],
);

impl<'o> Str<'o> {
    /// Returns the bytes, without the zero byte.
    pub fn bytes(self) -> &'o [u8] {
        let Self(from) = self;
        from.get(..memchr::memchr(0, from).unwrap_or(from.len())).unwrap_or_default()
    }

    /// Returns the address of the first byte, which identifies the string.
    pub(crate) fn address(self) -> usize {
        self.0.as_ptr().addr()
    }

    /// Returns the text, with U+FFFD instead of invalid UTF-8.
    pub fn text(self) -> Cow<'o, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Str<'_> {}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

/// The string sections up to their last zero byte, so that each offset in them begins a string that ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Strings<'o> {
    pub(super) debug_str: &'o [u8],
    pub(super) debug_line_str: &'o [u8],
}

impl<'o> Strings<'o> {
    pub(super) fn new(sections: &Sections<'o>) -> Self {
        let [debug_str, debug_line_str] = [sections.debug_str, sections.debug_line_str]
            .map(|bytes| &bytes[..memchr::memrchr(0, bytes).map_or(0, |last| last + 1)]);
        Self { debug_str, debug_line_str }
    }
}

/// Returns the string at a section offset.
#[inline]
fn string<'o>(
    section: &'o [u8],
    offset: u64,
    error: impl FnOnce() -> Result<&'o [u8]>,
) -> Result<ResolvedValue<'o>> {
    let from = usize::try_from(offset).ok().and_then(|offset| section.get(offset..));
    match from.filter(|from| !from.is_empty()) {
        Some(from) => Ok(ResolvedValue::String(Str(from))),
        None => error().map(|string| ResolvedValue::String(Str(string))),
    }
}

impl<'o> ResolvedValue<'o> {
    /// Returns the number, if it is not negative.
    pub fn unsigned(self) -> Option<u64> {
        match self {
            Self::Unsigned(value) => Some(value),
            Self::Signed(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// Returns the number, of either sign.
    #[doc(hidden)]
    pub fn integer(self) -> Option<i128> {
        match self {
            Self::Unsigned(value) => Some(value.into()),
            Self::Signed(value) => Some(value.into()),
            _ => None,
        }
    }

    /// Returns the string.
    #[doc(hidden)]
    pub fn string(self) -> Option<Str<'o>> {
        match self {
            Self::String(string) => Some(string),
            _ => None,
        }
    }

    /// Returns the string, with U+FFFD instead of invalid UTF-8.
    pub fn text(self) -> Option<Cow<'o, str>> {
        match self {
            Self::String(string) => Some(string.text()),
            _ => None,
        }
    }
}

/// Whether a block in this attribute is an expression. DWARF 2 and 3 have no form for expressions, and producers write
/// block forms for them in later versions too; the attribute itself cannot be a block.
fn is_location(name: DwAt) -> bool {
    matches!(
        name,
        dw::DW_AT_location
            | dw::DW_AT_byte_size
            | dw::DW_AT_bit_offset
            | dw::DW_AT_bit_size
            | dw::DW_AT_string_length
            | dw::DW_AT_lower_bound
            | dw::DW_AT_return_addr
            | dw::DW_AT_bit_stride
            | dw::DW_AT_upper_bound
            | dw::DW_AT_count
            | dw::DW_AT_data_member_location
            | dw::DW_AT_frame_base
            | dw::DW_AT_segment
            | dw::DW_AT_static_link
            | dw::DW_AT_use_location
            | dw::DW_AT_vtable_elem_location
            | dw::DW_AT_allocated
            | dw::DW_AT_associated
            | dw::DW_AT_data_location
            | dw::DW_AT_byte_stride
            | dw::DW_AT_rank
            | dw::DW_AT_call_value
            | dw::DW_AT_call_target
            | dw::DW_AT_call_target_clobbered
            | dw::DW_AT_call_data_location
            | dw::DW_AT_call_data_value
            | dw::DW_AT_GNU_call_site_value
            | dw::DW_AT_GNU_call_site_data_value
            | dw::DW_AT_GNU_call_site_target
            | dw::DW_AT_GNU_call_site_target_clobbered
            | dw::DW_AT_PGI_lbase
            | dw::DW_AT_PGI_soffset
            | dw::DW_AT_PGI_lstride
    ) || is_of_lanes(name)
}

/// Whether the attribute is active_lane or lane_pc by the numbers of AMD's documents and debugger, or lane_pc by the
/// registry's. The registry's other attributes with these numbers are neither blocks nor offsets, and are later than
/// DWARF 3.
fn is_of_lanes(name: DwAt) -> bool {
    matches!(name, DwAt(0x3e08 | 0x3e0b | 0x3e12))
}

/// Whether a section offset of this attribute is a location list.
fn has_loclist(name: DwAt) -> bool {
    match name {
        dw::DW_AT_location
        | dw::DW_AT_string_length
        | dw::DW_AT_return_addr
        | dw::DW_AT_data_member_location
        | dw::DW_AT_frame_base
        | dw::DW_AT_segment
        | dw::DW_AT_static_link
        | dw::DW_AT_use_location
        | dw::DW_AT_vtable_elem_location => true,
        _ => is_of_lanes(name),
    }
}

/// LLVM's form for an address by index, ULEB128, plus a four-byte offset.
pub(super) const ADDRX_OFFSET: DwForm = DwForm(0x2001);

/// Resolves an attribute's value. `raw` is what [`read`](super::units::read) returns for the specification.
#[inline]
pub(super) fn resolve<'o>(
    dwarf: &Dwarf<'o>,
    unit: &Unit<'o>,
    spec: AttributeSpecification,
    raw: AttributeValue<Slice<'o>>,
) -> Result<ResolvedValue<'o>> {
    let name = spec.name();
    let sections = &dwarf.sections;
    let strings = &dwarf.strings;
    let indirect = |offset| string(strings.debug_str, offset, || sections.string(offset));
    let base = |offset| Base { offset, encoding: unit.encoding };
    if let Some(offset) = reference(dwarf, unit, &raw) {
        return Ok(ResolvedValue::Reference(offset));
    }
    Ok(match raw {
        AttributeValue::Addr(address) => ResolvedValue::Address(address),
        AttributeValue::DebugAddrIndex(index) if !dwarf.knows_addresses(unit) => {
            ResolvedValue::AddressIndex(index.0 as u64)
        }
        AttributeValue::DebugAddrIndex(index) => ResolvedValue::Address(dwarf.address(unit, index.0 as u64)?),
        AttributeValue::Block(block) if is_location(name) => ResolvedValue::Expr(block.slice()),
        AttributeValue::Block(block) => ResolvedValue::Block(block.slice()),
        AttributeValue::Exprloc(expr) => ResolvedValue::Expr(expr.0.slice()),
        // Before DWARF 4 a section offset has the form of a constant with the same size.
        AttributeValue::Data4(offset)
            if unit.encoding.version < 4 && unit.encoding.offset_bytes == 4 && is_of_lanes(name) =>
        {
            ResolvedValue::LocList(offset.into())
        }
        AttributeValue::Data8(offset)
            if unit.encoding.version < 4 && unit.encoding.offset_bytes == 8 && is_of_lanes(name) =>
        {
            ResolvedValue::LocList(offset)
        }
        AttributeValue::Data1(value) => ResolvedValue::Unsigned(value.into()),
        AttributeValue::Data2(value) => ResolvedValue::Unsigned(value.into()),
        AttributeValue::Data4(value) => ResolvedValue::Unsigned(value.into()),
        AttributeValue::Data8(value) | AttributeValue::Udata(value) => ResolvedValue::Unsigned(value),
        AttributeValue::Data16(value) => ResolvedValue::Wide(value),
        AttributeValue::Sdata(packed) if spec.form() == ADDRX_OFFSET => indexed_address(dwarf, unit, packed)?,
        AttributeValue::Sdata(value) => ResolvedValue::Signed(value),
        AttributeValue::Flag(value) => ResolvedValue::Flag(value),
        AttributeValue::DebugTypesRef(signature) => ResolvedValue::Signature(signature.0),
        AttributeValue::String(string) => ResolvedValue::String(Str(string.slice())),
        AttributeValue::DebugStrRef(offset) => indirect(offset.0 as u64)?,
        AttributeValue::DebugLineStrRef(offset) => {
            let offset = offset.0 as u64;
            string(strings.debug_line_str, offset, || sections.line_string(offset))?
        }
        AttributeValue::DebugStrRefSup(offset) => match &dwarf.supplementary {
            Some(other) => {
                let offset = offset.0 as u64;
                let other = &**other;
                let error = || other.sections.string(offset).map_err(|error| error.or_at(other.at()));
                string(other.strings.debug_str, offset, error)?
            }
            None => ResolvedValue::Other,
        },
        AttributeValue::DebugStrOffsetsIndex(index) => {
            indirect(sections.indexed_string_offset(base(unit.bases.str_offsets), index.0 as u64)?)?
        }
        AttributeValue::DebugLocListsIndex(index) => {
            let table = sections.cursor(".debug_loclists", sections.debug_loclists);
            ResolvedValue::LocList(list_offset(base(unit.bases.loclists), table, index.0 as u64)?)
        }
        AttributeValue::DebugRngListsIndex(index) => {
            let table = sections.cursor(".debug_rnglists", sections.debug_rnglists);
            ResolvedValue::RngList(list_offset(base(unit.bases.rnglists), table, index.0 as u64)?)
        }
        AttributeValue::SecOffset(offset) => {
            let offset = offset as u64;
            match name {
                dw::DW_AT_stmt_list => ResolvedValue::LineProgram(offset),
                dw::DW_AT_ranges | dw::DW_AT_start_scope if unit.is_split() => {
                    ResolvedValue::RngList(offset.saturating_add(unit.bases.ranges.unwrap_or(0)))
                }
                dw::DW_AT_ranges | dw::DW_AT_start_scope => ResolvedValue::RngList(offset),
                _ if has_loclist(name) => ResolvedValue::LocList(offset),
                _ => ResolvedValue::Offset(offset),
            }
        }
        _ => ResolvedValue::Other,
    })
}

/// Returns the offset of the entry to which an attribute refers by offset, counted as described at [`Dwarf`].
#[inline]
pub(super) fn reference(dwarf: &Dwarf<'_>, unit: &Unit<'_>, raw: &AttributeValue<Slice<'_>>) -> Option<u64> {
    match raw {
        AttributeValue::UnitRef(offset) => Some(Dwarf::offset_after(unit.offset, offset.0 as u64)),
        AttributeValue::DebugInfoRef(offset) => Some(dwarf.offset_in_info(offset.0 as u64)),
        AttributeValue::DebugInfoRefSup(offset) => {
            dwarf.supplementary.as_ref().map(|other| other.offset_in_info(offset.0 as u64))
        }
        _ => None,
    }
}

/// Returns the address for an [`ADDRX_OFFSET`] value, whose index is in the upper 32 bits.
fn indexed_address<'o>(dwarf: &Dwarf<'o>, unit: &Unit<'o>, packed: i64) -> Result<ResolvedValue<'o>> {
    let index = packed as u64 >> 32;
    let offset = packed as u32;
    if !dwarf.knows_addresses(unit) {
        return Ok(ResolvedValue::AddressIndexOffset(index, offset));
    }
    let address = dwarf.address(unit, index)?.wrapping_add(offset.into());
    Ok(ResolvedValue::Address(address & max_address(unit.encoding.address_bytes)))
}

/// Returns the offset of list `index` in the table at `base`. Elements count from the table's start.
#[inline]
fn list_offset(base: Base, table: super::cursor::Cursor<'_>, index: u64) -> Result<u64> {
    // The table's header ends with the number of offsets. DWARF 5 sections 7.28 and 7.29.
    let header_end = base.offset.and_then(|offset| usize::try_from(offset).ok()?.checked_sub(4));
    let count = header_end.and_then(|end| table.uint_at(end, 4));
    if let (Some(end), Some(count)) = (header_end, count.filter(|&count| index >= count)) {
        let error = ErrorKind::Malformed(format!(
            "list index {index} is out of range for a table with {}",
            Count(count, "offset")
        ));
        return Err(table.error(error, end as u64));
    }
    let offset = base.number(table, index, base.encoding.offset_bytes, "an indexed list")?;
    Ok(base.offset.unwrap_or(0).saturating_add(offset))
}
