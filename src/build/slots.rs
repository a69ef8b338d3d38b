//! Stack slots: offsets from the start of the function's stack frame.

use core::ops::Range;

use super::blame::{Blame, Wrong};
use crate::error::{Error, Result};
use crate::model::{Module, ScopeId, VariableId};

/// Owner of a location that contains a stack slot.
#[derive(Debug)]
pub(super) enum Slot {
    /// A variable, with the location's pcs, or `None` for all pcs.
    Variable(VariableId, Option<Range<u64>>),
    /// Another entity, in this scope's code.
    Scope(ScopeId),
}

impl Slot {
    /// Returns whether the frame's start is known, without which an offset is not an address. A function without code
    /// has no frame.
    pub(super) fn has_base(&self, module: &Module) -> bool {
        let scope = match *self {
            Self::Variable(variable, _) => module.variables[variable].scope,
            Self::Scope(scope) => scope,
        };
        let function = module.function_of(scope).map(|function| &module.functions[function]);
        function.is_none_or(|function| function.address.is_none() || function.has_stack())
    }
}

/// Rejects slots whose function is still without a base at the end.
pub(super) fn check(module: &Module, slots: &[Slot]) -> Result<(), Wrong> {
    // Checked at the end, because a function's base may be set after its variables are added.
    let Some(slot) = slots.iter().find(|slot| !slot.has_base(module)) else { return Ok(()) };
    let what = "stack slot is in a function without a stack base; expected `stack_base`, which sets its register, or \
        `kernel` or `stack_at_zero`, which set address 0";
    let error = Error::bad_argument(what);
    Err(match slot {
        Slot::Variable(variable, pcs) => Wrong::with(
            error.or_at(module.at_variable(*variable, pcs.clone())),
            match pcs {
                Some(pcs) => Blame::Live(*variable, pcs.clone()),
                None => Blame::Always(*variable),
            },
        ),
        Slot::Scope(scope) => error.or_at(module.at_scope(*scope)).into(),
    })
}
