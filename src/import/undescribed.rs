//! Code with rows that no function describes, as assemblers write it, and clang for `-gline-tables-only`: functions without
//! an entry hold its rows and frames.

use core::ops::Range;

use super::importer::{Code, Importer};
use super::unimported::UnimportedReason;
use crate::read::{FrameSection, LineProgram};

/// Makes functions without an entry for the rows of the current unit that begin outside the code of its functions, and
/// adds them to the code, which is sorted.
pub(super) fn functions(importer: &mut Importer<'_, '_>, program: &LineProgram<'_>, code: &mut Vec<Code>) {
    // Selected functions are imported with their own rows.
    if !importer.chosen.only.is_empty() {
        return;
    }
    let outside = outside(program, code);
    for pcs in at_frames(importer, outside) {
        // Where it cannot be a function, its rows are listed.
        if let Ok(Some(own)) = function(importer, pcs) {
            code.push(own);
        }
    }
    code.sort_by_key(|body| (body.start, body.end, body.function));
}

/// Makes a function without an entry for code with a frame that no unit has, as assemblers write it without debug
/// information.
pub(super) fn with_frame(importer: &mut Importer<'_, '_>, pcs: Range<u64>) -> Option<Code> {
    let has_unit = importer.m.described().units().next().is_some();
    if !has_unit || pcs.is_empty() || !importer.chosen.only.is_empty() {
        return None;
    }
    function(importer, pcs).ok().flatten()
}

/// Ends of the code up to and including each body, which can be nested.
pub(super) fn ends(code: &[Code]) -> Vec<u64> {
    let mut last = 0;
    let end = |body: &Code| {
        last = body.end.max(last);
        last
    };
    code.iter().map(end).collect()
}

fn function(importer: &mut Importer<'_, '_>, pcs: Range<u64>) -> Result<Option<Code>, UnimportedReason> {
    let Range { start, end } = pcs;
    if !importer.dwarf.is_code(start) || !importer.dwarf.is_code(end - 1) {
        return Ok(None);
    }
    let address = importer.symbols.code_address(&mut importer.m, start)?;
    let scope = importer.root().scope;
    let mut function = importer.m.function(scope, "").map_err(UnimportedReason::Refused)?;
    let function = function.address(address, end - start).undescribed().id();
    Ok(Some(Code { start, end, function, pc: 0 }))
}

/// Cuts ranges of addresses at the starts of frames, because a function has a single frame.
fn at_frames(importer: &mut Importer<'_, '_>, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    if ranges.is_empty() {
        return ranges;
    }
    let starts = importer.frames.starts.take().unwrap_or_else(|| {
        let sections = [FrameSection::Debug, FrameSection::Eh];
        let fdes = sections.map(|section| importer.dwarf.frames_of_code(section).fdes);
        let mut starts: Vec<u64> = fdes.into_iter().flatten().map(|fde| fde.start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    });
    let mut cut = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut from = range.start;
        let first = starts.partition_point(|&start| start <= range.start);
        for &start in starts[first..].iter().take_while(|&&start| start < range.end) {
            cut.push(from..start);
            from = start;
        }
        cut.push(from..range.end);
    }
    importer.frames.starts = Some(starts);
    cut
}

/// Returns the addresses outside code, which is sorted, from the first row that begins there to the next code or the end of
/// the sequence.
fn outside(program: &LineProgram<'_>, code: &[Code]) -> Vec<Range<u64>> {
    let mut outside: Vec<Range<u64>> = Vec::new();
    let ends = ends(code);
    let mut open: Option<u64> = None;
    let mut close = |open: &mut Option<u64>, end: u64| {
        if let Some(start) = open.take().filter(|&start| start < end) {
            outside.push(start..end);
        }
    };
    let mut rows = program.rows();
    // An error is listed where the rows are imported.
    while let Some(Ok(row)) = rows.next() {
        let before = code.partition_point(|body| body.start <= row.address);
        if let Some(start) = open {
            // The first code after the start.
            let next = code.get(code.partition_point(|body| body.start < start)).map(|body| body.start);
            if let Some(next) = next.filter(|&next| next <= row.address) {
                close(&mut open, next);
            }
        }
        if row.end_sequence {
            close(&mut open, row.address);
            continue;
        }
        let is_outside = before == 0 || ends[before - 1] <= row.address;
        if is_outside && open.is_none() {
            open = Some(row.address);
        }
    }
    outside.sort_by_key(|range| (range.start, range.end));
    // Two sequences can have the same code; a function has it once.
    let mut end = 0;
    outside.retain(|range| {
        let is_new = range.start >= end;
        end = range.end.max(end);
        is_new
    });
    outside
}
