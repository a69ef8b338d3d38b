//! Units, functions, blocks, inlined calls and what is declared in them.

use core::ops::Range;

use super::frame::Stack;
use super::ids::{FileId, FunctionId, LocId, ScopeId, StringId, TypeId, UnitId};
use super::loc::Symbol;
use super::types::{Accessibility, MemorySpace};

/// A compilation unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The name of its primary source file.
    pub name: StringId,
    /// The directory of the compilation.
    pub directory: Option<StringId>,
    /// The compiler.
    pub producer: Option<StringId>,
    /// The source language, a number `DW_LANG_*`.
    pub language: Option<u16>,
    /// Its outermost scope.
    pub scope: ScopeId,
    /// Its primary source file.
    pub file: FileId,
    /// Its macros, as indices into the module's list.
    pub(crate) macros: Range<u32>,
}

/// A source file of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The unit.
    pub unit: UnitId,
    /// Its name, relative to the directory.
    pub name: StringId,
    /// Its directory, relative to that of the compilation; `None` for that one.
    pub directory: Option<StringId>,
    /// The MD5 sum of its text.
    pub md5: Option<[u8; 16]>,
    /// Its text, to be embedded.
    pub source: Option<StringId>,
}

/// A line of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file.
    pub file: FileId,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1; 0 for none.
    pub column: u32,
}

/// A scope: where names are declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The unit.
    pub unit: UnitId,
    /// The scope around it; `None` for the unit's own.
    pub parent: Option<ScopeId>,
    /// What it is.
    pub kind: ScopeKind,
    /// Its code: half-open pc ranges, as indices into the module's list. The whole function where there
    /// are none.
    pub(crate) ranges: Range<u32>,
}

/// What a scope is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// A unit.
    Unit,
    /// A namespace.
    Namespace(StringId),
    /// A function's body.
    Function(FunctionId),
    /// A structure, class or union: static members, member functions and nested types are declared in it.
    Type(TypeId),
    /// A lexical block.
    Block,
    /// The body of a function where it was inlined.
    Inlined {
        /// The function.
        function: FunctionId,
        /// Where it was called.
        call: SourceLine,
    },
}

/// Where code or data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// At a symbol of the object, plus bytes.
    Symbol(Symbol, u64),
    /// At this address.
    Constant(u64),
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: StringId,
    /// The name that the linker knows, where it is another.
    pub linkage_name: Option<StringId>,
    /// The scope of its body.
    pub scope: ScopeId,
    /// What it returns; `None` for nothing.
    pub returns: Option<TypeId>,
    /// Where it is declared.
    pub line: Option<SourceLine>,
    /// Where its code is; `None` if it was only inlined.
    pub address: Option<Address>,
    /// Bytes of its code.
    pub bytes: u64,
    /// Whether it is seen outside of its unit.
    pub is_external: bool,
    /// Whether it is entered from the host.
    pub is_kernel: bool,
    /// Its stack frame in private memory.
    pub stack: Stack,
    /// Its line table, as indices into the module's rows.
    pub(crate) rows: Range<u32>,
    /// Whether it was inlined somewhere.
    pub(crate) is_inlined: bool,
}

/// What kind of variable it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// A variable.
    Variable,
    /// A parameter of a function.
    Parameter,
    /// A named constant.
    Constant,
}

/// A variable, parameter or constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name; `None` for a parameter without one.
    pub name: Option<StringId>,
    /// The scope in which it is declared.
    pub scope: ScopeId,
    /// Its type.
    pub ty: TypeId,
    /// What it is.
    pub kind: VariableKind,
    /// Where it is declared.
    pub line: Option<SourceLine>,
    /// The variable of the inlined function that this one is an instance of.
    pub origin: Option<super::VariableId>,
    /// The static member, declared in a class, that this one is the definition of.
    pub specification: Option<super::VariableId>,
    /// Who may name a static member; `None` for what the language says.
    pub accessibility: Option<Accessibility>,
    /// The memory that the source says it is in.
    pub memory_space: Option<MemorySpace>,
    /// Whether it was made by the compiler.
    pub is_artificial: bool,
    /// Whether it is seen outside of its unit.
    pub is_external: bool,
    /// Where it is, wherever its scope is: for what does not move.
    pub(crate) always: Option<LocId>,
    /// Where it is by pc: indices into the module's list, sorted by pc.
    pub(crate) live: Range<u32>,
}

/// A location that others share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// The unit.
    pub unit: UnitId,
    /// The location.
    pub loc: LocId,
}
