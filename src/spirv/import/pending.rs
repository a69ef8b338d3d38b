//! Entities that are to be made, and those that await others.

use hashbrown::{HashMap, HashSet};

use crate::model::{TypeId, UnitId};
use crate::spirv::words::Id;

/// An entity to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A type, for a unit.
    Type(Id, UnitId),
    /// A function or its declaration, a block, a namespace.
    Scope(Id),
    /// A variable, or a static member.
    Variable(Id),
    /// A parameter of a function, by index from 0.
    Parameter(Id, u32),
}

/// Entities that are being made, and what they await.
#[derive(Default)]
pub(super) struct Pending {
    /// Nodes that were made, could not be made, or are being made.
    pub seen: HashSet<Node>,
    /// Composite types whose members are not described yet.
    pub composites: Vec<(Id, UnitId, TypeId)>,
    /// Computed offsets in bits, for members without an offset in the module.
    pub offsets: HashMap<(Id, UnitId), u64>,
    /// Types that are declared in another scope than a unit.
    pub within: Vec<(Id, TypeId)>,
}
