//! Types of the source language.

use super::ids::{StringId, TypeId, UnitId};
use crate::target::SpaceId;

/// How the bits of a base type are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseEncoding {
    /// An address.
    Address,
    /// True or false.
    Boolean,
    /// A binary floating-point number.
    Float,
    /// A signed integer.
    Signed,
    /// A signed character.
    SignedChar,
    /// An unsigned integer.
    Unsigned,
    /// An unsigned character.
    UnsignedChar,
    /// A Unicode character.
    Utf,
}

/// A qualifier of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Qualifier {
    /// Cannot be changed.
    Const,
    /// Changes by itself.
    Volatile,
    /// Not reached otherwise.
    Restrict,
    /// Changed at once.
    Atomic,
}

/// A type, of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Type {
    pub(crate) unit: UnitId,
    pub(crate) kind: TypeKind,
    /// The size in bits; `None` where it has none (functions, incomplete types).
    pub(crate) bits: Option<u64>,
    /// As many of them as have a meaning: a vector of three elements has the size of one of four.
    pub(crate) value_bits: Option<u64>,
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
    /// A pointer.
    Pointer {
        /// What it points to; `None` for `void`.
        to: Option<TypeId>,
        /// The address space that it points into.
        space: SpaceId,
    },
    /// An array.
    Array {
        /// The type of an element.
        of: TypeId,
        /// Elements in each dimension, the outermost first; `None` where it is not known.
        counts: Vec<Option<u64>>,
    },
    /// A vector, as OpenCL's `float4`.
    Vector {
        /// The type of an element.
        of: TypeId,
        /// How many elements.
        count: u64,
    },
    /// A structure.
    Struct(Composite),
    /// A union.
    Union(Composite),
    /// An enumeration.
    Enum {
        /// Its name, if any.
        name: Option<StringId>,
        /// The type of its values.
        of: TypeId,
        /// Names and values.
        enumerators: Vec<(StringId, i64)>,
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

/// A structure or union.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Composite {
    /// Its name, if any.
    pub name: Option<StringId>,
    /// Its members, in order.
    pub members: Vec<Member>,
}

/// A member of a structure or union.
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
}
