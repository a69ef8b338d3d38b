//! Structures, classes and unions: DWARF 5 section 5.7.

use super::base::Accessibility;
use super::{TemplateParameter, TypeKind};
use crate::model::Module;
use crate::model::entities::{entity, member_properties};
use crate::model::ids::{LocId, ScopeId, StringId, TypeId, VariantPartId};

/// A structure, class or union.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CompositeType {
    /// Structure, class or union.
    pub kind: CompositeKind,
    /// Name, if any.
    pub name: Option<StringId>,
    /// Scope that contains its static members, member functions and nested types.
    pub scope: ScopeId,
    /// How its objects are passed to functions; `None` if not described.
    pub passed: Option<Passed>,
    /// Template arguments, in order, if it is a template instance.
    pub templates: Vec<TemplateParameter>,
    /// Base classes, in order.
    pub bases: Vec<Base>,
    /// Members, in order.
    pub members: Vec<Member>,
    /// Variant parts, including those in variants.
    pub variant_parts: Vec<VariantPartId>,
}

/// Composite type kind.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompositeKind {
    /// A structure.
    Struct,
    /// A class.
    Class,
    /// A union: its members share their bits.
    Union,
}

/// How functions take and return a structure, class or union. DWARF 5 section 5.7.1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Passed {
    /// Passed by value.
    ByValue,
    /// Passed by reference.
    ByReference,
}

/// A base class. DWARF 5 section 5.7.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Base {
    /// The type.
    pub ty: TypeId,
    /// Offset in the object.
    pub offset: BaseOffset,
    /// Accessibility; `None` for the language's default.
    pub accessibility: Option<Accessibility>,
    /// Whether it is virtual: one subobject however often it is inherited.
    pub is_virtual: bool,
}

/// A base class's offset in an object.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseOffset {
    /// A constant byte offset.
    Bytes(u64),
    /// The address that a [raw expression](crate::model::Loc::expr) computes from the object's address.
    Expr(LocId),
}

member_properties! { entity (pub)
    /// A member of a structure, class or union.
    #[derive(Copy, Hash)]
    #[non_exhaustive]
    pub struct Member {
        /// Name; `None` for an anonymous one.
        pub name: Option<StringId>,
        /// Type.
        pub ty: TypeId,
        /// Offset of the member's first bit from the object start, in bits.
        pub offset_bits: u64,
        /// A bit field's size in bits; `None` for a member with its type's size.
        pub bits: Option<u64>,
    }
    default {}
}

/// A variant part: an object has one of its variants. A Rust `enum`, a Pascal variant record. DWARF 5 section
/// 5.7.10.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariantPart {
    /// The structure.
    pub of: TypeId,
    /// The variant that contains the part, for a part in a variant of another part, as in Ada: that part, and the variant's
    /// index.
    pub inside: Option<(VariantPartId, u32)>,
    /// Discriminant, which selects the variant.
    pub discriminant: Discriminant,
    /// The variants, in order.
    pub variants: Vec<Variant>,
}

/// Discriminant, which selects the variant.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discriminant {
    /// The value of a member in the variant part.
    Member(Member),
    /// The value of a member of the type, outside variant parts, by the member's index, as in Ada.
    Enclosing(TypeId, u32),
    /// A value that is not stored in the object: only its type is known.
    Type(TypeId),
    /// No value: nothing tells which variant an object has, as in Rust where only one variant can exist.
    None,
}

/// A variant in a variant part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variant {
    /// Discriminant values that select the variant; empty for the default variant, and in a part without a discriminant.
    pub values: Vec<VariantValues>,
    /// Members, in order.
    pub members: Vec<Member>,
    /// Variant parts in the variant, in order.
    pub parts: Vec<VariantPartId>,
}

/// Discriminant values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VariantValues {
    /// A single value.
    Single(i128),
    /// An inclusive range: first and last value.
    Range(i128, i128),
}

impl CompositeType {
    /// Returns the variant parts outside variants.
    pub(crate) fn outer_parts<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = VariantPartId> + 'm {
        self.variant_parts.iter().copied().filter(|&part| module.variant_parts[part].inside.is_none())
    }

    /// Returns the members, including members of its variant parts.
    pub(crate) fn all_members<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = &'m Member> {
        let parts = self.variant_parts.iter().map(|&part| &module.variant_parts[part]);
        let inner = parts.flat_map(|part| {
            let discriminant = match &part.discriminant {
                Discriminant::Member(member) => Some(member),
                Discriminant::Enclosing(..) | Discriminant::Type(_) | Discriminant::None => None,
            };
            discriminant.into_iter().chain(part.variants.iter().flat_map(|variant| &variant.members))
        });
        self.members.iter().chain(inner)
    }
}

impl Discriminant {
    /// Returns the value's type, if there is a value.
    pub fn ty(&self, module: &Module) -> Option<TypeId> {
        match *self {
            Self::Member(member) => Some(member.ty),
            Self::Enclosing(of, index) => match &module.types[of].kind {
                TypeKind::Composite(composite) => {
                    composite.members.get(index as usize).map(|member| member.ty)
                }
                _ => None,
            },
            Self::Type(ty) => Some(ty),
            Self::None => None,
        }
    }
}
