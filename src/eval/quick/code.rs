//! Sources of operations for the fast evaluator: bytes, for an expression that is used once, and a compiled expression.

use super::super::Context;
use super::super::branch::Branches;
use super::compile::Instruction;
use super::opcode::*;
use crate::op::{Encoding, Reg};

/// A source of operations, at a position.
pub(in super::super) trait Code: Copy {
    /// Whether the source is compiled: literals and registers have one opcode each, and operations can be fused.
    const IS_COMPILED: bool;

    /// Begins to read the operation at the position, if any. Returns its opcode.
    fn opcode(&mut self) -> Option<u8>;

    /// Returns the number of operations that the last opcode represents.
    fn cost(&self) -> u64;

    fn position(&self) -> usize;

    /// Returns the position after the operation, once all operands are read.
    fn next(&self) -> usize;

    /// Moves to the next operation.
    fn advance(&mut self);

    /// Returns the offset of the position in bytes.
    fn offset(&self) -> usize;

    fn is_at_end(&self) -> bool;

    fn register(&mut self) -> Option<Reg>;
    fn byte(&mut self) -> Option<u8>;
    fn uleb(&mut self) -> Option<u64>;
    fn sleb(&mut self) -> Option<i64>;
    fn fixed(&mut self, encoding: &Encoding, bytes: u8) -> Option<u64>;

    /// Moves past the operation to the target of a branch, whose operand is read before the condition is known. `None`
    /// if the target is invalid, or if finding it takes more than `left` steps. Returns the number of steps.
    fn distance(&mut self, encoding: &Encoding) -> Option<i16>;
    fn branch(&mut self, by: i16, encoding: &Encoding, branches: &mut Branches, left: u64) -> Option<u64>;

    /// Returns the instruction of a compiled source.
    fn instruction(&self) -> &Instruction;
}

/// Instruction of a source that is not compiled.
static NONE: Instruction = Instruction { operand: 0, at: 0, small: 0, code: OTHER, steps: 1 };

/// A source from its start, with the bytes and the encoding of its expression.
#[derive(Clone, Copy)]
pub(in super::super) struct Source<'l, C> {
    pub code: C,
    pub expr: &'l [u8],
    pub encoding: &'l Encoding,
}

impl<'l> Source<'l, Bytes<'l>> {
    #[inline(always)]
    pub fn of_bytes(expr: &'l [u8], context: &'l Context<'_>) -> Self {
        Self { code: Bytes::new(expr, 0), expr, encoding: &context.encoding }
    }
}

/// Position in the bytes of an expression. Numbers of more than 63 bits, including padding, are not supported.
#[derive(Clone, Copy)]
pub(in super::super) struct Bytes<'l> {
    expr: &'l [u8],
    /// Offset in bytes of the operation.
    at: usize,
    /// Offset in bytes of the next operand or operation.
    next: usize,
}

impl<'l> Bytes<'l> {
    #[inline(always)]
    pub fn new(expr: &'l [u8], at: usize) -> Self {
        Self { expr, at, next: at }
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

    #[inline(always)]
    fn bytes<T, const LEN: usize>(
        &mut self,
        encoding: &Encoding,
        little: fn([u8; LEN]) -> T,
        big: fn([u8; LEN]) -> T,
    ) -> Option<T> {
        let bytes = *self.expr.get(self.next..)?.first_chunk()?;
        self.next += LEN;
        Some(if encoding.big_endian { big(bytes) } else { little(bytes) })
    }
}

impl Code for Bytes<'_> {
    const IS_COMPILED: bool = false;

    #[inline(always)]
    fn opcode(&mut self) -> Option<u8> {
        let code = *self.expr.get(self.at)?;
        self.next = self.at + 1;
        Some(code)
    }

    #[inline(always)]
    fn cost(&self) -> u64 {
        1
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn next(&self) -> usize {
        self.next
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.at = self.next;
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn is_at_end(&self) -> bool {
        self.at >= self.expr.len()
    }

    #[inline(always)]
    fn register(&mut self) -> Option<Reg> {
        self.uleb().map(Reg)
    }

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    #[inline(always)]
    fn uleb(&mut self) -> Option<u64> {
        self.leb().map(|(number, _)| number)
    }

    #[inline(always)]
    fn sleb(&mut self) -> Option<i64> {
        self.leb().map(|(number, bits)| (number << (64 - bits)) as i64 >> (64 - bits))
    }

    #[inline(always)]
    fn fixed(&mut self, encoding: &Encoding, bytes: u8) -> Option<u64> {
        match bytes {
            1 => self.byte().map(u64::from),
            2 => self.bytes(encoding, u16::from_le_bytes, u16::from_be_bytes).map(u64::from),
            4 => self.bytes(encoding, u32::from_le_bytes, u32::from_be_bytes).map(u64::from),
            8 => self.bytes(encoding, u64::from_le_bytes, u64::from_be_bytes),
            _ => None,
        }
    }

    #[inline(always)]
    fn distance(&mut self, encoding: &Encoding) -> Option<i16> {
        self.bytes(encoding, i16::from_le_bytes, i16::from_be_bytes)
    }

    #[inline(always)]
    fn branch(&mut self, by: i16, encoding: &Encoding, branches: &mut Branches, left: u64) -> Option<u64> {
        let (to, steps) = branches.target_within(self.expr, encoding, self.next, by, left)?;
        self.next = to;
        Some(steps)
    }

    #[inline(always)]
    fn instruction(&self) -> &Instruction {
        &NONE
    }
}

/// Position in a compiled expression, whose last instruction marks the end.
#[derive(Clone, Copy)]
pub(in super::super) struct Instructions<'l> {
    all: &'l [Instruction],
    /// The instruction at the position, once its opcode is read.
    now: &'l Instruction,
    at: usize,
}

impl<'l> Instructions<'l> {
    #[inline(always)]
    pub fn new(all: &'l [Instruction]) -> Self {
        Self { all, now: &NONE, at: 0 }
    }
}

impl Code for Instructions<'_> {
    const IS_COMPILED: bool = true;

    #[inline(always)]
    fn opcode(&mut self) -> Option<u8> {
        self.now = self.all.get(self.at)?;
        Some(self.now.code)
    }

    #[inline(always)]
    fn cost(&self) -> u64 {
        self.now.steps.into()
    }

    #[inline(always)]
    fn position(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn next(&self) -> usize {
        self.at.wrapping_add(1)
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    #[inline(always)]
    fn offset(&self) -> usize {
        self.all.get(self.at).map_or(0, |instruction| instruction.at as usize)
    }

    #[inline(always)]
    fn is_at_end(&self) -> bool {
        self.at.wrapping_add(1) >= self.all.len()
    }

    #[inline(always)]
    fn register(&mut self) -> Option<Reg> {
        Some(Reg(self.now.small.into()))
    }

    #[inline(always)]
    fn byte(&mut self) -> Option<u8> {
        Some(self.now.small as u8)
    }

    #[inline(always)]
    fn uleb(&mut self) -> Option<u64> {
        Some(self.now.operand)
    }

    #[inline(always)]
    fn sleb(&mut self) -> Option<i64> {
        Some(self.now.operand as i64)
    }

    #[inline(always)]
    fn fixed(&mut self, _: &Encoding, _: u8) -> Option<u64> {
        Some(self.now.operand)
    }

    #[inline(always)]
    fn distance(&mut self, _: &Encoding) -> Option<i16> {
        Some(0)
    }

    #[inline(always)]
    fn branch(&mut self, _: i16, _: &Encoding, branches: &mut Branches, left: u64) -> Option<u64> {
        let (to, steps) = self.now.target()?;
        let steps = match self.now.is_remembered() {
            // A search without cost need not be remembered.
            false => 0,
            true => self.searched(to, steps, branches, left)?,
        };
        // The operation's own advance follows.
        self.at = to.wrapping_sub(1);
        Some(steps)
    }

    #[inline(always)]
    fn instruction(&self) -> &Instruction {
        self.now
    }
}

impl Instructions<'_> {
    #[cold]
    fn searched(&self, to: usize, steps: u64, branches: &mut Branches, left: u64) -> Option<u64> {
        let offset = |instruction: &Instruction| instruction.at as usize;
        branches.searched(self.all.get(to).map(offset)?, self.all.last().map(offset)?, steps, left)
    }
}
