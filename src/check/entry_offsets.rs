//! Offsets in `.debug_info` by which entries and expressions refer to entries. A linker moves units: an offset without a
//! relocation is right by accident, while its unit is the first.

use gimli::{AttributeSpecification, constants as dw};

use super::report::{CheckReport, FindingKind};
use crate::error::At;
use crate::op::{Decoder, Encoding, Op};
use crate::read::{ByAbbreviation, Dwarf, Entry, ResolvedValue, Unit, can_have_expression};

/// Checks that the linker relocates the offsets. `behind` is the object with `.debug_info` moved by `moved`, a number above
/// the section's size: an offset below it is not relocated.
pub(super) fn are_relocated(report: &mut CheckReport, behind: &Dwarf<'_>, moved: u64) {
    let mut shapes = ByAbbreviation::default();
    let mut offsets = Vec::new();
    for unit in behind.units() {
        for entry in behind.entries_of(unit) {
            let shape = shapes.of(entry, || {
                let refers = |spec: &AttributeSpecification| {
                    matches!(spec.form(), dw::DW_FORM_ref_addr | dw::DW_FORM_indirect)
                };
                let has_reference = entry.specs().iter().any(refers);
                (entry.shape_with(|spec| can_have_expression(spec.form())), has_reference)
            });
            let (expressions, has_reference) = &*shape;
            offsets.clear();
            if *has_reference {
                add_references(&mut offsets, entry);
            }
            entry.each_of(expressions, |attribute| {
                add_offsets(&mut offsets, behind, unit, attribute.value());
            });
            if offsets.iter().any(|&offset| offset < moved) {
                let at = At::new(|context| {
                    context.section = Some(".debug_info".into());
                    context.offset = Some(entry.offset());
                });
                let expected = "a reference to an entry, with a relocation";
                report.find(FindingKind::Unreadable, at, expected, "an offset without a relocation");
            }
        }
    }
}

/// Whether an expression can have an operation that refers to an entry: one of DWARF 5, or of a vendor or later version.
fn can_refer(expr: &[u8]) -> bool {
    expr.iter()
        .any(|&byte| byte == dw::DW_OP_call_ref.0 || byte == dw::DW_OP_implicit_pointer.0 || byte > LAST)
}

/// The last operation of DWARF 5.
const LAST: u8 = dw::DW_OP_reinterpret.0;

/// Adds the offsets by which attributes refer to entries.
fn add_references(offsets: &mut Vec<u64>, entry: Entry<'_, '_>) {
    for attribute in entry.attributes().filter(|attribute| attribute.form == dw::DW_FORM_ref_addr) {
        if let ResolvedValue::Reference(offset) = attribute.value {
            offsets.push(offset);
        }
    }
}

/// Adds the offsets in the expressions of an attribute.
fn add_offsets(offsets: &mut Vec<u64>, dwarf: &Dwarf<'_>, unit: &Unit<'_>, value: Option<ResolvedValue<'_>>) {
    match value {
        Some(ResolvedValue::Expr(bytes)) => add_operands(offsets, bytes, unit.encoding),
        Some(ResolvedValue::LocList(list)) => {
            // Unreadable entries are compared elsewhere.
            for entry in dwarf.locations(unit, list).into_iter().flatten().flatten() {
                add_operands(offsets, entry.expr, unit.encoding);
            }
        }
        _ => {}
    }
}

/// Adds the offsets of entries in an expression, and in the expressions in it.
fn add_operands(offsets: &mut Vec<u64>, bytes: &[u8], encoding: Encoding) {
    if !can_refer(bytes) {
        return;
    }
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
