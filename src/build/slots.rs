//! Stack slots: each is at an offset from where the stack frame of its function begins.

use core::ops::Range;

use super::Builder;
use super::finish::{Blame, Wrong};
use crate::error::{Error, Result};
use crate::model::{Module, ScopeId, VariableId};

/// A location with a stack slot in it.
#[derive(Debug)]
pub(super) enum Slot {
    /// A variable's, for pcs or for all.
    Variable(VariableId, Option<Range<u64>>),
    /// Another's, in the code of a scope.
    Scope(ScopeId),
}

impl Slot {
    /// Whether it is known where the frame begins: an address is not made of an offset alone. What has no code has
    /// no frame.
    fn has_base(&self, module: &Module) -> bool {
        let scope = match *self {
            Self::Variable(variable, _) => module.variables[variable].scope,
            Self::Scope(scope) => scope,
        };
        let function = module.function_of(scope).map(|function| &module.functions[function]);
        function.is_none_or(|function| function.address.is_none() || function.has_stack())
    }
}

impl Builder {
    /// Notes a slot for [`check`], unless its function has a base by now.
    pub(super) fn slot(&mut self, slot: Slot) {
        if !slot.has_base(&self.module) {
            self.slots.push(slot);
        }
    }
}

/// Refuses slots whose function got no base in the end.
pub(super) fn check(module: &Module, slots: &[Slot]) -> Result<(), Wrong> {
    let Some(slot) = slots.iter().find(|slot| !slot.has_base(module)) else { return Ok(()) };
    let what = "a stack slot counts from where the function's frame begins, and that is not known: `stack_base` is \
                for the register that holds it, `kernel` and `stack_at_zero` for a frame at address 0";
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
