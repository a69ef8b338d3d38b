//! The fast evaluator's position in an expression's bytes.

use super::super::branch::Branches;
use crate::op::{Decoder, Encoding, Op, Reg, read_sleb, read_uleb};

/// Position in an expression's bytes.
#[derive(Clone, Copy)]
pub(in super::super) struct Bytes<'l> {
    expr: &'l [u8],
    encoding: &'l Encoding,
    /// The operation's byte offset.
    at: usize,
    /// Byte offset of the next operand or operation.
    next: usize,
}

impl<'l> Bytes<'l> {
    #[inline(always)]
    pub fn new(expr: &'l [u8], encoding: &'l Encoding, at: usize) -> Self {
        Self { expr, encoding, at, next: at }
    }

    #[inline(always)]
    fn bytes<T, const LEN: usize>(
        &mut self,
        little: fn([u8; LEN]) -> T,
        big: fn([u8; LEN]) -> T,
    ) -> Option<T> {
        let bytes = *self.expr.get(self.next..)?.first_chunk()?;
        self.next += LEN;
        Some(if self.encoding.big_endian { big(bytes) } else { little(bytes) })
    }

    #[inline(always)]
    pub fn opcode(&mut self) -> Option<u8> {
        let code = *self.expr.get(self.at)?;
        self.next = self.at + 1;
        Some(code)
    }

    /// Decodes the operation with its operands.
    pub fn decode(&mut self) -> Option<Op<'l>> {
        let mut decoder = Decoder::new(self.expr, *self.encoding);
        decoder.seek(self.at);
        let op = decoder.next()?.ok()?.op;
        self.next = decoder.offset();
        Some(op)
    }

    #[inline(always)]
    pub fn encoding(&self) -> &'l Encoding {
        self.encoding
    }

    #[inline(always)]
    pub fn next(&self) -> usize {
        self.next
    }

    #[inline(always)]
    pub fn advance(&mut self) {
        self.at = self.next;
    }

    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.at
    }

    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.expr.len()
    }

    #[inline(always)]
    pub fn register(&mut self) -> Option<Reg> {
        self.uleb().map(Reg)
    }

    #[inline(always)]
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.expr.get(self.next)?;
        self.next += 1;
        Some(byte)
    }

    #[inline(always)]
    pub fn uleb(&mut self) -> Option<u64> {
        let (number, next) = read_uleb(self.expr, self.next)?;
        self.next = next;
        Some(number)
    }

    #[inline(always)]
    pub fn sleb(&mut self) -> Option<i64> {
        let (number, next) = read_sleb(self.expr, self.next)?;
        self.next = next;
        Some(number)
    }

    #[inline(always)]
    pub fn fixed(&mut self, bytes: u8) -> Option<u64> {
        match bytes {
            1 => self.byte().map(u64::from),
            2 => self.bytes(u16::from_le_bytes, u16::from_be_bytes).map(u64::from),
            4 => self.bytes(u32::from_le_bytes, u32::from_be_bytes).map(u64::from),
            8 => self.bytes(u64::from_le_bytes, u64::from_be_bytes),
            _ => None,
        }
    }

    #[inline(always)]
    pub fn distance(&mut self) -> Option<i16> {
        self.bytes(i16::from_le_bytes, i16::from_be_bytes)
    }

    #[inline(always)]
    pub fn branch(&mut self, by: i16, branches: &mut Branches, left: u64) -> Option<u64> {
        let (to, steps) = branches.target_within(self.expr, self.encoding, self.next, by, left)?;
        // The branch counts from after its operand.
        self.next = to;
        Some(steps)
    }
}
