//! Lookup tables.

/// Tables for lookups by name or by address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tables {
    /// `.debug_names`, for DWARF 5.
    pub names: bool,
    /// `.debug_pubnames` and `.debug_pubtypes`, for any version. DWARF 5 replaced them by `.debug_names`.
    pub pubs: bool,
    /// `.debug_aranges`.
    pub aranges: bool,
}
