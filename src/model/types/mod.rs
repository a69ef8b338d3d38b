//! Types of the source language.

mod array;
mod base;
mod composite;
#[cfg(feature = "spirv")]
mod part;
mod template;

pub use array::{Count, Dimension};
pub use base::{Accessibility, BaseEncoding, MemorySpace, PointerKind, Qualifier};
pub use composite::{
    Base, BaseOffset, Composite, CompositeKind, Discriminant, Member, Passed, Variant, VariantPart,
    VariantValues,
};
#[cfg(feature = "spirv")]
pub(crate) use part::Part;
pub use template::{TemplateArgument, TemplateParameter};

use super::Module;
use super::ids::{LocId, ScopeId, StringId, TypeId, UnitId};
use super::scopes::SourceLine;
use crate::target::SpaceId;

/// A type, of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Type {
    pub(crate) unit: UnitId,
    pub(crate) kind: TypeKind,
    /// The size in bits; `None` where it has none (functions, incomplete types).
    pub(crate) bits: Option<u64>,
    /// As many of them as have a meaning: a vector of three elements has the size of one of four.
    pub(crate) value_bits: Option<u64>,
    /// Where it is declared: the unit, a namespace, function, block or composite type.
    pub(crate) scope: ScopeId,
    pub(crate) line: Option<SourceLine>,
    /// Bytes of which its address is a multiple, where that is said.
    pub(crate) alignment: Option<u64>,
    pub(crate) is_declaration: bool,
}

/// What a type is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A number, character or truth value.
    Base {
        /// Its name.
        name: StringId,
        /// How it is read.
        encoding: BaseEncoding,
    },
    /// A type of which nothing but the name is known, as that of C++'s `nullptr`.
    Unspecified {
        /// Its name.
        name: StringId,
    },
    /// A pointer or reference.
    Pointer {
        /// Which of them it is.
        kind: PointerKind,
        /// What it points to; `None` for `void`.
        to: Option<TypeId>,
        /// The address space that it points into.
        space: SpaceId,
        /// The memory that the source says it points into.
        memory: Option<MemorySpace>,
    },
    /// A pointer to a member of a class: C++'s `T C::*`.
    MemberPointer {
        /// The class.
        class: TypeId,
        /// The type of the member, that of a function for a member function.
        to: TypeId,
    },
    /// An array.
    Array {
        /// The type of an element.
        of: TypeId,
        /// The dimensions, the outermost first.
        dimensions: Vec<Dimension>,
        /// Bits from one element to the next, where that is not the size of an element.
        stride_bits: Option<u64>,
    },
    /// A vector, as OpenCL's `float4`.
    Vector {
        /// The type of an element.
        of: TypeId,
        /// How many elements.
        count: u64,
    },
    /// A matrix, as GLSL's `mat4`. To DWARF it is an array of vectors: it has no matrices.
    Matrix {
        /// The type of a column, or of a row: a vector.
        of: TypeId,
        /// How many of them.
        count: u64,
        /// Whether a vector is a column; else it is a row.
        is_column_major: bool,
    },
    /// A structure, class or union.
    Composite(Composite),
    /// An enumeration.
    Enum {
        /// Its name, if any.
        name: Option<StringId>,
        /// The type of its values.
        of: TypeId,
        /// Names and values.
        enumerators: Vec<(StringId, i128)>,
        /// Whether the names are in a scope of their own: C++'s `enum class`.
        is_class: bool,
    },
    /// Another name for a type.
    Typedef {
        /// The name.
        name: StringId,
        /// The type; `None` for `void`.
        of: Option<TypeId>,
    },
    /// A qualified type.
    Qualified {
        /// The qualifier.
        qualifier: Qualifier,
        /// The type; `None` for `void`.
        of: Option<TypeId>,
    },
    /// The type of a function.
    Subroutine {
        /// What it returns; `None` for nothing.
        returns: Option<TypeId>,
        /// What it takes.
        parameters: Vec<TypeId>,
    },
}

impl TypeKind {
    /// Whether it is a base type, which expressions can name.
    pub(crate) fn is_base(&self) -> bool {
        matches!(self, Self::Base { .. })
    }
}

impl Type {
    /// The unit that the type belongs to.
    pub fn unit(&self) -> UnitId {
        self.unit
    }

    /// What it is.
    pub fn kind(&self) -> &TypeKind {
        &self.kind
    }

    /// The size in bits; `None` where it has none or it is not known.
    pub fn bits(&self) -> Option<u64> {
        self.bits
    }

    /// The bits that have a meaning, from the first on: all, but of a vector of three elements those of
    /// three, though it has the size of one of four. So many are in a variable's location.
    pub fn value_bits(&self) -> Option<u64> {
        self.value_bits
    }

    /// The scope in which it is declared: a unit, namespace, function, block or composite type.
    pub fn scope(&self) -> ScopeId {
        self.scope
    }

    /// Where it is declared in the source.
    pub fn line(&self) -> Option<SourceLine> {
        self.line
    }

    /// Bytes of which the address of what has the type is a multiple, where that is said.
    pub fn alignment(&self) -> Option<u64> {
        self.alignment
    }

    /// How objects of a structure, class or union are given to functions, where that is said.
    pub fn passed(&self) -> Option<Passed> {
        self.composite().and_then(|composite| composite.passed)
    }

    /// Whether it is incomplete: declared here and defined elsewhere.
    pub fn is_declaration(&self) -> bool {
        self.is_declaration
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<StringId> {
        match &self.kind {
            TypeKind::Base { name, .. } | TypeKind::Typedef { name, .. } | TypeKind::Unspecified { name } => {
                Some(*name)
            }
            TypeKind::Enum { name, .. } => *name,
            TypeKind::Composite(composite) => composite.name,
            _ => None,
        }
    }

    /// Its own scope, if it is a structure, class or union.
    pub fn own_scope(&self) -> Option<ScopeId> {
        self.composite().map(|composite| composite.scope)
    }

    /// Gives the types that are inside of this one, in order.
    pub(crate) fn contained(&self, module: &Module, mut each: impl FnMut(TypeId)) {
        match &self.kind {
            TypeKind::Composite(composite) => {
                composite.bases.iter().for_each(|base| each(base.ty));
                composite.all_members(module).for_each(|member| each(member.ty));
            }
            TypeKind::Array { of, .. }
            | TypeKind::Vector { of, .. }
            | TypeKind::Matrix { of, .. }
            | TypeKind::Enum { of, .. } => each(*of),
            TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => {
                of.iter().copied().for_each(each)
            }
            _ => {}
        }
    }

    /// Gives the types that this one refers to, in any way.
    pub(crate) fn referred(&self, module: &Module, mut each: impl FnMut(TypeId)) {
        match &self.kind {
            TypeKind::Base { .. } | TypeKind::Unspecified { .. } => {}
            TypeKind::Pointer { to: of, .. }
            | TypeKind::Typedef { of, .. }
            | TypeKind::Qualified { of, .. } => of.iter().copied().for_each(each),
            TypeKind::MemberPointer { class, to } => [*class, *to].into_iter().for_each(each),
            TypeKind::Array { of, dimensions, .. } => {
                each(*of);
                dimensions.iter().filter_map(|dimension| dimension.index).for_each(each);
            }
            TypeKind::Vector { of, .. } | TypeKind::Matrix { of, .. } | TypeKind::Enum { of, .. } => {
                each(*of)
            }
            TypeKind::Composite(composite) => {
                composite.templates.iter().for_each(|parameter| parameter.types(&mut each));
                composite.bases.iter().for_each(|base| each(base.ty));
                composite.all_members(module).for_each(|member| each(member.ty));
                for &part in &composite.variant_parts {
                    if let Discriminant::Type(ty) = module.variant_parts[part].discriminant {
                        each(ty);
                    }
                }
            }
            TypeKind::Subroutine { returns, parameters } => {
                returns.iter().chain(parameters).copied().for_each(each);
            }
        }
    }

    /// Where it and its members are declared.
    pub(crate) fn lines<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = SourceLine> + 'm {
        let members = self.composite().into_iter().flat_map(move |composite| composite.all_members(module));
        members.filter_map(|member| member.line).chain(self.line)
    }

    /// The numbers and values of arrays and of templates' parameters.
    pub(crate) fn locs(&self) -> Vec<LocId> {
        let mut all = Vec::new();
        match &self.kind {
            TypeKind::Array { dimensions, .. } => {
                all.extend(dimensions.iter().filter_map(|dimension| match dimension.count {
                    Count::Value(loc) => Some(loc),
                    _ => None,
                }));
            }
            TypeKind::Composite(composite) => {
                composite.templates.iter().for_each(|parameter| parameter.locs(&mut all));
                all.extend(composite.bases.iter().filter_map(|base| match base.offset {
                    BaseOffset::Expr(loc) => Some(loc),
                    BaseOffset::Bytes(_) => None,
                }));
            }
            _ => {}
        }
        all
    }

    fn composite(&self) -> Option<&Composite> {
        match &self.kind {
            TypeKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }
}
