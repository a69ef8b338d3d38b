//! Procedure entries, which expressions call: DWARF 5 section 2.5.1.5.

use super::entry::EntryWriter;
use crate::error::{Construct, ErrorKind, Result};
use crate::model::{ProcedureId, Stack, VariableId};
use crate::omission::{Property, Subject};

/// Writes one module procedure.
pub(super) fn write(out: &mut EntryWriter<'_>, id: ProcedureId) -> Result<()> {
    // A procedure belongs to no function. A caller with its own stack frame inlines it where the frame matters.
    let stack = Stack::kernel(&out.module.target);
    let loc = out.module.procedures[id].loc;
    let has_expression = match out.expressions.encode(stack, |lowering, sink| lowering.procedure(loc, sink)) {
        Ok(()) => true,
        Err(error) => match error.kind() {
            // Callers contain the location instead of a call, so nothing is omitted, except for a reference to
            // another unit.
            ErrorKind::Inexpressible { what, .. }
                if *what != Construct::OtherUnit && out.units.inlined_procedures.contains(id) =>
            {
                false
            }
            _ => {
                out.expressions.omit(Subject::Procedure(id), Property::Location, None, error)?;
                false
            }
        },
    };
    out.info.begin_entry(
        gimli::DW_TAG_dwarf_procedure,
        gimli::DW_CHILDREN_no,
        Some(out.expressions.numbers.procedure(id)),
    );
    if has_expression {
        out.expression_attribute(gimli::DW_AT_location);
    } else {
        out.expressions.numbers.without_expression.insert(id);
    }
    out.info.end_entry();
    Ok(())
}

/// Writes procedures for subexpressions that recur in the unit's locations, if the consumer can call them.
/// Returns whether there are any.
pub(super) fn write_shared(out: &mut EntryWriter<'_>) -> Result<bool> {
    // DWARF 2 has no calls.
    let Some(from_bytes) = out.consumer.expressions.shared_from_bytes.filter(|_| out.consumer.version > 2)
    else {
        return Ok(false);
    };
    if !out.expressions.lowering.may_repeat() {
        return Ok(false);
    }
    let module = out.module;
    for variable in out.units.variables.ids(out.unit()) {
        let variable = VariableId::from_u32(variable);
        let live = module.live(variable).iter().map(|live| live.loc);
        for loc in live.chain(module.variables[variable].always) {
            out.expressions.lowering.count(loc);
        }
    }
    let mut chosen = out.expressions.lowering.repeated();
    let stack = Stack::kernel(&module.target);
    // The largest come first, because a chosen part reduces the use counts for the parts within it.
    chosen.retain(|part| {
        let mut is_chosen = false;
        let chosen = out.expressions.encode(stack, |lowering, sink| {
            is_chosen = lowering.choose(part, from_bytes, sink);
            Ok(())
        });
        chosen.is_ok() && is_chosen
    });
    // The smallest are written first, so a part follows the procedures that it calls.
    for part in chosen.iter().rev() {
        out.expressions.encode(stack, |lowering, sink| lowering.part(part, sink))?;
        let entry = write_expression(out);
        out.expressions.lowering.settle(part, entry);
    }
    Ok(!chosen.is_empty())
}

/// Writes a procedure whose expression is the one encoded last. Returns its offset in the unit.
pub(super) fn write_expression(out: &mut EntryWriter<'_>) -> u64 {
    out.info.begin_entry(gimli::DW_TAG_dwarf_procedure, gimli::DW_CHILDREN_no, None);
    out.expression_attribute(gimli::DW_AT_location);
    out.info.end_entry();
    out.info.entry_offset()
}
