//! Kinds of the elements on the stack, which are numbers.

use crate::target::SpaceId;

/// Kind of an element, which is represented by one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Kind {
    /// A value of the generic type.
    Value,
    /// A byte of a space: its address.
    Memory(SpaceId),
    /// A bit of a register of the innermost frame: its number, of 32 bits.
    Register(u32),
    /// Known bits: a value of the generic type.
    Known,
    /// No element: below the lowest one.
    Nothing,
}

impl Kind {
    /// Whether the element is a value, or an address that converts to one.
    #[inline(always)]
    pub fn is_number(self) -> bool {
        matches!(self, Self::Value | Self::Memory(SpaceId::DEFAULT))
    }

    /// Returns the kind, if it is that of a number.
    #[inline(always)]
    pub fn number(self) -> Option<Self> {
        self.is_number().then_some(self)
    }
}
