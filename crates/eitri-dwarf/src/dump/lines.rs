//! Line tables.

use std::fmt::{self, Write};

use super::text::Dump;
use crate::error::Count;
use crate::read::LineProgram;

impl<'d> Dump<'_, 'd, '_> {
    pub(super) fn lines(&mut self, program: &LineProgram<'_>) -> fmt::Result {
        self.line_table("lines", None, program)
    }

    /// Prints a line table. `file` names the only file in a table without file names.
    pub(super) fn line_table(
        &mut self,
        title: &str,
        file: Option<&str>,
        program: &LineProgram<'_>,
    ) -> fmt::Result {
        write!(self.out, "{title}: version {}", program.version)?;
        self.at(program.offset)?;
        self.out.push('\n');
        if self.verbose {
            let LineProgram { opcode_base, line_base, line_range, min_instruction_bytes, .. } = program;
            writeln!(
                self.out,
                "  opcode_base {opcode_base} line_base {line_base} line_range {line_range} \
                 minimum_instruction_length {min_instruction_bytes}"
            )?;
            for (number, directory) in (u64::from(program.version < 5)..).zip(&program.directories) {
                write!(self.out, "  directory {number}: ")?;
                self.quoted(directory)?;
                self.out.push('\n');
            }
        }
        if let Some(file) = file {
            writeln!(self.out, "  file 0: {file:?}")?;
        }
        let first = u64::from(program.version < 5);
        for number in first..first + program.files.len() as u64 {
            let (Some(path), Some(file)) = (program.path(number), program.file(number)) else { continue };
            write!(self.out, "  file {number}: {path:?}")?;
            if let Some(digest) = file.md5 {
                self.out.push_str(" md5 ");
                digest.iter().try_for_each(|byte| write!(self.out, "{byte:02x}"))?;
            }
            if let Some(text) = file.source.filter(|text| !text.is_empty()) {
                write!(self.out, ", a text of {}", Count(text.len(), "byte"))?;
            }
            self.out.push('\n');
        }
        let notation = self.object.pc_notation();
        let mut rows = program.rows();
        while let Some(row) = rows.next() {
            let row = match row {
                Ok(row) => row,
                Err(error) => {
                    writeln!(self.out, "  <{error}>")?;
                    continue;
                }
            };
            self.out.push_str("  ");
            self.out.pc(&notation.pc(row.address), 12)?;
            if program.max_operations > 1 {
                write!(self.out, ".{}", row.op_index)?;
            }
            if row.end_sequence {
                self.out.push_str(" end");
            } else {
                for (before, number) in [(' ', row.file), (':', row.line), (':', row.column)] {
                    self.out.push(before);
                    self.out.decimal(number);
                }
                let flags = [
                    (row.is_stmt, " stmt"),
                    (row.basic_block, " basic_block"),
                    (row.prologue_end, " prologue_end"),
                    (row.epilogue_begin, " epilogue_begin"),
                    (row.is_prologue, " prologue"),
                ];
                flags.iter().filter(|(is_set, _)| *is_set).for_each(|(_, name)| self.out.push_str(name));
                if row.discriminator != 0 {
                    write!(self.out, " discriminator {}", row.discriminator)?;
                }
                if row.isa != 0 {
                    write!(self.out, " isa {}", row.isa)?;
                }
                if let Some(inlined) = row.inlined {
                    let name = program.inlined_name(inlined).unwrap_or("?".into());
                    write!(self.out, " inlined {name} at row {}", inlined.call)?;
                }
                if let Some(function) = row.function {
                    let name = program.function_name(function).unwrap_or("?".into());
                    write!(self.out, " function {name}")?;
                }
            }
            self.at(rows.offset())?;
            self.out.push('\n');
        }
        Ok(())
    }
}
