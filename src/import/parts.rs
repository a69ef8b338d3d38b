//! Pcs of functions, by their addresses. Code in several parts has a range of pcs for each part: DWARF 5 section 2.17.3.

use core::ops::Range;

use smallvec::SmallVec;

use super::importer::{Code, Importer, Place, refused};
use super::unimported::UnimportedReason;
use crate::model::{Address, FunctionId};
use crate::read::Entry;

/// Number of parts of a function that are imported, so that work is linear in the size of the file.
const MOST_PARTS: usize = 256;

/// What begins or ends at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Border {
    /// An instruction begins at it.
    Start,
    /// An instruction before it ends at it.
    End,
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Sets a function's code, and returns its parts in the order of their pcs. Ranges that cannot be parts are listed.
    pub(super) fn set_code(
        &mut self,
        entry: Entry<'d, 'o>,
        function: FunctionId,
        ranges: Vec<Range<u64>>,
    ) -> Vec<Code> {
        let mut parts: Vec<Code> = Vec::new();
        let mut problem = None;
        let ranges = adjoined(ranges);
        let has_code = ranges.iter().any(|range| range.start < range.end);
        for range in ranges {
            // An empty range has no effect beside others: DWARF 5 section 2.17.3.
            if has_code && range.start == range.end {
                problem.get_or_insert(UnimportedReason::EmptyPcs);
                continue;
            }
            let added = match self.part_address(&parts, function, &range) {
                Ok(address) => self.add_part(&mut parts, function, &range, address),
                Err(reason) => Err(reason),
            };
            // A part that is discarded or empty hides no other problem.
            if let Err(reason) = added
                && matches!(
                    problem,
                    None | Some(UnimportedReason::DiscardedCode | UnimportedReason::EmptyPcs)
                )
            {
                problem = Some(reason);
            }
        }
        if let Some(reason) = problem {
            self.leave_pcs(entry, reason);
        }
        if parts.len() > 1 {
            let mut sorted = parts.clone();
            sorted.sort_unstable_by_key(|part| part.start);
            self.code.parts.insert(function, sorted);
        }
        parts
    }

    /// Returns the address of a range of a function's code.
    fn part_address(
        &mut self,
        parts: &[Code],
        function: FunctionId,
        range: &Range<u64>,
    ) -> Result<Address, UnimportedReason> {
        if range.start > range.end {
            return Err(UnimportedReason::ReversedPcs);
        }
        if !self.symbols.have_code(self.dwarf, range) {
            return Err(UnimportedReason::DiscardedCode);
        }
        if self.m.described().function(function).is_declaration {
            return Err(UnimportedReason::NoProperty);
        }
        let overlaps = |part: &Code| range.start < part.end && part.start < range.end;
        if parts.len() >= MOST_PARTS || parts.iter().any(overlaps) {
            return Err(UnimportedReason::SeveralRanges);
        }
        self.symbols.code_address(&mut self.m, range.start)
    }

    fn add_part(
        &mut self,
        parts: &mut Vec<Code>,
        function: FunctionId,
        range: &Range<u64>,
        address: Address,
    ) -> Result<(), UnimportedReason> {
        let Range { start, end } = *range;
        let mut builder = self.m.describe_function(function).map_err(refused)?;
        let mut pc = 0;
        if parts.is_empty() {
            builder.address(address, end - start);
        } else {
            // The end of the part before is a pc too, so that the part begins at the next instruction.
            let step = u64::from(self.target.min_instruction_bytes());
            let last = parts.last().map_or(0, |last| last.pc + (last.end - last.start));
            let next = last.checked_next_multiple_of(step).and_then(|last| last.checked_add(step));
            let pcs = next.and_then(|next| Some(next..next.checked_add(end - start)?));
            let pcs = pcs.ok_or(UnimportedReason::SeveralRanges)?;
            pc = pcs.start;
            builder.code_part(pcs, address).map_err(refused)?;
        }
        parts.push(Code { start, end, function, pc });
        Ok(())
    }

    /// Returns the pcs that a range of addresses has in a function; `None` if the range is not in one part of its code.
    pub(super) fn pcs_of(&self, around: &Place<'o>, range: &Range<u64>) -> Option<Range<u64>> {
        let start = self.pc_of(around, range.start, Border::Start)?;
        let end = self.pc_of(around, range.end, Border::End)?;
        (end.checked_sub(start)? == range.end.checked_sub(range.start)?).then_some(start..end)
    }

    /// Returns the pc that an address has in a function; `None` if the address is outside its code.
    pub(super) fn pc_of(&self, around: &Place<'o>, address: u64, border: Border) -> Option<u64> {
        let parts = around.function.and_then(|function| self.code.parts.get(&function));
        let Some(parts) = parts else {
            let pc = address.wrapping_sub(around.base?);
            return (pc < around.bytes || pc == around.bytes && border == Border::End).then_some(pc);
        };
        let count = match border {
            Border::Start => parts.partition_point(|part| part.start <= address),
            Border::End => parts.partition_point(|part| part.start < address),
        };
        let part = parts[..count].last()?;
        let is_here = match border {
            Border::Start => address < part.end,
            Border::End => address <= part.end,
        };
        is_here.then(|| part.pc + (address - part.start))
    }

    /// Returns the pcs of the parts of a function's code.
    pub(super) fn whole(&self, around: &Place<'o>) -> SmallVec<[Range<u64>; 1]> {
        let parts = around.function.and_then(|function| self.code.parts.get(&function));
        let Some(parts) = parts else { return SmallVec::from([0..around.bytes]) };
        let mut pcs: SmallVec<[Range<u64>; 1]> =
            parts.iter().map(|part| part.pc..part.pc + (part.end - part.start)).collect();
        pcs.sort_unstable_by_key(|pcs| pcs.start);
        pcs
    }

    /// The code of a function's own entry, part by part.
    pub(super) fn code_of(&self, place: &Place<'o>) -> Vec<Code> {
        let Some(function) = place.function else { return Vec::new() };
        if let Some(parts) = self.code.parts.get(&function) {
            return parts.clone();
        }
        let code = place
            .base
            .and_then(|start| Some(Code { start, end: start.checked_add(place.bytes)?, function, pc: 0 }));
        code.into_iter().collect()
    }
}

/// Joins ranges that continue the range before.
fn adjoined(ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start && last.start < last.end && range.start < range.end => {
                last.end = range.end;
            }
            _ => joined.push(range),
        }
    }
    joined
}
