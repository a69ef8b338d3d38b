//! Imported entities, by the ids of their instructions.

use hashbrown::{HashMap, HashSet};
use indexmap::IndexMap;

use crate::model::{FileId, FunctionId, ScopeId, TypeId, UnitId, VariableId};
use crate::spirv::words::Id;

/// Imported entities, by the ids of their instructions.
#[derive(Default)]
pub(super) struct Entities {
    pub files: HashMap<(Id, UnitId), FileId>,
    pub types: HashMap<(Id, UnitId), TypeId>,
    /// Composite types with members that could not be imported.
    pub partial: HashSet<TypeId>,
    pub scopes: HashMap<Id, ScopeId>,
    pub functions: IndexMap<Id, FunctionId>,
    pub variables: HashMap<Id, VariableId>,
    /// Functions by the `OpFunction` of their code.
    pub code: IndexMap<Id, FunctionId>,
    /// Scopes of inlined calls, by scope of the function and `DebugInlinedAt`.
    pub instances: HashMap<(ScopeId, Id), Option<ScopeId>>,
    /// Variables of inlined calls, by variable and `DebugInlinedAt`.
    pub inlined_variables: HashMap<(Id, Id), VariableId>,
}
