//! The source language's types.

mod array;
mod base;
mod composite;
#[cfg(feature = "spirv")]
mod part;
mod template;

pub use array::{Count, Dimension};
pub use base::{Accessibility, BaseEncoding, MemorySpace, PointerKind, Qualifier};
pub use composite::{
    Base, BaseOffset, CompositeKind, CompositeType, Discriminant, Member, Passed, Variant, VariantPart,
    VariantValues,
};
#[cfg(feature = "spirv")]
pub(crate) use part::Part;
pub use template::{TemplateArgument, TemplateParameter};

use super::Module;
use super::entities::{entity, type_properties};
use super::equality::{Canonical, Store};
use super::ids::{LocId, ScopeId, StringId, TypeId, UnitId};
use super::scopes::SourceLine;
use crate::target::SpaceId;

type_properties! { entity (pub(crate))
    /// A unit's type.
    pub struct Type {
        pub(crate) unit: UnitId,
        pub(crate) kind: TypeKind,
        /// Size in bits; `None` for types without a size (functions, incomplete types).
        pub(crate) bits: Option<u64>,
        /// Size in bits without padding at the end. With padding, a three-element vector is as large as a four-element
        /// vector.
        pub(crate) value_bits: Option<u64>,
        /// Scope of the declaration: a unit, namespace, function, block or composite type.
        pub(crate) scope: ScopeId,
    }
    default {
        pub(crate) is_declaration: bool,
    }
}

/// Type kind.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// A number, character or truth value.
    Base {
        /// Name.
        name: StringId,
        /// Encoding of its bits.
        encoding: BaseEncoding,
    },
    /// An unspecified type, which has only a name, such as C++'s `nullptr_t`.
    Unspecified {
        /// Name.
        name: StringId,
    },
    /// A string: characters as one value, as Fortran's `character`. DWARF 5 section 5.11.
    String {
        /// Name, if any.
        name: Option<StringId>,
    },
    /// A part of a type's values, from a lower to an upper bound: Ada's `range`, Pascal's and Modula-2's `0 .. 9`. The bounds
    /// are attributes of the type. DWARF 5 section 5.13.
    Subrange {
        /// Name, if any.
        name: Option<StringId>,
        /// Type of its values; `None` where it is not described.
        of: Option<TypeId>,
    },
    /// A set of a type's values: Pascal's and Modula-2's `set of`. DWARF 5 section 5.11.
    Set {
        /// Name, if any.
        name: Option<StringId>,
        /// Type of its elements, usually a subrange or enumeration; `None` where it is not described.
        of: Option<TypeId>,
    },
    /// A pointer or reference.
    Pointer {
        /// Pointer or reference kind.
        kind: PointerKind,
        /// The object's type; `None` for `void`.
        to: Option<TypeId>,
        /// The object's address space.
        space: SpaceId,
        /// The object's memory, as declared in the source.
        memory: Option<MemorySpace>,
    },
    /// A pointer to a class member: C++'s `T C::*`.
    MemberPointer {
        /// The class.
        class: TypeId,
        /// The member's type; a function type for a member function.
        to: TypeId,
    },
    /// An array.
    Array {
        /// Element type.
        of: TypeId,
        /// The dimensions, the outermost first.
        dimensions: Vec<Dimension>,
        /// Distance between elements in bits, where it differs from the element's size.
        stride_bits: Option<u64>,
    },
    /// A vector, such as OpenCL's `float4`.
    Vector {
        /// Element type.
        of: TypeId,
        /// Element count.
        count: u64,
        /// Whether three elements occupy as many bits as three, as WGSL's `vec3` does, instead of the usual four.
        is_packed: bool,
    },
    /// A matrix, such as GLSL's `mat4`. DWARF has no matrices, so that it is an array of vectors there.
    Matrix {
        /// Column or row type: a vector.
        of: TypeId,
        /// Column or row count.
        count: u64,
        /// Whether the vectors are columns; otherwise they are rows.
        is_column_major: bool,
        /// Distance between the vectors in bits, where it differs from a vector's size.
        stride_bits: Option<u64>,
    },
    /// A cooperative matrix, SPIR-V's `OpTypeCooperativeMatrixKHR`: the invocations in a scope share its elements. It
    /// has no size, because the implementation chooses each invocation's elements.
    CooperativeMatrix {
        /// Element type.
        of: TypeId,
        /// SPIR-V's number for the scope whose invocations share the matrix, such as 2 for a workgroup and 3 for a
        /// subgroup.
        scope: u32,
        /// Row count.
        rows: u32,
        /// Column count.
        columns: u32,
        /// SPIR-V's number for the use: 0 for matrix A, 1 for matrix B, 2 for the accumulator.
        usage: u32,
    },
    /// A structure, class or union.
    Composite(CompositeType),
    /// An enumeration.
    Enum {
        /// Name, if any.
        name: Option<StringId>,
        /// Type of its values; `None` where only their size is described.
        of: Option<TypeId>,
        /// Names and values.
        enumerators: Vec<(StringId, i128)>,
        /// Whether the enumerators have a separate scope: C++'s `enum class`.
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
    /// A function type.
    Subroutine {
        /// Result type; `None` for `void`.
        returns: Option<TypeId>,
        /// Parameter types.
        parameters: Vec<TypeId>,
        /// Whether functions of the type take more arguments than they have parameters.
        is_variadic: bool,
    },
}

/// Type kinds with their entries' tags: DWARF 5 section 7.3, table 7.3.
macro_rules! tags { ($($kind:pat => $tag:ident;)*) => {
    /// Returns whether a type that a module can describe has the tag.
    pub(crate) fn is_type_tag(tag: gimli::DwTag) -> bool {
        matches!(tag, $(gimli::$tag)|*)
    }

    impl TypeKind {
        /// Returns the tag of the type's entry.
        pub(crate) fn tag(&self) -> gimli::DwTag {
            match self { $($kind => gimli::$tag,)* }
        }
    }
} }
tags! {
    TypeKind::Base { .. } => DW_TAG_base_type;
    TypeKind::Unspecified { .. } | TypeKind::CooperativeMatrix { .. } => DW_TAG_unspecified_type;
    TypeKind::String { .. } => DW_TAG_string_type;
    TypeKind::Subrange { .. } => DW_TAG_subrange_type;
    TypeKind::Set { .. } => DW_TAG_set_type;
    TypeKind::Pointer { kind: PointerKind::Pointer, .. } => DW_TAG_pointer_type;
    TypeKind::Pointer { kind: PointerKind::Reference, .. } => DW_TAG_reference_type;
    TypeKind::Pointer { kind: PointerKind::RvalueReference, .. } => DW_TAG_rvalue_reference_type;
    TypeKind::MemberPointer { .. } => DW_TAG_ptr_to_member_type;
    TypeKind::Array { .. } | TypeKind::Vector { .. } | TypeKind::Matrix { .. } => DW_TAG_array_type;
    TypeKind::Composite(CompositeType { kind: CompositeKind::Struct, .. }) => DW_TAG_structure_type;
    TypeKind::Composite(CompositeType { kind: CompositeKind::Class, .. }) => DW_TAG_class_type;
    TypeKind::Composite(CompositeType { kind: CompositeKind::Union, .. }) => DW_TAG_union_type;
    TypeKind::Enum { .. } => DW_TAG_enumeration_type;
    TypeKind::Typedef { .. } => DW_TAG_typedef;
    TypeKind::Qualified { qualifier: Qualifier::Const, .. } => DW_TAG_const_type;
    TypeKind::Qualified { qualifier: Qualifier::Volatile, .. } => DW_TAG_volatile_type;
    TypeKind::Qualified { qualifier: Qualifier::Restrict, .. } => DW_TAG_restrict_type;
    TypeKind::Qualified { qualifier: Qualifier::Atomic, .. } => DW_TAG_atomic_type;
    TypeKind::Subroutine { .. } => DW_TAG_subroutine_type;
}

impl Store for TypeKind {
    fn store(&mut self, to: &mut Canonical<'_>) {
        match self {
            Self::Base { name, .. } | Self::Unspecified { name } => name.store(to),
            Self::String { name } => name.store(to),
            Self::Composite(composite) => composite.store(to),
            Self::Array { of, dimensions, .. } => {
                of.store(to);
                dimensions.store(to);
            }
            Self::Enum { name, of, enumerators, .. } => {
                name.store(to);
                of.store(to);
                enumerators.store(to);
            }
            Self::Subrange { name, of } | Self::Set { name, of } => {
                name.store(to);
                of.store(to);
            }
            Self::Typedef { name, of } => {
                name.store(to);
                of.store(to);
            }
            Self::Pointer { to: of, .. } | Self::Qualified { of, .. } => of.store(to),
            Self::MemberPointer { class, to: of } => {
                class.store(to);
                of.store(to);
            }
            Self::Vector { of, .. } | Self::Matrix { of, .. } | Self::CooperativeMatrix { of, .. } => {
                of.store(to);
            }
            Self::Subroutine { returns, parameters, is_variadic: _ } => {
                returns.store(to);
                parameters.store(to);
            }
        }
    }
}

/// Equal elements in a row, at equal distances.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elements {
    /// Element type.
    pub of: TypeId,
    /// Element count.
    pub count: u64,
    /// Distance between the elements in bits, where it differs from an element's size.
    pub stride_bits: Option<u64>,
}

impl TypeKind {
    /// Returns the elements if the kind consists of a fixed number of elements: their selection, the types that they
    /// contain and reference, and the array that stands for them in SPIR-V follow from this row.
    pub(crate) fn elements(&self) -> Option<Elements> {
        match *self {
            Self::Vector { of, count, .. } => Some(Elements { of, count, stride_bits: None }),
            Self::Matrix { of, count, stride_bits, .. } => Some(Elements { of, count, stride_bits }),
            _ => None,
        }
    }

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

    /// Returns the type's kind.
    pub fn kind(&self) -> &TypeKind {
        &self.kind
    }

    /// Returns the size in bits; `None` for a type without a size or with an unknown size.
    pub fn bits(&self) -> Option<u64> {
        self.bits
    }

    /// Returns the size in bits without padding at the end: three elements for a three-element vector, although the
    /// vector is as large as a four-element vector. A variable's location has at least this many bits; where it has no
    /// more bits, the builder appends an undefined part for the padding.
    pub fn value_bits(&self) -> Option<u64> {
        self.value_bits
    }

    /// Returns the scope of the declaration: a unit, namespace, function, block or composite type.
    pub fn scope(&self) -> ScopeId {
        self.scope
    }

    /// Returns the source line of the declaration.
    pub fn line(&self) -> Option<SourceLine> {
        self.line
    }

    /// Alignment in bytes, if described.
    pub fn alignment(&self) -> Option<u64> {
        self.alignment
    }

    /// Returns how a structure, class or union is passed to functions, if described.
    pub fn passed(&self) -> Option<Passed> {
        self.composite().and_then(|composite| composite.passed)
    }

    /// Whether it is incomplete: declared here and defined elsewhere.
    pub fn is_declaration(&self) -> bool {
        self.is_declaration
    }

    /// Name, if it has one.
    pub fn name(&self) -> Option<StringId> {
        match &self.kind {
            TypeKind::Base { name, .. } | TypeKind::Typedef { name, .. } | TypeKind::Unspecified { name } => {
                Some(*name)
            }
            TypeKind::Enum { name, .. }
            | TypeKind::String { name }
            | TypeKind::Subrange { name, .. }
            | TypeKind::Set { name, .. } => *name,
            TypeKind::Composite(composite) => composite.name,
            _ => None,
        }
    }

    /// Own scope, if it is a structure, class or union.
    pub fn own_scope(&self) -> Option<ScopeId> {
        self.composite().map(|composite| composite.scope)
    }

    /// Calls `each` with the types contained in this one, in order.
    pub(crate) fn contained(&self, module: &Module, mut each: impl FnMut(TypeId)) {
        match &self.kind {
            TypeKind::Composite(composite) => {
                composite.bases.iter().for_each(|base| each(base.ty));
                composite.all_members(module).for_each(|member| each(member.ty));
            }
            TypeKind::Array { of, .. } | TypeKind::CooperativeMatrix { of, .. } => each(*of),
            TypeKind::Typedef { of, .. }
            | TypeKind::Qualified { of, .. }
            | TypeKind::Subrange { of, .. }
            | TypeKind::Set { of, .. }
            | TypeKind::Enum { of, .. } => of.iter().copied().for_each(each),
            // A pointer does not contain the type that it points to, so that types may point to each other.
            kind => kind.elements().into_iter().for_each(|elements| each(elements.of)),
        }
    }

    /// Whether all types contained in this one have smaller ids.
    pub(crate) fn contains_earlier_only(&self, module: &Module, id: TypeId) -> bool {
        let mut is_earlier = true;
        self.contained(module, |inner| is_earlier &= inner < id);
        is_earlier
    }

    /// Calls `each` with every type that this one references.
    pub(crate) fn referred(&self, module: &Module, mut each: impl FnMut(TypeId)) {
        match &self.kind {
            TypeKind::Base { .. } | TypeKind::Unspecified { .. } | TypeKind::String { .. } => {}
            TypeKind::Pointer { to: of, .. }
            | TypeKind::Typedef { of, .. }
            | TypeKind::Subrange { of, .. }
            | TypeKind::Set { of, .. }
            | TypeKind::Enum { of, .. }
            | TypeKind::Qualified { of, .. } => of.iter().copied().for_each(each),
            TypeKind::MemberPointer { class, to } => [*class, *to].into_iter().for_each(each),
            TypeKind::Array { of, dimensions, .. } => {
                each(*of);
                dimensions.iter().filter_map(|dimension| dimension.index).for_each(each);
            }
            TypeKind::Vector { of, .. }
            | TypeKind::Matrix { of, .. }
            | TypeKind::CooperativeMatrix { of, .. } => each(*of),
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
            TypeKind::Subroutine { returns, parameters, .. } => {
                returns.iter().chain(parameters).copied().for_each(each);
            }
        }
    }

    /// Returns the source lines where the type and its members are declared.
    pub(crate) fn lines<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = SourceLine> + 'm {
        let members = self.composite().into_iter().flat_map(move |composite| composite.all_members(module));
        members.filter_map(|member| member.line).chain(self.line)
    }

    /// Returns the locations that the type references: array counts and template parameter values.
    pub(crate) fn locs(&self) -> Vec<LocId> {
        let mut types = Vec::new();
        match &self.kind {
            TypeKind::Array { dimensions, .. } => {
                types.extend(dimensions.iter().filter_map(|dimension| match dimension.count {
                    Count::Value(loc) => Some(loc),
                    _ => None,
                }));
            }
            TypeKind::Composite(composite) => {
                composite.templates.iter().for_each(|parameter| parameter.locs(&mut types));
                types.extend(composite.bases.iter().filter_map(|base| match base.offset {
                    BaseOffset::Expr(loc) => Some(loc),
                    BaseOffset::Bytes(_) => None,
                }));
            }
            _ => {}
        }
        types
    }

    fn composite(&self) -> Option<&CompositeType> {
        match &self.kind {
            TypeKind::Composite(composite) => Some(composite),
            _ => None,
        }
    }
}
