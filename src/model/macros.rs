//! Preprocessor macros, and the files that define them. DWARF 5 section 6.3.

use super::ids::{FileId, StringId};

/// A preprocessor action. Predefined macros and command line macros have line 0: before the first file, or in it.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Macro {
    /// Macro definition.
    Define {
        /// Line in the file, counted from 1; 0 for a predefined macro.
        line: u32,
        /// Name, parameters in parentheses if any, a space, and the definition.
        text: StringId,
    },
    /// Macro removal (`#undef`).
    Undefine {
        /// Line in the file, counted from 1; 0 for a predefined macro.
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
