//! `.debug_line`, versions 2 to 5: DWARF 5 section 6.2, DWARF 4 section 6.2.
//!
//! The header defines the meaning of the opcodes, so that a survey of all steps comes first:
//!
//! ```text
//! Survey: begin_sequence, row… ─► Shape ─► LineProgram: begin_sequence, row…, end_sequence ─► finish
//! ```
//!
//! Rows that a version cannot encode use the opcodes of later versions, as readers skip unknown opcodes by the lengths
//! that the format provides: a discriminator (DWARF 4) is an extended opcode, and ends of prologues and begins of
//! epilogues (DWARF 3) are standard opcodes, whose operand counts are in the header. MD5 sums and embedded source
//! cannot be encoded in the tables before DWARF 5.

mod header;
mod program;
mod shape;
#[cfg(test)]
pub(super) mod tests;

pub(crate) use header::Names;
pub(crate) use program::LineProgram;
pub(crate) use shape::Survey;

use super::format::Format;

/// A file of a line table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineFile<'t> {
    /// Name of the file, relative to the directory.
    pub(crate) name: &'t str,
    /// Index of the directory; 0 is the compilation directory.
    pub(crate) directory: u64,
    /// MD5 sum of the text. Either all files of a unit have a sum, or none.
    pub(crate) md5: Option<[u8; 16]>,
    /// Text of the file.
    pub(crate) source: Option<&'t str>,
}

/// Registers of a row, without the pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineState {
    /// Number of the file in the section: see [`file_number`].
    pub(crate) file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) discriminator: u32,
    pub(crate) is_stmt: bool,
    pub(crate) is_prologue_end: bool,
    pub(crate) is_epilogue_begin: bool,
}

impl LineState {
    /// The state machine at the start of a sequence: DWARF 5 section 6.2.2.
    const INITIAL: Self = Self {
        file: 1,
        line: 1,
        column: 0,
        discriminator: 0,
        is_stmt: true,
        is_prologue_end: false,
        is_epilogue_begin: false,
    };
}

/// Number, in rows and attributes, of the file with this index in the unit: files count from 0 in DWARF 5, from 1
/// before.
pub(crate) fn file_number(format: Format, index: u64) -> u64 {
    if format.version >= 5 { index } else { index + 1 }
}
