//! Translation of operations to instructions, by the kinds of the elements on the stack.

use super::super::arith::{Binary, Compare, Unary};
use super::code::Bytes;
use super::instruction::{Code, Instruction};
use super::kinds::Kind;
use super::opcode::*;
use crate::op::{Dialect, Name, Op, Reg, sign_extended};
use crate::target::SpaceId;

/// Receiver of operations that only move elements or calculate. `None` is a possible fault; nothing is changed then.
pub(super) trait Calculate<'c> {
    fn code(&mut self) -> &mut Bytes<'c>;
    /// Pushes a value of the generic type: the low bits of the number.
    fn constant(&mut self, number: u64) -> Option<()>;
    fn discard(&mut self) -> Option<()>;
    fn pick(&mut self, index: u8) -> Option<()>;
    fn swap(&mut self) -> Option<()>;
    fn rotate(&mut self) -> Option<()>;
    fn unary(&mut self, op: Unary) -> Option<()>;
    fn binary(&mut self, op: Binary) -> Option<()>;
    fn compare(&mut self, op: Compare) -> Option<()>;
    fn add(&mut self, number: u64) -> Option<()>;
    fn skip(&mut self, by: i16) -> Option<()>;
    /// Pops a number, and branches unless it is 0.
    fn branch(&mut self, by: i16) -> Option<()>;
}

/// Translates an operation that only moves elements or calculates. `None` for any other one, and at a possible fault.
#[inline(always)]
pub(super) fn calculation<'c>(code: u8, to: &mut impl Calculate<'c>) -> Option<()> {
    macro_rules! constant {
        (unsigned $bytes:literal) => {{
            let number = to.code().fixed($bytes)?;
            to.constant(number)
        }};
        (signed $bytes:literal) => {{
            let number = to.code().fixed($bytes)?;
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
            let number = to.code().uleb()?;
            to.constant(number)
        }
        CONSTS => {
            let number = to.code().sleb()?;
            to.constant(number as u64)
        }

        DROP => to.discard(),
        DUP => to.pick(0),
        OVER => to.pick(1),
        PICK => {
            let index = to.code().byte()?;
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
            let number = to.code().uleb()?;
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
            let by = to.code().distance()?;
            to.skip(by)
        }
        BRA => {
            let by = to.code().distance()?;
            to.branch(by)
        }

        _ => None,
    }
}

/// Receiver of instructions that query the machine or the target. `None` is a possible fault; nothing is changed then.
pub(super) trait Query<'c> {
    fn code(&mut self) -> &mut Bytes<'c>;
    /// Returns the number of elements, without the composite under construction.
    fn height(&self) -> usize;
    /// Returns the kind of the element `index` below the top.
    fn kind(&self, index: usize) -> Kind;
    /// Changes the kind of the top element.
    fn set_kind(&mut self, kind: Kind);
    /// Requires the operation to be allowed where the expression is.
    fn allow(&mut self, name: Name) -> Option<()>;
    /// Requires addresses of the default space to have the size of the generic type, in memory that all lanes share.
    fn flat(&mut self) -> Option<()>;
    /// Requires room for a part of the composite.
    fn part(&mut self) -> Option<()>;
    /// Pops a constant number of a space, and converts the number below to an address in that space.
    fn address_in_space(&mut self) -> Option<()>;
    fn modulo_floor(&mut self) -> Option<()>;
    /// Executes or records an instruction that pops elements and pushes one or none.
    fn emit(&mut self, one: Instruction, pops: usize, pushed: Option<Kind>) -> Option<()>;
}

/// Translates a frequent operation that queries the machine or the target. `None` for any other one, and at a possible
/// fault.
#[inline(always)]
pub(super) fn query<'c, Q: Query<'c>>(code: u8, to: &mut Q) -> Option<()> {
    match code {
        ADDR => {
            let bytes = to.code().encoding().address_bytes;
            let operand = to.code().fixed(bytes)?;
            memory(to, Instruction { operand, ..Instruction::new(Code::Address) })
        }
        BREG0..=BREG31 => {
            let by = to.code().sleb()?;
            based(to, u32::from(code - BREG0), by)
        }
        BREGX => {
            let reg = to.code().register()?;
            let by = to.code().sleb()?;
            based(to, reg.0.try_into().ok()?, by)
        }
        FBREG => {
            let by = to.code().sleb()?;
            to.allow(Name::FbReg)?;
            memory(to, Instruction { operand: by as u64, ..Instruction::new(Code::FrameBase) })
        }
        CALL_FRAME_CFA if !is_draft(to) => {
            to.allow(Name::CallFrameCfa)?;
            memory(to, Instruction::new(Code::Cfa))
        }
        DEREF => {
            let bytes = to.code().encoding().address_bytes;
            deref(to, bytes)
        }
        DEREF_SIZE => {
            let bytes = to.code().byte()?;
            deref(to, bytes)
        }
        REG0..=REG31 => register(to, u32::from(code - REG0)),
        REGX => {
            let Reg(reg) = to.code().register()?;
            register(to, reg.try_into().ok()?)
        }
        STACK_VALUE => {
            to.kind(0).number()?;
            to.set_kind(Kind::Known);
            Some(())
        }
        PIECE => {
            let bytes = to.code().uleb()?;
            piece(to, bytes)
        }
        _ => None,
    }
}

/// Translates a less frequent operation. `None` for any other one, and at a possible fault.
pub(super) fn vendor<'c, Q: Query<'c>>(to: &mut Q) -> Option<()> {
    let op = to.code().decode()?;
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
            let Kind::Register(_) = to.kind(1) else { return None };
            offset(to, 1, 1, 0)
        }
        Op::OffsetUconst { bytes: by @ 0..=0xffff } => offset(to, 0, 8, by),
        _ => None,
    }
}

fn is_draft<'c>(to: &mut impl Query<'c>) -> bool {
    to.code().encoding().dialect == Dialect::Dwarf6
}

/// Pushes a byte of the default space.
#[inline(always)]
fn memory<'c>(to: &mut impl Query<'c>, one: Instruction) -> Option<()> {
    to.flat()?;
    to.emit(one, 0, Some(Kind::Memory(SpaceId::DEFAULT)))
}

/// Pushes the address in a register plus an offset.
#[inline(always)]
fn based<'c>(to: &mut impl Query<'c>, reg: u32, by: i64) -> Option<()> {
    memory(to, Instruction { operand: by as u64, small: reg, ..Instruction::new(Code::Based) })
}

#[inline(always)]
fn register<'c>(to: &mut impl Query<'c>, reg: u32) -> Option<()> {
    to.emit(Instruction { small: reg, ..Instruction::new(Code::Register) }, 0, Some(Kind::Register(reg)))
}

#[inline(always)]
fn deref<'c>(to: &mut impl Query<'c>, bytes: u8) -> Option<()> {
    if bytes == 0 || bytes > to.code().encoding().address_bytes {
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
fn offset<'c>(to: &mut impl Query<'c>, index: usize, unit: u8, by: u64) -> Option<()> {
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

/// Size of a piece in bytes that is too large: no composite of smaller ones exceeds the largest address space.
const TOO_LARGE: u64 = 1 << 13;

#[inline(always)]
fn piece<'c>(to: &mut impl Query<'c>, bytes: u64) -> Option<()> {
    let address_bits = u64::from(to.code().encoding().address_bytes) * 8;
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
