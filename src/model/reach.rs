//! How far references between entities reach.

use super::Module;
use super::ids::UnitId;

/// The entities to which a unit's entities can refer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Those of the unit.
    #[default]
    Unit,
    /// Also types of other units, and the functions and variables that types declare, which readers of all versions find
    /// by their offset in the section: `DW_FORM_ref_addr`, DWARF 5 section 7.5.5. Units in files of their own, and type
    /// units, cannot be referred to in this way.
    Module,
}

impl Module {
    /// Whether entities of a unit can refer to a type of another unit, or to what such a type declares.
    #[inline]
    pub(crate) fn reaches(&self, from: UnitId, to: UnitId) -> bool {
        from == to || self.reach == Reach::Module
    }
}
