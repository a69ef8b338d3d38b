//! Preprocessor macros, and the files that define them. DWARF 5 section 6.3.

use super::ids::{FileId, StringId};

/// An action of the preprocessor. In the list of actions, the predefined macros and those of the command line come
/// before the first file, with line 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Macro {
    /// Definition of a macro.
    Define {
        /// The line of the file, counted from 1; 0 before the first file.
        line: u32,
        /// Name, parameters in parentheses if any, a space, and the definition.
        text: StringId,
    },
    /// Removal of a macro (`#undef`).
    Undefine {
        /// The line of the file, counted from 1; 0 before the first file.
        line: u32,
        /// Name of the macro.
        name: StringId,
    },
    /// Start of a file.
    File {
        /// Line of the `#include` in the including file, counted from 1; 0 for the primary file.
        line: u32,
        /// The file.
        file: FileId,
    },
    /// End of the innermost open file.
    EndFile,
}
