//! Kinds for the elements on the stack, which are numbers.

use crate::target::SpaceId;

/// An element's kind. One number represents the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// A value with the generic type.
    Value,
    /// A byte in a space: its address.
    Memory(SpaceId),
    /// A register bit in the innermost frame: the register's number, with 32 bits.
    Register(u32),
    /// Known bits: a value with the generic type.
    Known,
    /// No element: below the lowest element.
    Nothing,
}

impl Kind {
    /// Whether the element is a value, or an address that converts to one.
    #[inline(always)]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Value | Self::Memory(SpaceId::DEFAULT))
    }

    /// Returns the kind, if it is a number's.
    #[inline(always)]
    pub fn number(self) -> Option<Self> {
        self.is_number().then_some(self)
    }
}

/// A kind in one word, which is read as it was written: with two halves, a read waits for both writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed(u64);

impl Packed {
    pub const VALUE: Self = Self::pack(Kind::Value);
    pub const NOTHING: Self = Self::pack(Kind::Nothing);

    #[inline(always)]
    pub const fn pack(kind: Kind) -> Self {
        Self(match kind {
            Kind::Value => 0,
            Kind::Memory(SpaceId(space)) => 1 << 32 | space as u64,
            Kind::Register(reg) => 2 << 32 | reg as u64,
            Kind::Known => 3 << 32,
            Kind::Nothing => 4 << 32,
        })
    }

    #[inline(always)]
    pub fn kind(self) -> Kind {
        match self.0 >> 32 {
            0 => Kind::Value,
            1 => Kind::Memory(SpaceId(self.0 as u32)),
            2 => Kind::Register(self.0 as u32),
            3 => Kind::Known,
            _ => Kind::Nothing,
        }
    }

    /// Requires a number's kind.
    #[inline(always)]
    pub fn number(self) -> Option<()> {
        (self == Self::VALUE || self == Self::pack(Kind::Memory(SpaceId::DEFAULT))).then_some(())
    }
}
