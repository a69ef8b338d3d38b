//! Units, files, scopes and the variables declared in them.

use core::ops::Range;

use super::entities::{entity, file_properties, scope_properties, unit_properties, variable_properties};
use super::ids::{FileId, FunctionId, LocId, ProcedureId, ScopeId, StringId, TypeId, UnitId, VariableId};
use super::language::Language;
use super::loc::Symbol;
use super::maps::EntitySet;
use super::types::{Accessibility, MemorySpace};
use super::{Entity, Module, Node};

unit_properties! { entity (pub)
    /// A compilation unit.
    pub struct CompileUnit {
        /// Name of its primary source file.
        pub name: StringId,
        /// Outermost scope.
        pub scope: ScopeId,
        /// Primary source file.
        pub file: FileId,
    }
    default {
        /// Macros, as indices into the module's list.
        pub(crate) macros: Range<u32>,
    }
}

impl CompileUnit {
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

file_properties! { entity (pub)
    /// A unit's source file.
    #[non_exhaustive]
    pub struct File {
        /// The unit.
        pub unit: UnitId,
        /// Name, relative to the directory.
        pub name: StringId,
        /// Directory, relative to the compilation directory; `None` for the compilation directory itself.
        pub directory: Option<StringId>,
    }
    default {}
}

/// A line in a source file: [`new`](Self::new), and [`column`](Self::column) where the column is known.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// The file.
    pub file: FileId,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1; 0 for none.
    pub column: u32,
}

impl SourceLine {
    /// Returns a line, counted from 1, without a column.
    pub fn new(file: FileId, line: u32) -> Self {
        Self { file, line, column: 0 }
    }

    /// Sets the column, counted from 1.
    #[must_use]
    pub fn column(mut self, column: u32) -> Self {
        self.column = column;
        self
    }
}

scope_properties! { entity (pub)
    /// A scope that contains names.
    pub struct Scope {
        /// The unit.
        pub unit: UnitId,
        /// Enclosing scope; `None` for a unit's outermost scope.
        pub parent: Option<ScopeId>,
        /// Kind.
        pub kind: ScopeKind,
        /// Function with its code. Valid outside types only: scopes in types can be moved later.
        pub(crate) function: Option<FunctionId>,
    }
    default {
        /// The inlined function's block that this block is an instance of.
        pub origin: Option<ScopeId>,
        /// Half-open pc ranges of its code, as indices into the module's list. Empty for the whole function.
        pub(crate) ranges: Range<u32>,
    }
}

impl Scope {
    /// Whether any property was set after the scope was made.
    #[cfg(feature = "json")]
    pub(crate) fn is_described(&self) -> bool {
        self.line.is_some() || self.discriminator != 0 || self.entry_pc.is_some()
    }
}

/// Scope kind.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// A unit.
    Unit,
    /// A namespace, or another scope that only names what is in it.
    Namespace {
        /// Name; `None` for an unnamed namespace.
        name: Option<StringId>,
        /// Kind.
        kind: NamespaceKind,
    },
    /// A function's body.
    Function(FunctionId),
    /// A structure, class or union: the scope of its static members, member functions and nested types.
    Type(TypeId),
    /// A lexical block.
    Block,
    /// A function's body where it was inlined.
    Inlined {
        /// The function.
        function: FunctionId,
        /// Source line of the call.
        call: SourceLine,
    },
}

/// Kind of a scope that only names what is in it.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamespaceKind {
    /// A namespace.
    #[default]
    Namespace,
    /// A namespace whose names are also visible in the enclosing scope: C++'s `inline namespace`.
    Inline,
    /// A module, as Fortran's: DWARF 5 section 3.2.1.
    Module,
    /// A Fortran common block, whose variables are static: DWARF 5 section 4.2.
    CommonBlock,
    /// A Fortran namelist, whose items are imports of variables: DWARF 5 section 4.3.
    Namelist,
}

impl NamespaceKind {
    /// Returns the tag of its entry.
    pub(crate) fn tag(self) -> gimli::DwTag {
        match self {
            Self::Namespace | Self::Inline => gimli::DW_TAG_namespace,
            Self::Module => gimli::DW_TAG_module,
            Self::CommonBlock => gimli::DW_TAG_common_block,
            Self::Namelist => gimli::DW_TAG_namelist,
        }
    }

    /// Whether its names are also visible in the enclosing scope, with an attribute that says it.
    pub(crate) fn is_inline(self) -> bool {
        self == Self::Inline
    }

    /// Whether it is a namespace.
    pub(crate) fn is_namespace(self) -> bool {
        matches!(self, Self::Namespace | Self::Inline)
    }
}

/// Code or data address.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// A symbol's address in the object, plus bytes.
    Symbol(Symbol, u64),
    /// Constant address.
    Constant(u64),
}

impl Address {
    /// Returns the address after this number of bytes, modulo 2^64.
    pub(crate) fn plus(self, bytes: u64) -> Self {
        match self {
            Self::Symbol(symbol, by) => Self::Symbol(symbol, by.wrapping_add(bytes)),
            Self::Constant(address) => Self::Constant(address.wrapping_add(bytes)),
        }
    }
}

/// Variable kind.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// A variable.
    Variable,
    /// A function parameter.
    Parameter,
    /// A named constant.
    Constant,
}

variable_properties! { entity (pub)
    /// A variable, parameter or constant.
    pub struct Variable {
        /// Name; `None` for an unnamed variable, such as a string literal, and for an instance of another variable.
        pub name: Option<StringId>,
        /// The scope in which it is declared.
        pub scope: ScopeId,
        /// Type.
        pub ty: TypeId,
        /// Kind.
        pub kind: VariableKind,
        /// The inlined function's variable that this variable is an instance of.
        pub origin: Option<VariableId>,
    }
    default {
        /// Declaration, as a static member or elsewhere, that this variable defines.
        pub specification: Option<VariableId>,
        /// Whether it is declared here and defined elsewhere. A static member always is.
        pub is_declaration: bool,
        /// Whether it has a value instead of a location: the value is its [fixed location](super::Module::always).
        pub is_constant: bool,
        /// Location in its whole scope, for a variable that does not move.
        pub(crate) always: Option<LocId>,
        /// Live ranges, sorted by pc, as indices into the module's list.
        pub(crate) live: Range<u32>,
    }
}

impl Module {
    /// Procedures that a location or a raw expression calls.
    pub(crate) fn called_procedures(&self) -> EntitySet<ProcedureId> {
        let called = self.locs.ids().flat_map(|loc| self.nodes(loc)).filter_map(|node| match node {
            Node::Call(procedure) => Some(procedure),
            _ => None,
        });
        let referenced =
            self.exprs.iter().flat_map(|(_, entities)| entities).filter_map(|entity| match entity {
                Entity::Procedure(procedure) => Some(*procedure),
                _ => None,
            });
        let mut entities = EntitySet::new();
        for procedure in called.chain(referenced) {
            entities.insert(procedure);
        }
        entities
    }
}

/// A location that other locations share by calling it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Procedure {
    /// The unit.
    pub unit: UnitId,
    /// The location.
    pub loc: LocId,
}
