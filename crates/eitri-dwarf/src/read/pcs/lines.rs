//! The line of a pc.

use std::fmt;
use std::ops::Range;

use crate::error::Result;
use crate::read::{Dwarf, LineRow};

/// The source position of code, from a row of the line table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeLine {
    /// File path, with the compilation's folder. `None` if the header does not have the row's file.
    pub file: Option<String>,
    /// The row: line, column, whether it is a breakpoint location, and more.
    pub row: LineRow,
    /// Addresses of the row's code in the file, without [load bias](crate::eval::Machine::load_bias): from this row to the
    /// next.
    pub pcs: Range<u64>,
}

/// The position as `file:line:column`, without the parts that are unknown.
impl fmt::Display for CodeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |number: u64| Some(number).filter(|number| *number > 0);
        position(f, self.file.as_deref(), known(self.row.line), known(self.row.column))
    }
}

/// Prints a source position, without the parts that are unknown.
pub(super) fn position(
    f: &mut fmt::Formatter<'_>,
    file: Option<&str>,
    line: Option<u64>,
    column: Option<u64>,
) -> fmt::Result {
    f.write_str(file.unwrap_or("?"))?;
    match (line, column) {
        (None, None) => Ok(()),
        (Some(line), None) => write!(f, ":{line}"),
        // Line 0 is code without a line, which can have a column.
        (line, Some(column)) => write!(f, ":{}:{column}", line.unwrap_or(0)),
    }
}

/// Returns what [`Dwarf::line_at`] returns.
pub(in crate::read) fn line_at(dwarf: &Dwarf<'_>, pc: u64) -> Result<Option<CodeLine>> {
    let index = super::sequences::index(dwarf);
    let mut sequences = index.at(pc);
    if sequences.len() > 1 {
        let own = super::function_at(dwarf, pc).and_then(|function| function.unit().stmt_list);
        sequences.sort_by_key(|sequence| Some(sequence.program) != own);
    }
    let mut error = None;
    for sequence in sequences {
        let Some(program) = sequence.program(dwarf)? else { continue };
        let mut before: Option<LineRow> = None;
        for row in sequence.rows(&program)? {
            crate::work::step();
            let row = match row {
                Ok(row) => row,
                Err(problem) => {
                    error = error.or(Some(problem));
                    break;
                }
            };
            if let Some(from) = before.filter(|from| (from.address..row.address).contains(&pc)) {
                let unit = sequence.unit.and_then(|unit| dwarf.units.get(unit as usize));
                let folder = unit.and_then(|unit| unit.comp_dir.as_deref());
                let file = program.full_path(from.file, folder);
                return Ok(Some(CodeLine { file, row: from, pcs: from.address..row.address }));
            }
            if row.end_sequence {
                break;
            }
            before = Some(row);
        }
    }
    error.as_ref().or(index.error()).map_or(Ok(None), |error| Err(error.clone()))
}
