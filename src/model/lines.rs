//! The line table: instructions' source lines.

use super::ids::FileId;

/// A line table row: the instructions from `pc` up to the next row's pc belong to this line. DWARF 5 section 6.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineTableRow {
    /// Bytes from the function start.
    pub pc: u64,
    /// The source file.
    pub file: FileId,
    /// The line, counted from 1; 0 for code without a source line.
    pub line: u32,
    /// The column, counted from 1; 0 for the whole line.
    pub column: u32,
    /// Number of the block among several on the same line.
    pub discriminator: u32,
    /// Whether this is a recommended breakpoint location.
    pub is_stmt: bool,
    /// Whether this is the location for a breakpoint at the function's entry: the prologue's end.
    pub is_prologue_end: bool,
    /// Whether this is the location for a breakpoint at the function's exit: the epilogue's beginning.
    pub is_epilogue_begin: bool,
}

impl LineTableRow {
    /// A row that begins a statement, without a column.
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

    /// Sets the column, counted from 1.
    #[must_use]
    pub fn column(mut self, column: u32) -> Self {
        self.column = column;
        self
    }

    /// Sets the number of the block among several on the same line.
    #[must_use]
    pub fn discriminator(mut self, discriminator: u32) -> Self {
        self.discriminator = discriminator;
        self
    }

    /// Marks the row as not beginning a statement.
    #[must_use]
    pub fn not_stmt(mut self) -> Self {
        self.is_stmt = false;
        self
    }

    /// Marks the row as the prologue's end.
    #[must_use]
    pub fn prologue_end(mut self) -> Self {
        self.is_prologue_end = true;
        self
    }

    /// Marks the row as the epilogue's beginning.
    #[must_use]
    pub fn epilogue_begin(mut self) -> Self {
        self.is_epilogue_begin = true;
        self
    }
}
