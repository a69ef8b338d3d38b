//! The order of entities in the output.

use super::maps::PrimaryMap;
use super::{EntityId, FunctionId, Module, ScopeId, ScopeKind, TypeId, VariableId};

/// The order of types, variables, scopes and functions in the output. Without it, entities are in the order of their ids:
/// an entity follows those that it needs. A module that is made of other bytes has the order of these bytes, so that it
/// is the same however the entities were made.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryOrder {
    types: Vec<u32>,
    variables: Vec<u32>,
    scopes: Vec<u32>,
    functions: Vec<u32>,
    /// Static members with the number of data members before them, sorted.
    static_members: Vec<(u32, u32)>,
}

/// Positions of entities among the entries that they were made of, by the entities' numbers. An entity without a position is
/// last.
#[derive(Debug, Clone, Default)]
pub(crate) struct EntryPositions {
    types: Vec<u64>,
    variables: Vec<u64>,
    scopes: Vec<u64>,
    /// Static members, with the number of data members before them.
    static_members: Vec<(u32, u32)>,
}

/// The position of an entity that was made of no entry.
const NONE: u64 = u64::MAX;

impl EntryPositions {
    /// Adds a type's entry. The first of several entries counts.
    pub(crate) fn add_type(&mut self, id: TypeId, position: u64) {
        add(&mut self.types, id.index(), position);
    }

    /// Adds a variable's entry.
    pub(crate) fn add_variable(&mut self, id: VariableId, position: u64) {
        add(&mut self.variables, id.index(), position);
    }

    /// Adds the number of data members before a static member.
    pub(crate) fn add_static_member(&mut self, id: VariableId, members: u32) {
        self.static_members.push((id.as_u32(), members));
    }

    /// Adds the entry of a scope that is not a type's.
    pub(crate) fn add_scope(&mut self, id: ScopeId, position: u64) {
        add(&mut self.scopes, id.index(), position);
    }
}

fn add(positions: &mut Vec<u64>, index: usize, position: u64) {
    if positions.len() <= index {
        positions.resize(index + 1, NONE);
    }
    positions[index] = positions[index].min(position);
}

impl Module {
    /// Puts entities in the order of their entries: each scope's types, then its variables, then its scopes, each by their
    /// positions. This is the order in which they are written, so that it stays if they are read again.
    pub(crate) fn order_entries(&mut self, positions: &EntryPositions) {
        let count = self.scopes.len();
        let types = Grouped::new(count, self.types.len(), &positions.types, |id| {
            Some(self.types[TypeId::from_u32(id)].scope)
        });
        let variables = Grouped::new(count, self.variables.len(), &positions.variables, |id| {
            Some(self.variables[VariableId::from_u32(id)].scope)
        });
        let scopes = Grouped::new(count, count, &positions.scopes, |id| {
            let scope = &self.scopes[ScopeId::from_u32(id)];
            scope.parent.filter(|_| !matches!(scope.kind, ScopeKind::Type(_)))
        });
        let mut order = EntryOrder::default();
        let mut open: Vec<u32> = self.units.values().rev().map(|unit| unit.scope.as_u32()).collect();
        while let Some(scope) = open.pop() {
            order.scopes.push(scope);
            if let ScopeKind::Function(function) = self.scopes[ScopeId::from_u32(scope)].kind {
                order.functions.push(function.as_u32());
            }
            order.types.extend_from_slice(types.ids_in(scope));
            order.variables.extend_from_slice(variables.ids_in(scope));
            open.extend(scopes.ids_in(scope).iter().rev());
            let own = |&ty: &u32| self.types[TypeId::from_u32(ty)].own_scope();
            open.extend(types.ids_in(scope).iter().rev().filter_map(own).map(ScopeId::as_u32));
        }
        // Every entity is in a scope of a unit.
        debug_assert_eq!(
            [order.types.len(), order.variables.len(), order.scopes.len(), order.functions.len()],
            [self.types.len(), self.variables.len(), self.scopes.len(), self.functions.len()]
        );
        order.static_members.clone_from(&positions.static_members);
        order.static_members.sort_unstable();
        self.entry_order = order;
    }

    /// Number of data members before a static member, if it is known.
    pub(crate) fn members_before(&self, id: VariableId) -> Option<u32> {
        let members = &self.entry_order.static_members;
        let index = members.binary_search_by_key(&id.as_u32(), |&(id, _)| id).ok()?;
        Some(members[index].1)
    }

    /// Adds the order of another module's entities, which will follow this module's.
    pub(super) fn append_order(&mut self, other: &Self) {
        if self.is_in_order_of_ids() && other.is_in_order_of_ids() {
            return;
        }
        let order = &mut self.entry_order;
        let added = &other.entry_order;
        let count = self.variables.len() as u32;
        order.static_members.extend(added.static_members.iter().map(|&(id, before)| (id + count, before)));
        join(&mut order.types, &self.types, &added.types, &other.types);
        join(&mut order.variables, &self.variables, &added.variables, &other.variables);
        join(&mut order.scopes, &self.scopes, &added.scopes, &other.scopes);
        join(&mut order.functions, &self.functions, &added.functions, &other.functions);
    }

    /// The types, in the order of the output.
    pub(crate) fn types_in_order(&self) -> impl DoubleEndedIterator<Item = TypeId> + Clone {
        numbers(&self.entry_order.types, &self.types).map(TypeId::from_u32)
    }

    /// The variables, in the order of the output.
    pub(crate) fn variables_in_order(&self) -> impl DoubleEndedIterator<Item = VariableId> + Clone {
        numbers(&self.entry_order.variables, &self.variables).map(VariableId::from_u32)
    }

    /// The scopes, in the order of the output.
    pub(crate) fn scopes_in_order(&self) -> impl DoubleEndedIterator<Item = ScopeId> + Clone {
        numbers(&self.entry_order.scopes, &self.scopes).map(ScopeId::from_u32)
    }

    /// The functions, in the order of the output.
    pub(crate) fn functions_in_order(&self) -> impl DoubleEndedIterator<Item = FunctionId> + Clone {
        numbers(&self.entry_order.functions, &self.functions).map(FunctionId::from_u32)
    }

    /// Returns whether the order of the output is the order of ids.
    pub(crate) fn is_in_order_of_ids(&self) -> bool {
        self.entry_order.scopes.is_empty()
    }
}

/// Returns the numbers of a kind's entities. What was added later follows the entities that have an order.
fn numbers<'m, K: EntityId, V>(
    order: &'m [u32],
    entities: &PrimaryMap<K, V>,
) -> impl DoubleEndedIterator<Item = u32> + Clone + use<'m, K, V> {
    order.iter().copied().chain(order.len() as u32..entities.len() as u32)
}

/// Adds the order of another module's entities, whose numbers follow those of a module's entities.
fn join<K: EntityId, V>(
    own: &mut Vec<u32>,
    entities: &PrimaryMap<K, V>,
    other: &[u32],
    added: &PrimaryMap<K, V>,
) {
    own.extend(own.len() as u32..entities.len() as u32);
    let count = entities.len() as u32;
    own.extend(numbers(other, added).map(|id| id + count));
}

/// Entities by the scope that they are in.
struct Grouped {
    /// Index of each scope's first entity, and the number of entities at the end.
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl Grouped {
    /// Groups a kind's entities. Those of a scope are in the order of their positions.
    fn new(
        scopes: usize,
        count: usize,
        positions: &[u64],
        scope_of: impl Fn(u32) -> Option<ScopeId>,
    ) -> Self {
        let position = |id: &u32| positions.get(*id as usize).copied().unwrap_or(NONE);
        let mut sorted: Vec<u32> = (0..count as u32).collect();
        sorted.sort_by_key(position);
        let mut starts = vec![0; scopes + 1];
        for scope in sorted.iter().filter_map(|&id| scope_of(id)) {
            starts[scope.index() + 1] += 1;
        }
        for index in 0..scopes {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut ids = vec![0; starts[scopes] as usize];
        for id in sorted {
            let Some(scope) = scope_of(id) else { continue };
            let next = &mut next[scope.index()];
            ids[*next as usize] = id;
            *next += 1;
        }
        Self { starts, ids }
    }

    fn ids_in(&self, scope: u32) -> &[u32] {
        let scope = scope as usize;
        &self.ids[self.starts[scope] as usize..self.starts[scope + 1] as usize]
    }
}
