//! Items that have an id and are written in their turn, with their progress.

use std::collections::VecDeque;

use crate::model::{EntityId, FunctionId, Module, PrimaryMap, ScopeId, SecondaryMap, TypeId, VariableId};
use crate::spirv::words::Id;

/// An item that is written in its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A type.
    Type(TypeId),
    /// A function's type.
    FunctionType(FunctionId),
    /// A function or a function declaration.
    Function(FunctionId),
    /// A block or a namespace.
    Scope(ScopeId),
    /// A variable or static member.
    Variable(VariableId),
}

/// An item's progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is done yet.
    #[default]
    New,
    /// The items that it refers to are being written.
    Open,
    /// The instruction is written.
    Done,
}

/// An item's id and progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// The item's id, which can be allocated before the item is written.
    pub id: Option<Id>,
    pub state: State,
}

/// A step for an item.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Visit the references that precede opening.
    Into(Item),
    /// Visit the other references.
    Open(Item),
    /// Write the item.
    Write(Item),
}

/// All items' ids and progress.
#[derive(Debug)]
pub(super) struct Slots {
    pub types: SecondaryMap<TypeId, Slot>,
    pub function_types: SecondaryMap<FunctionId, Slot>,
    pub functions: SecondaryMap<FunctionId, Slot>,
    /// Blocks and namespaces.
    pub scopes: SecondaryMap<ScopeId, Slot>,
    pub variables: SecondaryMap<VariableId, Slot>,
}

impl Slots {
    pub fn new(module: &Module) -> Self {
        Self {
            types: for_all(&module.types),
            function_types: for_all(&module.functions),
            functions: for_all(&module.functions),
            scopes: for_all(&module.scopes),
            variables: for_all(&module.variables),
        }
    }

    pub fn state(&self, item: Item) -> State {
        match item {
            Item::Type(id) => self.types[id].state,
            Item::FunctionType(id) => self.function_types[id].state,
            Item::Function(id) => self.functions[id].state,
            Item::Scope(id) => self.scopes[id].state,
            Item::Variable(id) => self.variables[id].state,
        }
    }

    pub fn slot(&mut self, item: Item) -> &mut Slot {
        match item {
            Item::Type(id) => &mut self.types[id],
            Item::FunctionType(id) => &mut self.function_types[id],
            Item::Function(id) => &mut self.functions[id],
            Item::Scope(id) => &mut self.scopes[id],
            Item::Variable(id) => &mut self.variables[id],
        }
    }
}

/// Items that are still to be written.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Composite types whose members follow later, with the members' allocated ids.
    pub composites: VecDeque<(TypeId, Vec<Id>)>,
    pub steps: Vec<Step>,
    /// Number of open items.
    pub open: usize,
}

/// A map with space for all keys.
pub(super) fn for_all<K: EntityId, V, T: Clone + Default>(all: &PrimaryMap<K, V>) -> SecondaryMap<K, T> {
    let mut map = SecondaryMap::new();
    // Without this, each first access would grow the map.
    map.resize(all.len());
    map
}
