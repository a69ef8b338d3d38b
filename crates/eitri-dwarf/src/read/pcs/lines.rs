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
    let Some(line) = line else { return Ok(()) };
    write!(f, ":{line}")?;
    column.map_or(Ok(()), |column| write!(f, ":{column}"))
}

impl Dwarf<'_> {
    /// Returns the source position of the code at a pc: the row of the line table whose code contains it. Of several rows
    /// for the same address, it is the last. If several units have rows, as for functions that a linker merged, it is a row
    /// of the unit with the [function](Self::functions_at). `None` if the line table has no code there.
    ///
    /// The pc is an address as in [`scopes_at`](Self::scopes_at). Inlined calls in a cubin's line table are in the
    /// [row](crate::read::LineRow::inlined). The first call makes an index, in one pass over all line programs; each call
    /// reads the header of a line program and the rows of a sequence.
    ///
    /// # Errors
    /// The first error of a line program, if no row that can be read has the pc.
    ///
    /// ```
    /// # fn main() -> eitri_dwarf::Result<()> {
    /// # let bytes = include_bytes!("../../../../../examples/data/squares.o");
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let pc = dwarf.address_in("squares", 0x14)?;
    /// let line = dwarf.line_at(pc)?.expect("the function has lines");
    /// assert_eq!(line.to_string(), "/src/squares.c:2:15");
    /// assert_eq!((line.pcs, line.row.is_stmt), (pc - 1..pc + 2, true));
    /// # Ok(())
    /// # }
    /// ```
    pub fn line_at(&self, pc: u64) -> Result<Option<CodeLine>> {
        let index = self.sequence_index();
        let mut sequences = index.at(pc);
        if sequences.len() > 1 {
            let own = self.function_at(pc).and_then(|function| function.unit().stmt_list);
            sequences.sort_by_key(|sequence| Some(sequence.program) != own);
        }
        let mut error = None;
        for sequence in sequences {
            let Some(program) = sequence.program(self)? else { continue };
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
                    let unit = sequence.unit.and_then(|unit| self.units.get(unit as usize));
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
}
