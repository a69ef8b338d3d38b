//! State of the fast evaluator: operands and stack of an expression.

use super::super::arith::{Binary, Compare};
use super::super::generic;
use super::Quick;
use super::machine::Flat;
use super::slots::Slot;
use crate::op::sign_extended;

/// Position in an expression.
#[derive(Clone, Copy)]
pub(super) struct Code<'l> {
    pub expr: &'l [u8],
    /// Offset in bytes of the operation.
    pub at: usize,
    /// Offset in bytes of the next operand or operation.
    pub next: usize,
    /// Number of steps left.
    pub steps: u64,
}

/// An expression and its part of the stack.
pub(super) struct Lane<'l> {
    pub code: Code<'l>,
    /// Stack from the expression's own part on. The first slot is not an element.
    pub slots: &'l mut [Slot],
    /// Number of elements: the index of the top.
    pub len: usize,
    /// Mask of the generic type's bits, of 64.
    pub mask: u64,
    /// Offset of the end of the last operation, if it was `DW_OP_reg*`.
    pub register_end: usize,
    /// Size in bits of that register.
    pub register_bits: u32,
    pub flat: Flat,
}

/// State of [`Lane`] during calculations. All its uses are inlined, so that it stays in registers.
pub(super) struct State<'l> {
    pub code: Code<'l>,
    /// All slots of the stack but the last.
    pub below: &'l mut [Slot],
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

/// Decoding of operands. Numbers of more than 63 bits, including padding, are not supported.
impl Code<'_> {
    #[inline(always)]
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    #[inline(always)]
    pub fn uleb(&mut self) -> Option<u64> {
        self.leb().map(|(number, _)| number)
    }

    #[inline(always)]
    pub fn sleb(&mut self) -> Option<i64> {
        self.leb().map(|(number, bits)| (number << (64 - bits)) as i64 >> (64 - bits))
    }

    /// Returns a number and the number of bits in its encoding.
    #[inline(always)]
    fn leb(&mut self) -> Option<(u64, u32)> {
        let (mut number, mut bits) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << bits;
            bits += 7;
            match byte {
                ..0x80 => return Some((number, bits)),
                _ if bits == 63 => return None,
                _ => {}
            }
        }
    }
}

impl State<'_> {
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

impl Quick<'_> {
    #[inline(always)]
    pub(super) fn fixed(&self, code: &mut Code<'_>, bytes: u8) -> Option<u64> {
        match bytes {
            1 => code.byte().map(u64::from),
            2 => self.bytes(code, u16::from_le_bytes, u16::from_be_bytes).map(u64::from),
            4 => self.bytes(code, u32::from_le_bytes, u32::from_be_bytes).map(u64::from),
            8 => self.bytes(code, u64::from_le_bytes, u64::from_be_bytes),
            _ => None,
        }
    }

    #[inline(always)]
    fn bytes<T, const LEN: usize>(
        &self,
        code: &mut Code<'_>,
        little: fn([u8; LEN]) -> T,
        big: fn([u8; LEN]) -> T,
    ) -> Option<T> {
        let bytes = *code.expr.get(code.next..)?.first_chunk()?;
        code.next += LEN;
        Some(if self.encoding.big_endian { big(bytes) } else { little(bytes) })
    }

    #[inline(always)]
    pub(super) fn distance(&self, code: &mut Code<'_>) -> Option<i16> {
        self.bytes(code, i16::from_le_bytes, i16::from_be_bytes)
    }

    /// Pushes an unsigned number of `bytes` bytes.
    #[inline(always)]
    pub(super) fn unsigned(&self, state: &mut State<'_>, bytes: u8) -> Option<()> {
        let number = self.fixed(&mut state.code, bytes)?;
        state.push_value(number)
    }

    /// Pushes a signed number of `bytes` bytes.
    #[inline(always)]
    pub(super) fn signed(&self, state: &mut State<'_>, bytes: u8) -> Option<()> {
        let number = self.fixed(&mut state.code, bytes)?;
        state.push_value(sign_extended(number, bytes))
    }
}
