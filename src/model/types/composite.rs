//! Structures, classes and unions: DWARF 5 section 5.7.

use super::TemplateParameter;
use super::base::Accessibility;
use crate::model::Module;
use crate::model::ids::{LocId, ScopeId, StringId, TypeId, VariantPartId};
use crate::model::scopes::SourceLine;

/// A structure, class or union.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Composite {
    /// Which of them it is.
    pub kind: CompositeKind,
    /// Its name, if any.
    pub name: Option<StringId>,
    /// Its own scope, in which its static members, member functions and nested types are declared.
    pub scope: ScopeId,
    /// How objects of it are given to functions; `None` where that is not said.
    pub passed: Option<Passed>,
    /// What it stands for as the instance of a template, in order.
    pub templates: Vec<TemplateParameter>,
    /// What it is derived from, in order.
    pub bases: Vec<Base>,
    /// Its members, in order.
    pub members: Vec<Member>,
    /// Its parts of which one of several is there.
    pub variant_parts: Vec<VariantPartId>,
}

/// Which kind of composite type it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompositeKind {
    /// A structure.
    Struct,
    /// A class.
    Class,
    /// A union: its members share their bits.
    Union,
}

/// How objects of a structure, class or union are given to a function and returned by it. DWARF 5 section 5.7.1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Passed {
    /// They themselves.
    ByValue,
    /// Their addresses.
    ByReference,
}

/// What a class is derived from: DWARF 5 section 5.7.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Base {
    /// The type.
    pub ty: TypeId,
    /// Where it is in the object.
    pub offset: BaseOffset,
    /// Who may know of it; `None` for what the language says.
    pub accessibility: Option<Accessibility>,
    /// Whether it is there once, however often it is derived from.
    pub is_virtual: bool,
}

/// Where in an object that of a base class is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseOffset {
    /// At so many bytes.
    Bytes(u64),
    /// At the address that a [raw expression](crate::model::Loc::expr) makes of the object's.
    Expr(LocId),
}

/// A member of a structure, class or union.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its name; `None` for an anonymous one.
    pub name: Option<StringId>,
    /// Its type.
    pub ty: TypeId,
    /// Bits from the start of the object to the member's first bit.
    pub offset_bits: u64,
    /// The size in bits of a bit field; `None` for a member that has the size of its type.
    pub bits: Option<u64>,
    /// Who may name it; `None` for what the language says.
    pub accessibility: Option<Accessibility>,
    /// Whether it can be changed in an object that cannot.
    pub is_mutable: bool,
    /// Whether it was made by the compiler.
    pub is_artificial: bool,
    /// Where it is declared.
    pub line: Option<SourceLine>,
}

/// A part of a structure of which one of several variants is there: a Rust `enum`, a Pascal variant record.
/// DWARF 5 section 5.7.10.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariantPart {
    /// The structure.
    pub of: TypeId,
    /// What says which variant is there.
    pub discriminant: Discriminant,
    /// The variants, in order.
    pub variants: Vec<Variant>,
}

/// What says which variant is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discriminant {
    /// The value of a member of the variant part.
    Member(Member),
    /// Nothing that is in the object: only the type of the value is known.
    Type(TypeId),
}

/// A variant of a variant part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The values of the discriminant for which it is there; none for the variant of all other values.
    pub values: Vec<VariantValues>,
    /// Its members, in order.
    pub members: Vec<Member>,
}

/// Values of a discriminant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VariantValues {
    /// This one.
    One(i128),
    /// From the first to the last, both included.
    Range(i128, i128),
}

impl Composite {
    /// Its members, those of its variant parts too.
    pub(crate) fn all_members<'m>(&'m self, module: &'m Module) -> impl Iterator<Item = &'m Member> {
        let parts = self.variant_parts.iter().map(|&part| &module.variant_parts[part]);
        let inner = parts.flat_map(|part| {
            let discriminant = match &part.discriminant {
                Discriminant::Member(member) => Some(member),
                Discriminant::Type(_) => None,
            };
            discriminant.into_iter().chain(part.variants.iter().flat_map(|variant| &variant.members))
        });
        self.members.iter().chain(inner)
    }
}

impl Discriminant {
    /// The type of the value.
    pub fn ty(&self) -> TypeId {
        match self {
            Self::Member(member) => member.ty,
            Self::Type(ty) => *ty,
        }
    }
}
