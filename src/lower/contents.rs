//! Summary of a unit for its entry: functions, code, and the tables that it refers to.

use super::children::ScopeItem;
use super::units::Units;
use crate::model::{FileId, FunctionId, Macro, Module, ScopeId, ScopeKind, TypeId, UnitId, VariableId};

/// Summary of a unit for its entry.
pub(super) struct Contents {
    pub(super) functions: Vec<FunctionId>,
    /// Functions with code.
    pub(super) code: Vec<FunctionId>,
    pub(super) loclists: bool,
    pub(super) lines: bool,
    pub(super) macros: bool,
    pub(super) ranges: bool,
    pub(super) addresses: bool,
}

impl Contents {
    pub(super) fn new(units: &Units<'_>, id: UnitId) -> Self {
        let (module, consumer) = (units.module, units.consumer);
        let functions: Vec<FunctionId> = units.functions.of(id).map(FunctionId::from_u32).collect();
        let has_code = |&id: &FunctionId| module.functions[id].address.is_some();
        let code: Vec<FunctionId> = functions.iter().copied().filter(has_code).collect();
        let variables = || units.variables.of(id).map(|id| &module.variables[VariableId::from_u32(id)]);
        let types = || units.types.of(id).map(|id| &module.types[TypeId::from_u32(id)]);
        let files = || units.files.of(id).map(|id| &module.files[FileId::from_u32(id)]);
        let scopes = || units.scopes.of(id).map(|id| &module.scopes[ScopeId::from_u32(id)]);
        Self {
            loclists: variables().any(|variable| !variable.live.is_empty())
                || code.iter().any(|&id| module.functions[id].lanes.is_described),
            macros: !module.macros(id).is_empty(),
            // File names are in the line program, so that declarations need it even without rows.
            lines: units.has_file_contents()
                && files().any(|file| file.md5.is_some() || file.source.is_some())
                || module.macros(id).iter().any(|what| matches!(what, Macro::File { .. }))
                || functions.iter().any(|&id| module.functions[id].line.is_some())
                || code.iter().any(|&id| !module.functions[id].rows.is_empty())
                || variables().any(|variable| variable.line.is_some())
                || units.items(id).any(|item| has_line(module, item))
                || types().any(|ty| ty.lines(module).next().is_some())
                || scopes().any(|scope| match scope.kind {
                    ScopeKind::Inlined { .. } => true,
                    ScopeKind::Namespace { .. } | ScopeKind::Block => scope.line.is_some(),
                    _ => false,
                }),
            ranges: code.len() > 1 && !consumer.is_split || scopes().any(|scope| !scope.ranges.is_empty()),
            // Conservative: the addresses in a location are known only after it is encoded.
            addresses: !code.is_empty()
                || types().any(|ty| !ty.locs().is_empty())
                || functions.iter().any(|&id| !module.functions[id].templates.is_empty())
                || variables().next().is_some()
                || units.procedures.of(id).len() > 0,
            functions,
            code,
        }
    }
}

/// Returns whether an import, a label or a call has a source line.
fn has_line(module: &Module, item: ScopeItem) -> bool {
    match item {
        ScopeItem::Import(id) => module.imports[id].line.is_some(),
        ScopeItem::Label(id) => module.labels[id].line.is_some(),
        ScopeItem::Call(id) => module.calls[id].line.is_some(),
    }
}
