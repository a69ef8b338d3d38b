//! Evaluation of common operations: each is executed at once, with the elements' kinds beside their numbers.

use super::super::branch::Branches;
use super::calculation::{Position, calculate, modulo_floor};
use super::code::Bytes;
use super::inputs::{Fast, Progress};
use super::instruction::{Code, Instruction};
use super::kinds::{Kind, Packed};
use super::opcode::*;
use super::parts::Parts;
use super::query::add_register;
use super::results::Found;
use super::stack::{HEIGHT, Level, Slots, Top, slot};
use crate::op::{Dialect, Op, OperationName, Reg};
use crate::target::SpaceId;

/// One expression's evaluation.
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
    /// Size of the register that was named last, in bits.
    register_bits: u32,
}

/// State in which an evaluation stopped.
pub(super) struct End {
    /// Whether it reached the expression's end.
    is_done: bool,
    top: Top,
    kind: Packed,
    is_flat: bool,
}

impl Fast<'_> {
    /// Executes as many operations as possible, from the given progress, on an empty stack. Returns the result if the
    /// expression is done and has a result. The slots then have the elements.
    #[inline(always)]
    pub fn run(&self, code: Bytes<'_>, slots: &mut Slots, progress: &mut Progress) -> (bool, Option<Found>) {
        let [level, inner] = &mut *slots.levels;
        let Some(end) = self.direct(code, level, Some(inner), &mut slots.parts, progress) else {
            return (false, None);
        };
        slots.store(end.top, end.kind);
        let result = match end.kind.kind() {
            _ if !end.is_done => None,
            Kind::Nothing if slots.parts.is_empty() => None,
            Kind::Nothing => Some(Found::Parts),
            kind => Some(Found::Top { kind, number: end.top.number, is_flat: end.is_flat }),
        };
        (end.is_done, result)
    }

    /// Returns the number that a whole expression results in: an address, or what the register contains that its last
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
        let position =
            Position { code, top: Top { height: 0, number: 0, left: steps }, kind: Packed::NOTHING };
        // The generic type has no bits or more than 64, which one word cannot hold.
        if self.mask == 0 {
            return None;
        }
        let direct = Direct {
            fast: self,
            at: position,
            level,
            inner,
            parts,
            is_flat: self.is_flat(),
            register_end: usize::MAX,
            register_bits: 0,
        };
        let (direct, is_done) = direct.operations(&mut progress.branches);
        let Direct { at: Position { code, top, kind }, is_flat, register_end, .. } = direct;
        // Without a step, the register that the caller recorded still counts.
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
            // Queries first, because typical expressions consist of them.
            if self.counted(Self::ask).is_some() {
                continue;
            }
            // Steps left tell whether any operation was executed.
            let before = self.at.top.left;
            if let Some(CONST1U..=LIT31) = self.at.code.opcode() {
                self.at = calculate(self.at, self.level, self.most(), self.fast.mask, branches);
            } else if self.fast.asks_lane {
                self = self.other();
            }
            // Neither path made progress: `Run` continues here.
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
            // The operation was not executed: its step is returned, and the position stays.
            None => self.at.top.left += 1,
        }
        done
    }

    /// Executes an operation that queries the machine or the target, or is frequent between such operations.
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

impl Direct<'_, '_> {
    /// Returns how many elements there are, without the composite under construction.
    #[inline(always)]
    fn height(&self) -> usize {
        self.at.top.height
    }

    /// Returns the kind that the element `index` below the top has.
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

    /// Changes the top element's kind.
    #[inline(always)]
    fn set_kind(&mut self, kind: Kind) {
        self.at.kind = Packed::pack(kind);
    }

    /// Requires the operation to be allowed where the expression is.
    #[inline(always)]
    fn allow(&mut self, name: OperationName) -> Option<()> {
        self.fast.is_allowed(name)
    }

    /// Requires default-space addresses to have the generic type's size, in memory that all lanes share.
    #[inline(always)]
    fn flat(&mut self) -> Option<()> {
        self.is_flat.then_some(())
    }

    /// Requires room for another part in the composite.
    #[inline(always)]
    fn part(&mut self) -> Option<()> {
        // The composite takes an element too.
        let most = if self.fast.room > HEIGHT { self.fast.pieces.min(HEIGHT) } else { 0 };
        (self.parts.len() < most).then_some(())
    }

    /// Pops a space number, and converts the number below to an address in that space.
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
        self.at.kind = Packed::pack(Kind::Memory(space));
        Some(())
    }

    fn modulo_floor(&mut self) -> Option<()> {
        self.at = modulo_floor(self.at, self.level, self.fast.mask)?;
        Some(())
    }

    /// Executes an instruction that pops `pops` elements, and pushes an element with the kind `pushed`, or none.
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
                *slot(&mut level.kinds, height, 0) = core::mem::replace(&mut at.kind, Packed::pack(kind))
            }
            (_, Some(kind)) => at.kind = Packed::pack(kind),
            (0, None) => {}
            (_, None) => at.kind = *slot(&mut level.kinds, at.top.height, 0),
        }
        Some(())
    }
}

/// Executes a frequent operation that queries the machine or the target. `None` for any other one, and at a possible
/// fault.
#[inline(always)]
fn query(code: u8, to: &mut Direct<'_, '_>) -> Option<()> {
    match code {
        ADDR => {
            let bytes = to.at.code.encoding().address_bytes;
            let operand = to.at.code.fixed(bytes)?;
            memory(to, Instruction { operand, ..Instruction::new(Code::Address) })
        }
        BREG0..=BREG31 => {
            let offset = to.at.code.sleb()?;
            based(to, u32::from(code - BREG0), offset)
        }
        BREGX => {
            let reg = to.at.code.register()?;
            let offset = to.at.code.sleb()?;
            based(to, reg.0.try_into().ok()?, offset)
        }
        FBREG => {
            let offset = to.at.code.sleb()?;
            to.allow(OperationName::FbReg)?;
            memory(to, Instruction { operand: offset as u64, ..Instruction::new(Code::FrameBase) })
        }
        CALL_FRAME_CFA if !is_draft(to) => {
            to.allow(OperationName::CallFrameCfa)?;
            memory(to, Instruction::new(Code::Cfa))
        }
        DEREF => {
            let bytes = to.at.code.encoding().address_bytes;
            deref(to, bytes)
        }
        DEREF_SIZE => {
            let bytes = to.at.code.byte()?;
            deref(to, bytes)
        }
        REG0..=REG31 => register(to, u32::from(code - REG0)),
        REGX => {
            let Reg(reg) = to.at.code.register()?;
            register(to, reg.try_into().ok()?)
        }
        STACK_VALUE => {
            to.kind(0).number()?;
            to.set_kind(Kind::Known);
            Some(())
        }
        PIECE => {
            let bytes = to.at.code.uleb()?;
            piece(to, bytes)
        }
        _ => None,
    }
}

/// Executes a less frequent operation. `None` for any other one, and at a possible fault.
fn vendor(to: &mut Direct<'_, '_>) -> Option<()> {
    let op = to.at.code.decode()?;
    match op {
        Op::GnuUninit {} | Op::Nop {} => return to.allow(op.name()),
        Op::ModFloor {} => return to.modulo_floor(),
        _ if is_draft(to) => return None,
        Op::PushLane {}
        | Op::FormAspaceAddress {}
        | Op::Offset {}
        | Op::BitOffset {}
        | Op::OffsetUconst { .. } => to.allow(op.name())?,
        _ => return None,
    }
    match op {
        Op::PushLane {} => to.emit(Instruction::new(Code::Lane), 0, Some(Kind::Value)),
        Op::FormAspaceAddress {} => to.address_in_space(),
        Op::Offset {} => {
            to.kind(0).number()?;
            offset(to, 1, 8, 0)
        }
        Op::BitOffset {} => {
            to.kind(0).number()?;
            // A bit offset into memory can end within a byte, which an address cannot express.
            let Kind::Register(_) = to.kind(1) else { return None };
            offset(to, 1, 1, 0)
        }
        Op::OffsetUconst { bytes: by @ 0..=0xffff } => offset(to, 0, 8, by),
        _ => None,
    }
}

fn is_draft(to: &Direct<'_, '_>) -> bool {
    to.at.code.encoding().dialect == Dialect::Dwarf6
}

/// Pushes a byte in the default space.
#[inline(always)]
fn memory(to: &mut Direct<'_, '_>, one: Instruction) -> Option<()> {
    to.flat()?;
    to.emit(one, 0, Some(Kind::Memory(SpaceId::DEFAULT)))
}

/// Pushes the address in a register plus an offset.
#[inline(always)]
fn based(to: &mut Direct<'_, '_>, reg: u32, by: i64) -> Option<()> {
    memory(to, Instruction { operand: by as u64, small: reg, ..Instruction::new(Code::Based) })
}

#[inline(always)]
fn register(to: &mut Direct<'_, '_>, reg: u32) -> Option<()> {
    to.emit(Instruction { small: reg, ..Instruction::new(Code::Register) }, 0, Some(Kind::Register(reg)))
}

#[inline(always)]
fn deref(to: &mut Direct<'_, '_>, bytes: u8) -> Option<()> {
    if bytes == 0 || bytes > to.at.code.encoding().address_bytes {
        return None;
    }
    let (code, small) = match to.kind(0) {
        Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
            to.flat()?;
            (Code::Deref, 0)
        }
        Kind::Memory(space) => (Code::DerefSpace, space.0),
        Kind::Register(reg) => (Code::ReadAt, reg),
        Kind::Known | Kind::Nothing => return None,
    };
    to.emit(Instruction { bytes, small, ..Instruction::new(code) }, 1, Some(Kind::Value))
}

/// Moves the element `index` below the top, a location, by the number on top, or by a constant, in units of `unit` bits.
fn offset(to: &mut Direct<'_, '_>, index: usize, unit: u8, by: u64) -> Option<()> {
    let kind = to.kind(index);
    let (memory, register) = match index {
        0 => (Code::OffsetConst, Code::RegisterOffsetConst),
        _ => (Code::Offset, Code::RegisterOffset),
    };
    let (code, small, moved) = match kind {
        Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
            to.flat()?;
            (memory, SpaceId::DEFAULT.0, Kind::Memory(SpaceId::DEFAULT))
        }
        Kind::Memory(space) => (memory, space.0, kind),
        Kind::Register(reg) => (register, reg, kind),
        Kind::Known | Kind::Nothing => return None,
    };
    to.emit(Instruction { operand: by, small, bytes: unit, code }, index + 1, Some(moved))
}

/// Piece size in bytes that is too large: no composite with smaller pieces exceeds the largest address space.
const TOO_LARGE: u64 = 1 << 13;

#[inline(always)]
fn piece(to: &mut Direct<'_, '_>, bytes: u64) -> Option<()> {
    let address_bits = u64::from(to.at.code.encoding().address_bytes) * 8;
    // A piece takes the only element; any other case is left to `Run`.
    if to.height() > 1 || bytes >= TOO_LARGE || address_bits < 32 || is_draft(to) {
        return None;
    }
    to.part()?;
    let operand = bytes * 8;
    let (code, small) = match to.kind(0) {
        Kind::Nothing => (Code::PieceNothing, 0),
        Kind::Value | Kind::Memory(SpaceId::DEFAULT) => {
            to.flat()?;
            (Code::PieceMemory, 0)
        }
        Kind::Memory(space) => (Code::PieceSpace, space.0),
        Kind::Register(reg) => (Code::PieceRegister, reg),
        Kind::Known if operand <= address_bits => (Code::PieceKnown, 0),
        Kind::Known => return None,
    };
    to.emit(Instruction { operand, small, ..Instruction::new(code) }, to.height(), None)
}
