//! Checks that each pc range in a function is in one part of the function's code.

use core::ops::Range;

use crate::error::{At, Error, Result};
use crate::model::{Function, FunctionId, Module};

/// Checks the pcs in all functions whose code has several parts. Frame rules can go past the end of a part.
pub(super) fn check(module: &Module) -> Result<()> {
    if module.functions.values().any(Function::is_in_parts) {
        check_variables(module)?;
        check_scopes(module)?;
        check_instructions(module)?;
        check_rows(module)?;
    }
    Ok(())
}

fn check_variables(module: &Module) -> Result<()> {
    for (id, variable) in &module.variables {
        for live in module.live(id) {
            let function = module.function_of(variable.scope);
            in_part(module, function, &live.pcs(), |pcs| module.at_variable(id, Some(pcs)))?;
        }
    }
    Ok(())
}

fn check_scopes(module: &Module) -> Result<()> {
    for (id, scope) in &module.scopes {
        let entry = scope.entry_pc.map(|pc| pc..pc);
        for pcs in module.ranges(id).iter().cloned().chain(entry) {
            in_part(module, module.function_of(id), &pcs, |_| module.at_scope(id))?;
        }
    }
    Ok(())
}

/// Checks calls and labels.
fn check_instructions(module: &Module) -> Result<()> {
    let calls = module.calls.values().flat_map(|call| {
        let pcs = call.pc.into_iter().chain(call.return_pc);
        pcs.map(|pc| (call.scope, pc))
    });
    let labels = module.labels.values().filter_map(|label| Some((label.scope, label.pc?)));
    for (scope, pc) in calls.chain(labels) {
        in_part(module, module.function_of(scope), &(pc..pc), |_| module.at_scope(scope))?;
    }
    Ok(())
}

/// Checks rows, and that no region is in code with several parts: the pcs at which lanes wait are relative to a single
/// address.
fn check_rows(module: &Module) -> Result<()> {
    for (id, function) in module.functions.iter().filter(|(_, function)| function.is_in_parts()) {
        if module.describes_lanes(id) || !module.whole_waves(id).is_empty() {
            let what = "function with lane regions has code in several parts; expected one part";
            return Err(Error::bad_argument(what).or_at(module.at_scope(function.scope)));
        }
        for row in module.rows(id) {
            in_part(module, Some(id), &(row.pc..row.pc), |_| module.at_scope(function.scope))?;
        }
    }
    Ok(())
}

fn in_part(
    module: &Module,
    function: Option<FunctionId>,
    pcs: &Range<u64>,
    at: impl Fn(Range<u64>) -> At,
) -> Result<()> {
    let function = function.map(|function| &module.functions[function]);
    if function.is_none_or(|function| !function.is_in_parts() || function.has_part_with(pcs)) {
        return Ok(());
    }
    let Range { start, end } = *pcs;
    let what = if start == end {
        format!("pc {start:#x} is outside the parts of the code; expected a pc in a part")
    } else {
        format!("pcs {start:#x}..{end:#x} are in several parts of the code; expected pcs of one part")
    };
    Err(Error::bad_argument(what).or_at(at(pcs.clone())))
}
