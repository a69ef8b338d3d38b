//! Entities of an import, by the entries that they were imported from.

use hashbrown::HashMap;

use crate::model::{EntryPositions, FunctionId, VariableId};

/// Variables and functions of the module, by the offsets of their entries in `.debug_info`, in bytes. Entries of split
/// files are not included.
///
/// An entry that several units use is several entities, and an entity can have several entries: an abstract instance, and
/// the instance with the code.
#[derive(Debug, Clone, Default)]
pub struct ImportedEntries {
    /// Sorted by offset.
    variables: Vec<(u64, VariableId)>,
    functions: Vec<(u64, FunctionId)>,
    /// Positions of the entities of all units so far.
    pub(super) positions: EntryPositions,
    /// Entries of the current unit's static members, each with the number of data members before it.
    pub(super) static_members: Vec<(u64, u32)>,
}

impl ImportedEntries {
    /// Returns no entries, with the positions of the entities of other files.
    pub(super) fn after(positions: EntryPositions) -> Self {
        Self { positions, ..Self::default() }
    }

    /// Adds the entities of a unit.
    pub(super) fn add(&mut self, variables: &HashMap<u64, VariableId>, functions: &HashMap<u64, FunctionId>) {
        self.variables.extend(variables.iter().map(|(key, variable)| (*key, *variable)));
        self.functions.extend(functions.iter().map(|(key, function)| (*key, *function)));
    }

    pub(super) fn sort(&mut self) {
        self.variables.sort_unstable();
        self.functions.sort_unstable();
    }

    /// Returns the variables, parameters and constants that an entry became.
    pub fn variables(&self, entry: u64) -> impl Iterator<Item = VariableId> {
        let first = self.variables.partition_point(|known| known.0 < entry);
        self.variables[first..].iter().take_while(move |known| known.0 == entry).map(|known| known.1)
    }

    /// Returns the functions that an entry became.
    pub fn functions(&self, entry: u64) -> impl Iterator<Item = FunctionId> {
        let first = self.functions.partition_point(|known| known.0 < entry);
        self.functions[first..].iter().take_while(move |known| known.0 == entry).map(|known| known.1)
    }
}
