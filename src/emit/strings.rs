//! `.debug_str`, `.debug_line_str` and `.debug_str_offsets`: DWARF 5 section 7.26.

use super::format::Format;
use super::section::{Relocation, RelocationTarget};

/// Strings, stored once each. The caller numbers them.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    /// Offset of each string, plus 1; 0 for a string that is not stored yet.
    places: Vec<u64>,
}

impl Strings {
    /// Offset of a string, which is appended on first use.
    #[inline]
    pub(crate) fn offset(&mut self, number: u32, text: &str) -> u64 {
        let number = number as usize;
        if number >= self.places.len() {
            self.places.resize(number + 1, 0);
        }
        if self.places[number] == 0 {
            self.places[number] = self.bytes.len() as u64 + 1;
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.push(0);
        }
        self.places[number] - 1
    }
}

/// The string offsets table of a unit, in the order of first use.
#[derive(Debug, Default)]
pub(crate) struct StringIndices {
    /// Index of each number, plus 1. A unit uses a few contiguous runs of the module's numbers: only pages with used
    /// numbers are allocated.
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    /// Number of each string, by index.
    pub(crate) numbers: Vec<u32>,
}

const PAGE: usize = 64;

/// Size of the table's header in bytes. Index 0 follows the header.
pub(crate) fn str_offsets_base(format: Format) -> u64 {
    format.length_bytes() as u64 + 4
}

impl StringIndices {
    /// Index of a string in the table.
    #[inline]
    pub(crate) fn index(&mut self, number: u32) -> u64 {
        match self.pages.get(number as usize / PAGE) {
            Some(Some(page)) if page[number as usize % PAGE] != 0 => page[number as usize % PAGE] as u64 - 1,
            _ => self.add(number),
        }
    }

    #[inline(never)]
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

    /// Appends the table of the strings with these numbers to the section.
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
        relocations.reserve(numbers.len());
        for &number in numbers {
            relocations.push(Relocation {
                offset: out.len() as u64,
                bytes: format.offset_bytes,
                target: RelocationTarget::Section(".debug_str"),
                addend: offset(number),
            });
            format.offset(out, 0);
        }
        format.end_length(out, start);
    }
}
