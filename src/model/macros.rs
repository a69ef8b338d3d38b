//! Macros of a preprocessor, and the files that define them.

use super::ids::{FileId, StringId};

/// What a preprocessor did, in its order. Before the first file are the macros that it knew from the start
/// and those of the command line, of line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Macro {
    /// A macro was defined.
    Define {
        /// The line of the file, counted from 1; 0 before the first file.
        line: u32,
        /// Its name, its parameters in parentheses if it has some, a space, and its definition.
        text: StringId,
    },
    /// A macro was forgotten.
    Undefine {
        /// The line of the file, counted from 1; 0 before the first file.
        line: u32,
        /// Its name.
        name: StringId,
    },
    /// A file began.
    File {
        /// The line that includes it, of the file around it, counted from 1; 0 for the primary file.
        line: u32,
        /// The file.
        file: FileId,
    },
    /// The file that began last, of those that have not ended, ended.
    EndFile,
}
