//! Entities and units that were matched with entries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use hashbrown::{HashMap, HashSet};

use super::describe::Describe;
use super::report::FindingKind;
use super::tree::{Different, Entity, Reference};
use crate::model::{ScopeId, TypeId, UnitId, VariableId};
use crate::read::{Dwarf, Entry};

/// Entities and their entries.
#[derive(Default)]
pub(super) struct Known {
    /// Entities, each with the index of its entry.
    entries: HashMap<Entity, u32>,
    /// Scopes and their entries' indices: a scope in an inlined function has an entry in the abstract instance and an
    /// entry in the code.
    scopes: BTreeSet<(ScopeId, u32)>,
    /// Pairs of a type and an entry that match, where an entity has the type.
    pub(super) types: BTreeSet<(TypeId, u64)>,
    /// Pairs of a type and an entry that are equal, with all types that they refer to.
    pub(super) equal_types: HashSet<(TypeId, u64)>,
    /// Pairs of a type and an entry with their first difference.
    pub(super) different_types: HashMap<(TypeId, u64), Different>,
    pub(super) type_entries: BTreeSet<u64>,
    /// Units by their offsets in lookup tables: for a split unit, its skeleton's offset.
    pub(super) units: BTreeMap<u64, UnitId>,
}

impl Known {
    /// Continues with another file: only units are known in all files.
    pub(super) fn begin_file(&mut self) {
        let units = core::mem::take(&mut self.units);
        // Lookup tables are in one file and refer to all units.
        *self = Self { units, ..Self::default() };
    }

    pub(super) fn add(&mut self, entity: Entity, entry: Entry<'_, '_>) {
        self.entries.insert(entity, entry.index() as u32);
    }

    pub(super) fn add_scope(&mut self, scope: ScopeId, entry: Entry<'_, '_>) {
        self.scopes.insert((scope, entry.index() as u32));
    }

    /// Whether an entry belongs to a scope.
    pub(super) fn is_scope(&self, scope: ScopeId, entry: Entry<'_, '_>) -> bool {
        self.scopes.contains(&(scope, entry.index() as u32))
    }

    /// Indices of an entity's entries.
    fn entries_of(&self, entity: Entity) -> Vec<u32> {
        let entry_index = |entity| self.entries.get(&entity).copied();
        match entity {
            Entity::Either(id) => {
                [Entity::Variable(id), Entity::Abstract(id)].into_iter().filter_map(entry_index).collect()
            }
            Entity::Inside(id) => {
                self.scopes.range((id, 0)..=(id, u32::MAX)).map(|&(_, index)| index).collect()
            }
            entity => entry_index(entity).into_iter().collect(),
        }
    }

    /// Returns the difference if a reference leads to another entry.
    pub(super) fn differs(
        &self,
        dwarf: &Dwarf<'_>,
        Reference { attribute, entity, found }: Reference<'_, '_>,
    ) -> Option<(FindingKind, Different)> {
        let known = self.entries_of(entity);
        if found.is_some_and(|entry| known.contains(&(entry.index() as u32))) {
            return None;
        }
        // These entities come from an array's count or a type's scope, so that the difference is the type's.
        let is_of_type = matches!(entity, Entity::Either(_) | Entity::Inside(_));
        let kind = if is_of_type { FindingKind::Type } else { FindingKind::Attribute };
        let subject = attribute.map_or_else(|| "a type in".into(), |name| name.describe());
        let expected = known.first().and_then(|&index| dwarf.entry_with_index(index as usize));
        Some((kind, (format!("{subject} {}", expected.describe()), found.describe())))
    }

    /// Offset of the entry with a variable's location.
    pub(super) fn variable(&self, dwarf: &Dwarf<'_>, id: VariableId) -> Option<u64> {
        let &index = self.entries.get(&Entity::Variable(id))?;
        Some(dwarf.entry_with_index(index as usize)?.offset())
    }
}

/// Split units, and the object with their skeletons.
pub(super) struct Split<'a, 'o> {
    pub(super) main: Option<&'a Dwarf<'o>>,
    /// Skeletons, and whether each is matched with a split unit.
    pub(super) skeletons: Vec<(&'a crate::read::Unit<'o>, bool)>,
    /// Indices of the skeletons that are not matched, by their numbers. Units with equal contents have equal numbers.
    pub(super) unmatched: HashMap<Option<u64>, VecDeque<usize>>,
    /// The current file's skeletons, by their split units' offsets.
    pub(super) of_file: BTreeMap<u64, &'a crate::read::Unit<'o>>,
    /// Whether this is the first file, with which those table parts are compared that belong to no unit.
    pub(super) is_first: bool,
    pub(super) names: &'a [String],
}
