//! How far references between entities reach.

/// The entities to which a unit's entities can refer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the unit.
    #[default]
    Unit,
    /// Also types, functions, variables and blocks of other units, which readers of all versions find by their offset in the
    /// section: `DW_FORM_ref_addr`, DWARF 5 section 7.5.5. Units in files of their own, and type units, cannot be referred
    /// to in this way.
    Module,
}
