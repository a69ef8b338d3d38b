//! Changed contents at the offsets of the old ones, where they fit: everything else in the file stays where it is.

use core::ops::Range;
use std::collections::HashSet;

use super::bytes::{set_u32, set_u64};
use super::image::{HEADER, Image, MAX_FILE_ALIGN, PROGRAM_HEADER, SECTION_HEADER};
use super::write::pad;

/// Offsets of `sh_offset`, `sh_size` and `sh_info` in a section header, in bytes.
const OFFSET: usize = 24;
const SIZE: usize = 32;
const INFO: usize = 44;

/// Encodes the file with changed contents in the space of the old ones, which zeros fill, or after the file's bytes where
/// they do not fit or something else uses the space. `None` if a section was added.
pub(super) fn write_in_place(image: &Image<'_>) -> Option<Vec<u8>> {
    let size = |header: &object::write::elf::SectionHeader| header.sh_size as usize;
    let old = |index: usize| {
        let header = &image.sections[index].header;
        let start = header.sh_offset as usize;
        start..start.saturating_add(size(header))
    };
    let table = image.u64(40) as usize;
    let is_changed = |index: usize| {
        let section = &image.sections[index];
        section.has_contents() && !section.is_in_place
    };
    let changed: Vec<usize> = (1..image.sections.len()).filter(|&index| is_changed(index)).collect();
    let mut used: Vec<Range<usize>> = image.segments.iter().map(range_of).collect();
    used.push(0..HEADER);
    used.push(table..table + image.sections.len() * SECTION_HEADER);
    used.push(image.u64(32) as usize..image.u64(32) as usize + image.segments.len() * PROGRAM_HEADER);
    for index in 1..image.sections.len() {
        let section = &image.sections[index];
        if section.is_new {
            return None;
        }
        if section.is_in_place && section.has_contents() {
            used.push(old(index));
        }
    }
    let used = joined(used);
    let mut filled: Vec<Range<usize>> =
        changed.iter().map(|&index| old(index)).filter(|range| !range.is_empty()).collect();
    filled.sort_by_key(|range| range.start);
    filled.dedup();
    let mut out = image.input.to_vec();
    // Emptied copies can have the bytes of sections that stay.
    for range in filled.iter().filter(|range| !overlaps(&used, range)) {
        out.get_mut(range.clone())?.fill(0);
    }
    let mut written: Vec<Range<usize>> = Vec::new();
    // Of sections that share bytes, one keeps their space.
    let mut starts = HashSet::new();
    for &index in &changed {
        let section = &image.sections[index];
        let contents = &section.contents;
        let start = old(index).start;
        let range = start..start + contents.len();
        let fits = contents.len() <= old(index).len() && !overlaps(&used, &range);
        let header = table + index * SECTION_HEADER;
        if contents.is_empty() {
            // The offset stays.
        } else if fits && starts.insert(start) {
            out.get_mut(range.clone())?.copy_from_slice(contents);
            written.push(range);
        } else {
            pad(&mut out, section.header.sh_addralign.clamp(1, MAX_FILE_ALIGN));
            let start = out.len() as u64;
            out.extend_from_slice(contents);
            set_u64(image.order, &mut out, header + OFFSET, start);
        }
        set_u64(image.order, &mut out, header + SIZE, contents.len() as u64);
        // A symbol table counts its local symbols.
        set_u32(image.order, &mut out, header + INFO, section.header.sh_info);
    }
    written.sort_by_key(|range| range.start);
    let are_apart = written.windows(2).all(|pair| pair[0].end <= pair[1].start);
    are_apart.then_some(out)
}

fn range_of(segment: &super::image::Segment) -> Range<usize> {
    let start = segment.offset as usize;
    start..start + segment.size as usize
}

/// Returns sorted ranges that do not overlap, for ranges that can.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn overlaps(joined: &[Range<usize>], range: &Range<usize>) -> bool {
    let index = joined.partition_point(|used| used.end <= range.start);
    joined.get(index).is_some_and(|used| used.start < range.end)
}
