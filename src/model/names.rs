//! Names that stand for something elsewhere: imports, and labels.

use super::ids::{FunctionId, ScopeId, StringId, TypeId, VariableId};
use super::scopes::SourceLine;

/// Something of another scope that has a name in this one. DWARF 5 section 3.2.3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The scope in which it has the name.
    pub scope: ScopeId,
    /// What.
    pub what: Imported,
    /// The name, where it is another.
    pub name: Option<StringId>,
    /// Where this is said.
    pub line: Option<SourceLine>,
}

/// What can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Imported {
    /// A function.
    Function(FunctionId),
    /// A variable that is in no function.
    Variable(VariableId),
    /// A type.
    Type(TypeId),
    /// A namespace: that itself, mostly by another name.
    Namespace(ScopeId),
    /// All names of a namespace.
    AllOf(ScopeId),
}

/// A place in the code that has a name. DWARF 5 section 3.6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The scope in which it is declared.
    pub scope: ScopeId,
    /// Its name.
    pub name: StringId,
    /// Where, in bytes from the start of the function; `None` if nothing is left of it.
    pub pc: Option<u64>,
    /// Where it is declared.
    pub line: Option<SourceLine>,
}
