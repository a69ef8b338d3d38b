//! Rulers: a storage as a row of bytes, without irrelevant bytes.

use core::ops::Range;
use std::collections::BTreeSet;

use super::super::descriptions::{Descriptions, size};
use super::panel::{Fill, Reading};
use super::style::{
    BIT, BYTE, CELL, CELL_HEIGHT, EDGES, FILLS, GAP, INK, MARK_HEIGHT, MUTED, NAME_HEIGHT, READ, RULE, SMALL,
    TEXT, TICK_HEIGHT,
};
use super::svg::Svg;
use crate::eval::{Machine, SingleLocation, Storage, read_bits};

/// Ruler height.
pub(super) const HEIGHT: usize = NAME_HEIGHT + MARK_HEIGHT + CELL_HEIGHT + TICK_HEIGHT;

/// Size in bytes up to which a storage is shown completely.
const WHOLE: u128 = 16;
/// Size in bytes above which only [`END`] bytes at both ends of a storage are shown.
const LONG: u128 = 24;
const END: u128 = 8;
/// Number of context bytes around relevant bytes.
const AROUND: u128 = 4;
/// Distance between numbered bytes.
const TICKS: u128 = 4;
/// Maximum number of shown bytes, beyond the first bytes in each relevant range.
const MOST: u128 = 64;
/// Number of bytes in each relevant range that are always shown.
const FIRST: u128 = 4;
/// Number of relevant ranges for which [`FIRST`] applies.
const MOST_RANGES: usize = 256;

#[derive(Debug, Clone)]
pub(super) struct Ruler {
    pub storage: Storage,
    /// Shown and hidden bytes, with their horizontal positions.
    sections: Vec<Section>,
    pub width: usize,
}

#[derive(Debug, Clone)]
struct Section {
    x: usize,
    bytes: Range<u128>,
    is_shown: bool,
}

impl Ruler {
    /// Returns a storage ruler that shows the bytes in `touched`.
    pub(super) fn new(storage: Storage, touched: &[Range<u128>]) -> Self {
        let end = touched.iter().map(|bytes| bytes.end).max().unwrap_or(0);
        let len = storage.size().map_or(end, |bits| bits.div_ceil(8));
        let shown = windows(touched, len);
        let mut x = 0;
        let mut shown_end = 0;
        let mut sections = Vec::new();
        for bytes in shown {
            if bytes.start > shown_end {
                sections.push(Section { x, bytes: shown_end..bytes.start, is_shown: false });
                x += GAP;
            }
            shown_end = bytes.end;
            let width = (bytes.end - bytes.start) as usize * BYTE;
            sections.push(Section { x, bytes, is_shown: true });
            x += width;
        }
        if shown_end < len {
            sections.push(Section { x, bytes: shown_end..len, is_shown: false });
            x += GAP;
        }
        Self { storage, sections, width: x }
    }

    /// Returns where bits are on the ruler, in pixels, and whether the bytes there are shown.
    fn extent(&self, from: u128, bits: u128) -> impl Iterator<Item = (usize, usize, bool)> {
        let to = from.saturating_add(bits);
        self.sections.iter().filter_map(move |section| {
            let start = section.bytes.start.saturating_mul(8);
            let end = section.bytes.end.saturating_mul(8);
            let from = from.max(start);
            let to = to.min(end);
            if from >= to {
                return None;
            }
            if !section.is_shown {
                return Some((section.x, section.x + GAP, false));
            }
            let x = |bit: u128| section.x + (bit - start) as usize * BIT;
            Some((x(from), x(to), true))
        })
    }

    /// Draws the ruler with its upper left corner at a point.
    pub(super) fn draw(
        &self,
        svg: &mut Svg,
        at: (usize, usize),
        shown: &Shown<'_>,
        words: Descriptions<'_>,
        machine: &dyn Machine,
    ) {
        let (x, y) = at;
        let cells = y + NAME_HEIGHT + MARK_HEIGHT;
        let name = words.storage(&self.storage);
        svg.within("g", &[("class", &"ruler"), ("data-storage", &name)], |svg| {
            svg.bold((x, y + TEXT), "start", TEXT, INK, &name);
            if let (Some(bits), false) = (self.storage.size(), matches!(self.storage, Storage::Memory { .. }))
            {
                let after = x + super::svg::width(&name, TEXT) + 10;
                svg.text((after, y + TEXT), "start", SMALL, MUTED, &size(bits));
            }
            self.cells(svg, (x, cells));
            for fill in shown.fills.iter().filter(|fill| fill.storage == self.storage) {
                self.fill(svg, (x, cells), fill);
            }
            self.contents(svg, (x, cells), machine);
            for read in shown.readings.iter().filter(|read| read.storage == self.storage) {
                for (from, to, _) in self.extent(read.from * 8, read.bytes * 8) {
                    let style: [(&str, &dyn core::fmt::Display); 5] = [
                        ("class", &"read"),
                        ("fill", &"none"),
                        ("stroke", &READ),
                        ("stroke-width", &2),
                        ("stroke-dasharray", &"4 2"),
                    ];
                    svg.rect((x + from, cells - 2), (to - from, CELL_HEIGHT + 4), &style);
                }
            }
            for (_, bit) in shown.starts.iter().filter(|(storage, _)| *storage == self.storage) {
                if let Some((from, ..)) = self.extent(*bit, 1).next() {
                    let x = x + from;
                    let y = cells - 2;
                    let path = format!("M {x} {y} l -5 -8 l 10 0 z");
                    svg.element("path", &[("class", &"start"), ("d", &path), ("fill", &EDGES[0])]);
                }
            }
            self.ticks(svg, (x, cells + CELL_HEIGHT), shown);
        });
    }

    fn cells(&self, svg: &mut Svg, (x, y): (usize, usize)) {
        let background = hatching(&self.storage).unwrap_or(CELL);
        for section in &self.sections {
            if !section.is_shown {
                svg.text((x + section.x + GAP / 2, y + CELL_HEIGHT / 2 + 4), "middle", TEXT, MUTED, "…");
                continue;
            }
            for (index, byte) in section.bytes.clone().enumerate() {
                let style: [(&str, &dyn core::fmt::Display); 4] =
                    [("class", &"byte"), ("data-byte", &byte), ("fill", &background), ("stroke", &RULE)];
                // The last byte in a storage can have fewer than 8 bits.
                let bits = self.storage.size().map_or(8, |bits| bits.saturating_sub(byte * 8).min(8));
                svg.rect((x + section.x + index * BYTE, y), (bits as usize * BIT, CELL_HEIGHT), &style);
            }
        }
    }

    fn fill(&self, svg: &mut Svg, (x, y): (usize, usize), fill: &Fill) {
        let color = fill.part.unwrap_or(0) % FILLS.len();
        let part = label_of_part(fill.part);
        let place = label_of_place(fill.place);
        let class = if matches!(fill.storage, Storage::Composite(_)) { "part" } else { "fill" };
        let hatching = hatching(match (&fill.storage, fill.part) {
            (Storage::Composite(composite), Some(part)) => match composite.parts()[part].location.single() {
                Some(place) => &place.storage,
                None => &fill.storage,
            },
            _ => &fill.storage,
        });
        let attributes: [(&str, &dyn core::fmt::Display); 5] = [
            ("class", &class),
            ("data-from", &fill.from),
            ("data-bits", &fill.bits),
            ("data-part", &part),
            ("data-place", &place),
        ];
        svg.within("g", &attributes, |svg| {
            for (index, (from, to, is_shown)) in self.extent(fill.from, fill.bits).enumerate() {
                let opacity = if hatching.is_some() { "0.5" } else { "0.85" };
                // Hidden bytes are filled with a lower height.
                let (top, height) = if is_shown { (y, CELL_HEIGHT) } else { (y + 7, CELL_HEIGHT - 14) };
                let style: [(&str, &dyn core::fmt::Display); 4] = [
                    ("class", &if is_shown { "bits" } else { "left-out" }),
                    ("fill", &FILLS[color]),
                    ("fill-opacity", &opacity),
                    ("stroke", &EDGES[color]),
                ];
                if let Some(hatching) = hatching {
                    svg.rect((x + from, top), (to - from, height), &[("fill", &hatching)]);
                }
                svg.rect((x + from, top), (to - from, height), &style);
                if index == 0 {
                    let label = format!("{part}{place}");
                    svg.bold((x + from + 1, y - 4), "start", SMALL, EDGES[color], &label);
                }
            }
        });
    }

    fn contents(&self, svg: &mut Svg, (x, y): (usize, usize), machine: &dyn Machine) {
        for section in self.sections.iter().filter(|section| section.is_shown) {
            for (index, byte) in section.bytes.clone().enumerate() {
                if let Some(byte) = self.byte(byte, machine) {
                    let x = x + section.x + index * BYTE + BYTE / 2;
                    svg.text((x, y + CELL_HEIGHT / 2 + 4), "middle", SMALL, INK, &format!("{byte:02x}"));
                }
            }
        }
    }

    /// Returns a byte's value in the storage, if it is known.
    fn byte(&self, index: u128, machine: &dyn Machine) -> Option<u8> {
        let mut byte = [0];
        match &self.storage {
            Storage::Register { reg, frame, .. } => {
                machine.register(*reg, *frame, u32::try_from(index).ok()?, &mut byte).ok()?;
            }
            Storage::Memory { space, lane, .. } => {
                machine.memory(*space, *lane, u64::try_from(index).ok()?, &mut byte).ok()?;
            }
            Storage::Implicit(bits) => return bits.bytes().get(usize::try_from(index).ok()?).copied(),
            Storage::Composite(_) => {
                let place = SingleLocation { storage: self.storage.clone(), offset: index * 8 };
                let bits = read_bits(&place.into(), 8, machine).ok()?;
                return (bits.defined == [0xff]).then(|| bits.bytes[0]);
            }
            Storage::Undefined | Storage::ImplicitPointer(_) => return None,
        }
        Some(byte[0])
    }

    fn ticks(&self, svg: &mut Svg, (x, y): (usize, usize), shown: &Shown<'_>) {
        let number = |byte: u128| match self.storage {
            Storage::Memory { .. } => format!("{byte:#x}"),
            _ => byte.to_string(),
        };
        let mut tick = |x: usize, length: usize, label: String| {
            let line: [(&str, &dyn core::fmt::Display); 5] =
                [("x1", &x), ("y1", &y), ("x2", &x), ("y2", &(y + length)), ("stroke", &MUTED)];
            svg.element("line", &line);
            if !label.is_empty() {
                svg.text((x + 2, y + length + 3), "start", SMALL, MUTED, &label);
            }
        };
        for section in self.sections.iter().filter(|section| section.is_shown) {
            for (index, byte) in section.bytes.clone().enumerate() {
                let x = x + section.x + index * BYTE;
                if index == 0 || byte.is_multiple_of(TICKS) {
                    tick(x, 8, number(byte));
                }
            }
        }
        // Edges within a byte: a single label for both fills, if there is space.
        let mut free = 0;
        for fill in shown.fills.iter().filter(|fill| fill.storage == self.storage) {
            let end = fill.from.saturating_add(fill.bits);
            if fill.from.is_multiple_of(8) && end.is_multiple_of(8) {
                continue;
            }
            let label = match fill.bits {
                1 => format!("bit {}", fill.from),
                _ => format!("bits {} to {}", fill.from, end.saturating_sub(1)),
            };
            if let Some((from, _, true)) = self.extent(fill.from, 1).next() {
                let has_room = from >= free;
                let width = super::svg::width(&label, SMALL);
                free = if has_room { from + width + 4 } else { free };
                tick(x + from, 18, if has_room { label } else { String::new() });
            }
            if let Some((_, to, true)) = self.extent(end.saturating_sub(1), 1).next() {
                tick(x + to, 12, String::new());
            }
        }
    }
}

/// Returns the pattern for a storage other than registers and memory.
fn hatching(storage: &Storage) -> Option<&'static str> {
    match storage {
        Storage::Undefined => Some("url(#undefined)"),
        Storage::Implicit(_) | Storage::ImplicitPointer(_) => Some("url(#implicit)"),
        _ => None,
    }
}

/// Marks on the rulers in a panel.
pub(super) struct Shown<'a> {
    pub fills: &'a [Fill],
    pub readings: &'a [Reading],
    pub starts: &'a [(Storage, u128)],
}

pub(super) fn label_of_part(part: Option<usize>) -> String {
    part.map_or_else(String::new, |part| (part + 1).to_string())
}

pub(super) fn label_of_place(place: Option<usize>) -> String {
    match place {
        None => String::new(),
        Some(place @ 0..26) => char::from(b'a' + place as u8).to_string(),
        Some(place) => format!("place {}", place + 1),
    }
}

/// Returns the shown bytes in a storage with `len` bytes: always the first bytes in each relevant range, then as many
/// more as fit.
fn windows(touched: &[Range<u128>], len: u128) -> Vec<Range<u128>> {
    if len <= WHOLE {
        return if len == 0 { Vec::new() } else { Vec::from([0..len]) };
    }
    let clipped = touched.iter().map(|bytes| bytes.start..bytes.end.min(len));
    let mut ranges: Vec<Range<u128>> = clipped.filter(|bytes| bytes.start < bytes.end).collect();
    ranges.sort_by_key(|bytes| (bytes.start, bytes.end));
    ranges.dedup();
    // Bytes are shown or hidden in groups of [`TICKS`].
    let groups = |bytes: Range<u128>| bytes.start / TICKS..bytes.end.div_ceil(TICKS);
    let first = |bytes: &Range<u128>| groups(bytes.start..bytes.end.min(bytes.start + FIRST));
    let mut shown: BTreeSet<u128> = ranges.iter().take(MOST_RANGES).flat_map(first).collect();
    let around = |bytes: Range<u128>| {
        groups(bytes.start.saturating_sub(AROUND)..bytes.end.saturating_add(AROUND).min(len))
    };
    let wanted = ranges.iter().flat_map(|bytes| {
        let is_long = bytes.end - bytes.start > LONG;
        let end = if is_long { bytes.start + END } else { bytes.end };
        let last = is_long.then(|| around(bytes.end - END..bytes.end));
        around(bytes.start..end).chain(last.into_iter().flatten())
    });
    for group in wanted {
        if shown.len() as u128 * TICKS >= MOST {
            break;
        }
        shown.insert(group);
    }
    let mut windows: Vec<Range<u128>> = Vec::new();
    for group in shown {
        let bytes = group * TICKS..((group + 1) * TICKS).min(len);
        match windows.last_mut() {
            // A gap is shown if it has at most one group.
            Some(last) if bytes.start <= last.end + TICKS => last.end = bytes.end,
            _ => windows.push(bytes),
        }
    }
    windows
}
