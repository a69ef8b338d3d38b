//! Line table lowering.

use super::inlined_rows::{InlinedRows, Sequence};
use super::section::Part;
use super::units::Units;
use crate::emit::RelocationTarget;
use crate::emit::line::{LineFile, LineProgram, LineState, Names, Survey};
use crate::error::Result;
use crate::model::{Address, FileId, FunctionId, LineTableRow, StringId, UnitId};

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
    let mut inlined = InlinedRows::new(units, unit);
    let names = Names {
        offset: &mut offset,
        are_shared: units.shared.has_others && strings == Strings::Shared,
        has_inlined: inlined.has_names(),
    };
    let mut line = Part::default();
    line.bytes.reserve(survey.approximate_bytes(functions.len()));
    let mut program = LineProgram::begin(
        &mut line.bytes,
        &mut line.relocations,
        format,
        min_instruction_bytes,
        survey.shape(),
        names,
        &directories,
        &files,
    )?;
    let state = |row: &LineTableRow| LineState {
        file: units.file_number(unit, row.file),
        line: row.line,
        column: row.column,
        discriminator: row.discriminator,
        is_stmt: row.is_stmt,
        is_prologue_end: row.is_prologue_end,
        is_epilogue_begin: row.is_epilogue_begin,
    };
    for &id in functions {
        let function = &module.functions[id];
        // Row pcs count from the function's address, so rows without code have no meaning.
        for part in function.code_parts() {
            let rows = module.rows_in(id, &part.pcs);
            if rows.is_empty() {
                continue;
            }
            match part.address {
                Address::Symbol(symbol, by) => {
                    let name = module.symbol_name(symbol).to_owned().into();
                    program.begin_sequence(Some(RelocationTarget::Symbol(name)), by);
                }
                Address::Constant(address) => program.begin_sequence(None, address),
            }
            if inlined.has_names() {
                let mut sequence = Sequence::default();
                for row in rows {
                    for (place, call) in inlined.rows(id, row, &mut sequence) {
                        let file = units.file_number(unit, place.file);
                        let state = LineState { file, line: place.line, column: place.column, ..state(row) };
                        program.inlined(call);
                        program.row(row.pc - part.pcs.start, state);
                    }
                }
            } else {
                for row in rows {
                    program.row(row.pc - part.pcs.start, state(row));
                }
            }
            program.end_sequence(part.bytes());
        }
    }
    program.finish();
    Ok((line, inlined.names))
}
