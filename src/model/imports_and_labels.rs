//! Imports and labels.

use super::entities::{entity, import_properties, label_properties};
use super::ids::{FunctionId, ScopeId, StringId, TypeId, VariableId};

import_properties! { entity (pub)
    /// An imported entity: an entity in another scope that has a name in this scope. DWARF 5 section 3.2.3.
    #[non_exhaustive]
    pub struct Import {
        /// The importing scope.
        pub scope: ScopeId,
        /// The imported entity.
        pub what: Imported,
    }
    default {}
}

/// An entity that can be imported.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Imported {
    /// A function.
    Function(FunctionId),
    /// A variable outside functions.
    Variable(VariableId),
    /// A type.
    Type(TypeId),
    /// A data member outside variant parts, by its index in a structure, class or union: C++'s `using Base::member`.
    Member(TypeId, u32),
    /// An enumerator, by its index in the enumeration: C++'s `using enum Color`.
    Enumerator(TypeId, u32),
    /// A namespace itself, usually under another name: an alias.
    Namespace(ScopeId),
    /// All names in a namespace.
    AllOf(ScopeId),
}

label_properties! { entity (pub)
    /// A label: a named position in the code. DWARF 5 section 3.6.
    #[non_exhaustive]
    pub struct Label {
        /// The scope in which it is declared.
        pub scope: ScopeId,
        /// Name.
        pub name: StringId,
    }
    default {}
}
