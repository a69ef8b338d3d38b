//! Pieces into which a function's code is cut. Lane pcs may change where a piece ends.

use core::ops::Range;

use crate::model::{FunctionId, Module, RegionId};

/// Code in which the innermost region and the mask of active lanes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Innermost region.
    pub(super) region: Option<RegionId>,
    /// Index of the enclosing whole-wave code.
    pub(super) whole_wave: Option<u32>,
}

impl Piece {
    pub(super) fn pcs(self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

/// A function's pieces within ranges, each mapped by `cut`. Equal neighbours are merged.
pub(super) fn within(all: &[Piece], ranges: &[Range<u64>], cut: impl Fn(Piece) -> Piece) -> Vec<Piece> {
    let mut ranges = ranges.to_vec();
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Piece> = Vec::new();
    for Range { start, end } in ranges {
        let first = all.partition_point(|piece| u64::from(piece.end) <= start);
        for piece in all[first..].iter().take_while(|piece| u64::from(piece.start) < end) {
            let start = piece.start.max(start as u32);
            let end = piece.end.min(end as u32);
            let piece = cut(Piece { start, end, ..*piece });
            match out.last_mut() {
                Some(last) if last.end == start && Piece { start, end, ..*last } == piece => last.end = end,
                _ => out.push(piece),
            }
        }
    }
    out
}

/// The pieces that make up a function's code, sorted.
pub(super) fn pieces(module: &Module, function: FunctionId) -> Vec<Piece> {
    let bytes = module.functions[function].bytes.min(u32::MAX.into()) as u32;
    let mut by_region: Vec<Piece> = Vec::new();
    let mut start = 0;
    let mut up_to = |end: u32, region: Option<RegionId>| {
        if start < end {
            by_region.push(Piece { start, end, region, whole_wave: None });
            start = end;
        }
    };
    // Regions are nested and sorted by start, so the open ones form a stack with the innermost on top.
    let mut open: Vec<RegionId> = Vec::new();
    for &id in module.regions_of(function) {
        while let Some(&last) =
            open.last().filter(|&&last| module.region(last).end <= module.region(id).start)
        {
            up_to(module.region(last).end, Some(last));
            open.pop();
        }
        up_to(module.region(id).start, open.last().copied());
        open.push(id);
    }
    while let Some(last) = open.pop() {
        up_to(module.region(last).end, Some(last));
    }
    up_to(bytes, None);

    // Pieces and masks are both sorted, so one pass over both finds the cuts.
    let whole_waves = &module.functions[function].lanes.whole_waves;
    let mut masks = whole_waves.clone().zip(module.whole_waves(function)).peekable();
    let mut out = Vec::with_capacity(by_region.len());
    for piece in by_region {
        let mut start = piece.start;
        while start < piece.end {
            while masks.next_if(|(_, whole_wave)| whole_wave.mask.end <= start).is_some() {}
            let (end, whole_wave) = match masks.peek() {
                Some(&(index, one)) if one.mask.start <= start => (one.mask.end, Some(index)),
                Some((_, one)) => (one.mask.start, None),
                None => (piece.end, None),
            };
            let end = end.min(piece.end);
            out.push(Piece { start, end, whole_wave, ..piece });
            start = end;
        }
    }
    out
}
