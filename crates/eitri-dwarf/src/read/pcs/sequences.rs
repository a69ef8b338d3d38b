//! Sequences of line tables by their code.

use std::collections::BTreeMap;

use gimli::constants as dw;

use super::index::PcIndex;
use crate::error::{Error, Result};
use crate::read::errors::MOST;
use crate::read::{Dwarf, LineProgram, LineRows};

/// A sequence of rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    /// Header offset of the line program, in bytes.
    pub(super) program: u64,
    /// Index of the unit with the program, if a unit refers to it.
    pub(super) unit: Option<u32>,
    /// Offset of the first opcode.
    first: u64,
}

/// The sequences in a file's line table, by pc.
#[derive(Debug, Clone)]
pub(in crate::read) struct Sequences {
    by_pc: PcIndex<Sequence>,
    /// Errors of line programs; the sequences before an error are known.
    errors: Vec<Error>,
}

impl Sequences {
    fn read(dwarf: &Dwarf<'_>) -> Self {
        let mut sequences = Vec::new();
        let mut errors = Vec::new();
        for (offset, unit) in programs(dwarf) {
            let mut read = || {
                let Some(program) = program(dwarf, offset, unit)? else { return Ok(()) };
                let mut rows = program.rows();
                let mut first = rows.position();
                // The pcs of the current sequence, from its lowest to its highest address.
                let mut pcs = None;
                loop {
                    let row = rows.next_row();
                    crate::work::step();
                    if let Ok(Some(row)) = row {
                        let (start, end) = pcs.unwrap_or((row.address, row.address));
                        pcs = Some((row.address.min(start), row.address.max(end)));
                        if !row.end_sequence {
                            continue;
                        }
                    }
                    // Also before an error, and at the end of a program without the end of its last sequence.
                    if let Some((start, end)) = pcs.take()
                        && dwarf.is_code(start)
                    {
                        sequences.push((start..end, Sequence { program: offset, unit, first }));
                    }
                    if row?.is_none() {
                        return Ok(());
                    }
                    first = rows.position();
                }
            };
            let read: Result<()> = read();
            if let Err(error) = read
                && errors.len() < MOST
            {
                errors.push(error);
            }
        }
        Self { by_pc: PcIndex::new(sequences), errors }
    }

    /// Returns the sequences with a pc, in the order of their programs.
    pub(super) fn at(&self, pc: u64) -> Vec<Sequence> {
        let mut sequences: Vec<_> = self.by_pc.at(pc).copied().collect();
        sequences.sort_by_key(|sequence| (sequence.program, sequence.first));
        sequences
    }

    /// Returns the first error, if any.
    pub(super) fn error(&self) -> Option<&Error> {
        self.errors.first()
    }
}

impl Sequence {
    /// Returns the program with its header.
    pub(super) fn program<'o>(&self, dwarf: &Dwarf<'o>) -> Result<Option<LineProgram<'o>>> {
        program(dwarf, self.program, self.unit)
    }

    /// Returns the rows from this sequence on.
    pub(super) fn rows<'p, 'o>(&self, program: &'p LineProgram<'o>) -> Result<LineRows<'p, 'o>> {
        LineRows::at(program, self.first)
    }
}

/// Returns the index of a file's line sequences.
pub(super) fn index<'r>(dwarf: &'r Dwarf<'_>) -> &'r Sequences {
    dwarf.sequences.get_or_init(|| Sequences::read(dwarf))
}

/// Returns the header offsets of all line programs with rows, each with the index of the first unit that refers to it.
fn programs(dwarf: &Dwarf<'_>) -> BTreeMap<u64, Option<u32>> {
    let mut programs = BTreeMap::new();
    for (unit, index) in dwarf.units().iter().zip(0..) {
        // Type units have the files of a unit with code, or files alone.
        if !matches!(unit.kind, dw::DW_UT_type | dw::DW_UT_split_type)
            && let Some(offset) = unit.stmt_list
        {
            programs.entry(offset).or_insert(Some(index));
        }
    }
    // Lines alone have no units, and a unit that cannot be read does not hide its lines. Otherwise programs need not
    // be adjacent.
    if dwarf.units().is_empty() || !dwarf.broken_units.is_empty() {
        let sections = dwarf.main.as_ref().unwrap_or(dwarf.sections());
        let mut from = sections.cursor(".debug_line", sections.debug_line);
        while !from.is_at_end() {
            let start = from.offset();
            programs.entry(start).or_insert(None);
            let length = from.initial_length("a line program");
            if length.and_then(|(length, _)| from.take(length, "a line program")).is_err() {
                break;
            }
        }
    }
    programs
}

fn program<'o>(dwarf: &Dwarf<'o>, offset: u64, unit: Option<u32>) -> Result<Option<LineProgram<'o>>> {
    match unit.and_then(|unit| dwarf.units().get(unit as usize)) {
        Some(unit) => dwarf.lines(unit),
        None => {
            let sections = dwarf.main.as_ref().unwrap_or(dwarf.sections());
            LineProgram::read(sections, offset, sections.address_bytes_or_8()).map(Some)
        }
    }
}
