//! Files and rows in a line table.

use crate::emit::format::Format;

/// A file in a line table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineFile<'t> {
    /// File name, relative to the directory.
    pub(crate) name: &'t str,
    /// Directory index; 0 is the compilation directory.
    pub(crate) directory: u64,
    /// MD5 sum of the text. Either all files in a unit have a sum, or none.
    pub(crate) md5: Option<[u8; 16]>,
    /// File text.
    pub(crate) source: Option<&'t str>,
}

/// Row registers, without the pc.
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

/// NVIDIA's registers of a row in an inlined call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InlinedRow {
    /// Number of the row that contains the call, from 1 on in the sequence.
    pub(crate) call: u64,
    /// Offset of the inlined function's name, from the names to which the header refers.
    pub(crate) function: u64,
}

impl LineState {
    /// The state machine at the start of a sequence: DWARF 5 section 6.2.2.
    pub(super) const INITIAL: Self = Self {
        file: 1,
        line: 1,
        column: 0,
        discriminator: 0,
        is_stmt: true,
        is_prologue_end: false,
        is_epilogue_begin: false,
    };
}

/// Returns the number that the file with this index has in rows and attributes: files count from 0 in DWARF 5, and from
/// 1 before.
pub(crate) fn file_number(format: Format, index: u64) -> u64 {
    if format.version >= 5 { index } else { index + 1 }
}
