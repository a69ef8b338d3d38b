//! Treatment of debug sections that an object has already.

/// How debug sections in the existing object are treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Existing {
    /// Existing debug sections stay, and an added section of the same name is an error.
    #[default]
    Refuse,
    /// All debug sections are removed before others are added: sections `.debug_*`, `.zdebug_*` and `.gdb_index` that
    /// are not loaded, their relocations, their symbols, and groups without other members. `.debug_gdb_scripts` stays,
    /// because it refers to no debug information.
    ///
    /// `.debug_frame` is removed even without a new one; `.eh_frame` is loaded and stays. Sections and symbols after a
    /// removed one get smaller indices. A remaining reference to a removed section or symbol is an error.
    ///
    /// In a cubin, sections `.nv_debug_*` are replaced, too. A replaced section without a new one stays, empty, because
    /// indices must not change, and `.debug_frame`, which ptxas writes without `-g`, stays as it is.
    Replace,
    /// In a cubin, line tables stay, with the PTX text and the names to which they refer; all other debug sections are
    /// replaced. Added entries refer to the existing line table, which must have one program, and the files of the added
    /// table under the same numbers; the added table is dropped. An error for other objects.
    KeepLines,
}
