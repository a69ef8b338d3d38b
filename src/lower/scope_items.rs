//! Entries of imports and labels: DWARF 5 sections 3.2.3 and 3.6.

use super::dies::Dies;
use super::scopes::{Instance, is_first};
use crate::model::{ImportId, Imported, LabelId};

impl Dies<'_> {
    /// Writes an import, in the abstract instance of a function if there is one.
    pub(super) fn import(&mut self, id: ImportId, instance: Option<&Instance>) {
        if !is_first(instance) {
            return;
        }
        let import = &self.module.imports[id];
        let tag = match import.what {
            Imported::AllOf(_) => gimli::DW_TAG_imported_module,
            _ => gimli::DW_TAG_imported_declaration,
        };
        self.info.begin_entry(tag, false, None);
        self.name(import.name);
        self.declared(import.line);
        let at = gimli::DW_AT_import;
        match import.what {
            Imported::Function(id) => self.info.reference(at, self.expressions.entries.function(id)),
            Imported::Variable(id) => self.info.reference(at, self.expressions.entries.variable(id)),
            Imported::Type(id) => self.refer_to_type(at, id),
            Imported::Namespace(id) | Imported::AllOf(id) => {
                self.info.reference(at, self.expressions.entries.scope(id));
            }
        }
        self.info.end_entry();
    }

    /// Writes a label, in an instance with code.
    pub(super) fn label(&mut self, id: LabelId, instance: Option<&Instance>) {
        if instance.is_none() {
            return;
        }
        let module = self.module;
        let label = &module.labels[id];
        self.info.begin_entry(gimli::DW_TAG_label, false, None);
        self.name(Some(label.name));
        self.declared(label.line);
        if let (Some(pc), Some(function)) = (label.pc, module.function_of(label.scope)) {
            self.pc(gimli::DW_AT_low_pc, &module.functions[function], pc);
        }
        self.info.end_entry();
    }
}
