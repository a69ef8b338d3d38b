//! Kinds of the elements on the stack of a compiled expression.

use smallvec::SmallVec;

use crate::target::SpaceId;

/// Kind of an element, which is represented by one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value of the generic type.
    Value,
    /// A byte of a space: its address.
    Memory(SpaceId),
    /// A bit of a register of the innermost frame: its number. Compiled are registers with numbers of 32 bits.
    Register(u32),
    /// Known bits: a value of the generic type.
    Known,
}

impl Kind {
    /// Whether the element is a value, or an address that converts to one.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Value | Self::Memory(SpaceId::DEFAULT))
    }
}

/// The stack at an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kinds {
    /// Elements above the composite under construction, bottom first.
    pub all: SmallVec<[Kind; 8]>,
    /// Number of parts of the composite.
    pub parts: u32,
}

impl Kinds {
    /// Returns the number of elements, with the composite.
    pub fn height(&self) -> usize {
        self.all.len() + usize::from(self.parts > 0)
    }

    /// Returns the element `index` below the top.
    pub fn below(&self, index: usize) -> Option<Kind> {
        self.all.len().checked_sub(index + 1).map(|at| self.all[at])
    }

    /// Pops an element that is a number.
    pub fn pop_number(&mut self) -> Option<()> {
        self.all.pop().filter(|kind| kind.is_number()).map(|_| ())
    }
}

/// Result of a compiled expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The top element.
    Top(Kind),
    /// The composite.
    Parts,
}
