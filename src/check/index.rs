//! Contents of scopes and units, collected once.

use cranelift_entity::SecondaryMap;

use super::ranges::Ranges;
use crate::model::{
    Address, CallId, Function, FunctionId, ImportId, LabelId, Module, ProcedureId, ScopeId, ScopeKind,
    TypeId, UnitId, VariableId,
};
use crate::read::Object;

/// Contents of each scope and unit of a module, in the module's order.
pub(super) struct Index {
    pub(super) variables: SecondaryMap<ScopeId, Vec<VariableId>>,
    pub(super) scopes: SecondaryMap<ScopeId, Vec<ScopeId>>,
    pub(super) imports: SecondaryMap<ScopeId, Vec<ImportId>>,
    pub(super) labels: SecondaryMap<ScopeId, Vec<LabelId>>,
    pub(super) calls: SecondaryMap<ScopeId, Vec<CallId>>,
    pub(super) functions: SecondaryMap<UnitId, Vec<FunctionId>>,
    pub(super) types: SecondaryMap<UnitId, Vec<TypeId>>,
    /// Whether types are declared in the scope.
    pub(super) has_types: SecondaryMap<ScopeId, bool>,
    pub(super) procedures: SecondaryMap<UnitId, Vec<ProcedureId>>,
    /// Whether the function is inlined somewhere.
    pub(super) inlined: SecondaryMap<FunctionId, bool>,
    /// Code of all functions, as addresses of the object.
    pub(super) code: Ranges,
}

impl Index {
    pub(super) fn new(module: &Module, object: &Object<'_>) -> Self {
        let code = module.functions().filter_map(|(_, function)| {
            let start = address(module, object, function)?;
            Some(start..start.saturating_add(function.bytes)).filter(|pcs| !pcs.is_empty())
        });
        let mut index = Self {
            variables: SecondaryMap::new(),
            scopes: SecondaryMap::new(),
            imports: SecondaryMap::new(),
            labels: SecondaryMap::new(),
            calls: SecondaryMap::new(),
            functions: SecondaryMap::new(),
            types: SecondaryMap::new(),
            has_types: SecondaryMap::new(),
            procedures: SecondaryMap::new(),
            inlined: SecondaryMap::new(),
            code: Ranges::new(code.zip(0..)),
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
        for (id, import) in module.imports() {
            index.imports[import.scope].push(id);
        }
        for (id, label) in module.labels() {
            index.labels[label.scope].push(id);
        }
        for (id, call) in module.calls() {
            index.calls[call.scope].push(id);
        }
        for (id, function) in module.functions() {
            index.functions[module.scope(function.scope).unit].push(id);
        }
        for (id, ty) in module.types() {
            index.types[ty.unit()].push(id);
            index.has_types[ty.scope()] = true;
        }
        for (id, procedure) in module.procedures() {
            index.procedures[procedure.unit].push(id);
        }
        index
    }
}

/// Address of a function's code in an object.
pub(super) fn address(module: &Module, object: &Object<'_>, function: &Function) -> Option<u64> {
    match function.address? {
        Address::Constant(address) => Some(address),
        Address::Symbol(symbol, by) => {
            Some(object.symbol(module.symbol_name(symbol))?.address.wrapping_add(by))
        }
    }
}
