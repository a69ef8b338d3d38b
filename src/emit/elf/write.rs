//! Encoding an ELF image as a file.
//!
//! ```text
//! linked         input, up to the end of the kept contents ┊ new contents ┊ section headers
//! relocatable    ELF header ┊ contents of old sections ┊ changed and new contents ┊ section headers
//! ```

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::mem;

use super::bytes::{set_u16, set_u64, strings};
use super::image::{HEADER, Image, ImageSection, MAX_FILE_ALIGN, PROGRAM_HEADER, SECTION_HEADER};
use crate::error::{Error, ErrorKind, Result};

impl Image<'_> {
    /// Appends the missing names of new sections to the name table. Existing names keep their offsets, because a symbol
    /// table may share the table.
    fn add_names(&mut self) -> Result<()> {
        let names = mem::take(&mut self.sections[self.names].contents);
        let mut places: HashMap<Cow<'_, [u8]>, usize> = HashMap::new();
        for (start, name) in strings(&names) {
            places.entry(Cow::Borrowed(name)).or_insert(start);
        }
        let mut added = Vec::new();
        for section in self.sections.iter_mut().filter(|section| section.is_new) {
            let end = names.len() + added.len();
            let place = *places.entry(section.name.clone()).or_insert(end);
            section.header.sh_name = u32::try_from(place).map_err(|_| {
                Error::new(ErrorKind::TooLarge(
                    "section name table needs offsets of more than 32 bits".into(),
                ))
            })?;
            // The name is not in the table yet.
            if place == end {
                added.extend_from_slice(&section.name);
                added.push(0);
            }
        }
        let names = [&names, &added[..]].concat();
        self.sections[self.names].replace(names);
        Ok(())
    }

    /// Encodes the file.
    pub fn write(mut self) -> Result<Vec<u8>> {
        self.add_names()?;
        let mut out = if self.keeps_bytes() && !self.input.is_empty() {
            self.input[..self.kept_end()].to_vec()
        } else {
            vec![0; HEADER]
        };
        // Existing contents stay in their order, before new ones. The name table is last, so that a later call can cut
        // it off before it appends.
        let mut order: Vec<usize> = (1..self.sections.len()).collect();
        order.sort_by_key(|&index| match &self.sections[index] {
            section if section.is_in_place => (section.header.sh_offset, false),
            _ => (u64::MAX, index == self.names),
        });
        let keeps_bytes = self.keeps_bytes();
        for index in order {
            let section = &mut self.sections[index];
            if section.has_contents() && !(keeps_bytes && section.is_in_place) {
                pad(&mut out, section.header.sh_addralign.clamp(1, MAX_FILE_ALIGN));
                section.header.sh_offset = out.len() as u64;
                section.header.sh_size = section.contents.len() as u64;
                out.extend_from_slice(&section.contents);
            }
        }
        pad(&mut out, 8);
        let table = out.len() as u64;
        let encoder = self.encoder();
        for section in &self.sections {
            encoder.section_header(&mut out, &section.header);
        }
        // Only the ELF header fields that locate the section headers change. The casts lose nothing, because `add`
        // keeps the number of sections below 65280.
        let mut header = self.header;
        set_u64(self.order, &mut header, 40, table);
        set_u16(self.order, &mut header, 58, SECTION_HEADER as u16);
        set_u16(self.order, &mut header, 60, self.sections.len() as u16);
        set_u16(self.order, &mut header, 62, self.names as u16);
        out[..HEADER].copy_from_slice(&header);
        Ok(out)
    }

    /// End of the part that is kept in a linked object: after all contents that stay. Old section headers and names are
    /// replaced; within that part their bytes remain unused.
    fn kept_end(&self) -> usize {
        let segments = self.segments.iter().map(|segment| (segment.offset + segment.size) as usize);
        let sections = self.sections.iter().filter(|section| section.is_in_place).map(ImageSection::end);
        // No sum overflows, because `parse` found all ranges inside the input.
        let programs = match self.segments.len() {
            0 => 0,
            count => self.u64(32) as usize + count * PROGRAM_HEADER,
        };
        let kept = segments.chain(sections).chain([HEADER, programs]).max().unwrap_or(HEADER);

        let mut end = self.input.len();
        let table = (self.u64(40) as usize, usize::from(self.u16(60)) * SECTION_HEADER);
        let mut dead = self.dead.clone();
        dead.push(table.0..table.0 + table.1);
        dead.sort_by_key(|range| Reverse(range.end));
        // Unreferenced bytes after the last section stay as well, because a file may have an appended payload. Zeros
        // that align the following contents are dropped.
        for range in dead {
            if range.start < end && range.end <= end {
                if end - range.end >= 8 || self.input[range.end..end].iter().any(|&byte| byte != 0) {
                    break;
                }
                end = range.start;
            }
        }
        end.max(kept)
    }
}

pub(super) fn pad(out: &mut Vec<u8>, align: u64) {
    // `align` is at most MAX_FILE_ALIGN.
    out.resize(out.len().next_multiple_of(align as usize), 0);
}
