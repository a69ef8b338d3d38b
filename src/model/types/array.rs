//! Arrays: DWARF 5 sections 5.5 and 5.13.

use crate::model::ids::{LocId, TypeId, VariableId};

/// A dimension of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// Number of elements.
    pub count: Count,
    /// Index of the first element; `None` for the language's default (0 for C and most languages).
    pub lower: Option<i64>,
    /// Type of an index, if described.
    pub index: Option<TypeId>,
}

/// Number of elements of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Count {
    /// Unknown: a flexible array.
    Unknown,
    /// A constant number.
    Fixed(u64),
    /// The value of a variable.
    Variable(VariableId),
    /// A number ([`Loc::value`](crate::model::Loc::value)), computed where the array is in scope.
    Value(LocId),
}
