//! What neither set has words for.

use indexmap::IndexMap;

use super::entities::Globals;
use crate::model::{FunctionId, ScopeId, ScopeKind, TypeKind};

impl Globals<'_, '_, '_> {
    /// Lists it.
    pub(super) fn unsaid(&mut self) {
        let module = self.module;
        for (id, ty) in &module.types {
            if let Some(bytes) = ty.alignment {
                self.leave_of_type(id, &format!("its alignment of {bytes} bytes"));
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
        for id in module.functions.keys() {
            self.unsaid_of_function(id);
        }
        for id in module.variables.keys() {
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
}

/// Those that are, if any is.
pub(super) fn listed(all: &[(bool, &str)]) -> Option<String> {
    if !all.iter().any(|&(is, _)| is) {
        return None;
    }
    let left: Vec<_> = all.iter().filter(|(is, _)| *is).map(|&(_, what)| what).collect();
    Some(left.join(", "))
}
