//! Arrays: DWARF 5 sections 5.5 and 5.13.

use crate::model::ids::{LocId, TypeId, VariableId};

/// A dimension of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// How many elements it has.
    pub count: Count,
    /// The index of the first one; `None` for that of the language (0 for C, and most).
    pub lower: Option<i64>,
    /// The type of an index, if it has one.
    pub index: Option<TypeId>,
}

/// How many elements a dimension has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Count {
    /// Not known: a flexible array.
    Unknown,
    /// So many.
    Fixed(u64),
    /// As many as the variable says.
    Variable(VariableId),
    /// As many as this number ([`Loc::value`](crate::model::Loc::value)), computed where the array is in scope.
    Value(LocId),
}
