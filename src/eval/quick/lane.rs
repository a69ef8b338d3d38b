//! An expression on the quick way: its operands and its part of the stack.

use super::super::arith::{Binary, Compare};
use super::super::generic;
use super::Quick;
use super::machine::Flat;
use super::slots::Slot;
use crate::op::{Operand, Reg, read_sleb, read_uleb};

/// An expression, as far as it was carried out. All that uses it is inlined, so that it is in registers.
pub(super) struct Lane<'l> {
    pub expr: &'l [u8],
    /// Bytes from its start to the operation.
    pub at: usize,
    /// Bytes from its start to what is read next.
    pub next: usize,
    /// The stack from the expression's own part on: the first is none of its elements, and the last `top`.
    pub slots: &'l mut [Slot],
    pub top: Slot,
    /// How many elements there are.
    pub len: usize,
    /// The bits of 64 that the generic type has.
    pub mask: u64,
    /// How many steps are left.
    pub steps: u64,
    /// Where the last operation ends, if it was `DW_OP_reg*`.
    pub register_end: usize,
    pub flat: Flat,
}

impl Lane<'_> {
    // Operands. Numbers that are padded beyond all need are not for the quick way.

    #[inline(always)]
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    #[inline(always)]
    pub fn uleb(&mut self) -> Option<u64> {
        let byte = *self.expr.get(self.next)?;
        let (value, len) =
            if byte < 0x80 { (byte.into(), 1) } else { long_uleb(self.expr.get(self.next..)?)? };
        self.next += len;
        Some(value)
    }

    #[inline(always)]
    pub fn sleb(&mut self) -> Option<i64> {
        let byte = *self.expr.get(self.next)?;
        let (value, len) = match byte {
            ..0x80 => (((byte << 1) as i8 >> 1).into(), 1),
            _ => long_sleb(self.expr.get(self.next..)?)?,
        };
        self.next += len;
        Some(value)
    }

    // The stack.

    #[inline(always)]
    pub fn push(&mut self, slot: Slot) -> Option<()> {
        // The place for the new one has to be there too.
        let [place, _] = self.slots.get_mut(self.len..)?.first_chunk_mut()?;
        *place = core::mem::replace(&mut self.top, slot);
        self.len += 1;
        Some(())
    }

    #[inline(always)]
    pub fn push_value(&mut self, number: u64) -> Option<()> {
        self.push(Slot::Value(number & self.mask))
    }

    #[inline(always)]
    pub fn drop_top(&mut self) -> Option<()> {
        self.len = self.len.checked_sub(1)?;
        self.top = *self.slots.get(self.len)?;
        Some(())
    }

    /// The element `index` below the top, which itself is not in its place; or the bottom.
    #[inline(always)]
    pub fn below(&mut self, index: usize) -> Option<&mut Slot> {
        self.slots.get_mut(self.len.wrapping_sub(index))
    }

    /// The value on top, or the address that converts to one.
    #[inline(always)]
    pub fn number(&self) -> Option<u64> {
        self.top.number()
    }

    /// Bits of 64 that the generic type does not have.
    #[inline(always)]
    fn unused(&self) -> u32 {
        self.mask.leading_zeros()
    }

    #[inline(always)]
    pub fn unary(&mut self, calculate: impl FnOnce(u32, u64) -> u64) -> Option<()> {
        self.top = Slot::Value(calculate(self.unused(), self.number()?) & self.mask);
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
    pub(super) fn fixed(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<u64> {
        let at = lane.next;
        lane.next += usize::from(bytes);
        match bytes {
            1 => Some((*lane.expr.get(at)?).into()),
            _ => fixed(lane.expr.get(at..)?, bytes, self.encoding.big_endian),
        }
    }

    #[inline(always)]
    pub(super) fn distance(&self, lane: &mut Lane<'_>) -> Option<i16> {
        let bytes = *lane.expr.get(lane.next..)?.first_chunk()?;
        lane.next += bytes.len();
        Some(if self.encoding.big_endian { i16::from_be_bytes(bytes) } else { i16::from_le_bytes(bytes) })
    }

    #[inline(always)]
    pub(super) fn reg(&self, lane: &mut Lane<'_>, operand: Operand) -> Option<Reg> {
        match operand {
            Operand::Is(number) => Some(Reg(number.into())),
            _ => lane.uleb().map(Reg),
        }
    }
}

/// The number in the first bytes, so many of them.
#[inline(never)]
fn fixed(from: &[u8], len: u8, big_endian: bool) -> Option<u64> {
    let bytes = from.get(..len.into())?;
    number(len, big_endian, |into| {
        into.copy_from_slice(bytes);
        Some(())
    })
}

/// The number in so many bytes, at most 8, that `read` reads.
#[inline(always)]
pub(super) fn number(len: u8, big_endian: bool, read: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<u64> {
    let len = usize::from(len.min(8));
    let mut bytes = [0; 8];
    Some(match big_endian {
        false => {
            read(&mut bytes[..len])?;
            u64::from_le_bytes(bytes)
        }
        true => {
            read(&mut bytes[8 - len..])?;
            u64::from_be_bytes(bytes)
        }
    })
}

#[inline(never)]
pub(super) fn long_uleb(from: &[u8]) -> Option<(u64, usize)> {
    read_uleb(from, 0).filter(|&(_, len)| len <= 10)
}

#[inline(never)]
fn long_sleb(from: &[u8]) -> Option<(i64, usize)> {
    read_sleb(from, 0).filter(|&(_, len)| len <= 10)
}
