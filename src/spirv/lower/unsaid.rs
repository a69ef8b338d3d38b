//! What neither set has words for.

use super::entities::Globals;

impl Globals<'_, '_, '_> {
    /// Lists it.
    pub(super) fn unsaid(&mut self) {
        let module = self.module;
        for (id, ty) in &module.types {
            if let Some(bytes) = ty.alignment {
                self.leave_of_type(id, &format!("its alignment of {bytes} bytes"));
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
