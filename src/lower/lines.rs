//! Line tables.

use super::dies::Dies;
use crate::emit::RelocationTarget;
use crate::emit::line::{LineFile, LineProgram, LineState};
use crate::model::{Address, FileId, FunctionId, UnitId};

impl Dies<'_> {
    /// Writes the line program of a unit.
    pub(super) fn lines(&mut self, unit: UnitId, functions: &[FunctionId]) {
        let module = self.module;
        let address_bytes = module.target.address_bytes();
        // By number until the units are joined: 0 is the empty string.
        let line_str = |id: Option<crate::model::StringId>| id.map_or(0, |id| id.as_u32() + 1);
        let mut directories = vec![(module.units[unit].directory, line_str(module.units[unit].directory))];
        let mut files = Vec::new();
        for &file in self.units.files.of(unit) {
            let file = &module.files[FileId::from_u32(file)];
            let index = match file.directory {
                None => 0,
                Some(_) => match directories.iter().skip(1).position(|&(known, _)| known == file.directory) {
                    Some(index) => index + 1,
                    None => {
                        directories.push((file.directory, line_str(file.directory)));
                        directories.len() - 1
                    }
                },
            };
            files.push(LineFile { name: line_str(Some(file.name)), directory: index as u64, md5: file.md5 });
        }
        let directories: Vec<u32> = directories.into_iter().map(|(_, offset)| offset).collect();
        let mut program = LineProgram::begin(
            &mut self.line.bytes,
            &mut self.line.relocations,
            address_bytes,
            module.target.min_instruction_bytes(),
            &directories,
            &files,
        );
        for &id in functions {
            let function = &module.functions[id];
            let rows = module.rows(id);
            let Some(address) = function.address else { continue };
            if rows.is_empty() {
                continue;
            }
            match address {
                Address::Symbol(symbol, by) => {
                    let name = module.symbol_name(symbol).to_owned().into();
                    program.begin_sequence(Some(RelocationTarget::Symbol(name)), by, address_bytes);
                }
                Address::Constant(address) => program.begin_sequence(None, address, address_bytes),
            }
            for row in rows {
                let state = LineState {
                    file: self.units.files.place(row.file.as_u32()).into(),
                    line: row.line,
                    column: row.column,
                    discriminator: row.discriminator,
                    is_stmt: row.is_stmt,
                    is_prologue_end: row.is_prologue_end,
                    is_epilogue_begin: row.is_epilogue_begin,
                };
                program.row(row.pc, state);
            }
            program.end_sequence(function.bytes);
        }
        program.finish();
    }
}
