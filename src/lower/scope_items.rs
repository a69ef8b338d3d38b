//! Children of scopes other than variables, types and scopes: imports, labels and calls. DWARF 5 sections 3.2.3, 3.4
//! and 3.6.

use core::ops::Range;

use super::dies::Dies;
use super::scopes::{Instance, is_first};
use crate::model::{CallId, ImportId, Imported, LabelId, Module, ScopeId, UnitId};

/// Child of a scope that nothing refers to.
#[derive(Clone, Copy)]
pub(super) enum ScopeItem {
    Import(ImportId),
    Label(LabelId),
    Call(CallId),
}

/// Children of each scope, sorted by scope, then in the order of the model.
pub(super) struct ScopeItems(Vec<(ScopeId, ScopeItem)>);

impl ScopeItems {
    pub(super) fn new(module: &Module) -> Self {
        let imports = module.imports.iter().map(|(id, import)| (import.scope, ScopeItem::Import(id)));
        let labels = module.labels.iter().map(|(id, label)| (label.scope, ScopeItem::Label(id)));
        let calls = module.calls.iter().map(|(id, call)| (call.scope, ScopeItem::Call(id)));
        let mut all: Vec<_> = imports.chain(labels).chain(calls).collect();
        all.sort_by_key(|&(scope, _)| scope);
        Self(all)
    }

    /// Range of a scope's children.
    pub(super) fn range(&self, scope: ScopeId) -> Range<usize> {
        let start = self.0.partition_point(|&(of, _)| of < scope);
        start..start + self.0[start..].partition_point(|&(of, _)| of == scope)
    }

    pub(super) fn get(&self, at: usize) -> ScopeItem {
        self.0[at].1
    }
}

/// Returns whether an import, a label or a call of the unit has a source line.
pub(super) fn has_lines(module: &Module, unit: UnitId) -> bool {
    let is_here = |scope: ScopeId| module.scopes[scope].unit == unit;
    module.imports.values().any(|import| import.line.is_some() && is_here(import.scope))
        || module.labels.values().any(|label| label.line.is_some() && is_here(label.scope))
        || module.calls.values().any(|call| call.line.is_some() && is_here(call.scope))
}

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
