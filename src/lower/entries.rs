//! References to entries without offsets yet, and the children of scopes.

use std::collections::BTreeSet;

use super::loc::Entries;
use super::units::Units;
use crate::emit::info::{EntryRef, UnitEntry};
use crate::model::{
    Entity, FunctionId, Module, ProcedureId, ScopeId, ScopeKind, TypeId, UnitId, VariableId, VariantPartId,
};

/// Entities of one kind by unit, in the order of the module.
pub(super) struct ByUnit {
    /// Index of each unit's first entity, and the total at the end.
    starts: Vec<u32>,
    /// Ids ordered by unit, and the index of each entity within its unit. `None` if the entities of each unit are
    /// consecutive, as in most modules.
    mixed: Option<(Vec<u32>, Vec<u32>)>,
}

impl ByUnit {
    /// Groups entities by unit. `units` yields the unit of each entity, in the order of ids.
    pub(super) fn new(count: usize, units: impl ExactSizeIterator<Item = UnitId> + Clone) -> Self {
        if count == 1 {
            return Self { starts: vec![0, units.len() as u32], mixed: None };
        }
        let mut counts = vec![0; count];
        let (mut is_mixed, mut last) = (false, 0);
        for unit in units.clone() {
            let unit = unit.as_u32() as usize;
            counts[unit] += 1;
            is_mixed |= unit < last;
            last = unit;
        }
        Self::counted(counts, is_mixed, units)
    }

    /// Groups entities by unit, which are counted. `is_mixed` tells that those of a unit are not consecutive.
    fn counted(counts: Vec<u32>, is_mixed: bool, units: impl Iterator<Item = UnitId>) -> Self {
        let (count, mut starts) = (counts.len(), counts);
        starts.push(0);
        let mut before = 0;
        for start in &mut starts {
            before += core::mem::replace(start, before);
        }
        let mixed = is_mixed.then(|| {
            let mut next = starts.clone();
            let mut ids = vec![0; starts[count] as usize];
            let mut places = Vec::with_capacity(ids.len());
            for (id, unit) in units.enumerate() {
                let unit = unit.as_u32() as usize;
                ids[next[unit] as usize] = id as u32;
                places.push(next[unit] - starts[unit]);
                next[unit] += 1;
            }
            (ids, places)
        });
        Self { starts, mixed }
    }

    /// Ids of the entities of a unit.
    pub(super) fn of(&self, unit: UnitId) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        let unit = unit.as_u32() as usize;
        (self.starts[unit]..self.starts[unit + 1]).map(|at| match &self.mixed {
            None => at,
            Some((ids, _)) => ids[at as usize],
        })
    }

    /// Index of an entity within its unit, counted from 0.
    #[inline]
    pub(super) fn place(&self, unit: UnitId, id: u32) -> u32 {
        match &self.mixed {
            None => id - self.starts[unit.as_u32() as usize],
            Some((_, places)) => places[id as usize],
        }
    }

    /// Number of entities of a unit.
    #[inline]
    fn count(&self, unit: UnitId) -> u32 {
        let unit = unit.as_u32() as usize;
        self.starts[unit + 1] - self.starts[unit]
    }
}

/// References to a unit's entries, numbered before they have offsets.
pub(super) struct Numbers<'u> {
    units: &'u Units<'u>,
    pub(super) unit: UnitId,
    of_unit: UnitEntities<'u>,
    /// Unsigned base types of the unit that expressions use: bits and offset in the unit.
    pub(super) unsigned: Vec<(u32, u64)>,
    /// Procedures whose entries have no expression.
    pub(super) without_expression: BTreeSet<ProcedureId>,
}

/// Numbers of a unit's entries, kind by kind.
struct UnitEntities<'u> {
    variables: KindEntities<'u>,
    /// Variables in abstract instances.
    origins: KindEntities<'u>,
    types: KindEntities<'u>,
    functions: KindEntities<'u>,
    procedures: KindEntities<'u>,
    /// Discriminants.
    variant_parts: KindEntities<'u>,
    scopes: KindEntities<'u>,
    count: u32,
}

/// Numbers of the entries of one kind.
struct KindEntities<'u> {
    /// Number of the entry at place 0, less the place of the unit's first entity, modulo 2³².
    from: u32,
    /// Place of each entity; `None` if it is the entity's id.
    places: Option<&'u [u32]>,
}

impl<'u> UnitEntities<'u> {
    fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let mut count = 0;
        let mut next = |kind: &'u ByUnit| {
            let start = if kind.mixed.is_some() { 0 } else { kind.starts[unit.as_u32() as usize] };
            let from = u32::wrapping_sub(count, start);
            count += kind.count(unit);
            KindEntities { from, places: kind.mixed.as_ref().map(|(_, places)| places.as_slice()) }
        };
        Self {
            variables: next(&units.variables),
            origins: next(&units.variables),
            types: next(&units.types),
            functions: next(&units.functions),
            procedures: next(&units.procedures),
            variant_parts: next(&units.variant_parts),
            scopes: next(&units.scopes),
            count,
        }
    }
}

impl KindEntities<'_> {
    #[inline]
    fn of(&self, id: u32) -> EntryRef {
        let place = self.places.map_or(id, |places| places[id as usize]);
        EntryRef(self.from.wrapping_add(place))
    }
}

impl<'u> Numbers<'u> {
    pub(super) fn new(units: &'u Units<'u>, unit: UnitId) -> Self {
        let of_unit = UnitEntities::new(units, unit);
        Self { units, unit, of_unit, unsigned: Vec::new(), without_expression: BTreeSet::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.of_unit.count as usize
    }

    /// Entry with the location of a variable.
    #[inline]
    pub(super) fn variable(&self, id: VariableId) -> EntryRef {
        self.of_unit.variables.of(id.as_u32())
    }

    /// Entry of a variable in the abstract instance, to which the other instances refer.
    #[inline]
    pub(super) fn origin(&self, id: VariableId) -> EntryRef {
        self.of_unit.origins.of(id.as_u32())
    }

    #[inline]
    pub(super) fn ty(&self, id: TypeId) -> EntryRef {
        self.of_unit.types.of(id.as_u32())
    }

    pub(super) fn function(&self, id: FunctionId) -> EntryRef {
        self.of_unit.functions.of(id.as_u32())
    }

    pub(super) fn procedure(&self, id: ProcedureId) -> EntryRef {
        self.of_unit.procedures.of(id.as_u32())
    }

    /// Entry of the discriminant of a variant part.
    pub(super) fn discriminant(&self, id: VariantPartId) -> EntryRef {
        self.of_unit.variant_parts.of(id.as_u32())
    }

    /// Entry of a namespace, or of a block of an abstract instance.
    pub(super) fn scope(&self, id: ScopeId) -> EntryRef {
        self.of_unit.scopes.of(id.as_u32())
    }
}

impl Entries for Numbers<'_> {
    fn entity(&self, entity: Entity) -> Option<UnitEntry> {
        let module = self.units.module;
        let numbers = |unit| UnitEntities::new(self.units, unit);
        let (unit, entry) = match entity {
            Entity::Variable(id) => {
                let unit = module.scopes[module.variables[id].scope].unit;
                (unit, numbers(unit).variables.of(id.as_u32()))
            }
            Entity::Type(id) => {
                let unit = module.types[id].unit;
                (unit, numbers(unit).types.of(id.as_u32()))
            }
            Entity::Procedure(id) => {
                let unit = module.procedures[id].unit;
                (unit, numbers(unit).procedures.of(id.as_u32()))
            }
            Entity::Symbol(..) => return None,
        };
        Some(UnitEntry { unit: unit.as_u32(), entry })
    }

    fn is_in_reach(&self, entry: UnitEntry) -> bool {
        !self.units.consumer.is_split || entry.unit == self.unit.as_u32()
    }

    fn unsigned(&self, bits: u32) -> Option<u64> {
        self.unsigned.iter().find(|&&(has, _)| has == bits).map(|&(_, offset)| offset)
    }

    fn has_expression(&self, procedure: ProcedureId) -> bool {
        !self.without_expression.contains(&procedure)
    }
}

/// Children of each scope, as linked lists in the order of the model.
pub(super) struct Children {
    first_variable: Vec<u32>,
    next_variable: Vec<u32>,
    first_scope: Vec<u32>,
    next_scope: Vec<u32>,
    first_type: Vec<u32>,
    next_type: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// Location lists of a unit, by estimate.
#[derive(Clone, Copy, Default)]
pub(super) struct ListCount {
    pub(super) lists: usize,
    pub(super) entries: usize,
}

impl Children {
    /// Returns the children of each scope, and in the same pass over the variables those of each unit with their lists.
    pub(super) fn new(module: &Module) -> (Self, ByUnit, Vec<ListCount>) {
        let mut children = Self {
            first_variable: vec![NONE; module.scopes.len()],
            next_variable: vec![NONE; module.variables.len()],
            first_scope: vec![NONE; module.scopes.len()],
            next_scope: vec![NONE; module.scopes.len()],
            first_type: vec![NONE; module.scopes.len()],
            next_type: vec![NONE; module.types.len()],
        };
        for (id, ty) in module.types.iter().rev() {
            let first = &mut children.first_type[ty.scope.as_u32() as usize];
            children.next_type[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
        }
        let mut counts = vec![0; module.units.len()];
        let mut lists = vec![ListCount::default(); module.units.len()];
        let (mut is_mixed, mut last) = (false, usize::MAX);
        for (id, variable) in module.variables.iter().rev() {
            let first = &mut children.first_variable[variable.scope.as_u32() as usize];
            children.next_variable[id.as_u32() as usize] = core::mem::replace(first, id.as_u32());
            let unit = module.scopes[variable.scope].unit.as_u32() as usize;
            counts[unit] += 1;
            is_mixed |= unit > last;
            last = unit;
            let entries = variable.live.len();
            lists[unit].lists += usize::from(entries > 0);
            lists[unit].entries += entries;
        }
        let units = module.variables.values().map(|one| module.scopes[one.scope].unit);
        let variables = ByUnit::counted(counts, is_mixed, units);
        for (id, scope) in module.scopes.iter().rev() {
            // The entry of a type writes the type's own scope.
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

    pub(super) fn is_empty(&self, scope: ScopeId) -> bool {
        let index = scope.as_u32() as usize;
        [self.first_variable[index], self.first_scope[index], self.first_type[index]] == [NONE; 3]
    }
}

fn some(number: u32) -> Option<u32> {
    (number != NONE).then_some(number)
}
