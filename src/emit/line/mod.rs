//! `.debug_line`, versions 2 to 5: DWARF 5 section 6.2, DWARF 4 section 6.2.
//!
//! What the opcodes of a program mean stands in its header, so that the steps are counted first:
//!
//! ```text
//! Survey: begin_sequence, row… ─► Shape ─► LineProgram: begin_sequence, row…, end_sequence ─► finish
//! ```
//!
//! What a version has no opcode for is written as a later one has it, for readers skip what they do not know
//! by the lengths that the format gives: a discriminator (DWARF 4) is an extended opcode, and the ends of
//! prologues and epilogues (DWARF 3) are standard ones whose lengths the header tells. MD5 sums and embedded
//! source have no place in the tables of before DWARF 5.

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
    /// Its name, relative to the directory.
    pub(crate) name: &'t str,
    /// The index of its directory; 0 is the compilation's.
    pub(crate) directory: u64,
    /// The MD5 sum of its text. All files of a unit have one, or none has.
    pub(crate) md5: Option<[u8; 16]>,
    /// Its text.
    pub(crate) source: Option<&'t str>,
}

/// What a row says, besides its pc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineState {
    /// The file's number in the section: see [`file_number`].
    pub(crate) file: u64,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) discriminator: u32,
    pub(crate) is_stmt: bool,
    pub(crate) is_prologue_end: bool,
    pub(crate) is_epilogue_begin: bool,
}

impl LineState {
    /// The machine at the start of a sequence: DWARF 5 section 6.2.2.
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

/// The number, in rows and attributes, of the file at an index of the unit's files: from DWARF 5 they count
/// from 0, before from 1.
pub(crate) fn file_number(format: Format, index: u64) -> u64 {
    if format.version >= 5 { index } else { index + 1 }
}
