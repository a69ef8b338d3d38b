//! Preprocessor macros, and the files that define them. DWARF 5 section 6.3.

use super::ids::{FileId, StringId};

/// A preprocessor action. In the list of actions, predefined macros and command line macros come before the first file,
/// with line 0.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Macro {
    /// Macro definition.
    Define {
        /// Line in the file, counted from 1; 0 before the first file.
        line: u32,
        /// Name, parameters in parentheses if any, a space, and the definition.
        text: StringId,
    },
    /// Macro removal (`#undef`).
    Undefine {
        /// Line in the file, counted from 1; 0 before the first file.
        line: u32,
        /// Macro name.
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
