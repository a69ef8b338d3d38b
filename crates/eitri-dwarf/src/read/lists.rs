//! Location lists and range lists: `.debug_loclists` and `.debug_rnglists` in DWARF 5 (sections 2.6.2, 2.17.3, 7.7.3,
//! 7.25), `.debug_loc` and `.debug_ranges` in DWARF 2 to 4.
//!
//! [`RawList`] returns the entries as encoded, and [`List`] returns entries with resolved addresses. Neither checks
//! entries: an entry whose end precedes its start is returned like any other.

use std::ops::Range;

use super::cursor::{Cursor, is_address_size, max_address};
use super::dwarf::Dwarf;
use super::sections::{Base, Sections};
use super::unit::Unit;
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::Encoding;

/// Section of a list, which determines its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListFormat {
    /// `.debug_loclists`.
    Loclists,
    /// `.debug_rnglists`.
    Rnglists,
    /// `.debug_loc`.
    Loc,
    /// `.debug_loc.dwo`, GNU's predecessor to `.debug_loclists` in DWARF 4 split units.
    SplitLoc,
    /// `.debug_ranges`.
    Ranges,
}

impl ListFormat {
    /// Returns the section's name.
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
#[non_exhaustive]
pub enum ListKind {
    /// List end.
    End,
    /// A new base address for offset pairs, by index.
    BaseIndex {
        /// Address index.
        index: u64,
    },
    /// A new base address for offset pairs.
    Base {
        /// The address.
        address: u64,
    },
    /// Start and end by index.
    IndexEnd {
        /// Start index.
        start: u64,
        /// End index.
        end: u64,
    },
    /// The start by index, and the size in bytes.
    IndexLength {
        /// Start index.
        start: u64,
        /// Size in bytes.
        length: u64,
    },
    /// Offsets in bytes from the base address.
    Pair {
        /// Start offset.
        start: u64,
        /// End offset.
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
    /// GNU's view numbers for the next entry, which distinguish rows at the same address.
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
#[non_exhaustive]
pub struct RawEntry<'o> {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Kind with its numbers.
    pub kind: ListKind,
    /// Expression; empty in a range list, and for kinds without expression.
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
    /// Returns the list at a section offset, in bytes.
    ///
    /// # Errors
    /// [`Malformed`](ErrorKind::Malformed) if the offset is outside the section, or the address size is invalid.
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

    /// Reads an entry, and passes it on.
    #[inline]
    fn read(&mut self, to: impl Receiver<'o>) -> Result<()> {
        let offset = self.from.offset();
        match self.format {
            ListFormat::Loclists => self.kind(offset, true, to),
            ListFormat::Rnglists => self.kind(offset, false, to),
            ListFormat::SplitLoc => {
                let kind = self.split_kind(offset)?;
                self.entry(offset, kind, to)
            }
            ListFormat::Loc | ListFormat::Ranges => {
                let kind = self.pair()?;
                self.entry(offset, kind, to)
            }
        }
    }

    /// Reads an entry's expression, if its kind has an expression.
    #[inline]
    fn entry(&mut self, offset: u64, kind: ListKind, to: impl Receiver<'o>) -> Result<()> {
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
        self.from.check_from(offset)?;
        self.is_done = matches!(kind, ListKind::End);
        to.receive(RawEntry { offset, kind, expr })
    }

    /// Reads an entry of DWARF 5. Kinds up to 4 have the same numbers in both sections. What follows is compiled for each
    /// kind, so that it is not looked up again.
    #[inline]
    fn kind(&mut self, offset: u64, has_locations: bool, to: impl Receiver<'o>) -> Result<()> {
        const WHAT: &str = "a list entry";
        let code = self.from.u8(WHAT)?;
        let size = self.address_bytes;
        macro_rules! entry {
            ($kind:ident $({ $($number:ident: $read:ident($($size:ident)?)),+ })?) => {{
                let kind = ListKind::$kind $({ $($number: self.from.$read($($size,)? WHAT)?),+ })?;
                self.entry(offset, kind, to)
            }};
        }
        match (code, has_locations) {
            (0, _) => entry!(End),
            (1, _) => entry!(BaseIndex { index: uleb() }),
            (2, _) => entry!(IndexEnd { start: uleb(), end: uleb() }),
            (3, _) => entry!(IndexLength { start: uleb(), length: uleb() }),
            (4, _) => entry!(Pair { start: uleb(), end: uleb() }),
            (5, true) => entry!(Default),
            (6, true) | (5, false) => entry!(Base { address: uint(size) }),
            (7, true) | (6, false) => entry!(StartEnd { start: uint(size), end: uint(size) }),
            (8, true) | (7, false) => entry!(StartLength { start: uint(size), length: uleb() }),
            (9, true) => entry!(Views { start: uleb(), end: uleb() }),
            _ => {
                let text = format!("unknown kind of list entry {code:#x}");
                Err(self.from.error(ErrorKind::Malformed(text), offset))
            }
        }
    }

    /// Reads an entry's kind and numbers in a DWARF 4 split unit: `DW_LLE_GNU_*`.
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

    /// Reads an entry in DWARF 2 to 4: two addresses, where some values have special meanings.
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
        let mut entry = None;
        if let Err(error) = self.read(&mut entry) {
            self.is_done = true;
            return Some(Err(error));
        }
        entry.map(Ok)
    }
}

/// An entry of a list with resolved addresses.
///
/// Exhaustive: a literal names all fields.
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

    /// Returns the pcs of the entry in a file that is loaded `load_bias` bytes above its addresses; `None` for the default
    /// entry. The range is reversed if the file has it so. Addresses are modulo 2^64.
    pub fn pcs(&self, load_bias: u64) -> Option<Range<u64>> {
        let loaded = |address: u64| address.wrapping_add(load_bias);
        (!self.is_default()).then(|| loaded(self.start)..loaded(self.end))
    }

    /// Whether it is bounded, and its bounds contain the pc.
    pub fn covers(&self, pc: u64) -> bool {
        !self.is_default() && (self.start..self.end).contains(&pc)
    }
}

impl TryFrom<ListEntry<'_>> for gimli::Range {
    type Error = Error;

    /// The pcs of the entry, without load bias.
    ///
    /// # Errors
    /// [`BadArgument`](ErrorKind::BadArgument) for the default entry.
    fn try_from(entry: ListEntry<'_>) -> Result<Self> {
        let Range { start: begin, end } =
            entry.pcs(0).ok_or_else(|| Error::bad_argument("the default entry of a list has no range"))?;
        Ok(Self { begin, end })
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
            let mut next = None;
            if let Err(error) = self.step(&address, |entry| next = Some(entry)) {
                self.raw.is_done = true;
                return Some(Err(error));
            }
            if let Some(entry) = next {
                return Some(Ok(entry));
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
        while !self.raw.is_done {
            self.step(&address, |entry| into.push(entry))?;
        }
        Ok(())
    }

    /// Reads an entry, and passes it to `then` if it has bounds.
    #[inline]
    fn step(
        &mut self,
        address: &impl Fn(u64) -> Result<u64>,
        then: impl FnOnce(ListEntry<'o>),
    ) -> Result<()> {
        crate::work::step();
        let Self { raw, base } = self;
        let section = raw.format.section();
        let mask = max_address(raw.address_bytes);
        raw.read(Bounded { base, section, mask, address, then })
    }
}

/// Receives a list entry. This is a trait with inlined methods, because a function would be called.
trait Receiver<'o> {
    fn receive(self, entry: RawEntry<'o>) -> Result<()>;
}

impl<'o> Receiver<'o> for &mut Option<RawEntry<'o>> {
    #[inline]
    fn receive(self, entry: RawEntry<'o>) -> Result<()> {
        *self = Some(entry);
        Ok(())
    }
}

/// Resolves the addresses of an entry, and passes it to `then` if it has bounds.
struct Bounded<'b, A, F> {
    base: &'b mut u64,
    section: &'static str,
    /// The largest address.
    mask: u64,
    address: &'b A,
    then: F,
}

impl<'o, A, F> Receiver<'o> for Bounded<'_, A, F>
where
    A: Fn(u64) -> Result<u64>,
    F: FnOnce(ListEntry<'o>),
{
    #[inline]
    fn receive(self, RawEntry { offset, kind, expr }: RawEntry<'o>) -> Result<()> {
        let place = |error: Error| error.in_section(self.section).at_offset(offset);
        let address = |index| (self.address)(index).map_err(place);
        let add = |address: u64, by| address.wrapping_add(by) & self.mask;
        let (start, end) = match kind {
            ListKind::End | ListKind::Views { .. } => return Ok(()),
            ListKind::BaseIndex { index } => {
                *self.base = address(index)?;
                return Ok(());
            }
            ListKind::Base { address } => {
                *self.base = address;
                return Ok(());
            }
            ListKind::IndexEnd { start, end } => (address(start)?, address(end)?),
            ListKind::IndexLength { start, length } => {
                let start = address(start)?;
                (start, add(start, length))
            }
            ListKind::Pair { start, end } => (add(*self.base, start), add(*self.base, end)),
            ListKind::Default => (0, 0),
            ListKind::StartEnd { start, end } => (start, end),
            ListKind::StartLength { start, length } => (start, add(start, length)),
        };
        (self.then)(ListEntry { offset, kind, start, end, expr });
        Ok(())
    }
}

/// The entries of a list with resolved addresses. Base address entries are omitted.
///
/// # Errors
/// The errors that [`RawList`] returns; and an index without an address. The iterator ends after an error.
#[derive(Debug, Clone)]
pub struct List<'o> {
    list: Addressed<'o>,
    /// Addresses by index; `None` if they are in another file.
    addresses: Option<(Base, Cursor<'o>)>,
}

impl<'o> List<'o> {
    /// Returns the entries of a list that belongs to this unit. The initial base address is the unit's `DW_AT_low_pc`,
    /// or 0.
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
