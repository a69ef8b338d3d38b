//! Line table rows as assembler directives: `.file` and `.loc`.

use super::text::digits;

/// A module's line table as directives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lines {
    /// File paths, with numbers that count from 1.
    pub files: Vec<String>,
    /// Inlined calls to which rows refer.
    pub calls: Vec<InlinedCall>,
    /// Functions with rows.
    pub functions: Vec<FunctionLines>,
}

/// A function's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionLines {
    /// Function symbol.
    pub symbol: String,
    /// Rows with ascending pcs.
    pub rows: Vec<PtxLineRow>,
}

impl FunctionLines {
    /// Length of the rows outside inlined calls as directives, or a little more.
    pub(super) fn length(&self) -> usize {
        let number = |number: u32| digits(number.into()) + 1;
        let row =
            |row: &PtxLineRow| number(row.place.file) + number(row.place.line) + number(row.place.column);
        self.rows.iter().map(|line| "\t.loc\t".len() + row(line)).sum()
    }
}

/// A row: the instructions from a pc on belong to a location in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PtxLineRow {
    /// Pc, counted from the function's start: in PTX an instruction's number.
    pub pc: u64,
    /// Source location.
    pub place: SourcePlace,
    /// Index of the instruction's innermost inlined call.
    pub inlined: Option<usize>,
}

/// Source location: file, line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SourcePlace {
    /// File number, counted from 1.
    pub file: u32,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1; 0 for none.
    pub column: u32,
}

/// An inlined call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InlinedCall {
    /// The called function's linkage name, or its name if it has no linkage name.
    pub function: String,
    /// Source location of the call.
    pub at: SourcePlace,
    /// Index of the inlined call around this one.
    pub within: Option<usize>,
}
