//! Fixes: what lint proves wrong is written as it was meant, as far as the code proves it, and otherwise not at all.
//!
//! 1. `meant` turns lint's meaning of a location into a location of the model.
//! 2. `code`, `lanes` and `waits` read the function's instructions: the order in which a wave and its lanes run them, and
//!    the loads that are not waited for. `claims` cuts a location's pcs where an instruction contradicts it.
//! 3. `functions` has the code of each function. `variables` replaces the locations of variables; `frames` adds call frames,
//!    which follow from the states before instructions that `states` finds. `change` lists what is different.

mod change;
mod claims;
mod code;
mod flow;
mod frames;
mod functions;
mod lanes;
mod meant;
mod states;
mod variables;
mod waits;

pub use change::{FixChange, Unfixed};
pub(super) use functions::Source;
pub use meant::meant_locations;

use crate::build::resumed;
use crate::error::Result;
use crate::lint::{Level, LintFinding, LintOptions, lint};
use crate::model::{Module, Owner};
use functions::Functions;

/// Changes a module that was imported from an object as lint's findings about the object prove it.
pub(super) fn fix(
    module: &mut Module,
    source: Source<'_, '_>,
    findings: &[LintFinding],
) -> Result<Vec<FixChange>> {
    let functions = Functions::new(module, source);
    let located = variables::changes(module, source, &functions, findings)?;
    let mut changes = Vec::new();
    let framed = frames::changes(module, source, &functions, findings);
    if located.is_empty() && framed.is_empty() {
        return Ok(changes);
    }
    let empty = Module::new(module.target().clone(), Owner::ANY);
    let mut m = resumed::resumed(core::mem::replace(module, empty));
    variables::apply(&mut m, located, &mut changes)?;
    frames::apply(&mut m, framed, &mut changes)?;
    *module = m.finish()?;
    Ok(changes)
}

/// Returns the errors that are left in a fixed object.
///
/// # Errors
/// The errors of [`lint`].
pub(super) fn unfixed(object: &[u8], options: &LintOptions<'_>) -> Result<Vec<Unfixed>> {
    let findings = lint(object, options)?.findings.into_iter();
    Ok(findings.filter(|finding| finding.level == Level::Error).map(|finding| Unfixed { finding }).collect())
}
