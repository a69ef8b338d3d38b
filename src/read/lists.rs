//! Location lists and range lists: `.debug_loclists` and `.debug_rnglists` of DWARF 5 (sections 2.6.2,
//! 2.17.3, 7.7.3, 7.25), `.debug_loc` and `.debug_ranges` of DWARF 2 to 4.
//!
//! [`RawList`] gives the entries as they are encoded, [`List`] those with addresses worked out. Neither
//! judges: an entry whose end is before its start is there as any other.

use super::cursor::{Cursor, is_address_size, max_address};
use super::dwarf::{Dwarf, Unit};
use super::sections::{Base, Sections};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::Encoding;

/// Which section a list stands in, and with that how it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListFormat {
    /// `.debug_loclists`.
    Loclists,
    /// `.debug_rnglists`.
    Rnglists,
    /// `.debug_loc`.
    Loc,
    /// `.debug_loc.dwo`, GNU's forerunner of `.debug_loclists` in split units of DWARF 4.
    SplitLoc,
    /// `.debug_ranges`.
    Ranges,
}

impl ListFormat {
    /// The name of the section.
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

/// How an entry of a list is encoded. Indices are into the unit's table in `.debug_addr`, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// The list ends here.
    End,
    /// An address from which offset pairs count, by index.
    BaseIndex {
        /// The index of the address.
        index: u64,
    },
    /// An address from which offset pairs count.
    Base {
        /// The address.
        address: u64,
    },
    /// Start and end by index.
    IndexEnd {
        /// The index of the start.
        start: u64,
        /// The index of the end.
        end: u64,
    },
    /// The start by index, and the size in bytes.
    IndexLength {
        /// The index of the start.
        start: u64,
        /// Bytes from start to end.
        length: u64,
    },
    /// Bytes from the base address.
    Pair {
        /// From the base address to the start.
        start: u64,
        /// From the base address to the end.
        end: u64,
    },
    /// Valid where no other entry is.
    Default,
    /// Two addresses.
    StartEnd {
        /// The start.
        start: u64,
        /// The end.
        end: u64,
    },
    /// An address and the size in bytes.
    StartLength {
        /// The start.
        start: u64,
        /// Bytes from start to end.
        length: u64,
    },
    /// GNU's view numbers of the next entry, which tell rows of one address apart.
    Views {
        /// The view of the start.
        start: u64,
        /// The view of the end.
        end: u64,
    },
}

impl ListKind {
    fn has_expression(self) -> bool {
        !matches!(self, Self::End | Self::BaseIndex { .. } | Self::Base { .. } | Self::Views { .. })
    }
}

/// An entry of a list as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawEntry<'o> {
    /// Its offset in the section, in bytes.
    pub offset: u64,
    /// Its kind and numbers.
    pub kind: ListKind,
    /// Its expression; empty in a range list, and where the kind has none.
    pub expr: &'o [u8],
}

/// The entries of a list as they are encoded, up to and with the one that ends it.
///
/// # Errors
/// An entry of an unknown kind is [`Malformed`](ErrorKind::Malformed), a list without end
/// [`Truncated`](ErrorKind::Truncated), with section and offset. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct RawList<'o> {
    from: Cursor<'o>,
    format: ListFormat,
    address_bytes: u8,
    is_done: bool,
}

impl<'o> RawList<'o> {
    /// The list at an offset of its section, in bytes.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside of the section, or there are no
    /// addresses of that size.
    pub fn new(sections: &Sections<'o>, format: ListFormat, encoding: Encoding, offset: u64) -> Result<Self> {
        let address_bytes = encoding.address_bytes;
        let from = sections.cursor(format.section(), format.bytes(sections)).at(offset, "a list")?;
        if !is_address_size(address_bytes) {
            let text = format!("addresses of {address_bytes}", address_bytes = Count(address_bytes, "byte"));
            return Err(from.error(ErrorKind::Malformed(text), offset));
        }
        Ok(Self { from, format, address_bytes, is_done: false })
    }

    /// The list whose entries these bytes are, from the first on.
    pub(crate) fn of_bytes(format: ListFormat, encoding: Encoding, bytes: &'o [u8]) -> Self {
        let from = Cursor::new(format.section(), bytes, encoding.big_endian);
        Self { from, format, address_bytes: encoding.address_bytes, is_done: false }
    }

    fn read(&mut self) -> Result<RawEntry<'o>> {
        let offset = self.from.offset();
        let kind = match self.format {
            ListFormat::Loclists => self.kind(offset, true)?,
            ListFormat::Rnglists => self.kind(offset, false)?,
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

    /// The kind and numbers of an entry of DWARF 5. The two sections number the kinds alike up to 4.
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

    /// The kind and numbers of an entry of a split unit of DWARF 4: `DW_LLE_GNU_*`.
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

    /// The kind and numbers of an entry of before DWARF 5: two addresses, of which some mean another thing.
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

/// An entry of a list with its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListEntry<'o> {
    /// Its offset in the section, in bytes.
    pub offset: u64,
    /// How it was encoded.
    pub kind: ListKind,
    /// The first address for which it is valid. 0 of the default entry.
    pub start: u64,
    /// The address after the last for which it is valid: not above `start` where the file has it so. 0 of
    /// the default entry.
    pub end: u64,
    /// Its expression; empty in a range list.
    pub expr: &'o [u8],
}

impl ListEntry<'_> {
    /// Whether it is valid where no other entry is.
    pub fn is_default(&self) -> bool {
        self.kind == ListKind::Default
    }

    /// Whether it is bounded and the pc is within its bounds.
    pub fn covers(&self, pc: u64) -> bool {
        !self.is_default() && (self.start..self.end).contains(&pc)
    }
}

/// A list whose addresses are being worked out.
#[derive(Debug, Clone)]
pub(crate) struct Addressed<'o> {
    raw: RawList<'o>,
    base: u64,
}

impl<'o> Addressed<'o> {
    /// Offsets count from `base` until an entry says another.
    pub(crate) fn new(raw: RawList<'o>, base: u64) -> Self {
        Self { raw, base }
    }

    /// The next entry that has a start and an end; `address` finds addresses by index.
    pub(crate) fn next(&mut self, address: impl Fn(u64) -> Result<u64>) -> Option<Result<ListEntry<'o>>> {
        loop {
            let RawEntry { offset, kind, expr } = match self.raw.next()? {
                Ok(raw) => raw,
                Err(error) => return Some(Err(error)),
            };
            match self.bounds(kind, &address) {
                Ok(Some((start, end))) => return Some(Ok(ListEntry { offset, kind, start, end, expr })),
                Ok(None) => {}
                Err(error) => {
                    self.raw.is_done = true;
                    let place = |error: Error| error.in_section(self.raw.format.section()).at_offset(offset);
                    return Some(Err(place(error)));
                }
            }
        }
    }

    /// Start and end of an entry; `None` if it has none.
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

/// The entries of a list with their addresses. Entries that only choose a base address are left out.
///
/// # Errors
/// As [`RawList`]; and an index without an address. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct List<'o> {
    list: Addressed<'o>,
    sections: Sections<'o>,
    /// `None` where they are in another file.
    addresses: Option<Base>,
}

impl<'o> List<'o> {
    /// Entries of a list of this unit. Offsets count from the unit's `DW_AT_low_pc`, or 0, at first.
    pub(super) fn new(raw: RawList<'o>, dwarf: &Dwarf<'o>, unit: &Unit<'o>) -> Self {
        let addresses = Base { offset: unit.addr_base, encoding: unit.encoding };
        let sections = *dwarf.main_sections(unit);
        let addresses = dwarf.knows_addresses(unit).then_some(addresses);
        Self { list: Addressed::new(raw, unit.low_pc.unwrap_or(0)), sections, addresses }
    }
}

impl<'o> Iterator for List<'o> {
    type Item = Result<ListEntry<'o>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (sections, addresses) = (&self.sections, self.addresses);
        self.list.next(|index| match addresses {
            Some(addresses) => sections.indexed_address(addresses, index),
            None => {
                let text = format!("address {index} of the unit is in the file of its skeleton");
                Err(Error::new(ErrorKind::Unsupported(text)))
            }
        })
    }
}
