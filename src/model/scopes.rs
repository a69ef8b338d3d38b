//! Units, files, scopes and the variables declared in them.

use core::ops::Range;

use super::entities::{entity, unit_properties, variable_properties};
use super::ids::{FileId, FunctionId, LocId, ScopeId, StringId, TypeId, UnitId, VariableId};
use super::language::Language;
use super::loc::Symbol;
use super::types::{Accessibility, MemorySpace};

unit_properties! { entity
    /// A compilation unit.
    pub struct Unit {
        /// The name of its primary source file.
        pub name: StringId,
        /// Its outermost scope.
        pub scope: ScopeId,
        /// Its primary source file.
        pub file: FileId,
    }
    default {
        /// The source language.
        pub language: Option<Language>,
        /// File of its split unit, if set explicitly: see [`Module::split_names`](super::Module::split_names).
        pub split_name: Option<StringId>,
        /// Its macros, as indices into the module's list.
        pub(crate) macros: Range<u32>,
    }
}

impl Unit {
    /// Whether its language has functions without prototypes, so that `DW_AT_prototyped` is needed on functions with
    /// one: C and OpenCL C. DWARF 5 section 3.3.1.
    pub(crate) fn has_prototypes(&self) -> bool {
        let languages = [
            Language::C89,
            Language::C,
            Language::C99,
            Language::C11,
            Language::C17,
            Language::C23,
            Language::OPENCL_C,
        ];
        self.language.is_some_and(|language| languages.contains(&language))
    }
}

/// A source file of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The unit.
    pub unit: UnitId,
    /// Name, relative to the directory.
    pub name: StringId,
    /// Directory, relative to that of the compilation; `None` for the directory of the compilation itself.
    pub directory: Option<StringId>,
    /// MD5 sum of its text.
    pub md5: Option<[u8; 16]>,
    /// Text to embed in the line table.
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

/// A scope of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The unit.
    pub unit: UnitId,
    /// Enclosing scope; `None` for a unit's outermost scope.
    pub parent: Option<ScopeId>,
    /// Kind.
    pub kind: ScopeKind,
    /// Source line where a block or a namespace begins.
    pub line: Option<SourceLine>,
    /// For an inlined call, its number among the calls of that line, as the discriminators of the line table's rows
    /// number them; for a block, the discriminator of its instructions. 0 for none.
    pub discriminator: u32,
    /// The block of the inlined function that this block is an instance of.
    pub origin: Option<ScopeId>,
    /// Entry pc, in bytes from the start of the function, where it is not the scope's lowest pc.
    pub entry_pc: Option<u64>,
    /// Function with its code. Valid outside types only: scopes in types can be moved later.
    pub(crate) function: Option<FunctionId>,
    /// Half-open pc ranges of its code, as indices into the module's list. Empty for the whole function.
    pub(crate) ranges: Range<u32>,
}

impl Scope {
    /// Makes a scope without further properties.
    pub(crate) fn new(unit: UnitId, parent: Option<ScopeId>, kind: ScopeKind) -> Self {
        Self {
            unit,
            parent,
            line: None,
            discriminator: 0,
            origin: None,
            entry_pc: None,
            function: match kind {
                ScopeKind::Function(function) => Some(function),
                _ => None,
            },
            kind,
            ranges: 0..0,
        }
    }

    /// Whether any property was set after the scope was made.
    #[cfg(feature = "json")]
    pub(crate) fn is_described(&self) -> bool {
        self.line.is_some() || self.discriminator != 0 || self.entry_pc.is_some()
    }
}

/// Kind of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// A unit.
    Unit,
    /// A namespace.
    Namespace {
        /// Name; `None` for an unnamed namespace.
        name: Option<StringId>,
        /// Whether its names are also visible in the enclosing scope.
        is_inline: bool,
    },
    /// A function's body.
    Function(FunctionId),
    /// A structure, class or union: the scope of its static members, member functions and nested types.
    Type(TypeId),
    /// A lexical block.
    Block,
    /// The body of a function where it was inlined.
    Inlined {
        /// The function.
        function: FunctionId,
        /// Source line of the call.
        call: SourceLine,
    },
}

/// Address of code or data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// Address of a symbol of the object, plus bytes.
    Symbol(Symbol, u64),
    /// Constant address.
    Constant(u64),
}

/// Kind of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// A variable.
    Variable,
    /// A parameter of a function.
    Parameter,
    /// A named constant.
    Constant,
}

variable_properties! { entity
    /// A variable, parameter or constant.
    pub struct Variable {
        /// Name; `None` for an unnamed variable, such as a string literal, and for an instance of another.
        pub name: Option<StringId>,
        /// The scope in which it is declared.
        pub scope: ScopeId,
        /// Its type.
        pub ty: TypeId,
        /// Kind.
        pub kind: VariableKind,
        /// Variable of the inlined function that this one is an instance of.
        pub origin: Option<VariableId>,
    }
    default {
        /// Source line of the declaration.
        pub line: Option<SourceLine>,
        /// Declaration, of a static member or another variable, that this one defines.
        pub specification: Option<VariableId>,
        /// Whether it is declared here and defined elsewhere. A static member always is.
        pub is_declaration: bool,
        /// Whether it has a value instead of a location: the value is its [fixed location](super::Module::always).
        pub is_constant: bool,
        /// Location in all of its scope, for a variable that does not move.
        pub(crate) always: Option<LocId>,
        /// Live ranges, sorted by pc, as indices into the module's list.
        pub(crate) live: Range<u32>,
    }
}

/// A location that other locations share by calling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// The unit.
    pub unit: UnitId,
    /// The location.
    pub loc: LocId,
}
