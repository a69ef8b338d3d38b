//! Line rows: DWARF 5 section 6.2. A row belongs to the function whose code it begins in; a row that began before a
//! function's code also applies to the start of the code.

use core::ops::Range;

use hashbrown::HashSet;

use super::importer::{Code, Importer, Place};
use super::undescribed;
use super::unimported::UnimportedReason;
use crate::model::{FunctionId, LineTableRow, SequencePart};
use crate::read::LineRow;

impl<'d, 'o> Importer<'d, 'o> {
    /// Imports the rows of the current unit's line table.
    pub(super) fn rows(&mut self) {
        let mut code = self.code();
        let program = self.program(self.info);
        if let Some(program) = &program {
            undescribed::functions(self, program, &mut code);
        }
        self.code.all.extend_from_slice(&code);
        let Some(program) = program else { return };
        let mut rows = program.rows();
        let mut last: Option<LineRow> = None;
        // Index of the function's code that the last row is in: most rows are in the same code.
        let mut near = 0;
        // Rows without a function are listed once for each run of them.
        let mut is_outside = false;
        let mut sequences = Vec::new();
        let mut start = None;
        loop {
            let row = match rows.next() {
                None => break,
                Some(Ok(row)) => row,
                Some(Err(error)) => {
                    self.list_in(".debug_line", rows.offset(), UnimportedReason::Unreadable(error));
                    break;
                }
            };
            if let Some(last) = last {
                self.cover(&code, near, &last, row.address);
            }
            last = (!row.end_sequence).then_some(row);
            let first = *start.get_or_insert(row.address);
            if row.end_sequence {
                sequences.push(first..row.address);
                start = None;
                is_outside = false;
                continue;
            }
            near = nearest(&code, near, row.address);
            match code.get(near).filter(|body| (body.start..body.end).contains(&row.address)) {
                Some(body) => {
                    is_outside = false;
                    self.row(body.function, &row, body.pc + (row.address - body.start), rows.offset());
                }
                None if !is_outside => {
                    is_outside = true;
                    let reason = if self.dwarf.is_code(row.address) {
                        UnimportedReason::NoFunction
                    } else {
                        UnimportedReason::DiscardedCode
                    };
                    self.list_in(".debug_line", rows.offset(), reason);
                }
                None => {}
            }
        }
        if self.chosen.has_sequences {
            self.sequences(&code, sequences);
        }
    }

    /// Lets functions share the sequences in which their rows are. The code is sorted.
    fn sequences(&mut self, code: &[Code], sequences: Vec<Range<u64>>) {
        let mut taken = HashSet::new();
        for addresses in sequences {
            let first = code.partition_point(|body| body.start < addresses.start);
            let count = code[first..].partition_point(|body| body.start < addresses.end);
            let bodies = &code[first..first + count];
            let before = first.checked_sub(1).map_or(0, |before| code[before].end);
            let are_apart = bodies.windows(2).all(|bodies| bodies[0].end <= bodies[1].start);
            let is_whole = |body: &Code| body.end <= addresses.end;
            if count < 2 || !are_apart || before > addresses.start || !bodies.iter().all(is_whole) {
                continue;
            }
            // Two sequences can have the same code.
            if !bodies.iter().all(|body| taken.insert((body.function, body.pc))) {
                continue;
            }
            let part = |body: &Code| SequencePart {
                function: body.function,
                pc: body.pc,
                offset: body.start - bodies[0].start,
            };
            self.m.row_sequence(bodies.iter().map(part).collect());
        }
    }

    /// Adds a row to the functions that begin after the row and before the next row. The code before `first` begins before
    /// them.
    fn cover(&mut self, code: &[Code], first: usize, row: &LineRow, next: u64) {
        for body in code[first.min(code.len())..].iter().take_while(|body| body.start < next) {
            if body.start > row.address {
                self.row(body.function, row, body.pc, 0);
            }
        }
    }

    fn row(&mut self, function: FunctionId, row: &LineRow, pc: u64, offset: u64) {
        let Some(file) = self.file(self.info, row.file) else {
            return self.list_in(".debug_line", offset, UnimportedReason::MissingFile(row.file));
        };
        let numbers = [row.line, row.column, row.discriminator];
        let [Ok(line), Ok(column), Ok(discriminator)] = numbers.map(u32::try_from) else {
            let largest = numbers.into_iter().max().unwrap_or(0);
            return self.list_in(".debug_line", offset, UnimportedReason::ValueRange(largest.into()));
        };
        let mut described = LineTableRow::new(pc, file, line).column(column).discriminator(discriminator);
        (described.is_stmt, described.is_prologue_end, described.is_epilogue_begin) =
            (row.is_stmt, row.prologue_end, row.epilogue_begin);
        let is_plain = row.op_index == 0 && row.isa == 0 && !row.basic_block;
        if !is_plain || row.inlined.is_some() || row.function.is_some() || row.is_prologue {
            self.list_in(".debug_line", offset, UnimportedReason::RowState);
        }
        // The end of the rows counts instructions, too.
        let step = u64::from(self.m.target().min_instruction_bytes());
        if !self.m.described().function(function).bytes.is_multiple_of(step) {
            return self.list_in(".debug_line", offset, UnimportedReason::Misaligned);
        }
        if let Err(error) = self.m.row(function, described) {
            self.list_in(".debug_line", offset, UnimportedReason::Refused(error));
        }
    }

    /// The code of the current unit's functions, sorted.
    fn code(&self) -> Vec<Code> {
        let module = self.m.described();
        let is_own = |place: &&Place<'_>| {
            place.function.is_some_and(|function| module.function(function).scope == place.scope)
        };
        let places = self.made.scopes.values().filter(is_own);
        let mut code: Vec<Code> = places.flat_map(|place| self.code_of(place)).collect();
        code.sort_by_key(|body| (body.start, body.end, body.function));
        code.dedup_by_key(|body| (body.function, body.pc));
        code
    }
}

/// Returns the index of the last code that begins at an address or before it, or 0. `near` is often the index.
fn nearest(code: &[Code], near: usize, address: u64) -> usize {
    let begins_before = |index: usize| code.get(index).is_some_and(|body| body.start <= address);
    if begins_before(near) && !begins_before(near + 1) {
        return near;
    }
    code.partition_point(|body| body.start <= address).saturating_sub(1)
}
