//! What is in each scope, found once.

use cranelift_entity::SecondaryMap;

use crate::model::{FunctionId, Module, ScopeId, ScopeKind, TypeId, UnitId, VariableId};

/// What is in each scope and unit of a module, in its order.
pub(super) struct Index {
    pub(super) variables: SecondaryMap<ScopeId, Vec<VariableId>>,
    pub(super) scopes: SecondaryMap<ScopeId, Vec<ScopeId>>,
    pub(super) functions: SecondaryMap<UnitId, Vec<FunctionId>>,
    pub(super) types: SecondaryMap<UnitId, Vec<TypeId>>,
    /// How many procedures the unit has.
    pub(super) procedures: SecondaryMap<UnitId, usize>,
    /// Whether the function was inlined somewhere.
    pub(super) inlined: SecondaryMap<FunctionId, bool>,
}

impl Index {
    pub(super) fn new(module: &Module) -> Self {
        let mut index = Self {
            variables: SecondaryMap::new(),
            scopes: SecondaryMap::new(),
            functions: SecondaryMap::new(),
            types: SecondaryMap::new(),
            procedures: SecondaryMap::new(),
            inlined: SecondaryMap::new(),
        };
        for (id, variable) in module.variables() {
            index.variables[variable.scope].push(id);
        }
        for (id, scope) in module.scopes() {
            if let Some(parent) = scope.parent {
                index.scopes[parent].push(id);
            }
            if let ScopeKind::Inlined { function, .. } = scope.kind {
                index.inlined[function] = true;
            }
        }
        for (id, function) in module.functions() {
            index.functions[module.scope(function.scope).unit].push(id);
        }
        for (id, ty) in module.types() {
            index.types[ty.unit()].push(id);
        }
        for (_, procedure) in module.procedures() {
            index.procedures[procedure.unit] += 1;
        }
        index
    }
}
