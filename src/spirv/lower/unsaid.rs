//! Properties that neither set can encode.

use cranelift_entity::SecondaryMap;
use indexmap::IndexMap;

use super::entities::Globals;
use crate::error::Count;
use crate::model::{FunctionId, ScopeId, ScopeKind, TypeKind, VariableId};
use crate::spirv::binding::Statement;

impl Globals<'_, '_, '_> {
    /// Records the omissions of the module.
    pub(super) fn unsaid(&mut self) {
        let module = self.module;
        for (id, ty) in &module.types {
            if let Some(bytes) = ty.alignment {
                self.leave_of_type(id, &format!("its alignment of {}", Count(bytes, "byte")));
            }
            let has_place = matches!(
                ty.kind,
                TypeKind::Composite(_)
                    | TypeKind::Enum { .. }
                    | TypeKind::Typedef { .. }
                    | TypeKind::Unspecified { .. }
            );
            if !has_place && ty.line.is_some() {
                self.leave_of_type(id, "where it is declared");
            }
            if !has_place && module.scopes[ty.scope].kind != ScopeKind::Unit {
                self.leave_of_type(id, "what it is declared in");
            }
        }
        self.unsaid_of_inlined();
        for id in module.functions.keys() {
            self.unsaid_of_function(id);
        }
        for id in core::mem::take(&mut self.others) {
            self.unsaid_of_variable(id);
        }
        for label in module.labels.values() {
            let what = format!("the label `{}`", module.string(label.name));
            self.writer.leave_out(module.at_scope(label.scope), what);
        }
        let mut calls: IndexMap<Option<FunctionId>, (ScopeId, usize)> = IndexMap::new();
        for call in module.calls.values() {
            calls.entry(module.function_of(call.scope)).or_insert((call.scope, 0)).1 += 1;
        }
        for (scope, count) in calls.into_values() {
            self.writer
                .leave_out(module.at_scope(scope), format!("{count} of its calls, and what they are given"));
        }
    }

    /// Records inlined calls, inlined blocks and inlined variables that nothing refers to. The sets encode the place of
    /// a call and its function or block; an inlined block or variable appears only where an instruction belongs to it.
    fn unsaid_of_inlined(&mut self) {
        let module = self.module;
        if !module.scopes.values().any(|scope| matches!(scope.kind, ScopeKind::Inlined { .. })) {
            return;
        }
        let mut is_named = SecondaryMap::<ScopeId, bool>::new();
        let mut is_held = SecondaryMap::<VariableId, bool>::new();
        for (_, statement) in &self.binding.statements {
            match *statement {
                // Unknown ids are refused where the statement is lowered.
                Statement::Scope(Some(scope)) if module.scopes.is_valid(scope) => is_named[scope] = true,
                Statement::Declare { variable, .. } | Statement::Value { variable, .. } => {
                    let Some(data) = module.variables.get(variable) else { continue };
                    is_held[variable] = true;
                    is_named[data.scope] = true;
                }
                Statement::Scope(_) | Statement::Line(_) => {}
            }
        }
        for (id, variable) in &module.variables {
            let Some(origin) = variable.origin else { continue };
            let has_own = self.writer.mode.has_inlined_variables && !self.is_global(self.origin(origin));
            if has_own {
                is_named[variable.scope] = true;
            } else if !is_held[id] {
                let what = "that there is an inlined instance of it, which nothing is said to hold";
                self.writer.leave_out(module.at_variable(id, None), what);
            }
        }
        let mut left = Vec::new();
        // The contents of a scope follow the scope.
        for id in module.scopes.keys().rev().filter(|&id| self.related.inlined[id].is_some()) {
            let data = &module.scopes[id];
            let call = match data.kind {
                ScopeKind::Inlined { function, call } => Some((function, call)),
                _ => None,
            };
            // A call refers to its parent.
            if let Some(parent) = data.parent.filter(|_| is_named[id] || call.is_some()) {
                is_named[parent] = true;
            }
            if !is_named[id] && (call.is_some() || data.origin.is_some()) {
                left.push((id, call));
            }
        }
        for (id, call) in left.into_iter().rev() {
            let what = match call {
                Some((function, call)) => {
                    let callee = module.string(module.functions[function].name);
                    format!(
                        "the inlined call of `{callee}` in line {}: no instruction is said to be of it",
                        call.line
                    )
                }
                None => "an inlined block: no instruction is said to be of it".into(),
            };
            self.writer.leave_out(module.at_scope(id), what);
        }
    }
}

/// The texts whose condition is true, as a list; `None` for an empty one.
pub(super) fn listed(all: &[(bool, &str)]) -> Option<String> {
    if !all.iter().any(|&(is, _)| is) {
        return None;
    }
    let left: Vec<_> = all.iter().filter(|(is, _)| *is).map(|&(_, what)| what).collect();
    Some(left.join(", "))
}
