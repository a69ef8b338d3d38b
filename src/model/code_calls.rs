//! Inlined calls that belong to a function's code, and not to its abstract instance.

use super::maps::EntitySet;
use super::{Module, Scope, ScopeId, ScopeKind, VariableId};

/// Returns the inlined calls that only the entry with a function's code has. An abstract instance describes what all instances
/// have, and compilers do not write calls there: what is inlined in one instance need not be inlined in another.
///
/// A call stays in the abstract instance of a function without code, and where the abstract instance has the only entry of
/// something in the call: types, variables that are no instances, and variables and blocks that have other instances.
pub(crate) fn calls_of_code(module: &Module) -> EntitySet<ScopeId> {
    let mut calls = EntitySet::new();
    let is_in_both = |scope| {
        let function = module.function_of(scope).map(|function| &module.functions[function]);
        function.is_some_and(|function| function.is_inlined && function.address.is_some())
    };
    let is_call = |scope: &Scope| matches!(scope.kind, ScopeKind::Inlined { .. });
    if !module.scopes.iter().any(|(id, scope)| is_call(scope) && is_in_both(id)) {
        return calls;
    }
    // The outermost call around each scope. A scope follows the scope around it.
    let mut around: Vec<Option<ScopeId>> = Vec::with_capacity(module.scopes.len());
    let mut stay = EntitySet::new();
    for (id, scope) in &module.scopes {
        let outer = scope.parent.and_then(|parent| around.get(parent.as_u32() as usize).copied().flatten());
        around.push(match scope.kind {
            ScopeKind::Inlined { .. } => outer.or_else(|| is_in_both(id).then_some(id)),
            ScopeKind::Block => outer,
            _ => {
                outer.into_iter().for_each(|call| stay.insert(call));
                None
            }
        });
    }
    let call_around = |scope: ScopeId| around[scope.as_u32() as usize];
    let call_of = |variable: VariableId| call_around(module.variables[variable].scope);
    let others = module.variables.values().filter(|variable| variable.origin.is_none());
    let held = others.filter_map(|variable| call_around(variable.scope));
    let held = held.chain(module.types.values().filter_map(|ty| call_around(ty.scope)));
    let held = held.chain(module.imports.values().filter_map(|import| call_around(import.scope)));
    let origins = module.variables.values().filter_map(|variable| variable.origin.or(variable.specification));
    let parameters = module.lists.arguments.iter().filter_map(|argument| argument.parameter);
    let blocks = module.scopes.values().filter_map(|scope| scope.origin);
    let referred = origins.chain(parameters).filter_map(call_of).chain(blocks.filter_map(call_around));
    held.chain(referred).for_each(|call| stay.insert(call));
    for (id, _) in &module.scopes {
        if call_around(id) == Some(id) && !stay.contains(id) {
            calls.insert(id);
        }
    }
    calls
}
