//! Reads numbers, strings and blocks from a section's bytes.

use std::ops::Range;

use super::unreadable::{UnreadableField, within};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::op::{read_sleb, read_uleb};

/// Position in a section, for reading items in order.
///
/// Offsets count bytes from the section's start, also after [`limit`](Self::limit), so that errors name the right
/// offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    section: &'static str,
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
    /// Fields of the section that cannot be read.
    unreadable: &'a [UnreadableField],
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(section: &'static str, bytes: &'a [u8], big_endian: bool) -> Self {
        Self { section, bytes, at: 0, big_endian, unreadable: &[] }
    }

    /// Returns the cursor of a section with fields that cannot be read.
    pub(crate) fn around(self, unreadable: &'a [UnreadableField]) -> Self {
        Self { unreadable, ..self }
    }

    /// Checks that no unreadable field begins between an offset and the current position.
    #[inline]
    pub(crate) fn check_from(&self, offset: u64) -> Result<()> {
        match self.unreadable {
            [] => Ok(()),
            fields => check(fields, offset..self.offset()),
        }
    }

    /// Returns the cursor at a new offset. `item` names what is there.
    #[inline]
    pub(crate) fn at(mut self, offset: u64, item: &str) -> Result<Self> {
        match usize::try_from(offset) {
            Ok(at) if at <= self.bytes.len() => {
                self.at = at;
                Ok(self)
            }
            _ => Err(self.out_of_section(offset, item)),
        }
    }

    fn out_of_section(&self, offset: u64, item: &str) -> Error {
        let size = self.bytes.len();
        let size = Count(size, "byte");
        // Headers are read from the whole file, which has no name.
        let what = if self.section.is_empty() { "file" } else { "section" };
        let text = format!("{item}: the offset is outside the {what}, which has {size:#x}");
        self.place(Error::malformed(text), offset)
    }

    /// Limits the cursor to `len` bytes from here.
    pub(crate) fn limit(mut self, len: u64, item: &str) -> Result<Self> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        self.bytes = end.and_then(|end| self.bytes.get(..end)).ok_or_else(|| self.truncated(item))?;
        Ok(self)
    }

    pub(crate) fn offset(&self) -> u64 {
        self.at as u64
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Makes the rest unreadable, so that an iterator ends after an error.
    pub(crate) fn finish(&mut self) {
        self.at = usize::MAX;
    }

    /// Whether [`finish`](Self::finish) was called: a premature end without it is an error.
    pub(crate) fn is_finished(&self) -> bool {
        self.at == usize::MAX
    }

    fn place(&self, error: Error, offset: u64) -> Error {
        match self.section {
            "" => error.at_offset(offset),
            section => error.in_section(section).at_offset(offset),
        }
    }

    pub(crate) fn truncated(&self, item: &str) -> Error {
        self.place(Error::new(ErrorKind::Truncated(item.into())), self.offset())
    }

    /// Returns an error at `offset` of the section.
    pub(crate) fn error(&self, kind: ErrorKind, offset: u64) -> Error {
        self.place(Error::new(kind), offset)
    }

    #[inline]
    pub(crate) fn take(&mut self, len: u64, item: &str) -> Result<&'a [u8]> {
        let end = usize::try_from(len).ok().and_then(|len| self.at.checked_add(len));
        match end.and_then(|end| Some((end, self.bytes.get(self.at..end)?))) {
            Some((end, taken)) => {
                self.at = end;
                Ok(taken)
            }
            None => Err(self.truncated(item)),
        }
    }

    /// Returns the remaining bytes, without reading them.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Moves after a number of the [remaining](Self::rest) bytes.
    #[inline]
    pub(crate) fn skip(&mut self, len: usize) {
        debug_assert!(len <= self.rest().len());
        self.at += len;
    }

    /// Reads all remaining bytes.
    pub(crate) fn take_rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = self.bytes.len();
        rest
    }

    /// Reads a number of 1 to 8 bytes.
    #[inline]
    pub(crate) fn uint(&mut self, len: u8, item: &str) -> Result<u64> {
        debug_assert!((1..=8).contains(&len));
        let Some(number) = self.uint_at(self.at, len) else { return Err(self.no_number(self.at, len, item)) };
        self.at += usize::from(len);
        Ok(number)
    }

    /// Returns the error for a number with 1 to 8 bytes that [`uint_at`](Self::uint_at) does not return.
    pub(crate) fn no_number(mut self, at: usize, len: u8, item: &str) -> Error {
        let range = at as u64..at as u64 + u64::from(len);
        self.at = at;
        check(self.unreadable, range).map_or_else(|error| error, |()| self.truncated(item))
    }

    /// Returns the number with 1 to 8 bytes at a section offset, if the section has these bytes and they can be read.
    #[inline]
    pub(crate) fn uint_at(&self, at: usize, len: u8) -> Option<u64> {
        if !self.unreadable.is_empty() {
            check(self.unreadable, at as u64..(at as u64).saturating_add(len.into())).ok()?;
        }
        let bytes = self.bytes.get(at..)?.get(..len.into())?;
        // Parts of a constant size that overlap, with the same bits where they do.
        let shift = |index: usize| 8 * index as u32;
        let number = match *bytes {
            [_, _, _, _, ..] => {
                let first = u32::from_le_bytes(*bytes.first_chunk()?);
                let last = u32::from_le_bytes(*bytes.last_chunk()?);
                u64::from(first) | u64::from(last) << shift(bytes.len() - 4)
            }
            [first, .., last] => {
                let middle = u64::from(bytes[bytes.len() / 2]);
                u64::from(first)
                    | middle << shift(bytes.len() / 2)
                    | u64::from(last) << shift(bytes.len() - 1)
            }
            [one] => one.into(),
            [] => return None,
        };
        Some(if self.big_endian { number.swap_bytes() >> (64 - shift(bytes.len())) } else { number })
    }

    #[inline]
    pub(crate) fn u8(&mut self, item: &str) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.truncated(item)),
        }
    }

    pub(crate) fn u16(&mut self, item: &str) -> Result<u16> {
        Ok(self.uint(2, item)? as u16)
    }

    pub(crate) fn u32(&mut self, item: &str) -> Result<u32> {
        Ok(self.uint(4, item)? as u32)
    }

    #[inline]
    pub(crate) fn uleb(&mut self, item: &str) -> Result<u64> {
        match read_uleb(self.bytes, self.at) {
            Some((value, at)) => {
                self.at = at;
                Ok(value)
            }
            None => Err(self.bad_leb(item)),
        }
    }

    pub(crate) fn sleb(&mut self, item: &str) -> Result<i64> {
        match read_sleb(self.bytes, self.at) {
            Some((value, at)) => {
                self.at = at;
                Ok(value)
            }
            None => Err(self.bad_leb(item)),
        }
    }

    fn bad_leb(&self, item: &str) -> Error {
        if self.bytes[self.at.min(self.bytes.len())..].iter().all(|byte| byte & 0x80 != 0) {
            return self.truncated(item);
        }
        let text = format!("{item}: the LEB128 number does not fit 64 bits");
        self.error(ErrorKind::Malformed(text), self.offset())
    }

    /// Reads a string up to its zero byte, which is not part of the result.
    pub(crate) fn string(&mut self, item: &str) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(len) = memchr::memchr(0, rest) else { return Err(self.truncated(item)) };
        self.at += len + 1;
        Ok(&rest[..len])
    }

    /// Reads each table in a section separately: a table that cannot be read gives its error. If a table's length
    /// cannot be read, it is the last table. `read` gets the rest of a table, its offset, and the offset size in bytes.
    pub(crate) fn each_table<T>(
        mut self,
        item: &str,
        read: impl Fn(Self, u64, u8) -> Result<T>,
    ) -> Vec<Result<T>> {
        let mut tables = Vec::new();
        while !self.is_at_end() {
            let offset = self.offset();
            let mut part = || {
                let (len, offset_bytes) = self.initial_length(item)?;
                let table = self.limit(len, item)?;
                self.take(len, item).map(|_| (table, offset_bytes))
            };
            match part() {
                Ok((one, offset_bytes)) => tables.push(read(one, offset, offset_bytes)),
                Err(error) => {
                    tables.push(Err(error));
                    break;
                }
            }
        }
        tables
    }

    /// Reads a table's version.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for other versions.
    pub(crate) fn version(&mut self, version: u16, item: &str) -> Result<()> {
        let start = self.offset();
        let actual = self.u16(item)?;
        if actual != version {
            let text = format!("unsupported version {actual} of {item}");
            return Err(self.error(ErrorKind::Unsupported(text), start));
        }
        Ok(())
    }

    /// Reads an initial length, by DWARF 5 section 7.4, and returns it with the size in bytes of an offset in its
    /// format.
    pub(crate) fn initial_length(&mut self, item: &str) -> Result<(u64, u8)> {
        let start = self.offset();
        match self.u32(item)? {
            0xffff_ffff => Ok((self.uint(8, item)?, 8)),
            len @ 0..0xffff_fff0 => Ok((len.into(), 4)),
            len => {
                Err(self.error(ErrorKind::Malformed(format!("{item}: reserved unit length {len:#x}")), start))
            }
        }
    }
}

/// Checks that no field begins in a section range.
fn check(fields: &[UnreadableField], range: Range<u64>) -> Result<()> {
    within(fields, range).first().map_or(Ok(()), |field| Err(field.error.clone()))
}

/// Whether addresses can have this size.
pub(crate) fn is_address_size(bytes: u8) -> bool {
    matches!(bytes, 1 | 2 | 4 | 8)
}

/// Returns the largest address of a size.
pub(crate) fn max_address(bytes: u8) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * u32::from(bytes))) - 1 }
}
