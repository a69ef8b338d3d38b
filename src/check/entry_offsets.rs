//! Offsets in `.debug_info` by which entries and expressions refer to entries. A linker moves units: an offset without a
//! relocation is right by accident, while its unit is the first.

use gimli::constants as dw;

use super::report::{CheckReport, FindingKind};
use crate::error::At;
use crate::op::{Decoder, Encoding, Op};
use crate::read::{Dwarf, Entry, ResolvedValue, Unit};

/// Checks that the linker relocates the offsets. `behind` is the object with `.debug_info` moved by `moved`, a number above
/// the section's size: an offset below it is not relocated.
pub(super) fn are_relocated(report: &mut CheckReport, behind: &Dwarf<'_>, moved: u64) {
    for unit in behind.units() {
        for entry in behind.entries_of(unit) {
            if offsets(behind, unit, entry).any(|offset| offset < moved) {
                let at = At::new(|at| {
                    at.section = Some(".debug_info".into());
                    at.offset = Some(entry.offset());
                });
                let expected = "a reference to an entry, with a relocation";
                report.find(FindingKind::Unreadable, at, expected, "an offset without a relocation");
            }
        }
    }
}

/// The offsets in an entry's attributes.
fn offsets<'r>(
    dwarf: &'r Dwarf<'_>,
    unit: &'r Unit<'_>,
    entry: Entry<'r, '_>,
) -> impl Iterator<Item = u64> + use<'r> {
    let mut offsets = Vec::new();
    for attribute in entry.attributes() {
        match attribute.value {
            ResolvedValue::Reference(offset) if attribute.form == dw::DW_FORM_ref_addr => {
                offsets.push(offset)
            }
            ResolvedValue::Expr(bytes) => add_operands(&mut offsets, bytes, unit.encoding),
            ResolvedValue::LocList(list) => {
                // Unreadable entries are compared elsewhere.
                for entry in dwarf.locations(unit, list).into_iter().flatten().flatten() {
                    add_operands(&mut offsets, entry.expr, unit.encoding);
                }
            }
            _ => {}
        }
    }
    offsets.into_iter()
}

/// Adds the offsets of entries in an expression, and in the expressions in it.
fn add_operands(offsets: &mut Vec<u64>, bytes: &[u8], encoding: Encoding) {
    let mut left = vec![bytes];
    while let Some(bytes) = left.pop() {
        for decoded in Decoder::new(bytes, encoding).flatten() {
            match decoded.op {
                Op::CallRef { entry }
                | Op::ImplicitPointer { entry, .. }
                | Op::AspaceImplicitPointer { entry, .. }
                | Op::GnuVariableValue { entry } => offsets.push(entry),
                Op::EntryValue { expr } => left.push(expr),
                _ => {}
            }
        }
    }
}
