//! Line program opcodes.

use gimli::constants as dw;

use super::header::{Header, Names};
use super::rows::{InlinedRow, LineFile, LineState};
use super::shape::{Shape, instructions};
use crate::emit::format::Format;
use crate::emit::section::{Relocation, RelocationTarget};
use crate::error::Result;
use crate::op::{uleb_len, write_byte_uleb, write_sleb, write_uleb};

/// Writer for a unit's line program.
#[derive(Debug)]
pub(crate) struct LineProgram<'s> {
    out: &'s mut Vec<u8>,
    relocations: &'s mut Vec<Relocation>,
    format: Format,
    /// Offset after the header's length field.
    start: usize,
    min_instruction_bytes: u64,
    shape: Shape,
    pc: u64,
    state: LineState,
    inlined: InlinedRow,
}

impl<'s> LineProgram<'s> {
    /// Writes the header. The first directory is the compilation directory, the first file the primary source file.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) for a file without a name, before DWARF 5.
    #[expect(clippy::too_many_arguments, reason = "the facts of a header")]
    pub(crate) fn begin(
        out: &'s mut Vec<u8>,
        relocations: &'s mut Vec<Relocation>,
        format: Format,
        min_instruction_bytes: u8,
        shape: Shape,
        names: Names<'_>,
        directories: &[&str],
        files: &[LineFile<'_>],
    ) -> Result<Self> {
        let start = format.begin_length(out);
        Header { out, relocations, format, names }.write(
            &shape,
            min_instruction_bytes,
            directories,
            files,
        )?;
        Ok(Self {
            out,
            relocations,
            format,
            start,
            min_instruction_bytes: min_instruction_bytes.max(1).into(),
            shape,
            pc: 0,
            state: LineState::INITIAL,
            inlined: InlinedRow::default(),
        })
    }

    /// Begins a function's sequence. The pcs of rows count from the address: a symbol plus `addend`, or `addend`
    /// itself.
    pub(crate) fn begin_sequence(&mut self, symbol: Option<RelocationTarget>, addend: u64) {
        self.pc = 0;
        self.state = LineState::INITIAL;
        self.inlined = InlinedRow::default();
        let bytes = self.format.address_bytes;
        self.out.extend_from_slice(&[0, 1 + bytes, dw::DW_LNE_set_address.0]);
        let field = if let Some(target) = symbol {
            let offset = self.out.len() as u64;
            self.relocations.push(Relocation { offset, bytes, target, addend });
            0
        } else {
            addend
        };
        self.format.fixed(self.out, field, bytes);
    }

    /// Sets the inlined call that contains the next rows.
    pub(crate) fn inlined(&mut self, row: Option<InlinedRow>) {
        // The extended opcode for the call's row and the function's name; row 0 is no call.
        const INLINED: u8 = 0x90;
        let row = row.unwrap_or_default();
        if row == self.inlined {
            return;
        }
        self.inlined = row;
        let size = 1 + uleb_len(row.call) + uleb_len(row.function);
        self.out.push(0);
        write_uleb(self.out, size as u64);
        write_byte_uleb(self.out, INLINED, row.call);
        write_uleb(self.out, row.function);
    }

    /// Appends a row. Pcs do not descend.
    #[inline]
    pub(crate) fn row(&mut self, pc: u64, row: LineState) {
        let state = &mut self.state;
        if row.file != state.file {
            write_byte_uleb(self.out, dw::DW_LNS_set_file.0, row.file);
        }
        if row.column != state.column {
            write_byte_uleb(self.out, dw::DW_LNS_set_column.0, row.column.into());
        }
        if row.is_stmt != state.is_stmt {
            self.out.push(dw::DW_LNS_negate_stmt.0);
        }
        // The discriminator and the marks apply to one row only, so the row before does not matter.
        if row.discriminator != 0 {
            let len = 1 + uleb_len(row.discriminator.into());
            self.out.extend_from_slice(&[0, len as u8, dw::DW_LNE_set_discriminator.0]);
            write_uleb(self.out, row.discriminator.into());
        }
        if row.is_prologue_end {
            self.out.push(dw::DW_LNS_set_prologue_end.0);
        }
        if row.is_epilogue_begin {
            self.out.push(dw::DW_LNS_set_epilogue_begin.0);
        }
        let lines = i64::from(row.line) - i64::from(state.line);
        let instructions = instructions(pc - self.pc, self.min_instruction_bytes);
        self.state = row;
        self.pc = pc;
        let step = self.shape.step(instructions, lines);
        if step.lines != 0 {
            self.out.push(dw::DW_LNS_advance_line.0);
            write_sleb(self.out, step.lines);
        }
        for _ in 0..step.const_adds {
            self.out.push(dw::DW_LNS_const_add_pc.0);
        }
        if step.instructions != 0 {
            write_byte_uleb(self.out, dw::DW_LNS_advance_pc.0, step.instructions);
        }
        self.out.push(step.special);
    }

    /// Ends the sequence for a function with `pc` bytes.
    pub(crate) fn end_sequence(&mut self, pc: u64) {
        let instructions = instructions(pc - self.pc, self.min_instruction_bytes);
        // `const_add_pc` takes one byte, and `advance_pc` at least two.
        if instructions == u64::from(self.shape.const_add) {
            self.out.push(dw::DW_LNS_const_add_pc.0);
        } else if instructions > 0 {
            write_byte_uleb(self.out, dw::DW_LNS_advance_pc.0, instructions);
        }
        self.out.extend_from_slice(&[0, 1, dw::DW_LNE_end_sequence.0]);
    }

    /// Ends the unit's program.
    pub(crate) fn finish(self) {
        self.format.end_length(self.out, self.start);
    }
}
