//! Entries that locations refer to, and errors of references and of nodes.

use crate::emit::info::UnitEntry;
use crate::error::Error;
use crate::model::{Entity, ProcedureId};

/// Entries that locations refer to.
pub(in crate::lower) trait Entries {
    /// The entry of a variable, type or procedure.
    fn entity(&self, entity: Entity) -> Option<UnitEntry>;
    /// Returns whether a section offset can refer to the entry. From a split unit, only its own entries qualify.
    fn is_in_reach(&self, entry: UnitEntry) -> bool;
    /// Offset in the unit of an unsigned base type of `bits` bits.
    fn unsigned(&self, bits: u32) -> Option<u64>;
    /// Returns whether the entry of a procedure has an expression.
    fn has_expression(&self, procedure: ProcedureId) -> bool;
}

/// Entries of an expression without a module: no entity has one.
pub(in crate::lower) struct NoEntries;

impl Entries for NoEntries {
    fn entity(&self, _: Entity) -> Option<UnitEntry> {
        None
    }

    fn is_in_reach(&self, _: UnitEntry) -> bool {
        true
    }

    fn unsigned(&self, _: u32) -> Option<u64> {
        None
    }

    fn has_expression(&self, _: ProcedureId) -> bool {
        true
    }
}

#[cold]
pub(super) fn malformed() -> Error {
    Error::bad_argument("the nodes form no location, or its offsets add up to more than 63 bits")
}

#[cold]
pub(super) fn nameless() -> Error {
    Error::bad_argument(
        "without a module, a location references no symbol, variable or procedure: this one does",
    )
}
