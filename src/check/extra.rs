//! Entities of an object that nobody described, beside the entries that are met on the way: [`Kind::Extra`].
//!
//! Only what a reader finds is more: an entry of a unit, what a line program lists, a frame of some code. A string,
//! list, address, abbreviation or line program to which nothing refers is found by no reader and means nothing.

use std::collections::BTreeSet;

use gimli::{DwTag, constants as dw};

use super::attributes::only;
use super::compare::Compare;
use super::report::Kind;
use crate::error::At;
use crate::model::UnitId;
use crate::op::{Decoder, Op};
use crate::read::{Dwarf, Entry, Unit, Value};

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
    /// Counts the procedures of a unit. What one says is compared where it is called. Expressions that are shared, and
    /// those of lanes, are procedures that something calls; where there are such, a procedure that nobody described is
    /// known by it only if more than the described ones are not called.
    pub(super) fn procedures(&mut self, unit: UnitId, root: Entry<'a, 'o>, at: &At) {
        let expected = self.index.procedures[unit];
        let has_others = self.consumer.shared_from_bytes.is_some() || self.module.regions().next().is_some();
        let (mut count, mut uncalled) = (0, 0);
        for found in root.children().filter(|child| child.tag() == dw::DW_TAG_dwarf_procedure) {
            if let Err((expected, found)) = only(found, |name| name == dw::DW_AT_location) {
                self.find(Kind::Attribute, at.clone(), expected, found);
            }
            count += 1;
            uncalled += usize::from(!self.referred.contains(&found.offset()));
        }
        // Where a location was left out, what it would have called is there without it.
        let count_of_module = expected + if has_others { self.report.left_out } else { 0 };
        let found = if has_others { uncalled } else { count };
        if found > count_of_module {
            let found = format!("{} more", found - count_of_module);
            self.find(Kind::Extra, at.clone(), format!("{expected} procedures"), found);
        }
        // A shared expression is nothing that was described: how often it is written is the writer's affair.
        self.report.entries += expected as u64;
        self.same(at, "procedures", &expected, &count.min(expected));
    }

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

/// The entries to which expressions refer, by their offsets.
pub(super) fn referred(dwarf: &Dwarf<'_>) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    for entry in dwarf.entries() {
        for attribute in entry.attributes() {
            match attribute.value {
                Value::Expr(expr) => refers(expr, entry.unit(), &mut all),
                Value::LocList(_) => {
                    // A list that cannot be read is found where the attribute is compared.
                    let list = entry.locations(attribute.name).ok().flatten().unwrap_or_default();
                    list.iter().for_each(|one| refers(one.expr, entry.unit(), &mut all));
                }
                _ => {}
            }
        }
    }
    all
}

fn refers<'o>(expr: &'o [u8], unit: &Unit<'o>, all: &mut BTreeSet<u64>) {
    // A list of its own, for expressions can be in one another.
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        for one in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
            let in_unit = |offset: u64| Some(unit.offset.wrapping_add(offset));
            let entry = match one.op {
                Op::Call2 { entry } | Op::Call4 { entry } | Op::GnuParameterRef { entry } => in_unit(entry),
                Op::CallRef { entry }
                | Op::ImplicitPointer { entry, .. }
                | Op::AspaceImplicitPointer { entry, .. }
                | Op::GnuVariableValue { entry } => Some(entry),
                Op::ConstType { ty, .. }
                | Op::RegvalType { ty, .. }
                | Op::DerefType { ty, .. }
                | Op::XderefType { ty, .. }
                | Op::Convert { ty }
                | Op::Reinterpret { ty } => in_unit(ty),
                Op::EntryValue { expr } => {
                    exprs.push(expr);
                    None
                }
                _ => None,
            };
            all.extend(entry);
        }
    }
}
