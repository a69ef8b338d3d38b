//! Rows of line tables as directives of an assembler: `.file` and `.loc`.

use super::text::digits;

/// Line table of a module as directives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// Paths of the files, with numbers that count from 1.
    pub files: Vec<String>,
    /// Inlined calls to which rows refer.
    pub calls: Vec<InlinedCall>,
    /// Functions with rows.
    pub functions: Vec<FunctionLines>,
}

/// Rows of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionLines {
    /// Function symbol.
    pub symbol: String,
    /// Rows with ascending pcs.
    pub rows: Vec<LineRow>,
}

impl FunctionLines {
    /// Length of the rows outside of inlined calls as directives, or a little more.
    pub(super) fn length(&self) -> usize {
        let number = |number: u32| digits(number.into()) + 1;
        let row = |row: &LineRow| number(row.place.file) + number(row.place.line) + number(row.place.column);
        self.rows.iter().map(|line| "\t.loc\t".len() + row(line)).sum()
    }
}

/// A row: the instructions from a pc on belong to a location in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRow {
    /// Pc, counted from the start of the function: in PTX the number of an instruction.
    pub pc: u64,
    /// Place in the source.
    pub place: SourcePlace,
    /// Index of the innermost inlined call of the instruction.
    pub inlined: Option<usize>,
}

/// Place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourcePlace {
    /// Number of the file, counted from 1.
    pub file: u32,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 for none.
    pub column: u32,
}

/// An inlined call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCall {
    /// Linkage name of the called function, or its name without one.
    pub function: String,
    /// Place of the call.
    pub at: SourcePlace,
    /// Index of the inlined call around this one.
    pub within: Option<usize>,
}
