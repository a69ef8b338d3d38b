//! State of the fast evaluator: position and stack of an expression.

use super::super::arith::{Binary, Compare};
use super::super::generic;
use super::code::Bytes;
use super::machine::Flat;
use super::slots::Slot;

/// An expression and its part of the stack.
pub(super) struct Lane<'l> {
    pub code: Bytes<'l>,
    /// Number of steps left.
    pub steps: u64,
    /// Stack from the expression's own part on. The first slot is not an element.
    pub slots: &'l mut [Slot],
    /// Number of elements: the index of the top.
    pub len: usize,
    /// Mask of the generic type's bits, of 64.
    pub mask: u64,
    /// Position after the last operation, if it was `DW_OP_reg*`.
    pub register_end: usize,
    /// Size in bits of that register.
    pub register_bits: u32,
    pub flat: Flat,
}

/// State of [`Lane`] during calculations. All its uses are inlined, so that it stays in registers.
pub(super) struct State<'s, 'l> {
    pub code: Bytes<'l>,
    /// Number of steps left.
    pub steps: u64,
    /// All slots of the stack but the last.
    pub below: &'s mut [Slot],
    /// The top element, which is not stored in its slot.
    pub top: Slot,
    pub len: usize,
    pub mask: u64,
}

impl Lane<'_> {
    #[inline(always)]
    pub fn push(&mut self, slot: Slot) -> Option<()> {
        *self.slots.get_mut(self.len + 1)? = slot;
        self.len += 1;
        Some(())
    }

    /// Returns the top value, or the address that converts to one.
    #[inline(always)]
    pub fn number(&self) -> Option<u64> {
        self.slots.get(self.len)?.number()
    }

    /// Replaces the top element.
    #[inline(always)]
    pub fn replace(&mut self, slot: Slot) -> Option<()> {
        *self.slots.get_mut(self.len)? = slot;
        Some(())
    }
}

impl State<'_, '_> {
    #[inline(always)]
    pub fn push(&mut self, slot: Slot) -> Option<()> {
        // Checked first: without room the top remains unchanged.
        let place = self.below.get_mut(self.len)?;
        *place = core::mem::replace(&mut self.top, slot);
        self.len += 1;
        Some(())
    }

    /// Pushes the element `index` below the top, where `index` is not 0: the top is in registers and has no slot.
    #[inline(always)]
    pub fn pick(&mut self, index: usize) -> Option<()> {
        if index == 0 {
            return None;
        }
        let picked = self.below(index)?.element()?;
        self.push(picked)
    }

    #[inline(always)]
    pub fn push_value(&mut self, number: u64) -> Option<()> {
        self.push(Slot::Value(number & self.mask))
    }

    #[inline(always)]
    pub fn drop_top(&mut self) -> Option<()> {
        self.len = self.len.checked_sub(1)?;
        self.top = *self.below.get(self.len)?;
        Some(())
    }

    /// Returns the element `index` below the top, or the bottom; not the top itself, which has no slot.
    #[inline(always)]
    pub fn below(&mut self, index: usize) -> Option<&mut Slot> {
        self.below.get_mut(self.len.wrapping_sub(index))
    }

    /// Returns the number of bits of 64 above the generic type.
    #[inline(always)]
    fn unused(&self) -> u32 {
        self.mask.leading_zeros()
    }

    #[inline(always)]
    pub fn unary(&mut self, calculate: impl FnOnce(u32, u64) -> u64) -> Option<()> {
        self.top = Slot::Value(calculate(self.unused(), self.top.number()?) & self.mask);
        Some(())
    }

    #[inline(always)]
    pub fn binary(&mut self, op: Binary) -> Option<()> {
        let (left, right) = (self.below(1)?.number()?, self.top.number()?);
        self.top = Slot::Value(generic::binary(op, self.unused(), left, right)? & self.mask);
        self.len -= 1;
        Some(())
    }

    #[inline(always)]
    pub fn compare(&mut self, op: Compare) -> Option<()> {
        let (left, right) = (self.below(1)?.number()?, self.top.number()?);
        self.top = Slot::Value(generic::compare(op, self.unused(), left, right));
        self.len -= 1;
        Some(())
    }
}
