//! Entities of an object that nobody described, beside the entries that are met on the way: [`Kind::Extra`].
//!
//! Only what a reader finds is more: an entry of a unit, what a line program lists, a frame of some code. A string,
//! list, address, abbreviation or line program to which nothing refers is found by no reader and means nothing.

use gimli::{DwTag, constants as dw};

use super::compare::Compare;
use crate::error::At;
use crate::read::{Entry, Unit};

/// Whether nothing that was described is inside of entries of this kind: of others, their comparison looks there.
fn is_leaf(tag: DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_label
            | dw::DW_TAG_imported_declaration
            | dw::DW_TAG_imported_module
            | dw::DW_TAG_enumerator
            | dw::DW_TAG_subrange_type
            | dw::DW_TAG_inheritance
            | dw::DW_TAG_dwarf_procedure
            | dw::DW_TAG_unspecified_parameters
    )
}

impl<'a, 'o> Compare<'a, 'o> {
    /// Whether the module has the unit. What tables have of another one is its producer's affair.
    pub(super) fn is_described(&self, unit: &'a Unit<'o>) -> bool {
        match unit.type_offset {
            Some(ty) => self.type_entries.contains(&ty),
            None => self.in_tables(unit).is_some_and(|unit| self.unit_ids.contains_key(&unit.offset)),
        }
    }

    /// Whether a table is of a unit that the module does not have: known by its offset in the tables.
    pub(super) fn is_of_others(&self, offset: u64) -> bool {
        let unit = self.with_tables().unit_at(offset).filter(|unit| unit.offset == offset);
        unit.is_some_and(|unit| match unit.type_offset {
            Some(ty) => !self.type_entries.contains(&ty),
            None => !self.unit_ids.contains_key(&offset),
        })
    }

    /// Looks for entries in entries that have nothing in them.
    pub(super) fn inside_leaves(&mut self, root: Entry<'a, 'o>, at: &At) {
        for entry in root.descendants() {
            if entry.parent().is_some_and(|parent| is_leaf(parent.tag())) {
                self.unexpected(entry, at.clone());
            }
        }
    }
}
