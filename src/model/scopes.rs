//! Units, blocks, inlined calls and the variables declared in them.

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
        /// The file of its split unit, where it was named: see [`Module::split_names`](super::Module::split_names).
        pub split_name: Option<StringId>,
        /// Its macros, as indices into the module's list.
        pub(crate) macros: Range<u32>,
    }
}

impl Unit {
    /// Whether its language is one in which a function can be declared without a prototype, so that it has to be said
    /// where it has one: C, and OpenCL C. DWARF 5 section 3.3.1.
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
    /// Where in the source a block or a namespace begins.
    pub line: Option<SourceLine>,
    /// Of an inlined call, which of several calls of that line it is, as the rows of the line table tell them
    /// apart; of a block, the discriminator of its instructions. 0 for none.
    pub discriminator: u32,
    /// The block of the inlined function that this block is an instance of.
    pub origin: Option<ScopeId>,
    /// The pc, in bytes from the start of the function, at which it is entered, where that is not its lowest.
    pub entry_pc: Option<u64>,
    /// The function whose code it is in: of what is in no type, which alone is put elsewhere later.
    pub(crate) function: Option<FunctionId>,
    /// Its code: half-open pc ranges, as indices into the module's list. The whole function where there
    /// are none.
    pub(crate) ranges: Range<u32>,
}

impl Scope {
    /// A scope of which nothing else is said.
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

    /// Whether more was said of it than when it was made.
    #[cfg(feature = "json")]
    pub(crate) fn is_described(&self) -> bool {
        self.line.is_some() || self.discriminator != 0 || self.entry_pc.is_some()
    }
}

/// What a scope is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// A unit.
    Unit,
    /// A namespace.
    Namespace {
        /// Its name; `None` for one without.
        name: Option<StringId>,
        /// Whether its names are also names of the scope around it.
        is_inline: bool,
    },
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

variable_properties! { entity
    /// A variable, parameter or constant.
    pub struct Variable {
        /// Its name; `None` for one without, as the text of a string, and for an instance of another.
        pub name: Option<StringId>,
        /// The scope in which it is declared.
        pub scope: ScopeId,
        /// Its type.
        pub ty: TypeId,
        /// What it is.
        pub kind: VariableKind,
        /// The variable of the inlined function that this one is an instance of.
        pub origin: Option<VariableId>,
    }
    default {
        /// Where it is declared.
        pub line: Option<SourceLine>,
        /// The declaration, of a static member or another variable, that this one defines.
        pub specification: Option<VariableId>,
        /// Whether it is declared here and defined elsewhere. A static member always is.
        pub is_declaration: bool,
        /// Whether it is given as a value, and is in no place: the value is what is
        /// [always](super::Module::always) there.
        pub is_constant: bool,
        /// Where it is, wherever its scope is: for what does not move.
        pub(crate) always: Option<LocId>,
        /// Where it is by pc: indices into the module's list, sorted by pc.
        pub(crate) live: Range<u32>,
    }
}

/// A location that others share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Procedure {
    /// The unit.
    pub unit: UnitId,
    /// The location.
    pub loc: LocId,
}
