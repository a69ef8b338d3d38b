//! Lookup tables.

/// Tables for lookups by name or by address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tables {
    /// `.debug_names`, of DWARF 5.
    pub names: bool,
    /// `.debug_pubnames` and `.debug_pubtypes`, which DWARF 5 replaced by `.debug_names`; in any version.
    pub pubs: bool,
    /// `.debug_aranges`.
    pub aranges: bool,
}
