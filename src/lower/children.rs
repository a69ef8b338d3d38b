//! Each scope's children: variables, types and scopes, and the items to which no other entry refers.

use core::ops::Range;

use hashbrown::HashMap;

use super::by_unit::ByUnit;
use crate::model::{
    CallId, EntitySet, FunctionId, ImportId, LabelId, Module, ScopeId, ScopeKind, TypeId, VariableId,
    calls_of_code, label_origins,
};

/// Each scope's children, as linked lists in the model's order.
pub(super) struct Children {
    first_variable: Vec<u32>,
    next_variable: Vec<u32>,
    first_scope: Vec<u32>,
    next_scope: Vec<u32>,
    first_type: Vec<u32>,
    next_type: Vec<u32>,
    /// Inlined calls without an entry in the abstract instance.
    calls_of_code: EntitySet<ScopeId>,
    /// Inlined functions inside functions, whose code has its entry in the scope.
    code_apart: Vec<(ScopeId, FunctionId)>,
}

const NONE: u32 = u32::MAX;

/// Estimated location lists in a unit.
#[derive(Clone, Copy, Default)]
pub(super) struct ListCount {
    pub(super) lists: usize,
    pub(super) entries: usize,
}

impl Children {
    /// Returns each scope's children. The same pass groups the variables by unit and counts their location lists,
    /// because a second pass would read all variables again.
    pub(super) fn new(module: &Module) -> (Self, ByUnit, Vec<ListCount>) {
        let mut children = Self {
            first_variable: vec![NONE; module.scopes.len()],
            next_variable: vec![NONE; module.variables.len()],
            first_scope: vec![NONE; module.scopes.len()],
            next_scope: vec![NONE; module.scopes.len()],
            first_type: vec![NONE; module.scopes.len()],
            next_type: vec![NONE; module.types.len()],
            calls_of_code: calls_of_code(module),
            code_apart: module.code_apart(),
        };
        // Entities are pushed to the front in reverse, which leaves each list in the model's order.
        for id in module.types_in_order().rev() {
            let first = &mut children.first_type[module.types[id].scope.as_u32() as usize];
            children.next_type[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        let mut counts = vec![0; module.units.len()];
        let mut lists = vec![ListCount::default(); module.units.len()];
        let mut is_mixed = false;
        let mut last = usize::MAX;
        let mut expected = module.variables.len() as u32;
        for id in module.variables_in_order().rev() {
            let variable = &module.variables[id];
            let first = &mut children.first_variable[variable.scope.as_u32() as usize];
            children.next_variable[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
            let unit = module.scopes[variable.scope].unit.as_u32() as usize;
            counts[unit] += 1;
            expected -= 1;
            // In reverse order unit numbers fall, unless a unit's entities are interleaved with another unit's.
            is_mixed |= unit > last || id.as_u32() != expected;
            last = unit;
            let entries = variable.live.len();
            // An upper bound, because equal lists are merged later and a single location needs no list.
            lists[unit].lists += usize::from(entries > 0);
            lists[unit].entries += entries;
        }
        let unit_of = |id| module.scopes[module.variables[VariableId::from_u32(id)].scope].unit;
        let ids = module.variables_in_order().map(VariableId::as_u32);
        let variables = ByUnit::counted(counts, is_mixed, ids, unit_of);
        for id in module.scopes_in_order().rev() {
            let scope = &module.scopes[id];
            // A type's entry writes the type's own scope, so the scope is no child here.
            let Some(parent) = scope.parent.filter(|_| !matches!(scope.kind, ScopeKind::Type(_))) else {
                continue;
            };
            let first = &mut children.first_scope[parent.as_u32() as usize];
            children.next_scope[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        (children, variables, lists)
    }

    pub(super) fn first_variable(&self, scope: ScopeId) -> Option<VariableId> {
        some(self.first_variable[scope.as_u32() as usize]).map(VariableId::from_u32)
    }

    pub(super) fn next_variable(&self, variable: VariableId) -> Option<VariableId> {
        some(self.next_variable[variable.as_u32() as usize]).map(VariableId::from_u32)
    }

    pub(super) fn first_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        some(self.first_scope[scope.as_u32() as usize]).map(ScopeId::from_u32)
    }

    pub(super) fn next_scope(&self, scope: ScopeId) -> Option<ScopeId> {
        some(self.next_scope[scope.as_u32() as usize]).map(ScopeId::from_u32)
    }

    pub(super) fn first_type(&self, scope: ScopeId) -> Option<TypeId> {
        some(self.first_type[scope.as_u32() as usize]).map(TypeId::from_u32)
    }

    pub(super) fn next_type(&self, ty: TypeId) -> Option<TypeId> {
        some(self.next_type[ty.as_u32() as usize]).map(TypeId::from_u32)
    }

    /// Whether an inlined call has no entry in the abstract instance.
    pub(super) fn is_of_code(&self, call: ScopeId) -> bool {
        self.calls_of_code.contains(call)
    }

    /// Returns one of the inner functions whose code has its entry in a scope.
    pub(super) fn code_apart(&self, scope: ScopeId, at: usize) -> Option<FunctionId> {
        let first = self.code_apart.partition_point(|&(other, _)| other < scope);
        self.code_apart.get(first + at).filter(|(other, _)| *other == scope).map(|&(_, function)| function)
    }

    pub(super) fn is_empty(&self, scope: ScopeId) -> bool {
        let index = scope.as_u32() as usize;
        [self.first_variable[index], self.first_scope[index], self.first_type[index]] == [NONE; 3]
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}

/// Scope child to which no other entry refers.
#[derive(Clone, Copy)]
pub(super) enum ScopeItem {
    Import(ImportId),
    Label(LabelId),
    Call(CallId),
}

/// Each scope's items.
pub(super) struct ScopeItems {
    /// Sorted by scope, then in the model's order.
    all: Vec<(ScopeId, ScopeItem)>,
    pub(super) labels: ByUnit,
    /// Labels of functions, by the labels of their instances.
    pub(super) label_origins: HashMap<LabelId, LabelId>,
}

impl ScopeItems {
    pub(super) fn new(module: &Module) -> Self {
        let imports = module.imports.iter().map(|(id, import)| (import.scope, ScopeItem::Import(id)));
        let labels = module.labels.iter().map(|(id, label)| (label.scope, ScopeItem::Label(id)));
        let calls = module.calls.iter().map(|(id, call)| (call.scope, ScopeItem::Call(id)));
        let mut items: Vec<_> = imports.chain(labels).chain(calls).collect();
        // The sort is stable, which keeps the model's order within a scope.
        items.sort_by_key(|&(scope, _)| scope);
        let labels = ByUnit::new(module.units.len(), 0..module.labels.len() as u32, |id| {
            module.scopes[module.labels[LabelId::from_u32(id)].scope].unit
        });
        Self { all: items, labels, label_origins: label_origins(module) }
    }

    /// A scope's index range.
    pub(super) fn range(&self, scope: ScopeId) -> Range<usize> {
        let start = self.all.partition_point(|&(parent, _)| parent < scope);
        start..start + self.all[start..].partition_point(|&(parent, _)| parent == scope)
    }

    pub(super) fn get(&self, at: usize) -> ScopeItem {
        self.all[at].1
    }
}
