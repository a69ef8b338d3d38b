//! Values: a base type and a literal.
//!
//! Values with up to 64 bits are stored in place; wider values (a whole wave's vectors, 128-bit integers) on the
//! heap.

use super::lane_numbers::LaneNumbers;
use super::order::copy_bits;
use crate::target::SpaceId;

/// A pointer with an unknown value and a known pointee.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImplicitPointer {
    /// The pointee's entry, as an offset in `.debug_info`.
    pub entry: u64,
    /// Distance in bytes from the pointee's start to the address.
    pub by: i64,
    /// The pointee's address space.
    pub space: SpaceId,
    /// The space's address size in bits, which is the pointer's size.
    pub bits: u32,
}

/// What a base type's bits mean (`DW_ATE_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TypeEncoding {
    /// The generic type: integral, as large as an address, without a signedness.
    Generic,
    /// `DW_ATE_address`.
    Address,
    /// `DW_ATE_boolean`.
    Boolean,
    /// `DW_ATE_float`, IEEE 754 binary floating point.
    Float,
    /// `DW_ATE_signed`.
    Signed,
    /// `DW_ATE_signed_char`.
    SignedChar,
    /// `DW_ATE_unsigned`.
    Unsigned,
    /// `DW_ATE_unsigned_char`.
    UnsignedChar,
    /// `DW_ATE_UTF`.
    Utf,
    /// `DW_ATE_UCS`.
    Ucs,
    /// `DW_ATE_ASCII`.
    Ascii,
    /// Any other encoding, by its number. Values with the encoding can be moved, but not calculated with, because
    /// their meaning is unspecified, or specified by the target.
    Other(u8),
}

impl TypeEncoding {
    /// Returns the encoding with a number in DWARF 5, table 7.11.
    pub const fn from_code(code: u8) -> Self {
        match code {
            0x01 => Self::Address,
            0x02 => Self::Boolean,
            0x04 => Self::Float,
            0x05 => Self::Signed,
            0x06 => Self::SignedChar,
            0x07 => Self::Unsigned,
            0x08 => Self::UnsignedChar,
            0x10 => Self::Utf,
            0x11 => Self::Ucs,
            0x12 => Self::Ascii,
            other => Self::Other(other),
        }
    }

    /// Whether the specification counts it as integral (A.2.5.2), which `DW_ATE_address` is not.
    pub const fn is_integral(self) -> bool {
        use TypeEncoding::{Boolean, Generic, Signed, SignedChar, Unsigned, UnsignedChar};
        matches!(self, Generic | Boolean | Signed | SignedChar | Unsigned | UnsignedChar)
    }

    /// Whether the most significant bit is a sign. The generic type has no signedness: the result is false.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Signed | Self::SignedChar)
    }
}

/// A base type.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BaseType {
    /// What the bits mean.
    pub encoding: TypeEncoding,
    /// An element's size in bits.
    pub bits: u32,
    /// Element count: more than 1 in a vector type (`DW_AT_LLVM_vector_size`), whose first element is in the least
    /// significant bits.
    pub elements: u32,
}

impl BaseType {
    /// Returns a base type that is not a vector.
    pub const fn new(encoding: TypeEncoding, bits: u32) -> Self {
        Self { encoding, bits, elements: 1 }
    }

    /// Returns the generic type for default-space addresses with `address_bytes` bytes.
    pub const fn generic(address_bytes: u8) -> Self {
        Self::new(TypeEncoding::Generic, address_bytes as u32 * 8)
    }

    /// Returns a value's size in bits, including all elements.
    pub const fn size(self) -> u64 {
        self.bits as u64 * self.elements as u64
    }

    /// Whether it is the generic type.
    pub const fn is_generic(self) -> bool {
        matches!(self.encoding, TypeEncoding::Generic)
    }

    /// Whether the specification counts it as integral (A.2.5.2), which a vector is not.
    pub const fn is_integral(self) -> bool {
        self.encoding.is_integral() && self.elements == 1
    }

    /// Returns an element's type.
    pub const fn element(self) -> Self {
        Self::new(self.encoding, self.bits)
    }
}

/// A value on the stack: a base type and a literal with that type (A.2.5.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    ty: BaseType,
    literal: Literal,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Literal {
    /// Up to 64 bits; bits above the type's size are 0.
    Small(u64),
    /// More than 64 bits, least significant byte first; bits above the type's size are 0.
    Large(Box<[u8]>),
    /// The value read from an implicit pointer, without bits.
    Pointer(ImplicitPointer),
    /// Up to 64 bits for each lane; only when a whole wave is evaluated.
    Lanes(LaneNumbers),
}

impl Value {
    /// Returns a value with a type. Bits above the type's size are dropped; missing bits are 0.
    pub fn new(ty: BaseType, bits: u64) -> Self {
        match ty.size() {
            0 => Self { ty, literal: Literal::Small(0) },
            size @ 1..=64 => Self { ty, literal: Literal::Small(bits & (u64::MAX >> (64 - size))) },
            _ => Self::from_bytes(ty, &bits.to_le_bytes()),
        }
    }

    /// Returns a value with a type, from bytes with the least significant first. Bits above the type's size are
    /// dropped; missing bits are 0.
    pub fn from_bytes(ty: BaseType, bytes: &[u8]) -> Self {
        let size = ty.size();
        if size <= 64 {
            let low = bytes.iter().take(8).rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
            return Self::new(ty, low);
        }
        let mut large = vec![0; size.div_ceil(8) as usize].into_boxed_slice();
        let len = large.len().min(bytes.len());
        large[..len].copy_from_slice(&bytes[..len]);
        if let (Some(last), 1..) = (large.last_mut(), size % 8) {
            // Equality compares whole bytes.
            *last &= 0xff >> (8 - size % 8);
        }
        Self { ty, literal: Literal::Large(large) }
    }

    /// Returns a value with the generic type.
    pub fn generic(bits: u64, address_bytes: u8) -> Self {
        Self::new(BaseType::generic(address_bytes), bits)
    }

    /// Returns an implicit pointer value.
    pub fn pointer(ty: BaseType, to: ImplicitPointer) -> Self {
        Self { ty, literal: Literal::Pointer(to) }
    }

    /// Returns a value with at most 64 bits that differs between lanes. Bits above the type's size must be 0.
    pub(super) fn of_lanes(ty: BaseType, numbers: LaneNumbers) -> Self {
        Self { ty, literal: Literal::Lanes(numbers) }
    }

    /// Returns the lanes' numbers, if each lane has its own.
    pub(super) fn lanes(&self) -> Option<&LaneNumbers> {
        match &self.literal {
            Literal::Lanes(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// Returns the type.
    pub fn ty(&self) -> BaseType {
        self.ty
    }

    /// Returns an implicit pointer value's pointee; such a value has no bits.
    pub fn as_pointer(&self) -> Option<ImplicitPointer> {
        match self.literal {
            Literal::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// Returns the bits as an unsigned number, if they fit in 64 bits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_u128()?.try_into().ok()
    }

    /// Returns the bits as an unsigned number, if they fit in 128 bits.
    pub fn as_u128(&self) -> Option<u128> {
        match &self.literal {
            Literal::Small(bits) => Some((*bits).into()),
            Literal::Large(bytes) => {
                let (low, high) = bytes.split_at(bytes.len().min(16));
                let number = low.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                high.iter().all(|&byte| byte == 0).then_some(number)
            }
            Literal::Pointer(_) | Literal::Lanes(_) => None,
        }
    }

    /// Returns the lowest 128 bits.
    pub(super) fn low_u128(&self) -> u128 {
        match &self.literal {
            Literal::Small(bits) => (*bits).into(),
            Literal::Large(bytes) => {
                bytes.iter().take(16).rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte))
            }
            Literal::Pointer(_) | Literal::Lanes(_) => 0,
        }
    }

    /// Returns the bits as a number in two's complement, if it fits in 128 bits.
    pub fn as_i128(&self) -> Option<i128> {
        let size = self.ty.size();
        match &self.literal {
            Literal::Pointer(_) | Literal::Lanes(_) => None,
            _ if size == 0 => Some(0),
            Literal::Large(bytes) if size > 128 => {
                let low = self.low_u128() as i128;
                let fill = if low < 0 { 0xff } else { 0 };
                // The last byte may have bits above the size, which are 0.
                let last = if size.is_multiple_of(8) { fill } else { fill >> (8 - size % 8) };
                let (top, middle) = bytes[16..].split_last()?;
                // All bits above 128 must repeat the sign.
                (*top == last && middle.iter().all(|&byte| byte == fill)).then_some(low)
            }
            _ => {
                let unused = 128 - size as u32;
                Some((self.low_u128() as i128) << unused >> unused)
            }
        }
    }

    /// Returns an element, counted from 0, or the whole value if it is not a vector.
    pub(super) fn element(&self, index: u32) -> Self {
        let ty = self.ty.element();
        if self.ty.elements == 1 {
            return self.clone();
        }
        let mut bytes = vec![0; ty.bits.div_ceil(8) as usize];
        let start = index as usize * ty.bits as usize;
        self.with_bytes(|bits| copy_bits(&mut bytes, 0, bits, start, ty.bits as usize));
        Self::from_bytes(ty, &bytes)
    }

    /// Returns a vector with these elements.
    pub(super) fn of_elements<E>(
        ty: BaseType,
        mut element: impl FnMut(u32) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let mut bytes = vec![0; ty.size().div_ceil(8) as usize];
        for index in 0..ty.elements {
            let start = index as usize * ty.bits as usize;
            element(index)?.with_bytes(|bits| copy_bits(&mut bytes, start, bits, 0, ty.bits as usize));
        }
        Ok(Self::from_bytes(ty, &bytes))
    }

    /// Returns bit `index`, counted from the least significant.
    pub fn bit(&self, index: u64) -> bool {
        match &self.literal {
            Literal::Small(bits) => index < 64 && bits >> index & 1 == 1,
            Literal::Large(bytes) => {
                bytes.get((index / 8) as usize).is_some_and(|byte| byte >> (index % 8) & 1 == 1)
            }
            Literal::Pointer(_) | Literal::Lanes(_) => false,
        }
    }

    /// Whether all bits are 0.
    pub fn is_zero(&self) -> bool {
        self.as_u128() == Some(0)
    }

    /// Passes the value's bytes, least significant first, as many as the type needs.
    pub fn with_bytes<T>(&self, then: impl FnOnce(&[u8]) -> T) -> T {
        match &self.literal {
            Literal::Small(bits) => {
                let bytes = bits.to_le_bytes();
                then(&bytes[..self.ty.size().div_ceil(8).min(8) as usize])
            }
            Literal::Large(bytes) => then(bytes),
            Literal::Pointer(_) | Literal::Lanes(_) => then(&[]),
        }
    }
}

impl core::fmt::Display for Value {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.literal {
            Literal::Small(bits) => write!(f, "{bits:#x}")?,
            Literal::Large(bytes) => {
                f.write_str("0x")?;
                bytes.iter().rev().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
            Literal::Pointer(to) => write!(f, "implptr:{:#x}:{}", to.entry, to.by)?,
            Literal::Lanes(_) => f.write_str("lane by lane")?,
        }
        match self.ty.encoding {
            TypeEncoding::Generic => Ok(()),
            encoding => write!(f, " {encoding:?}/{}", self.ty.bits),
        }
    }
}
