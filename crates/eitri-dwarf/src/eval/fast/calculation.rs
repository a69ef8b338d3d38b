//! Operations that only move or compute elements. They return `None`, with the stack unchanged, if a fault is possible.

use super::super::branch::Branches;
use super::super::word::{self, Binary, Compare, Signs, Unary};
use super::code::Bytes;
use super::kinds::Packed;
use super::opcode::*;
use super::stack::{HEIGHT, Level, Top, slot};
use crate::op::sign_extended;

/// Position in an expression, and its stack's top.
#[derive(Clone, Copy)]
pub(super) struct Position<'c> {
    pub code: Bytes<'c>,
    pub top: Top,
    pub kind: Packed,
}

/// Executes as many operations as possible that only move elements or calculate. The loop makes no calls, so that its
/// state stays in registers.
#[inline(never)]
pub(super) fn calculate<'c>(
    at: Position<'c>,
    level: &mut Level,
    most: usize,
    mask: u64,
    branches: &mut Branches,
) -> Position<'c> {
    let mut to = Calculation { at, level, most, mask, branches };
    while let Some(code) = to.at.code.opcode()
        && to.at.top.left > 0
    {
        if calculation(code, &mut to).is_none() {
            break;
        }
        to.at.code.advance();
        to.at.top.left -= 1;
    }
    to.at
}

/// Divides the numbers on top, and rounds the quotient down: the result is the remainder.
pub(super) fn modulo_floor<'c>(at: Position<'c>, level: &mut Level, mask: u64) -> Option<Position<'c>> {
    let mut to = Calculation { at, level, most: HEIGHT - 1, mask, branches: &mut Branches::default() };
    to.binary(Binary::ModFloor)?;
    Some(to.at)
}

/// A calculation's state: generic-type elements, and their kinds.
struct Calculation<'s, 'c> {
    at: Position<'c>,
    level: &'s mut Level,
    most: usize,
    mask: u64,
    branches: &'s mut Branches,
}

impl Calculation<'_, '_> {
    #[inline(always)]
    fn push(&mut self, number: u64, kind: Packed) -> Option<()> {
        // A full stack may only exceed this evaluator's room: `Run` decides whether it is a fault.
        if self.at.top.height == self.most {
            return None;
        }
        *slot(&mut self.level.kinds, self.at.top.height, 0) = core::mem::replace(&mut self.at.kind, kind);
        self.at.top.push(&mut self.level.numbers, number);
        Some(())
    }

    /// Returns how many of 64 bits are above the generic type.
    #[inline(always)]
    fn unused(&self) -> u32 {
        self.mask.leading_zeros()
    }

    /// Replaces two numbers by a result.
    #[inline(always)]
    fn two(&mut self, calculate: impl FnOnce(u32, u64, u64) -> Option<u64>) -> Option<()> {
        self.at.kind.number()?;
        let below = self.at.top.height.wrapping_sub(1);
        // The slot below the lowest element has no number.
        self.level.kinds[below % HEIGHT].number()?;
        let left = self.level.numbers[below % HEIGHT];
        self.at.top.number = calculate(self.unused(), left, self.at.top.number)? & self.mask;
        (self.at.top.height, self.at.kind) = (below, Packed::VALUE);
        Some(())
    }
}

impl<'c> Calculation<'_, 'c> {
    #[inline(always)]
    fn constant(&mut self, number: u64) -> Option<()> {
        self.push(number & self.mask, Packed::VALUE)
    }

    #[inline(always)]
    fn discard(&mut self) -> Option<()> {
        if self.at.top.height == 0 {
            return None;
        }
        self.at.top.pop(&mut self.level.numbers);
        self.at.kind = self.level.kinds[self.at.top.height % HEIGHT];
        Some(())
    }

    #[inline(always)]
    fn pick(&mut self, index: u8) -> Option<()> {
        let index = usize::from(index);
        let height = self.at.top.height;
        if index >= height {
            return None;
        }
        // The top is in registers, the other elements are in their slots.
        let (kind, number) = match index {
            0 => (self.at.kind, self.at.top.number),
            _ => (*slot(&mut self.level.kinds, height, index), *slot(&mut self.level.numbers, height, index)),
        };
        self.push(number, kind)
    }

    #[inline(always)]
    fn swap(&mut self) -> Option<()> {
        let height = self.at.top.height;
        if height < 2 {
            return None;
        }
        core::mem::swap(&mut self.at.top.number, slot(&mut self.level.numbers, height, 1));
        core::mem::swap(&mut self.at.kind, slot(&mut self.level.kinds, height, 1));
        Some(())
    }

    #[inline(always)]
    fn rotate(&mut self) -> Option<()> {
        let height = self.at.top.height;
        if height < 3 {
            return None;
        }
        rotate(&mut self.at.top.number, &mut self.level.numbers, height);
        rotate(&mut self.at.kind, &mut self.level.kinds, height);
        Some(())
    }

    #[inline(always)]
    fn unary(&mut self, op: Unary) -> Option<()> {
        self.at.kind.number()?;
        self.at.top.number = word::unary(op, self.unused(), self.at.top.number) & self.mask;
        self.at.kind = Packed::VALUE;
        Some(())
    }

    #[inline(always)]
    fn binary(&mut self, op: Binary) -> Option<()> {
        self.two(|unused, left, right| word::binary(op, Signs::Generic, unused, left, right))
    }

    #[inline(always)]
    fn compare(&mut self, op: Compare) -> Option<()> {
        self.two(|unused, left, right| Some(word::compare(op, unused, left, right)))
    }

    #[inline(always)]
    fn add(&mut self, number: u64) -> Option<()> {
        self.at.kind.number()?;
        self.at.top.number = self.at.top.number.wrapping_add(number) & self.mask;
        self.at.kind = Packed::VALUE;
        Some(())
    }

    #[inline(always)]
    fn skip(&mut self, by: i16) -> Option<()> {
        self.at.top.left -= self.at.code.branch(by, self.branches, self.at.top.left)?;
        Some(())
    }

    #[inline(always)]
    fn branch(&mut self, by: i16) -> Option<()> {
        self.at.kind.number()?;
        // The branch is taken before the condition is dropped, because a failed branch must change nothing.
        if self.at.top.number != 0 {
            self.skip(by)?;
        }
        self.discard()
    }
}

/// Moves the top below the two elements that are below it.
#[inline(always)]
fn rotate<T: Copy>(top: &mut T, all: &mut [T; HEIGHT], height: usize) {
    // The top is not in its slot, so that three elements need two exchanges.
    let third = core::mem::replace(slot(all, height, 2), *top);
    *top = core::mem::replace(slot(all, height, 1), third);
}

/// Executes an operation that only moves elements or calculates. `None` for any other operation, and at a possible
/// fault.
#[inline(always)]
fn calculation(code: u8, to: &mut Calculation<'_, '_>) -> Option<()> {
    macro_rules! constant {
        (unsigned $bytes:literal) => {{
            let number = to.at.code.fixed($bytes)?;
            to.constant(number)
        }};
        (signed $bytes:literal) => {{
            let number = to.at.code.fixed($bytes)?;
            to.constant(sign_extended(number, $bytes))
        }};
    }
    match code {
        LIT0..=LIT31 => to.constant(u64::from(code - LIT0)),
        CONST1U => constant!(unsigned 1),
        CONST2U => constant!(unsigned 2),
        CONST4U => constant!(unsigned 4),
        CONST8U => constant!(unsigned 8),
        CONST1S => constant!(signed 1),
        CONST2S => constant!(signed 2),
        CONST4S => constant!(signed 4),
        CONST8S => constant!(signed 8),
        CONSTU => {
            let number = to.at.code.uleb()?;
            to.constant(number)
        }
        CONSTS => {
            let number = to.at.code.sleb()?;
            to.constant(number as u64)
        }

        DROP => to.discard(),
        DUP => to.pick(0),
        OVER => to.pick(1),
        PICK => {
            let index = to.at.code.byte()?;
            to.pick(index)
        }
        SWAP => to.swap(),
        ROT => to.rotate(),

        AND => to.binary(Binary::And),
        DIV => to.binary(Binary::Div),
        MINUS => to.binary(Binary::Minus),
        MOD => to.binary(Binary::Mod),
        MUL => to.binary(Binary::Mul),
        OR => to.binary(Binary::Or),
        PLUS => to.binary(Binary::Plus),
        SHL => to.binary(Binary::Shl),
        SHR => to.binary(Binary::Shr),
        SHRA => to.binary(Binary::Shra),
        XOR => to.binary(Binary::Xor),
        ABS => to.unary(Unary::Abs),
        NEG => to.unary(Unary::Neg),
        NOT => to.unary(Unary::Not),
        PLUS_UCONST => {
            let number = to.at.code.uleb()?;
            to.add(number)
        }
        EQ => to.compare(Compare::Eq),
        GE => to.compare(Compare::Ge),
        GT => to.compare(Compare::Gt),
        LE => to.compare(Compare::Le),
        LT => to.compare(Compare::Lt),
        NE => to.compare(Compare::Ne),

        NOP => Some(()),
        SKIP => {
            let distance = to.at.code.distance()?;
            to.skip(distance)
        }
        BRA => {
            let distance = to.at.code.distance()?;
            to.branch(distance)
        }

        _ => None,
    }
}
