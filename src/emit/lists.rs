//! `.debug_loclists` and `.debug_rnglists`, DWARF 5 sections 7.28 and 7.29; `.debug_loc` and
//! `.debug_ranges`, DWARF 4 sections 2.6.2 and 2.17.3.

use core::hash::BuildHasher;
use std::borrow::Cow;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::format::Format;
use super::info::{Elsewhere, Info, Pending, Wanted, too_large_unit};
use super::section::Relocation;
use crate::error::Result;

/// A unit's lists. In DWARF 5, attributes refer to a list by its index in an offset table before the lists; in older
/// versions, by its section offset.
///
/// Equal lists are stored once.
#[derive(Debug)]
pub(crate) struct Lists {
    /// Space for the header and the offset table, then the lists.
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    /// Fields in finished lists that are filled in later.
    pub(crate) pending: Vec<Pending>,
    pub(crate) format: Format,
    /// The first list's offset in `bytes`.
    first: usize,
    /// Each list's offset in `bytes`.
    starts: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// Whether a list's bytes can be compared with an earlier list's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contents {
    Final,
    /// A field is filled in later.
    Pending,
}

/// A unit's part in a section with lists.
#[derive(Debug, Default)]
pub(crate) struct FinishedLists {
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) elsewhere: Vec<Elsewhere>,
    /// Each list's offset.
    pub(crate) starts: Vec<u32>,
}

/// Header size in bytes. The offset table follows the header.
pub(crate) fn lists_base(format: Format) -> u64 {
    match format.version {
        5.. => format.length_bytes() as u64 + 8,
        _ => 0,
    }
}

impl Lists {
    /// Reserves space for `count` lists of `bytes` bytes in total, so that growth neither moves nor rehashes lists.
    pub(crate) fn new(format: Format, count: usize, bytes: usize) -> Self {
        let table = if format.version >= 5 { usize::from(format.offset_bytes) * count } else { 0 };
        let first = lists_base(format) as usize + table;
        let mut lists = Vec::with_capacity(first + bytes);
        lists.resize(first, 0);
        let starts = Vec::with_capacity(count);
        let seen = HashTable::with_capacity(count);
        Self { bytes: lists, first, starts, seen, ..Self::empty(format) }
    }

    /// Lists without reserved space.
    pub(crate) fn empty(format: Format) -> Self {
        Self {
            bytes: Vec::new(),
            relocations: Vec::new(),
            pending: Vec::new(),
            format,
            first: 0,
            starts: Vec::new(),
            seen: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Removes the bytes from an offset in [`bytes`](Self::bytes) on, with their relocations and their fields.
    pub(crate) fn truncate(&mut self, end: usize) {
        self.bytes.truncate(end);
        while self.pending.last().is_some_and(|last| last.at >= end) {
            self.pending.pop();
        }
        while self.relocations.last().is_some_and(|last| last.offset >= end as u64) {
            self.relocations.pop();
        }
    }

    /// Ends the list that starts at offset `start` in [`bytes`](Self::bytes) and returns its index. An equal earlier
    /// list is reused, and the new bytes are dropped.
    #[inline]
    pub(crate) fn end(&mut self, start: usize, contents: Contents) -> u64 {
        let bytes = &self.bytes;
        let starts = &self.starts;
        let end_of = |index: u32| starts.get(index as usize + 1).map_or(start, |&next| next as usize);
        let list = &bytes[start..];
        let hash = self.hasher.hash_one(list);
        let index = starts.len() as u32;
        if contents == Contents::Final {
            let same = |&other: &u32| &bytes[starts[other as usize] as usize..end_of(other)] == list;
            if let Some(&same) = self.seen.find(hash, same) {
                self.bytes.truncate(start);
                while self.relocations.last().is_some_and(|last| last.offset >= start as u64) {
                    self.relocations.pop();
                }
                return same.into();
            }
            let hasher = &self.hasher;
            let rehash =
                |&other: &u32| hasher.hash_one(&bytes[starts[other as usize] as usize..end_of(other)]);
            self.seen.insert_unique(hash, index, rehash);
        }
        self.starts.push(start as u32);
        index.into()
    }

    /// Writes header and table, and fills in references to entries of the unit. `name` gives a symbol's name.
    ///
    /// # Errors
    /// The errors of [`Info::end_unit`]; [`ErrorKind::TooLarge`](crate::error::ErrorKind::TooLarge) where the lists
    /// take 4 GiB.
    pub(crate) fn finish(
        mut self,
        info: &Info,
        mut name: impl FnMut(u32) -> Cow<'static, str>,
    ) -> Result<FinishedLists> {
        let format = self.format;
        // List offsets are stored in 32 bits, in both formats.
        if u32::try_from(self.bytes.len()).is_err() {
            return Err(too_large_unit("lists", self.bytes.len()));
        }
        let base = lists_base(format) as usize;
        let table = if base > 0 { usize::from(format.offset_bytes) * self.starts.len() } else { 0 };
        // The number of lists can differ from the expected number, because equal lists are merged and the expected
        // number may be unknown.
        let moved = (base + table) as isize - self.first as isize;
        match moved {
            0 => {}
            ..0 => drop(self.bytes.drain(base + table..self.first)),
            _ => drop(self.bytes.splice(self.first..self.first, core::iter::repeat_n(0, moved as usize))),
        }
        if base > 0 {
            // Each field is written in eight bytes and then truncated, so the last one needs more room.
            let mut head = Vec::with_capacity(base + table + 8);
            let start = format.begin_length(&mut head);
            format.half(&mut head, 5);
            head.extend_from_slice(&[format.address_bytes, 0]);
            format.fixed(&mut head, self.starts.len() as u64, 4);
            // Offsets in the table count from the table's start.
            for &start in &self.starts {
                format.offset(&mut head, u64::from(start) + table as u64 - self.first as u64);
            }
            self.bytes[..head.len()].copy_from_slice(&head);
            format.end_length(&mut self.bytes, start);
        }
        let mut elsewhere = Vec::new();
        for relocation in &mut self.relocations {
            relocation.offset = relocation.offset.wrapping_add_signed(moved as i64);
        }
        for mut pending in self.pending {
            pending.at = pending.at.wrapping_add_signed(moved);
            if let Wanted::Address(key) = pending.wanted {
                self.relocations.extend(key.relocation(pending.at, format, &mut name));
                continue;
            }
            info.settle(pending, &mut self.bytes, &mut self.relocations, &mut elsewhere)?;
        }
        self.relocations.sort_by_key(|relocation| relocation.offset);
        self.starts.iter_mut().for_each(|start| *start = start.wrapping_add_signed(moved as i32));
        // The estimate is larger than most units' lists.
        self.bytes.shrink_to_fit();
        Ok(FinishedLists { bytes: self.bytes, relocations: self.relocations, elsewhere, starts: self.starts })
    }
}
