//! Location lists and range lists: `.debug_loclists` and `.debug_rnglists` of DWARF 5 (sections 2.6.2,
//! 2.17.3, 7.7.3, 7.25), `.debug_loc` and `.debug_ranges` of DWARF 2 to 4.
//!
//! [`RawList`] has the entries as encoded, and [`List`] those with resolved addresses. Neither checks them: an entry
//! whose end precedes its start is returned like any other.

use super::cursor::{Cursor, is_address_size, max_address};
use super::dwarf::Dwarf;
use super::sections::{Base, Sections};
use super::unit::Unit;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{Encoding, read_uleb};

/// Section of a list, which determines its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// `.debug_loclists`.
    Loclists,
    /// `.debug_rnglists`.
    Rnglists,
    /// `.debug_loc`.
    Loc,
    /// `.debug_loc.dwo`, GNU's predecessor of `.debug_loclists` in split units of DWARF 4.
    SplitLoc,
    /// `.debug_ranges`.
    Ranges,
}

impl ListFormat {
    /// Returns the name of the section.
    pub fn section(self) -> &'static str {
        match self {
            Self::Loclists => ".debug_loclists",
            Self::Rnglists => ".debug_rnglists",
            Self::Loc | Self::SplitLoc => ".debug_loc",
            Self::Ranges => ".debug_ranges",
        }
    }

    pub(super) fn bytes<'o>(self, sections: &Sections<'o>) -> &'o [u8] {
        match self {
            Self::Loclists => sections.debug_loclists,
            Self::Rnglists => sections.debug_rnglists,
            Self::Loc | Self::SplitLoc => sections.debug_loc,
            Self::Ranges => sections.debug_ranges,
        }
    }
}

/// Kind of a list entry. Indices refer to the unit's table in `.debug_addr`, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// End of the list.
    End,
    /// A new base address for offset pairs, by index.
    BaseIndex {
        /// Index of the address.
        index: u64,
    },
    /// A new base address for offset pairs.
    Base {
        /// The address.
        address: u64,
    },
    /// Start and end by index.
    IndexEnd {
        /// Index of the start.
        start: u64,
        /// Index of the end.
        end: u64,
    },
    /// The start by index, and the size in bytes.
    IndexLength {
        /// Index of the start.
        start: u64,
        /// Size in bytes.
        length: u64,
    },
    /// Offsets in bytes from the base address.
    Pair {
        /// Offset of the start.
        start: u64,
        /// Offset of the end.
        end: u64,
    },
    /// Default entry, for all pcs of no other entry.
    Default,
    /// Two addresses.
    StartEnd {
        /// Start address.
        start: u64,
        /// End address.
        end: u64,
    },
    /// Start address, and size in bytes.
    StartLength {
        /// Start address.
        start: u64,
        /// Size in bytes.
        length: u64,
    },
    /// GNU's view numbers of the next entry, which distinguish rows of one address.
    Views {
        /// View of the start.
        start: u64,
        /// View of the end.
        end: u64,
    },
}

impl ListKind {
    fn has_expression(self) -> bool {
        !matches!(self, Self::End | Self::BaseIndex { .. } | Self::Base { .. } | Self::Views { .. })
    }
}

/// An entry of a list as encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEntry<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Kind with its numbers.
    pub kind: ListKind,
    /// Expression; empty in a range list, and for kinds without one.
    pub expr: &'o [u8],
}

/// The entries of a list as encoded, up to and including its end.
///
/// # Errors
/// An entry of an unknown kind is [`Malformed`](ErrorKind::Malformed), a list without an end
/// [`Truncated`](ErrorKind::Truncated), with section and offset. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct RawList<'o> {
    from: Cursor<'o>,
    format: ListFormat,
    address_bytes: u8,
    is_done: bool,
}

impl<'o> RawList<'o> {
    /// Returns the list at an offset of its section, in bytes.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside the section, or the size of addresses is invalid.
    pub fn new(sections: &Sections<'o>, format: ListFormat, encoding: Encoding, offset: u64) -> Result<Self> {
        let address_bytes = encoding.address_bytes;
        let from = sections.cursor(format.section(), format.bytes(sections)).at(offset, "a list")?;
        if !is_address_size(address_bytes) {
            let text = format!(
                "invalid address size, {address_bytes}",
                address_bytes = Count(address_bytes, "byte")
            );
            return Err(from.error(ErrorKind::Malformed(text), offset));
        }
        Ok(Self { from, format, address_bytes, is_done: false })
    }

    /// Returns the list in these bytes, from its first entry on.
    pub(crate) fn of_bytes(format: ListFormat, encoding: Encoding, bytes: &'o [u8]) -> Self {
        let from = Cursor::new(format.section(), bytes, encoding.big_endian);
        Self { from, format, address_bytes: encoding.address_bytes, is_done: false }
    }

    #[inline]
    fn read(&mut self) -> Result<RawEntry<'o>> {
        let offset = self.from.offset();
        let kind = match self.format {
            format @ (ListFormat::Loclists | ListFormat::Rnglists) => {
                self.kind(offset, format == ListFormat::Loclists)?
            }
            ListFormat::SplitLoc => self.split_kind(offset)?,
            ListFormat::Loc | ListFormat::Ranges => self.pair()?,
        };
        const WHAT: &str = "the expression of a list entry";
        let expr = match self.format {
            ListFormat::Loclists if kind.has_expression() => {
                let len = self.from.uleb(WHAT)?;
                self.from.take(len, WHAT)?
            }
            ListFormat::Loc | ListFormat::SplitLoc if kind.has_expression() => {
                let len = self.from.u16(WHAT)?;
                self.from.take(len.into(), WHAT)?
            }
            _ => &[],
        };
        Ok(RawEntry { offset, kind, expr })
    }

    /// Reads a pair of offsets in `.debug_loclists`. `None` for another entry, and for one that cannot be read.
    #[inline]
    fn offsets(&mut self) -> Option<RawEntry<'o>> {
        let (offset, bytes) = (self.from.offset(), self.from.rest());
        if self.format != ListFormat::Loclists || bytes.first() != Some(&4) {
            return None;
        }
        let (start, at) = read_uleb(bytes, 1)?;
        let (end, at) = read_uleb(bytes, at)?;
        let (len, at) = read_uleb(bytes, at)?;
        let expr = bytes.get(at..)?.get(..usize::try_from(len).ok()?)?;
        self.from.skip(at + expr.len());
        Some(RawEntry { offset, kind: ListKind::Pair { start, end }, expr })
    }

    /// Whether the list ends here.
    #[inline]
    fn is_at_end(&self) -> bool {
        self.is_done || self.format == ListFormat::Loclists && self.from.rest().first() == Some(&0)
    }

    /// Reads the kind and numbers of a DWARF 5 entry. Kinds up to 4 have the same numbers in both sections.
    #[inline]
    fn kind(&mut self, offset: u64, has_locations: bool) -> Result<ListKind> {
        const WHAT: &str = "a list entry";
        let code = self.from.u8(WHAT)?;
        let size = self.address_bytes;
        let from = &mut self.from;
        Ok(match (code, has_locations) {
            (0, _) => ListKind::End,
            (1, _) => ListKind::BaseIndex { index: from.uleb(WHAT)? },
            (2, _) => ListKind::IndexEnd { start: from.uleb(WHAT)?, end: from.uleb(WHAT)? },
            (3, _) => ListKind::IndexLength { start: from.uleb(WHAT)?, length: from.uleb(WHAT)? },
            (4, _) => ListKind::Pair { start: from.uleb(WHAT)?, end: from.uleb(WHAT)? },
            (5, true) => ListKind::Default,
            (6, true) | (5, false) => ListKind::Base { address: from.uint(size, WHAT)? },
            (7, true) | (6, false) => {
                ListKind::StartEnd { start: from.uint(size, WHAT)?, end: from.uint(size, WHAT)? }
            }
            (8, true) | (7, false) => {
                ListKind::StartLength { start: from.uint(size, WHAT)?, length: from.uleb(WHAT)? }
            }
            (9, true) => ListKind::Views { start: from.uleb(WHAT)?, end: from.uleb(WHAT)? },
            _ => {
                let text = format!("unknown kind of list entry {code:#x}");
                return Err(from.error(ErrorKind::Malformed(text), offset));
            }
        })
    }

    /// Reads the kind and numbers of an entry in a split unit of DWARF 4: `DW_LLE_GNU_*`.
    fn split_kind(&mut self, offset: u64) -> Result<ListKind> {
        const WHAT: &str = "a list entry";
        let from = &mut self.from;
        Ok(match from.u8(WHAT)? {
            0 => ListKind::End,
            1 => ListKind::BaseIndex { index: from.uleb(WHAT)? },
            2 => ListKind::IndexEnd { start: from.uleb(WHAT)?, end: from.uleb(WHAT)? },
            3 => ListKind::IndexLength { start: from.uleb(WHAT)?, length: from.u32(WHAT)?.into() },
            4 => ListKind::Pair { start: from.u32(WHAT)?.into(), end: from.u32(WHAT)?.into() },
            code => {
                let text = format!("unknown kind of list entry {code:#x}");
                return Err(from.error(ErrorKind::Malformed(text), offset));
            }
        })
    }

    /// Reads an entry of DWARF 2 to 4: two addresses, with special meanings of some values.
    fn pair(&mut self) -> Result<ListKind> {
        const WHAT: &str = "a list entry";
        let start = self.from.uint(self.address_bytes, WHAT)?;
        let end = self.from.uint(self.address_bytes, WHAT)?;
        Ok(match (start, end) {
            (0, 0) => ListKind::End,
            (start, address) if start == max_address(self.address_bytes) => ListKind::Base { address },
            (start, end) => ListKind::Pair { start, end },
        })
    }
}

impl<'o> Iterator for RawList<'o> {
    type Item = Result<RawEntry<'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let entry = self.read();
        self.is_done = entry.as_ref().map_or(true, |entry| entry.kind == ListKind::End);
        Some(entry)
    }
}

/// An entry of a list with resolved addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListEntry<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Kind in the encoding.
    pub kind: ListKind,
    /// Start address; 0 in the default entry.
    pub start: u64,
    /// End address, exclusive; not above `start` if the file has it so. 0 in the default entry.
    pub end: u64,
    /// Expression; empty in a range list.
    pub expr: &'o [u8],
}

impl ListEntry<'_> {
    /// Whether it is the default entry.
    pub fn is_default(&self) -> bool {
        self.kind == ListKind::Default
    }

    /// Whether it is bounded, and its bounds contain the pc.
    pub fn covers(&self, pc: u64) -> bool {
        !self.is_default() && (self.start..self.end).contains(&pc)
    }
}

/// Iterates over a list with resolved addresses.
#[derive(Debug, Clone)]
pub(crate) struct Addressed<'o> {
    raw: RawList<'o>,
    base: u64,
}

impl<'o> Addressed<'o> {
    /// Returns the list with an initial base address.
    pub(crate) fn new(raw: RawList<'o>, base: u64) -> Self {
        Self { raw, base }
    }

    /// Returns the next entry with bounds; `address` resolves addresses by index.
    #[inline]
    pub(crate) fn next(&mut self, address: impl Fn(u64) -> Result<u64>) -> Option<Result<ListEntry<'o>>> {
        while !self.raw.is_done {
            match self.step(&address) {
                Ok(None) => {}
                Ok(Some(entry)) => return Some(Ok(entry)),
                Err(error) => {
                    self.raw.is_done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// Appends the entries with bounds from here on; `address` resolves addresses by index.
    pub(super) fn append(
        mut self,
        into: &mut Vec<ListEntry<'o>>,
        address: impl Fn(u64) -> Result<u64>,
    ) -> Result<()> {
        loop {
            self.append_pairs(into);
            if self.raw.is_at_end() {
                return Ok(());
            }
            into.extend(self.step(&address)?);
        }
    }

    /// Appends the pairs of offsets from here on, which are most entries in `.debug_loclists`, as far as they can be read.
    #[inline]
    fn append_pairs(&mut self, into: &mut Vec<ListEntry<'o>>) {
        let mask = max_address(self.raw.address_bytes);
        while let Some(RawEntry { offset, kind: kind @ ListKind::Pair { start, end }, expr }) =
            self.raw.offsets()
        {
            let [start, end] = [start, end].map(|by| self.base.wrapping_add(by) & mask);
            into.push(ListEntry { offset, kind, start, end, expr });
        }
    }

    /// Reads an entry. `None` for one without bounds.
    #[inline]
    fn step(&mut self, address: &impl Fn(u64) -> Result<u64>) -> Result<Option<ListEntry<'o>>> {
        let RawEntry { offset, kind, expr } = self.raw.read()?;
        self.raw.is_done = kind == ListKind::End;
        let section = self.raw.format.section();
        let place = |error: Error| error.in_section(section).at_offset(offset);
        let bounds = self.bounds(kind, address).map_err(place)?;
        Ok(bounds.map(|(start, end)| ListEntry { offset, kind, start, end, expr }))
    }

    /// Returns the bounds of an entry; `None` for a kind without bounds.
    #[inline]
    fn bounds(
        &mut self,
        kind: ListKind,
        address: &impl Fn(u64) -> Result<u64>,
    ) -> Result<Option<(u64, u64)>> {
        let mask = max_address(self.raw.address_bytes);
        let add = |address: u64, by| address.wrapping_add(by) & mask;
        Ok(Some(match kind {
            ListKind::End | ListKind::Views { .. } => return Ok(None),
            ListKind::BaseIndex { index } => {
                self.base = address(index)?;
                return Ok(None);
            }
            ListKind::Base { address } => {
                self.base = address;
                return Ok(None);
            }
            ListKind::IndexEnd { start, end } => (address(start)?, address(end)?),
            ListKind::IndexLength { start, length } => {
                let start = address(start)?;
                (start, add(start, length))
            }
            ListKind::Pair { start, end } => (add(self.base, start), add(self.base, end)),
            ListKind::Default => (0, 0),
            ListKind::StartEnd { start, end } => (start, end),
            ListKind::StartLength { start, length } => (start, add(start, length)),
        }))
    }
}

/// The entries of a list with resolved addresses. Base address entries are omitted.
///
/// # Errors
/// The errors of [`RawList`]; and an index without an address. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct List<'o> {
    list: Addressed<'o>,
    /// Table of addresses by index; `None` where it is in another file.
    addresses: Option<(Base, Cursor<'o>)>,
}

impl<'o> List<'o> {
    /// Returns the entries of a list of this unit. The initial base address is the unit's `DW_AT_low_pc`, or 0.
    #[inline]
    pub(super) fn new(raw: RawList<'o>, dwarf: &Dwarf<'o>, unit: &Unit<'o>) -> Self {
        let base = Base { offset: unit.bases.addr, encoding: unit.encoding };
        let sections = dwarf.main_sections(unit);
        let table = sections.cursor(".debug_addr", sections.debug_addr);
        let addresses = dwarf.knows_addresses(unit).then_some((base, table));
        Self { list: Addressed::new(raw, unit.low_pc.unwrap_or(0)), addresses }
    }
}

impl<'o> Iterator for List<'o> {
    type Item = Result<ListEntry<'o>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let addresses = self.addresses;
        self.list.next(|index| match addresses {
            Some((base, table)) => base.address(table, index),
            None => {
                let text = format!("address {index} of the split unit is in the file of its skeleton unit");
                Err(Error::new(ErrorKind::Unsupported(text)))
            }
        })
    }
}
