//! `.debug_str`, `.debug_line_str` and `.debug_str_offsets`: DWARF 5 section 7.26.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::format::Format;
use super::section::{Relocation, RelocationTarget};

/// Strings, stored once each. The caller numbers them.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    /// Each string's offset, plus 1; 0 for a string that is not stored yet.
    places: Vec<u64>,
    /// Offsets of strings with earlier numbers, by their bytes.
    earlier: HashTable<u64>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// Returns a string's offset. The string is appended on first use.
    #[inline]
    pub(crate) fn offset<T: AsRef<str>>(&mut self, number: u32, text: impl FnOnce() -> T) -> u64 {
        let number = number as usize;
        if number >= self.places.len() {
            self.places.resize(number + 1, 0);
        }
        if self.places[number] == 0 {
            self.places[number] = self.add(text().as_ref()) + 1;
        }
        self.places[number] - 1
    }

    fn add(&mut self, text: &str) -> u64 {
        // While no string has been renumbered, a string without an offset is a new one, and needs no search.
        if !self.earlier.is_empty() {
            let hash = self.hasher.hash_one(text.as_bytes());
            let is_same = |&offset: &u64| text_at(&self.bytes, offset) == text.as_bytes();
            if let Some(&offset) = self.earlier.find(hash, is_same) {
                return offset;
            }
        }
        let offset = self.bytes.len() as u64;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        offset
    }

    /// Returns the string at an offset.
    pub(crate) fn text(&self, offset: u64) -> &str {
        core::str::from_utf8(text_at(&self.bytes, offset)).unwrap_or_default()
    }

    /// Forgets the numbers from `from` on. A string with a new number is then found by its bytes.
    pub(crate) fn renumber(&mut self, from: usize) {
        let Self { bytes, earlier, hasher, .. } = self;
        let hash = |&offset: &u64| hasher.hash_one(text_at(bytes, offset));
        for offset in
            self.places.drain(from.min(self.places.len())..).filter_map(|place| place.checked_sub(1))
        {
            earlier.entry(hash(&offset), |&other| other == offset, hash).or_insert(offset);
        }
    }
}

/// The string's bytes at an offset, without the final zero.
fn text_at(bytes: &[u8], offset: u64) -> &[u8] {
    let rest = bytes.get(offset as usize..).unwrap_or_default();
    rest.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// A unit's string offsets table, in the order of first use.
#[derive(Debug, Default)]
pub(crate) struct StringIndices {
    /// Each number's index, plus 1. A unit uses a few contiguous runs of the module's numbers, so only pages with used
    /// numbers are allocated.
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    /// Each string's number, by index.
    pub(crate) numbers: Vec<u32>,
}

const PAGE: usize = 64;

/// Size of the table's header in bytes. Index 0 follows the header.
pub(crate) fn str_offsets_base(format: Format) -> u64 {
    format.length_bytes() as u64 + 4
}

impl StringIndices {
    /// Returns a string's index in the table, to which it is added on first use.
    #[inline]
    pub(crate) fn index(&mut self, number: u32) -> u64 {
        self.known(number).unwrap_or_else(|| self.add(number))
    }

    /// Returns a string's index in the table, if it is there.
    #[inline(always)]
    pub(crate) fn known(&self, number: u32) -> Option<u64> {
        let page = self.pages.get(number as usize / PAGE)?.as_ref()?;
        u64::from(page[number as usize % PAGE]).checked_sub(1)
    }

    fn add(&mut self, number: u32) -> u64 {
        let page = number as usize / PAGE;
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        self.numbers.push(number);
        page[number as usize % PAGE] = self.numbers.len() as u32;
        self.numbers.len() as u64 - 1
    }

    /// Ends the table, and keeps its pages for another table. Returns each string's number, by index.
    pub(crate) fn finish(&mut self) -> Vec<u32> {
        // The copy has no unused capacity.
        let numbers = self.numbers.clone();
        for number in self.numbers.drain(..) {
            if let Some(Some(page)) = self.pages.get_mut(number as usize / PAGE) {
                page[number as usize % PAGE] = 0;
            }
        }
        numbers
    }

    /// Appends the table for the strings with these numbers to the section.
    pub(crate) fn write(
        numbers: &[u32],
        format: Format,
        mut offset: impl FnMut(u32) -> u64,
        out: &mut Vec<u8>,
        relocations: &mut Vec<Relocation>,
    ) {
        let start = format.begin_length(out);
        format.half(out, 5);
        format.half(out, 0);
        let first = out.len();
        let bytes = usize::from(format.offset_bytes);
        out.resize(first + numbers.len() * bytes, 0);
        relocations.extend(numbers.iter().zip((first as u64..).step_by(bytes)).map(|(&number, at)| {
            Relocation {
                offset: at,
                bytes: format.offset_bytes,
                target: RelocationTarget::Section(".debug_str"),
                addend: offset(number),
            }
        }));
        format.end_length(out, start);
    }
}
