//! Types that several units use: each unit has them, or the first unit, to whose types the others refer.
//!
//! Units in files of their own, and type units, cannot refer to other units, so that a module for them has copies.

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};

use super::completed::CompletedTypes;
use super::equal::{CopiedTypes, EqualTypes};
use super::node::{Class, Key};
use crate::model::{FunctionId, ScopeId, TypeId, UnitId, VariableId};
use crate::read::Dwarf;

/// How types that several units use are imported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ImportedTypes {
    /// For each unit that uses them.
    #[default]
    Copied,
    /// Once for each entry: for the entry's unit, or for the first unit that uses the entry of a type unit or a partial
    /// unit. Units that refer to types of each other have copies.
    Shared,
    /// Once for all equal entries.
    Merged,
}

/// Entities of the units so far to which later units can refer, by their entries.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) types: HashMap<Key, TypeId>,
    /// Functions that types declare, and functions of units to whose functions other units refer.
    pub(super) functions: HashMap<Key, FunctionId>,
    /// Blocks of the functions.
    pub(super) scopes: HashMap<Key, ScopeId>,
    /// Static members, variables of the functions, and variables outside functions.
    pub(super) variables: HashMap<Key, VariableId>,
}

impl Shared {
    /// Whether an entry became an entity of an earlier unit.
    pub(super) fn has(&self, class: Class, key: Key) -> bool {
        match class {
            Class::Type => self.types.contains_key(&key),
            Class::Scope => self.functions.contains_key(&key) || self.scopes.contains_key(&key),
            Class::Variable => self.variables.contains_key(&key),
            Class::Other => false,
        }
    }
}

/// The state of types that several units use.
#[derive(Debug, Default)]
pub(super) struct UnitTypes<'o> {
    pub(super) how: ImportedTypes,
    pub(super) shared: Shared,
    /// Units of the module that exist before they are imported, by the offsets of their units.
    pub(super) units: HashMap<u64, UnitId>,
    /// Offsets of the units that are imported.
    pub(super) imported: HashSet<u64>,
    /// Offsets of the units to whose functions and variables other units refer.
    pub(super) of_functions: HashSet<u64>,
    /// Entries that are imported once for several equal entries.
    pub(super) equal: EqualTypes,
    /// Entries of type units that are imported once for each unit.
    pub(super) copied: CopiedTypes,
    /// Indices of the types and namespaces in type units that are not imported for a unit, because equal ones are.
    pub(super) repeated: HashSet<usize>,
    pub(super) completed: RefCell<CompletedTypes<'o>>,
}

impl<'o> UnitTypes<'o> {
    pub(super) fn new(dwarf: &Dwarf<'o>, how: ImportedTypes) -> Self {
        let equal = if how == ImportedTypes::Merged { EqualTypes::new(dwarf) } else { EqualTypes::default() };
        let copied =
            if how == ImportedTypes::Copied { CopiedTypes::new(dwarf) } else { CopiedTypes::default() };
        Self {
            how,
            shared: Shared::default(),
            units: HashMap::new(),
            imported: HashSet::new(),
            of_functions: HashSet::new(),
            equal,
            copied,
            repeated: HashSet::new(),
            completed: CompletedTypes::new(dwarf).into(),
        }
    }
}
