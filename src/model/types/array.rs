//! Arrays: DWARF 5 sections 5.5 and 5.13.

use crate::model::entities::{dimension_properties, entity};
use crate::model::ids::{LocId, VariableId};

dimension_properties! { entity (pub)
    /// An array dimension.
    #[derive(Copy, Hash)]
    #[non_exhaustive]
    pub struct Dimension {
        /// Element count.
        pub count: Count,
    }
    default {}
}

/// A dimension's element count.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Count {
    /// Unknown: a flexible array.
    Unknown,
    /// A constant number.
    Fixed(u64),
    /// A variable's value.
    Variable(VariableId),
    /// A number ([`Loc::value`](crate::model::Loc::value)), computed where the array is in scope.
    Value(LocId),
}
