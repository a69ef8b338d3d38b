//! Line table lowering.

use super::inlined_rows::{InlinedRows, Sequence};
use super::section::Part;
use super::units::Units;
use crate::emit::RelocationTarget;
use crate::emit::line::{LineFile, LineProgram, LineState, Names, Survey};
use crate::error::Result;
use crate::model::{Address, CodePart, FileId, FunctionId, LineTableRow, SequencePart, StringId, UnitId};

/// Encodes a unit's line program.
/// Returns it with the names of inlined functions, to which its header refers for a consumer with such rows.
pub(super) fn program(units: &Units<'_>, unit: UnitId, functions: &[FunctionId]) -> Result<(Part, Vec<u8>)> {
    encode(units, unit, functions, Strings::Shared)
}

/// Encodes a unit's files as a line program without rows.
pub(super) fn files(units: &Units<'_>, unit: UnitId) -> Result<Part> {
    encode(units, unit, &[], Strings::Alone).map(|(files, _)| files)
}

/// Storage for a line program's strings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    /// The object's string sections, which units share.
    Shared,
    /// The program itself, for a file without string sections. Source texts are omitted.
    Alone,
}

fn encode(
    units: &Units<'_>,
    unit: UnitId,
    functions: &[FunctionId],
    strings: Strings,
) -> Result<(Part, Vec<u8>)> {
    let module = units.module;
    let format = units.format;
    let min_instruction_bytes = module.target.min_instruction_bytes();
    let text = |id: Option<StringId>| id.map_or("", |id| module.string(id));
    // Directory 0 is the compilation directory. A unit has few directories, so a linear search is enough.
    let mut directories = vec![module.units[unit].directory];
    let mut files = Vec::new();
    for file in units.files.ids(unit) {
        let file = &module.files[FileId::from_u32(file)];
        let index = match file.directory {
            None => 0,
            Some(_) => match directories.iter().skip(1).position(|&known| known == file.directory) {
                Some(index) => index + 1,
                None => {
                    directories.push(file.directory);
                    directories.len() - 1
                }
            },
        };
        files.push(LineFile {
            name: module.string(file.name),
            directory: index as u64,
            md5: file.md5,
            source: file.source.filter(|_| strings == Strings::Shared).map(|source| module.string(source)),
        });
    }
    let directories: Vec<&str> = directories.into_iter().map(text).collect();

    // The header defines the special opcodes, so all rows are surveyed before the first row is written.
    let mut survey = Survey::new(format, min_instruction_bytes);
    for &function in functions {
        survey.begin_sequence();
        for row in module.rows(function) {
            survey.row(row.pc, row.line, row.is_prologue_end || row.is_epilogue_begin);
        }
    }
    // Addends are string numbers plus 1 until the units are joined; 0 is the empty string.
    let mut offset = |text: &str| module.strings.number(text).map_or(0, |number| u64::from(number) + 1);
    let inlined = InlinedRows::new(units, unit);
    let names = Names {
        offset: &mut offset,
        are_shared: units.shared.has_others && strings == Strings::Shared,
        has_inlined: inlined.has_names(),
    };
    let mut line = Part::default();
    line.bytes.reserve(survey.approximate_bytes(functions.len()));
    let program = LineProgram::begin(
        &mut line.bytes,
        &mut line.relocations,
        format,
        min_instruction_bytes,
        survey.shape(),
        names,
        &directories,
        &files,
    )?;
    let mut rows = Rows { units, unit, program, inlined };
    rows.write(functions);
    let Rows { program, inlined, .. } = rows;
    program.finish();
    Ok((line, inlined.names))
}

/// Writer for the rows of a unit.
struct Rows<'r, 's> {
    units: &'r Units<'r>,
    unit: UnitId,
    program: LineProgram<'s>,
    inlined: InlinedRows<'r>,
}

impl Rows<'_, '_> {
    fn write(&mut self, functions: &[FunctionId]) {
        let module = self.units.module;
        for &id in functions {
            for part in module.functions[id].code_parts() {
                let whole = [SequencePart { function: id, pc: part.pcs.start, offset: 0 }];
                // A row counts the rows of its sequence that are calls, function by function.
                let is_alone = self.inlined.has_names();
                match self.units.shared.sequences.get(&(id, part.pcs.start)).filter(|_| !is_alone) {
                    None => self.sequence(&whole),
                    Some(Some(sequence)) => self.sequence(&sequence.parts),
                    // The first part writes the rows of all.
                    Some(None) => {}
                }
            }
        }
    }

    /// Writes the rows of parts of code as a sequence, which begins at the first part.
    fn sequence(&mut self, parts: &[SequencePart]) {
        let module = self.units.module;
        let part_of = |part: &SequencePart| {
            module.functions[part.function].code_parts().find(|code| code.pcs.start == part.pc)
        };
        let codes: Vec<_> = parts.iter().filter_map(|part| Some((part, part_of(part)?))).collect();
        let (Some((_, first)), Some((last, end))) = (codes.first(), codes.last()) else { return };
        // Row pcs count from the function's address, so rows without code have no meaning.
        if codes.iter().all(|(part, code)| module.rows_in(part.function, &code.pcs).is_empty()) {
            return;
        }
        match first.address {
            Address::Symbol(symbol, by) => {
                let name = module.symbol_name(symbol).to_owned().into();
                self.program.begin_sequence(Some(RelocationTarget::Symbol(name)), by);
            }
            Address::Constant(address) => self.program.begin_sequence(None, address),
        }
        for (part, code) in &codes {
            self.rows(part, code);
        }
        self.program.end_sequence(last.offset + end.bytes());
    }

    fn rows(&mut self, part: &SequencePart, code: &CodePart) {
        let units = self.units;
        let state = |row: &LineTableRow| LineState {
            file: units.file_number(self.unit, row.file),
            line: row.line,
            column: row.column,
            discriminator: row.discriminator,
            is_stmt: row.is_stmt,
            is_prologue_end: row.is_prologue_end,
            is_epilogue_begin: row.is_epilogue_begin,
        };
        let pc = |row: &LineTableRow| part.offset + (row.pc - code.pcs.start);
        let rows = units.module.rows_in(part.function, &code.pcs);
        if !self.inlined.has_names() {
            rows.iter().for_each(|row| self.program.row(pc(row), state(row)));
            return;
        }
        let mut sequence = Sequence::default();
        for row in rows {
            for (place, call) in self.inlined.rows(part.function, row, &mut sequence) {
                let file = units.file_number(self.unit, place.file);
                let state = LineState { file, line: place.line, column: place.column, ..state(row) };
                self.program.inlined(call);
                self.program.row(pc(row), state);
            }
        }
    }
}
