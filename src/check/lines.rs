//! Line rows.

use super::compare::{Compare, unreadable};
use super::report::Kind;
use crate::error::At;
use crate::model::UnitId;
use crate::read::{LineProgram, LineRow, Unit};

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares the rows of every function of a unit, and where its sequence ends.
    pub(super) fn lines(&mut self, id: UnitId, unit: &Unit<'o>) {
        let module = self.module;
        let at = module.at_scope(module.unit(id).scope);
        let functions: Vec<_> =
            module.functions().filter(|(_, function)| module.scope(function.scope).unit == id).collect();
        if functions.iter().all(|(id, _)| module.rows(*id).is_empty()) {
            return;
        }
        let program = match self.dwarf.lines(unit) {
            Ok(Some(program)) => program,
            Ok(None) => return self.find(Kind::Line, at, "a line program", "none"),
            Err(error) => return self.report.findings.push(unreadable(&error, at)),
        };
        let mut found: Vec<LineRow> = Vec::new();
        for row in program.rows() {
            match row {
                Ok(row) => found.push(row),
                Err(error) => return self.report.findings.push(unreadable(&error, at)),
            }
        }
        for (id, function) in functions {
            let rows = module.rows(id);
            let Some(start) = self.address(id) else { continue };
            if rows.is_empty() {
                continue;
            }
            // The function's own sequence: the first row at its start is not the end of the one before.
            let first = found
                .iter()
                .position(|row| row.address == start.wrapping_add(rows[0].pc) && !row.end_sequence);
            let sequence = &found[first.unwrap_or(found.len())..];
            for (index, row) in rows.iter().enumerate() {
                self.report.rows += 1;
                let expected = (
                    row.pc,
                    module.string(module.file(row.file).name).to_owned(),
                    u64::from(row.line),
                    u64::from(row.column),
                    u64::from(row.discriminator),
                    [row.is_stmt, row.is_prologue_end, row.is_epilogue_begin],
                );
                let found = sequence
                    .get(index)
                    .filter(|row| !row.end_sequence)
                    .map(|row| self::row(&program, row, start));
                if found.as_ref() != Some(&expected) {
                    let pcs = Some(row.pc..row.pc + 1);
                    let at = At { pcs, ..module.at_scope(function.scope) };
                    let found = found.map_or_else(|| "no row".into(), |found| format!("{found:?}"));
                    self.find(Kind::Line, at, format!("{expected:?}"), found);
                    return;
                }
            }
            let end = sequence.get(rows.len()).filter(|row| row.end_sequence).map(|row| row.address);
            if end != Some(start.wrapping_add(function.bytes)) {
                let expected =
                    format!("the end of the sequence at {:#x}", start.wrapping_add(function.bytes));
                self.find(Kind::Line, module.at_scope(function.scope), expected, format!("{end:x?}"));
            }
        }
    }
}

/// What a row says: pc, file, line, column, discriminator, flags.
type Row = (u64, String, u64, u64, u64, [bool; 3]);

fn row(program: &LineProgram<'_>, row: &LineRow, start: u64) -> Row {
    let file = program.file(row.file).map(|file| String::from_utf8_lossy(file.path).into_owned());
    (
        row.address.wrapping_sub(start),
        file.unwrap_or_default(),
        row.line,
        row.column,
        row.discriminator,
        [row.is_stmt, row.prologue_end, row.epilogue_begin],
    )
}
