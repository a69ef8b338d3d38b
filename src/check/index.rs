//! What scopes and units contain, collected once because the model has only links to parents.

use core::ops::Range;

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::groups::Groups;
use super::ranges::Ranges;
use crate::model::{
    Address, CallId, EntitySet, Function, FunctionId, ImportId, LabelId, Module, ProcedureId, ScopeId,
    ScopeKind, SecondaryMap, TypeId, UnitId, VariableId, calls_of_code, label_origins,
};
use crate::read::Object;

/// Contents of each scope and unit in a module, in the order of the output.
pub(super) struct Index {
    pub(super) variables: Groups<ScopeId, VariableId>,
    pub(super) scopes: Groups<ScopeId, ScopeId>,
    pub(super) imports: Groups<ScopeId, ImportId>,
    pub(super) labels: Groups<ScopeId, LabelId>,
    pub(super) calls: Groups<ScopeId, CallId>,
    pub(super) functions: SecondaryMap<UnitId, Vec<FunctionId>>,
    pub(super) types: SecondaryMap<UnitId, Vec<TypeId>>,
    /// Whether types are declared in the scope.
    pub(super) has_types: SecondaryMap<ScopeId, bool>,
    pub(super) procedures: SecondaryMap<UnitId, Vec<ProcedureId>>,
    /// Whether the function is inlined somewhere.
    pub(super) inlined: SecondaryMap<FunctionId, bool>,
    /// Numbers of the sequences of rows that several parts of code share.
    pub(super) sequences: SecondaryMap<UnitId, Vec<usize>>,
    /// Inlined calls without an entry in the abstract instance.
    pub(super) calls_of_code: EntitySet<ScopeId>,
    /// Labels of functions, by the labels of their instances.
    pub(super) label_origins: HashMap<LabelId, LabelId>,
    /// Inlined functions inside functions, whose code has its entry in the scope.
    pub(super) code_apart: Groups<ScopeId, FunctionId>,
    /// All functions' code, as addresses in the object.
    pub(super) code: Ranges,
}

impl Index {
    pub(super) fn new(module: &Module, object: &Object<'_>) -> Self {
        let code = module.functions().flat_map(|(_, function)| {
            let parts = function.code_parts().filter_map(|part| {
                let start = place(module, object, part.address)?;
                // A part without code overlaps nothing.
                Some(start..start.saturating_add(part.pcs.end - part.pcs.start)).filter(|pcs| !pcs.is_empty())
            });
            parts.collect::<SmallVec<[_; 1]>>()
        });
        let mut index = Self {
            variables: Groups::new(module.variables_in_order().map(|id| (module.variable(id).scope, id))),
            scopes: Groups::new(
                module
                    .scopes_in_order()
                    .filter(|&id| !is_undescribed(module, id))
                    .filter_map(|id| Some((module.scope(id).parent?, id))),
            ),
            imports: Groups::new(module.imports().map(|(id, import)| (import.scope, id))),
            labels: Groups::new(module.labels().map(|(id, label)| (label.scope, id))),
            calls: Groups::new(module.calls().map(|(id, call)| (call.scope, id))),
            functions: SecondaryMap::new(),
            types: SecondaryMap::new(),
            has_types: SecondaryMap::new(),
            procedures: SecondaryMap::new(),
            inlined: SecondaryMap::new(),
            sequences: SecondaryMap::new(),
            calls_of_code: calls_of_code(module),
            label_origins: label_origins(module),
            code_apart: Groups::new(module.code_apart().into_iter()),
            code: Ranges::new(code.zip(0..)),
        };
        for (_, scope) in module.scopes() {
            if let ScopeKind::Inlined { function, .. } = scope.kind {
                index.inlined[function] = true;
            }
        }
        for id in module.functions_in_order() {
            index.functions[module.scope(module.function(id).scope).unit].push(id);
        }
        for id in module.types_in_order() {
            let ty = module.ty(id);
            index.types[ty.unit()].push(id);
            index.has_types[ty.scope()] = true;
        }
        for (number, sequence) in module.lists.sequences.iter().enumerate() {
            if let Some(first) = sequence.parts.first() {
                index.sequences[module.scope(module.function(first.function).scope).unit].push(number);
            }
        }
        for (id, procedure) in module.procedures() {
            index.procedures[procedure.unit].push(id);
        }
        index
    }
}

/// Whether a scope is that of code without an entry.
fn is_undescribed(module: &Module, id: ScopeId) -> bool {
    matches!(module.scope(id).kind, ScopeKind::Function(function) if module.function(function).is_undescribed)
}

/// A function's code address in an object.
pub(super) fn address(module: &Module, object: &Object<'_>, function: &Function) -> Option<u64> {
    place(module, object, function.address?)
}

/// Returns an address in an object.
pub(super) fn place(module: &Module, object: &Object<'_>, address: Address) -> Option<u64> {
    match address {
        Address::Constant(address) => Some(address),
        Address::Symbol(symbol, by) => {
            Some(object.symbol(module.symbol_name(symbol))?.address.wrapping_add(by))
        }
    }
}

/// Part of a function's code in an object.
#[derive(Debug, Clone)]
pub(super) struct PlacedPart {
    /// Address of pc 0, if the function began as many bytes before the part as its pcs do.
    pub(super) start: u64,
    /// The part's pcs.
    pub(super) pcs: Range<u64>,
}

impl PlacedPart {
    /// Returns the addresses of the part.
    pub(super) fn code(&self) -> Range<u64> {
        self.start.wrapping_add(self.pcs.start)..self.start.wrapping_add(self.pcs.end)
    }
}

/// Returns the parts of a function's code that have an address in an object.
pub(super) fn parts(module: &Module, object: &Object<'_>, function: &Function) -> SmallVec<[PlacedPart; 1]> {
    let placed = function.code_parts().filter_map(|part| {
        let address = place(module, object, part.address)?;
        Some(PlacedPart { start: address.wrapping_sub(part.pcs.start), pcs: part.pcs })
    });
    placed.collect()
}
