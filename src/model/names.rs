//! Imports and labels.

use super::ids::{FunctionId, ScopeId, StringId, TypeId, VariableId};
use super::scopes::SourceLine;

/// An imported entity: one of another scope that has a name in this scope. DWARF 5 section 3.2.3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The importing scope.
    pub scope: ScopeId,
    /// The imported entity.
    pub what: Imported,
    /// The name in the importing scope, where it differs.
    pub name: Option<StringId>,
    /// Source line of the import.
    pub line: Option<SourceLine>,
}

/// An entity that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Imported {
    /// A function.
    Function(FunctionId),
    /// A variable outside functions.
    Variable(VariableId),
    /// A type.
    Type(TypeId),
    /// A namespace itself, usually under another name: an alias.
    Namespace(ScopeId),
    /// All names of a namespace.
    AllOf(ScopeId),
}

/// A label: a named position in the code. DWARF 5 section 3.6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The scope in which it is declared.
    pub scope: ScopeId,
    /// Its name.
    pub name: StringId,
    /// Pc in bytes from the start of the function; `None` if the optimizer removed the label.
    pub pc: Option<u64>,
    /// Source line of the declaration.
    pub line: Option<SourceLine>,
}
