//! Direct evaluation: instructions are executed one by one, without a program.

use super::super::arith::{Binary, Compare, Unary};
use super::super::branch::Branches;
use super::super::word::{self, Signs};
use super::code::Bytes;
use super::instruction::{Code, Instruction};
use super::kinds::{Kind, Packed};
use super::opcode::{CONST1U, LIT0, LIT31, PLUS_UCONST};
use super::parts::Parts;
use super::query::add_register;
use super::results::Found;
use super::stack::{HEIGHT, Level, Slots, Top, slot};
use super::translate::{Calculate, Query, calculation, query, vendor};
use super::{Fast, Progress};
use crate::op::{Name, Reg};
use crate::target::SpaceId;

/// Position in an expression, and the top of its stack.
#[derive(Clone, Copy)]
struct Position<'c> {
    code: Bytes<'c>,
    top: Top,
    kind: Packed,
}

/// Evaluation of one expression.
struct Direct<'d, 'c> {
    fast: &'d Fast<'d>,
    at: Position<'c>,
    level: &'d mut Level,
    /// Stack for the frame base.
    inner: Option<&'d mut Level>,
    parts: &'d mut Parts,
    /// Whether the default space is flat.
    is_flat: bool,
    /// Offset after the last operation that named a register, in bytes.
    register_end: usize,
    /// Size of that register in bits.
    register_bits: u32,
}

/// State in which an evaluation stopped.
pub(super) struct End {
    /// Whether it reached the end of the expression.
    is_done: bool,
    top: Top,
    kind: Packed,
    is_flat: bool,
}

impl Fast<'_> {
    /// Executes as many operations as possible, from the given progress, on an empty stack. Returns the result if the
    /// expression is done and has one. The slots then have the elements.
    #[inline(always)]
    pub fn run(&self, code: Bytes<'_>, slots: &mut Slots, progress: &mut Progress) -> (bool, Option<Found>) {
        let [level, inner] = &mut *slots.levels;
        let Some(end) = self.direct(code, level, Some(inner), &mut slots.parts, progress) else {
            return (false, None);
        };
        slots.store(end.top, end.kind);
        let found = match end.kind.kind() {
            _ if !end.is_done => None,
            Kind::Nothing if slots.parts.is_empty() => None,
            Kind::Nothing => Some(Found::Parts),
            kind => Some(Found::Top { kind, number: end.top.number, is_flat: end.is_flat }),
        };
        (end.is_done, found)
    }

    /// Returns the number that a whole expression results in: an address, or the contents of the register that its last
    /// operation names.
    pub(super) fn number(&self, expr: &[u8], level: &mut Level, steps: &mut u64) -> Option<u64> {
        let mut progress = Progress::after(0, None);
        let code = Bytes::new(expr, self.encoding, 0);
        let end = self.direct(code, level, None, &mut Parts::default(), &mut progress)?;
        if !end.is_done {
            return None;
        }
        *steps -= progress.steps;
        match progress.register {
            Some(reg) => self.contents(reg),
            None => end.kind.number().map(|()| end.top.number),
        }
    }

    fn direct(
        &self,
        code: Bytes<'_>,
        level: &mut Level,
        inner: Option<&mut Level>,
        parts: &mut Parts,
        progress: &mut Progress,
    ) -> Option<End> {
        let steps = self.max_steps.saturating_sub(progress.steps);
        let at = Position { code, top: Top { height: 0, number: 0, left: steps }, kind: Packed::NOTHING };
        if self.mask == 0 {
            return None;
        }
        let direct = Direct {
            fast: self,
            at,
            level,
            inner,
            parts,
            is_flat: self.is_flat(),
            register_end: usize::MAX,
            register_bits: 0,
        };
        let (direct, is_done) = direct.operations(&mut progress.branches);
        let Direct { at: Position { code, top, kind }, is_flat, register_end, .. } = direct;
        if top.left != steps {
            progress.register = match kind.kind() {
                Kind::Register(reg) if register_end == code.offset() => Some(Reg(reg.into())),
                _ => None,
            };
        }
        progress.at = code.offset();
        progress.steps += steps - top.left;
        Some(End { is_done, top, kind, is_flat })
    }
}

impl<'c> Direct<'_, 'c> {
    /// Executes as many operations as possible. Also returns whether the expression is done. All functions that are not
    /// inlined take the state by value, so that it stays in registers between the calls.
    #[inline(always)]
    fn operations(mut self, branches: &mut Branches) -> (Self, bool) {
        loop {
            if self.at.code.is_at_end() {
                return (self, true);
            }
            if self.at.top.left == 0 {
                return (self, false);
            }
            if self.counted(Self::ask).is_some() {
                continue;
            }
            let before = self.at.top.left;
            if let Some(CONST1U..=LIT31) = self.at.code.opcode() {
                self.at = calculate(self.at, self.level, self.most(), self.fast.mask, branches);
            } else if self.fast.asks_lane {
                self = self.other();
            }
            if self.at.top.left == before {
                return (self, false);
            }
        }
    }

    /// Executes a less frequent operation, if it is supported.
    #[inline(never)]
    fn other(mut self) -> Self {
        self.counted(|direct, _| vendor(direct));
        self
    }

    /// Returns the maximum number of elements.
    #[inline(always)]
    fn most(&self) -> usize {
        self.fast.room.min(HEIGHT - 1)
    }

    /// Executes an operation and counts its step.
    #[inline(always)]
    fn counted(&mut self, execute: impl FnOnce(&mut Self, u8) -> Option<()>) -> Option<()> {
        let code = self.at.code.opcode()?;
        self.at.top.left = self.at.top.left.checked_sub(1)?;
        let done = execute(self, code);
        match done {
            Some(()) => self.at.code.advance(),
            None => self.at.top.left += 1,
        }
        done
    }

    /// Executes an operation that queries the machine or the target, or is frequent between such.
    #[inline(always)]
    fn ask(&mut self, code: u8) -> Option<()> {
        match code {
            LIT0..=LIT31 => self.push(u64::from(code - LIT0) & self.fast.mask, Packed::VALUE),
            PLUS_UCONST => {
                let number = self.at.code.uleb()?;
                self.at.kind.number()?;
                self.at.top.number = self.at.top.number.wrapping_add(number) & self.fast.mask;
                self.at.kind = Packed::VALUE;
                Some(())
            }
            _ => query(code, self),
        }
    }

    #[inline(always)]
    fn push(&mut self, number: u64, kind: Packed) -> Option<()> {
        if self.at.top.height == self.most() {
            return None;
        }
        *slot(&mut self.level.kinds, self.at.top.height, 0) = core::mem::replace(&mut self.at.kind, kind);
        self.at.top.push(&mut self.level.numbers, number);
        Some(())
    }
}

impl<'c> Query<'c> for Direct<'_, 'c> {
    #[inline(always)]
    fn code(&mut self) -> &mut Bytes<'c> {
        &mut self.at.code
    }

    #[inline(always)]
    fn height(&self) -> usize {
        self.at.top.height
    }

    #[inline(always)]
    fn kind(&self, index: usize) -> Kind {
        match index {
            0 => self.at.kind.kind(),
            index if index < self.at.top.height => {
                self.level.kinds[(self.at.top.height - index) % HEIGHT].kind()
            }
            _ => Kind::Nothing,
        }
    }

    #[inline(always)]
    fn set_kind(&mut self, kind: Kind) {
        self.at.kind = Packed::of(kind);
    }

    #[inline(always)]
    fn allow(&mut self, name: Name) -> Option<()> {
        self.fast.is_allowed(name)
    }

    #[inline(always)]
    fn flat(&mut self) -> Option<()> {
        self.is_flat.then_some(())
    }

    #[inline(always)]
    fn part(&mut self) -> Option<()> {
        // The composite takes an element too.
        let most = if self.fast.room > HEIGHT { self.fast.pieces.min(HEIGHT) } else { 0 };
        (self.parts.len() < most).then_some(())
    }

    fn address_in_space(&mut self) -> Option<()> {
        self.kind(0).number()?;
        self.kind(1).number()?;
        let space = SpaceId(self.at.top.number.try_into().ok()?);
        let last = match space {
            SpaceId::DEFAULT => self.flat().map(|()| u64::MAX)?,
            _ => self.fast.space(space)?.last(),
        };
        self.at.top.pop(&mut self.level.numbers);
        self.at.top.number &= last;
        self.at.kind = Packed::of(Kind::Memory(space));
        Some(())
    }

    fn modulo_floor(&mut self) -> Option<()> {
        let (at, most, mask) = (self.at, self.most(), self.fast.mask);
        let mut to = Calculation { at, level: self.level, most, mask, branches: &mut Branches::default() };
        to.binary(Binary::ModFloor)?;
        self.at = to.at;
        Some(())
    }

    #[inline(always)]
    fn emit(&mut self, one: Instruction, pops: usize, pushed: Option<Kind>) -> Option<()> {
        let height = self.at.top.height;
        if pops == 0 && pushed.is_some() && height == self.most() {
            return None;
        }
        let Self { at, level, inner, parts, .. } = self;
        match one.code {
            Code::Register => {
                self.register_bits = self.fast.register_bits(Reg(one.small.into()))?;
                self.register_end = at.code.next();
                at.top.push(&mut level.numbers, 0);
            }
            // A piece leaves no element, so no branch leads here with another register.
            Code::PieceRegister if self.register_end == at.code.offset() => {
                add_register(&one, self.register_bits, at.top.number, parts)?;
                at.top.pop(&mut level.numbers);
            }
            _ => {
                let inner = inner.as_deref_mut();
                at.top = self.fast.query(&one, at.top, &mut level.numbers, inner, parts)?;
            }
        }
        match (pops, pushed) {
            (0, Some(kind)) => {
                *slot(&mut level.kinds, height, 0) = core::mem::replace(&mut at.kind, Packed::of(kind))
            }
            (_, Some(kind)) => at.kind = Packed::of(kind),
            (0, None) => {}
            (_, None) => at.kind = *slot(&mut level.kinds, at.top.height, 0),
        }
        Some(())
    }
}

/// Executes as many operations as possible that only move elements or calculate. The loop makes no calls, so its state
/// stays in registers.
#[inline(never)]
fn calculate<'c>(
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
        if self.at.top.height == self.most {
            return None;
        }
        *slot(&mut self.level.kinds, self.at.top.height, 0) = core::mem::replace(&mut self.at.kind, kind);
        self.at.top.push(&mut self.level.numbers, number);
        Some(())
    }

    /// Returns the number of bits of 64 above the generic type.
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

impl<'c> Calculate<'c> for Calculation<'_, 'c> {
    #[inline(always)]
    fn code(&mut self) -> &mut Bytes<'c> {
        &mut self.at.code
    }

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
        let (index, height) = (usize::from(index), self.at.top.height);
        if index >= height {
            return None;
        }
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
        if self.at.top.number != 0 {
            self.skip(by)?;
        }
        self.discard()
    }
}

/// Moves the top below the two elements that are below it.
#[inline(always)]
pub(super) fn rotate<T: Copy>(top: &mut T, all: &mut [T; HEIGHT], height: usize) {
    let third = core::mem::replace(slot(all, height, 2), *top);
    *top = core::mem::replace(slot(all, height, 1), third);
}
