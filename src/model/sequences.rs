//! Sequences of rows: DWARF 5 section 6.2.5.

use super::FunctionId;

/// Parts of functions of a unit whose rows are one sequence, because they follow one another in a section: gdb skips a row
/// with the line of the row before it in the sequence. Other parts have a sequence each.
#[derive(Debug, Clone)]
pub(crate) struct RowSequence {
    /// In the order of their addresses. All have rows.
    pub(crate) parts: Vec<SequencePart>,
}

/// A part of a function's code in a sequence.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SequencePart {
    pub(crate) function: FunctionId,
    /// The function's pc at the start of the part.
    pub(crate) pc: u64,
    /// Bytes from the start of the first part.
    pub(crate) offset: u64,
}
