//! Which source line an instruction is of.

use super::ids::FileId;

/// A row of the line table: the instructions from `pc` to the next row's are of this line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Bytes from the start of the function.
    pub pc: u64,
    /// The source file.
    pub file: FileId,
    /// The line, counted from 1; 0 for code that is of no line.
    pub line: u32,
    /// The column, counted from 1; 0 for the whole line.
    pub column: u32,
    /// Which of several blocks of the same line.
    pub discriminator: u32,
    /// Whether this is a good place for a breakpoint.
    pub is_stmt: bool,
    /// Whether a breakpoint at the function's entry goes here.
    pub is_prologue_end: bool,
    /// Whether a breakpoint at the function's exit goes here.
    pub is_epilogue_begin: bool,
}

impl Row {
    /// A row that begins a statement, in no particular column.
    pub fn new(pc: u64, file: FileId, line: u32) -> Self {
        Self {
            pc,
            file,
            line,
            column: 0,
            discriminator: 0,
            is_stmt: true,
            is_prologue_end: false,
            is_epilogue_begin: false,
        }
    }

    /// The same in a column, counted from 1.
    #[must_use]
    pub fn column(mut self, column: u32) -> Self {
        self.column = column;
        self
    }

    /// The same for one of several blocks of the line.
    #[must_use]
    pub fn discriminator(mut self, discriminator: u32) -> Self {
        self.discriminator = discriminator;
        self
    }

    /// The same, not the beginning of a statement.
    #[must_use]
    pub fn not_stmt(mut self) -> Self {
        self.is_stmt = false;
        self
    }

    /// The same, where a breakpoint at the function's entry goes.
    #[must_use]
    pub fn prologue_end(mut self) -> Self {
        self.is_prologue_end = true;
        self
    }

    /// The same, where a breakpoint at the function's exit goes.
    #[must_use]
    pub fn epilogue_begin(mut self) -> Self {
        self.is_epilogue_begin = true;
        self
    }
}
