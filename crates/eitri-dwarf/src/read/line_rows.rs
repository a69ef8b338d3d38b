//! Line number state machine. DWARF 5 sections 6.2.2 and 6.2.5.

use super::cursor::{Cursor, is_address_size, max_address};
use super::line::{LineProgram, read_file};
use crate::error::{Count, ErrorKind, Result};

/// Inlined call, in cubin line tables (extended opcode 0x90).
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlinedRow {
    /// Row that contains the call, counted from 1 in the row's sequence.
    pub call: u64,
    /// Offset of the inlined function's name from [`LineProgram::inlined_names`], in bytes.
    pub name: u64,
}

/// A line table row: the source position for code from this address to the address of the sequence's next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineRow {
    /// Instruction address.
    pub address: u64,
    /// Operation index in the instruction; 0 except on VLIW machines.
    pub op_index: u64,
    /// File number, for [`LineProgram::file`].
    pub file: u64,
    /// Line, counted from 1; 0 for code without a line.
    pub line: u64,
    /// Column, counted from 1; 0 for the whole line.
    pub column: u64,
    /// Instruction set of the code; 0 on machines with a single instruction set.
    pub isa: u64,
    /// Discriminator between blocks at the same source position.
    pub discriminator: u64,
    /// Whether the row is a recommended breakpoint location.
    pub is_stmt: bool,
    /// Whether a basic block starts here.
    pub basic_block: bool,
    /// Whether the sequence ends here: the address is the first address after it, and other fields have no meaning.
    pub end_sequence: bool,
    /// Whether the row is a recommended breakpoint location for the function's entry.
    pub prologue_end: bool,
    /// Whether the row is a recommended breakpoint location for the exit of the function.
    pub epilogue_begin: bool,
    /// Call of inlined code, in cubins.
    pub inlined: Option<InlinedRow>,
    /// Offset of the function's name from [`LineProgram::inlined_names`] in bytes, in cubins (extended opcode 0x91).
    pub function: Option<u64>,
    /// Whether the row is in the prologue of the function, in cubins (extended opcode 0x92).
    pub is_prologue: bool,
}

/// The rows of a line program, in order.
///
/// # Errors
/// [`Truncated`](ErrorKind::Truncated) for an opcode that exceeds the program; [`Malformed`](ErrorKind::Malformed),
/// with the offset, for an extended opcode without a number, or with an invalid address size. The iterator ends after
/// an error. Unknown extended opcodes are skipped.
#[derive(Debug, Clone)]
pub struct LineRows<'p, 'o> {
    program: &'p LineProgram<'o>,
    from: Cursor<'o>,
    row: LineRow,
    /// Whether the row was returned.
    is_complete: bool,
    offset: u64,
}

const WHAT: &str = "an opcode of a line program";
/// NVIDIA's extended opcode for an inlined call: the row that contains the call or 0, and the function's name.
const INLINED: u8 = 0x90;
/// NVIDIA's extended opcode for the function's name.
const FUNCTION: u8 = 0x91;
/// NVIDIA's extended opcode for the prologue of a function.
const PROLOGUE: u8 = 0x92;

impl<'p, 'o> LineRows<'p, 'o> {
    pub(super) fn new(program: &'p LineProgram<'o>) -> Self {
        let offset = program.program.offset();
        Self { program, from: program.program, row: start(program), is_complete: false, offset }
    }

    /// Returns the rows from a sequence on, whose first opcode is at an offset.
    pub(super) fn at(program: &'p LineProgram<'o>, offset: u64) -> Result<Self> {
        let from = program.program.at(offset, "a sequence")?;
        Ok(Self { from, offset, ..Self::new(program) })
    }

    /// Returns the offset in `.debug_line` of the next opcode.
    pub(super) fn position(&self) -> u64 {
        self.from.offset()
    }

    /// Returns the offset in `.debug_line` at which the opcode for the last row begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Makes the next row, without a copy.
    ///
    /// # Errors
    /// The errors of the iterator.
    // Inlined, because a call for each row takes 0.4 % of the instructions in `stats`.
    #[inline]
    #[doc(hidden)]
    pub fn next_row(&mut self) -> Result<Option<&LineRow>> {
        self.reset();
        // Most opcodes are special.
        while let Some(&opcode) = self.from.rest().first() {
            self.offset = self.from.offset();
            self.from.skip(1);
            let emits = if opcode >= self.program.opcode_base {
                self.special(opcode);
                true
            } else {
                self.other(opcode).inspect_err(|_| self.from.finish())?
            };
            if emits {
                self.is_complete = true;
                return Ok(Some(&self.row));
            }
        }
        Ok(None)
    }

    /// Prepares the next row, if the last row was returned.
    #[inline]
    fn reset(&mut self) {
        if std::mem::take(&mut self.is_complete) {
            self.row.discriminator = 0;
            self.row.basic_block = false;
            self.row.prologue_end = false;
            self.row.epilogue_begin = false;
            if self.row.end_sequence {
                self.row = start(self.program);
            }
        }
    }

    /// Runs a standard or extended opcode, and returns whether it adds a row.
    fn other(&mut self, opcode: u8) -> Result<bool> {
        let row = &mut self.row;
        match opcode {
            0 => return self.extended(),
            1 => return Ok(true),
            2 => {
                let steps = self.from.uleb(WHAT)?;
                self.advance(steps);
            }
            3 => row.line = row.line.wrapping_add(self.from.sleb(WHAT)? as u64),
            4 => row.file = self.from.uleb(WHAT)?,
            5 => row.column = self.from.uleb(WHAT)?,
            6 => row.is_stmt = !row.is_stmt,
            7 => row.basic_block = true,
            8 => self.advance(self.steps(255).into()),
            9 => {
                let advance = self.from.u16(WHAT)?;
                row.address =
                    row.address.wrapping_add(advance.into()) & max_address(self.program.address_bytes);
                row.op_index = 0;
            }
            10 => row.prologue_end = true,
            11 => row.epilogue_begin = true,
            12 => row.isa = self.from.uleb(WHAT)?,
            _ => {
                let operands = self.program.standard_lengths.get(usize::from(opcode) - 1).copied();
                for _ in 0..operands.unwrap_or(0) {
                    self.from.uleb(WHAT)?;
                }
            }
        }
        Ok(false)
    }

    fn extended(&mut self) -> Result<bool> {
        let len = self.from.uleb(WHAT)?;
        let mut from = self.from.limit(len, WHAT)?;
        self.from.take(len, WHAT)?;
        if from.is_at_end() {
            let text = "the extended opcode is empty".into();
            return Err(self.from.error(ErrorKind::Malformed(text), self.offset));
        }
        match from.u8(WHAT)? {
            1 => {
                self.row.end_sequence = true;
                return Ok(true);
            }
            2 => {
                let bytes = u8::try_from(len - 1).ok().filter(|&bytes| is_address_size(bytes));
                let Some(bytes) = bytes else {
                    let text = format!("invalid address size, {}", Count(len - 1, "byte"));
                    return Err(self.from.error(ErrorKind::Malformed(text), self.offset));
                };
                self.row.address = from.uint(bytes, WHAT)?;
                self.row.op_index = 0;
            }
            3 if self.program.version < 5 => {
                let path = from.string(WHAT)?;
                // A file of the program itself, whose number comes after the header's.
                read_file(&mut from, path)?;
            }
            4 => self.row.discriminator = from.uleb(WHAT)?,
            INLINED if self.program.inlined_names.is_some() => {
                let call = from.uleb(WHAT)?;
                let name = from.uleb(WHAT)?;
                self.row.inlined = (call != 0).then_some(InlinedRow { call, name });
            }
            FUNCTION if self.program.inlined_names.is_some() => self.row.function = Some(from.uleb(WHAT)?),
            PROLOGUE if self.program.inlined_names.is_some() => self.row.is_prologue = from.uleb(WHAT)? != 0,
            _ => {}
        }
        Ok(false)
    }

    #[inline]
    fn special(&mut self, opcode: u8) {
        let line_steps = (opcode - self.program.opcode_base) % self.program.line_range;
        let line_advance = i64::from(self.program.line_base) + i64::from(line_steps);
        self.row.line = self.row.line.wrapping_add(line_advance as u64);
        self.advance(self.steps(opcode).into());
    }

    /// Returns the operation advance of a special opcode. `opcode_base` is at most 255.
    fn steps(&self, opcode: u8) -> u8 {
        (opcode - self.program.opcode_base) / self.program.line_range
    }

    #[inline]
    fn advance(&mut self, operations: u64) {
        let unit = u64::from(self.program.min_instruction_bytes);
        let most = self.program.max_operations.into();
        let row = &mut self.row;
        let instructions = match most {
            1 => operations,
            most => {
                let operations = row.op_index.wrapping_add(operations);
                row.op_index = operations % most;
                operations / most
            }
        };
        let advance = instructions.wrapping_mul(unit);
        row.address = row.address.wrapping_add(advance) & max_address(self.program.address_bytes);
    }
}

/// Returns the state at a sequence's start.
fn start(program: &LineProgram<'_>) -> LineRow {
    LineRow {
        address: 0,
        op_index: 0,
        file: 1,
        line: 1,
        column: 0,
        isa: 0,
        discriminator: 0,
        is_stmt: program.default_is_stmt,
        basic_block: false,
        end_sequence: false,
        prologue_end: false,
        epilogue_begin: false,
        inlined: None,
        function: None,
        is_prologue: false,
    }
}

impl Iterator for LineRows<'_, '_> {
    type Item = Result<LineRow>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(Option::<&LineRow>::copied).transpose()
    }
}
