//! What neither set has words for.

use super::entities::Globals;
use crate::model::{ScopeKind, TypeKind};

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
        for call in module.calls.values() {
            self.writer.leave_out(module.at_scope(call.scope), "a call");
        }
    }
}
