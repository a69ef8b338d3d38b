//! Entries that a file's expressions refer to.

use std::collections::BTreeMap;

use gimli::constants as dw;

use crate::op::{Decoder, Op};
use crate::read::{Dwarf, Entry, ResolvedValue, Unit};

pub(super) fn is_procedure(entry: Entry<'_, '_>) -> bool {
    entry.tag() == dw::DW_TAG_dwarf_procedure
}

/// Offsets of the entries that expressions refer to, each with whether an entry other than a procedure does so.
pub(super) type Referred = BTreeMap<u64, bool>;

pub(super) fn referred(dwarf: &Dwarf<'_>) -> Referred {
    let mut offsets = Referred::new();
    for entry in dwarf.entries() {
        for offset in refers_to(entry) {
            *offsets.entry(offset).or_default() |= !is_procedure(entry);
        }
    }
    offsets
}

/// Returns offsets: the entries that an entry's expressions refer to.
pub(super) fn refers_to(entry: Entry<'_, '_>) -> Vec<u64> {
    let mut offsets = Vec::new();
    for attribute in entry.attributes() {
        match attribute.value {
            ResolvedValue::Expr(expr) => refers(expr, entry.unit(), &mut offsets),
            ResolvedValue::LocList(_) => {
                // The comparison of the attribute reports a list that cannot be read.
                let list = entry.locations(attribute.name).ok().flatten().unwrap_or_default();
                list.iter().for_each(|range| refers(range.expr, entry.unit(), &mut offsets));
            }
            _ => {}
        }
    }
    offsets
}

fn refers<'o>(expr: &'o [u8], unit: &Unit<'o>, offsets: &mut Vec<u64>) {
    // A work list, as expressions can be nested.
    let mut exprs = vec![expr];
    while let Some(expr) = exprs.pop() {
        for decoded in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
            let in_unit = |offset: u64| Some(unit.offset.wrapping_add(offset));
            let entry = match decoded.op {
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
            offsets.extend(entry);
        }
    }
}
