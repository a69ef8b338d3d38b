//! `.debug_line`: DWARF 5 section 6.2.

use super::section::{Relocation, RelocationTarget};
use crate::op::{uleb_len, write_sleb, write_uleb};

/// Special opcodes cover line advances from this one on…
const LINE_BASE: i64 = -5;
/// …so many.
const LINE_RANGE: u64 = 14;
const OPCODE_BASE: u64 = 13;

const DW_LNS_COPY: u8 = 1;
const DW_LNS_ADVANCE_PC: u8 = 2;
const DW_LNS_ADVANCE_LINE: u8 = 3;
const DW_LNS_SET_FILE: u8 = 4;
const DW_LNS_SET_COLUMN: u8 = 5;
const DW_LNS_NEGATE_STMT: u8 = 6;
const DW_LNS_CONST_ADD_PC: u8 = 8;
const DW_LNS_SET_PROLOGUE_END: u8 = 10;
const DW_LNS_SET_EPILOGUE_BEGIN: u8 = 11;
const DW_LNE_END_SEQUENCE: u8 = 1;
const DW_LNE_SET_ADDRESS: u8 = 2;
const DW_LNE_SET_DISCRIMINATOR: u8 = 4;

/// How many operands each standard opcode has, from 1 on.
const STANDARD_OPERANDS: [u8; 12] = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1];

/// A file of a line table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineFile {
    /// The offset of its name in `.debug_line_str`.
    pub(crate) name: u32,
    /// The index of its directory.
    pub(crate) directory: u64,
    /// The MD5 sum of its text.
    pub(crate) md5: Option<[u8; 16]>,
}

/// What a row says, besides its pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineState {
    pub(crate) file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) discriminator: u32,
    pub(crate) is_stmt: bool,
    pub(crate) is_prologue_end: bool,
    pub(crate) is_epilogue_begin: bool,
}

/// A unit's line program, being appended to its section.
#[derive(Debug)]
pub(crate) struct LineProgram<'s> {
    out: &'s mut Vec<u8>,
    relocations: &'s mut Vec<Relocation>,
    /// Where the unit starts.
    start: usize,
    min_instruction_bytes: u64,
    pc: u64,
    state: LineState,
}

const INITIAL: LineState = LineState {
    file: 1,
    line: 1,
    column: 0,
    discriminator: 0,
    is_stmt: true,
    is_prologue_end: false,
    is_epilogue_begin: false,
};

impl<'s> LineProgram<'s> {
    /// Writes the header. Directories are offsets in `.debug_line_str`; the first is the compilation's, and
    /// the first file is the primary one.
    pub(crate) fn begin(
        out: &'s mut Vec<u8>,
        relocations: &'s mut Vec<Relocation>,
        address_bytes: u8,
        min_instruction_bytes: u8,
        directories: &[u32],
        files: &[LineFile],
    ) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&5u16.to_le_bytes());
        out.extend_from_slice(&[address_bytes, 0]);
        let header = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&[
            min_instruction_bytes,
            1,
            1,
            LINE_BASE as u8,
            LINE_RANGE as u8,
            OPCODE_BASE as u8,
        ]);
        out.extend_from_slice(&STANDARD_OPERANDS);

        let line_strp = |out: &mut Vec<u8>, relocations: &mut Vec<Relocation>, offset: u32| {
            relocations.push(Relocation {
                offset: out.len() as u64,
                bytes: 4,
                target: RelocationTarget::Section(".debug_line_str"),
                addend: offset.into(),
            });
            out.extend_from_slice(&[0; 4]);
        };
        let form = |out: &mut Vec<u8>, content: gimli::DwLnct, form: gimli::DwForm| {
            write_uleb(out, content.0.into());
            write_uleb(out, form.0.into());
        };
        out.push(1);
        form(out, gimli::DW_LNCT_path, gimli::DW_FORM_line_strp);
        write_uleb(out, directories.len() as u64);
        for &directory in directories {
            line_strp(out, relocations, directory);
        }
        let has_md5 = files.first().is_some_and(|file| file.md5.is_some());
        out.push(if has_md5 { 3 } else { 2 });
        form(out, gimli::DW_LNCT_path, gimli::DW_FORM_line_strp);
        form(out, gimli::DW_LNCT_directory_index, gimli::DW_FORM_udata);
        if has_md5 {
            form(out, gimli::DW_LNCT_MD5, gimli::DW_FORM_data16);
        }
        write_uleb(out, files.len() as u64);
        for file in files {
            line_strp(out, relocations, file.name);
            write_uleb(out, file.directory);
            if has_md5 {
                out.extend_from_slice(&file.md5.unwrap_or_default());
            }
        }
        let header_length = (out.len() - header - 4) as u32;
        out[header..header + 4].copy_from_slice(&header_length.to_le_bytes());
        Self {
            out,
            relocations,
            start,
            min_instruction_bytes: min_instruction_bytes.into(),
            pc: 0,
            state: INITIAL,
        }
    }

    /// Begins the code of a function. Pcs of rows count from `address` on.
    pub(crate) fn begin_sequence(
        &mut self,
        address: Option<RelocationTarget>,
        addend: u64,
        address_bytes: u8,
    ) {
        self.pc = 0;
        self.state = INITIAL;
        self.out.extend_from_slice(&[0, 1 + address_bytes, DW_LNE_SET_ADDRESS]);
        let field = if let Some(target) = address {
            let offset = self.out.len() as u64;
            self.relocations.push(Relocation { offset, bytes: address_bytes, target, addend });
            0
        } else {
            addend
        };
        self.out.extend_from_slice(&field.to_le_bytes()[..address_bytes.into()]);
    }

    /// A row. Pcs do not descend.
    #[inline]
    pub(crate) fn row(&mut self, pc: u64, row: LineState) {
        let state = &mut self.state;
        if row.file != state.file {
            self.out.push(DW_LNS_SET_FILE);
            write_uleb(self.out, row.file);
        }
        if row.column != state.column {
            self.out.push(DW_LNS_SET_COLUMN);
            write_uleb(self.out, row.column.into());
        }
        if row.is_stmt != state.is_stmt {
            self.out.push(DW_LNS_NEGATE_STMT);
        }
        if row.discriminator != 0 {
            let len = 1 + uleb_len(row.discriminator.into());
            self.out.extend_from_slice(&[0, len as u8, DW_LNE_SET_DISCRIMINATOR]);
            write_uleb(self.out, row.discriminator.into());
        }
        if row.is_prologue_end {
            self.out.push(DW_LNS_SET_PROLOGUE_END);
        }
        if row.is_epilogue_begin {
            self.out.push(DW_LNS_SET_EPILOGUE_BEGIN);
        }
        let line = i64::from(row.line) - i64::from(state.line);
        self.state = row;
        self.advance(pc, line);
    }

    /// Appends the row, with the pc and the line moved: by the fewest bytes of the opcodes there are.
    #[inline]
    fn advance(&mut self, pc: u64, line: i64) {
        let units = (pc - self.pc) / self.min_instruction_bytes;
        self.pc = pc;
        // The line goes by itself where no special opcode has it.
        let by = (line - LINE_BASE) as u64;
        let special = if (LINE_BASE..LINE_BASE + LINE_RANGE as i64).contains(&line) {
            by
        } else {
            self.out.push(DW_LNS_ADVANCE_LINE);
            write_sleb(self.out, line);
            (-LINE_BASE) as u64
        };
        let opcode = |units: u64| OPCODE_BASE + special + LINE_RANGE * units;
        const MOST: u64 = (255 - OPCODE_BASE) / LINE_RANGE;
        match units {
            // With line and pc as they were, `copy` is one byte too and needs no arithmetic.
            0 if special == (-LINE_BASE) as u64 => self.out.push(DW_LNS_COPY),
            _ if units <= MOST && opcode(units) <= 255 => self.out.push(opcode(units) as u8),
            _ if units >= MOST && units - MOST <= MOST && opcode(units - MOST) <= 255 => {
                self.out.extend_from_slice(&[DW_LNS_CONST_ADD_PC, opcode(units - MOST) as u8]);
            }
            _ => {
                self.out.push(DW_LNS_ADVANCE_PC);
                write_uleb(self.out, units);
                self.out.push(opcode(0) as u8);
            }
        }
    }

    /// Ends the code of the function, `pc` bytes from its start.
    pub(crate) fn end_sequence(&mut self, pc: u64) {
        let units = (pc - self.pc) / self.min_instruction_bytes;
        if units > 0 {
            self.out.push(DW_LNS_ADVANCE_PC);
            write_uleb(self.out, units);
        }
        self.out.extend_from_slice(&[0, 1, DW_LNE_END_SEQUENCE]);
    }

    /// Ends the unit.
    pub(crate) fn finish(self) {
        let length = (self.out.len() - self.start - 4) as u32;
        self.out[self.start..self.start + 4].copy_from_slice(&length.to_le_bytes());
    }
}
