//! Location lists: evaluation (A.2.5.5), and decoding from a section.

use std::borrow::Cow;

use super::fault::{Fault, ill_formed};
use crate::error::Error;
use crate::op::Encoding;
use crate::read::{self, Addressed, ListFormat, RawList};

/// A decoded location list entry, with base addresses applied and lengths converted to ends.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocationListEntry<'a> {
    /// Half-open range of pcs. `None` marks a default entry, which applies where no bounded entry does.
    pub bounds: Option<(u64, u64)>,
    /// The expression.
    pub expr: Cow<'a, [u8]>,
}

/// An encoded location list (DWARF 5, sections 2.6.2 and 7.7.3, and earlier versions).
///
/// A [`Machine`](super::Machine) can return it straight from the file: iteration does not copy or allocate.
///
/// ```
/// use eitri_dwarf::eval::EncodedList;
/// use eitri_dwarf::op::{Dialect, Encoding};
/// use eitri_dwarf::read::ListFormat;
///
/// // DW_LLE_offset_pair 4..8 {reg0}; DW_LLE_default_location {reg1}; DW_LLE_end_of_list
/// let bytes = [0x04, 4, 8, 1, 0x50, 0x05, 1, 0x51, 0x00];
/// let list = EncodedList { format: ListFormat::Loclists, bytes: &bytes, base: 0x1000 };
/// let entries = list.entries(Encoding::new(8, Dialect::Dwarf5), |_| None);
/// let bounds = entries.map(|entry| entry.map(|entry| entry.bounds)).collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(bounds, [Some((0x1004, 0x1008)), None]);
/// # Ok::<(), eitri_dwarf::eval::Fault>(())
/// ```
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedList<'a> {
    /// Encoding, which follows from the section: `.debug_loclists`, `.debug_loc`, or GNU's `.debug_loc.dwo`.
    pub format: ListFormat,
    /// The bytes from the first entry on; bytes after the list's end are ignored.
    pub bytes: &'a [u8],
    /// Initial base address for the list's offsets: the unit's `DW_AT_low_pc`, or 0.
    pub base: u64,
}

/// An entry's bounds, and its expression.
pub(super) type Bounded<'a> = (Option<(u64, u64)>, &'a [u8]);

impl<'a> EncodedList<'a> {
    /// Returns the entries with resolved addresses. Base address entries and view numbers are omitted.
    ///
    /// `address` returns an address in the unit's part of `.debug_addr`, by index.
    ///
    /// # Errors
    /// Ill-formed if an entry is truncated, has an unknown kind, or an index unknown to `address`; the iterator ends
    /// after the error.
    pub fn entries<F>(
        self,
        encoding: Encoding,
        address: F,
    ) -> impl Iterator<Item = Result<LocationListEntry<'a>, Fault>> + Clone
    where
        F: Fn(u64) -> Option<u64> + Clone,
    {
        let own = |(bounds, expr): Bounded<'a>| LocationListEntry { bounds, expr: expr.into() };
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

/// An encoded list's entries.
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

impl<'a> From<read::ListEntry<'a>> for LocationListEntry<'a> {
    fn from(entry: read::ListEntry<'a>) -> Self {
        let bounds = (!entry.is_default()).then_some((entry.start, entry.end));
        Self { bounds, expr: entry.expr.into() }
    }
}

/// Returns a list's entries, each with its bounds.
pub(super) fn bounded<'e>(
    entries: impl Iterator<Item = &'e LocationListEntry<'e>> + Clone,
) -> impl Iterator<Item = Result<Bounded<'e>, Fault>> + Clone {
    entries.map(|entry| Ok((entry.bounds, &*entry.expr)))
}

/// Returns a list's bounded entry that contains a pc, with its index. `None` if no entry or several entries contain
/// the pc, or if the list is malformed.
pub(super) fn only_entry<'e>(
    entries: impl Iterator<Item = Result<Bounded<'e>, Fault>>,
    pc: u64,
) -> Option<(u64, &'e [u8])> {
    let mut only = None;
    for (index, entry) in (0..).zip(entries) {
        let (bounds, expr) = entry.ok()?;
        let is_here = bounds.is_some_and(|(start, end)| (start..end).contains(&pc));
        // Several entries are several locations at once, which the caller evaluates as a list.
        if is_here && only.replace((index, expr)).is_some() {
            return None;
        }
    }
    only
}

/// Returns a fault with the index of the entry whose expression caused it.
pub(super) fn in_entry(fault: Fault, index: u64) -> Fault {
    fault.within(&format!("entry {index} of the location list"), None)
}
