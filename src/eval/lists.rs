//! Location lists as a debugger has them: encoded, in a section.

use super::fault::{Fault, ill_formed};
use super::machine::ListEntry;
use crate::error::Error;
use crate::op::Encoding;
use crate::read::{self, Addressed, ListFormat, RawList};

/// A location list as it is encoded (DWARF 5, sections 2.6.2 and 7.7.3, and its forerunners).
///
/// A [`Machine`](super::Machine) can answer with it as it stands in the file: nothing is copied or allocated
/// when it is gone through.
///
/// ```
/// use eitri::eval::EncodedList;
/// use eitri::op::{Dialect, Encoding};
/// use eitri::read::ListFormat;
///
/// // DW_LLE_offset_pair 4..8 {reg0}; DW_LLE_default_location {reg1}; DW_LLE_end_of_list
/// let bytes = [0x04, 4, 8, 1, 0x50, 0x05, 1, 0x51, 0x00];
/// let list = EncodedList { format: ListFormat::Loclists, bytes: &bytes, base: 0x1000 };
/// let entries = list.entries(Encoding::new(8, Dialect::Dwarf5), |_| None);
/// let found: Vec<_> = entries.map(|entry| entry.unwrap().bounds).collect();
/// assert_eq!(found, [Some((0x1004, 0x1008)), None]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedList<'a> {
    /// How it is encoded, which is where it stands: `.debug_loclists`, `.debug_loc`, or GNU's `.debug_loc.dwo`.
    pub format: ListFormat,
    /// The bytes from its first entry on; what is behind its end does not matter.
    pub bytes: &'a [u8],
    /// The address that offsets count from until an entry says another: `DW_AT_low_pc` of the unit, or 0.
    pub base: u64,
}

/// When an entry holds, and its expression.
pub(super) type Bounded<'a> = (Option<(u64, u64)>, &'a [u8]);

impl<'a> EncodedList<'a> {
    /// Its entries, with addresses worked out. Entries that only say what addresses count from, and view
    /// numbers, are left out.
    ///
    /// `address` finds an address in the unit's part of `.debug_addr`, by its index.
    ///
    /// # Errors
    /// Ill-formed if an entry is cut off, of an unknown kind, or of an address that `address` does not know;
    /// the iterator ends after it.
    pub fn entries<F>(
        self,
        encoding: Encoding,
        address: F,
    ) -> impl Iterator<Item = Result<ListEntry<'a>, Fault>> + Clone
    where
        F: Fn(u64) -> Option<u64> + Clone,
    {
        let own = |(bounds, expr): Bounded<'a>| ListEntry { bounds, expr: expr.into() };
        self.bounded(encoding, address).map(move |entry| entry.map(own))
    }

    pub(super) fn bounded<F>(
        self,
        encoding: Encoding,
        address: F,
    ) -> impl Iterator<Item = Result<Bounded<'a>, Fault>> + Clone
    where
        F: Fn(u64) -> Option<u64> + Clone,
    {
        let list = Addressed::new(RawList::of_bytes(self.format, encoding, self.bytes), self.base);
        Entries { list, address }
    }
}

/// The entries of an encoded list.
#[derive(Clone)]
struct Entries<'a, F> {
    list: Addressed<'a>,
    address: F,
}

impl<'a, F: Fn(u64) -> Option<u64>> Iterator for Entries<'a, F> {
    type Item = Result<Bounded<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let unknown = |index| Error::malformed(format!(".debug_addr has no address {index}"));
        let entry = self.list.next(|index| (self.address)(index).ok_or_else(|| unknown(index)))?;
        Some(match entry {
            Ok(entry) => Ok(((!entry.is_default()).then_some((entry.start, entry.end)), entry.expr)),
            Err(error) => Err(ill_formed(error.to_string())),
        })
    }
}

impl<'a> From<read::ListEntry<'a>> for ListEntry<'a> {
    fn from(entry: read::ListEntry<'a>) -> Self {
        let bounds = (!entry.is_default()).then_some((entry.start, entry.end));
        Self { bounds, expr: entry.expr.into() }
    }
}
