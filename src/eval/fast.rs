//! Fast part of the full evaluator: common operations on numbers of the generic type, bytes of the default address space
//! and whole registers, with a stack of its own.
//!
//! It never fails. At any other operation, and at any possible fault, it stops before the operation, and
//! [`Run`](super::run::Run), which implements all operations and rules, continues there. Both must have equal results:
//! a traced evaluation does not use the fast evaluator, and a property test compares the two.

mod code;
mod lane;
mod machine;
mod opcode;
mod parts;
mod slots;

use super::Where;
use super::arith::{Binary, Compare, Unary};
use super::branch::Branches;
use super::generic;
use super::machine::{Architecture, Machine};
use crate::op::{Encoding, Reg, sign_extended};
use lane::{Lane, State};
use machine::Flat;
use opcode::*;
use slots::{SLOTS, Slot};

pub(super) use code::Bytes;
pub(super) use parts::Parts;
pub(super) use slots::Slots;

/// Progress of an evaluation within an expression.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    /// Offset in bytes of the next operation.
    pub at: usize,
    /// Number of steps of the whole evaluation.
    pub steps: u64,
    /// The register of the last operation, if that was `DW_OP_reg*`.
    pub register: Option<Reg>,
    pub branches: Branches,
}

impl Progress {
    /// Returns the progress at the start of an expression, after `steps` earlier steps and an operation with
    /// `register`, if any.
    #[inline(always)]
    pub fn after(steps: u64, register: Option<Reg>) -> Self {
        Self { at: 0, steps, register, branches: Branches::default() }
    }
}

/// State in which the fast evaluator stopped.
struct End {
    /// Whether it reached the end of the expression.
    is_done: bool,
    /// Number of elements on the stack.
    len: usize,
    flat: Flat,
}

/// Constant inputs of the fast evaluator.
#[derive(Clone, Copy)]
pub(super) struct Fast<'f> {
    pub machine: &'f dyn Machine,
    pub target: &'f dyn Architecture,
    pub encoding: &'f Encoding,
    pub frame: u32,
    pub place: Where,
    pub is_frame_base: bool,
    /// Number of further nested calls allowed.
    pub depth: u32,
    /// Maximum number of steps of the whole evaluation.
    pub max_steps: u64,
    /// Maximum number of elements on the stack.
    pub room: usize,
    /// Maximum number of pieces of a composite; 0 where none can be started.
    pub pieces: usize,
}

impl Fast<'_> {
    /// Executes as many operations as it supports, from the given progress, on an empty stack. Returns whether the
    /// expression is done.
    pub fn run(&self, code: Bytes<'_>, slots: &mut Slots, progress: &mut Progress) -> bool {
        let room = self.room.min(SLOTS);
        let end = self.operations(code, &mut slots.all[..=room], &mut slots.parts, progress);
        (slots.len, slots.flat) = (end.len, end.flat);
        end.is_done
    }

    /// Executes operations as [`run`](Self::run) does.
    fn operations(
        &self,
        code: Bytes<'_>,
        slots: &mut [Slot],
        parts: &mut Parts,
        progress: &mut Progress,
    ) -> End {
        let bits = self.address_bits();
        if !(1..=64).contains(&bits) {
            return End { is_done: false, len: 0, flat: Flat::No };
        }
        let steps = self.max_steps.saturating_sub(progress.steps);
        if let Some(bottom) = slots.first_mut() {
            *bottom = Slot::Bottom;
        }
        let mut lane = Lane {
            code,
            steps,
            slots,
            len: 0,
            mask: u64::MAX >> (64 - bits),
            register_end: usize::MAX,
            register_bits: 0,
            flat: Flat::Unknown,
        };
        let is_done = loop {
            if lane.code.is_at_end() {
                break true;
            }
            if self.ask(&mut lane, parts).is_some() {
                continue;
            }
            let before = lane.steps;
            lane = self.calculate(lane, &mut progress.branches);
            if lane.steps == before {
                break false;
            }
        };
        let Lane { code, len, flat, .. } = lane;
        if lane.steps != steps {
            progress.register = match lane.slots.get(len) {
                Some(Slot::Register(reg)) if lane.register_end == code.position() => Some(*reg),
                _ => None,
            };
        }
        progress.at = code.offset();
        progress.steps += steps - lane.steps;
        End { is_done, len, flat }
    }

    /// Executes as many operations as possible that only move elements or calculate. The loop makes no calls, so its
    /// state stays in registers; `lane` is passed by value so that the caller's state does too.
    #[inline(never)]
    fn calculate<'l>(&self, mut lane: Lane<'l>, branches: &mut Branches) -> Lane<'l> {
        let (len, mask) = (lane.len, lane.mask);
        let Some(&top) = lane.slots.get(len) else { return lane };
        let Some((_, below)) = lane.slots.split_last_mut() else { return lane };
        let mut state = State { code: lane.code, steps: lane.steps, below, top, len, mask };
        while let Some(code) = state.code.opcode()
            && state.steps > 0
        {
            if self.calculation(code, &mut state, branches).is_none() {
                break;
            }
            state.code.advance();
            state.steps -= 1;
        }
        let State { code, steps, top, len, .. } = state;
        if steps != lane.steps {
            // The last operation was not one that names a register.
            lane.register_end = usize::MAX;
        }
        if let Some(place) = lane.slots.get_mut(len) {
            *place = top;
        }
        (lane.code, lane.steps, lane.len) = (code, steps, len);
        lane
    }

    /// Executes one operation. `None` if it is not supported; the stack and the steps are then unchanged.
    #[inline(always)]
    fn calculation(&self, code: u8, state: &mut State<'_, '_>, branches: &mut Branches) -> Option<()> {
        match code {
            LIT0..=LIT31 => state.push_value(u64::from(code - LIT0)),
            CONST1U => self.unsigned(state, 1),
            CONST2U => self.unsigned(state, 2),
            CONST4U => self.unsigned(state, 4),
            CONST8U => self.unsigned(state, 8),
            CONST1S => self.signed(state, 1),
            CONST2S => self.signed(state, 2),
            CONST4S => self.signed(state, 4),
            CONST8S => self.signed(state, 8),
            CONSTU => {
                let number = state.code.uleb()?;
                state.push_value(number)
            }
            CONSTS => {
                let number = state.code.sleb()?;
                state.push_value(number as u64)
            }

            DROP => state.drop_top(),
            DUP => state.push(state.top.element()?),
            OVER => state.pick(1),
            PICK => {
                let index = state.code.byte()?;
                state.pick(index.into())
            }
            SWAP => {
                if state.len < 2 {
                    return None;
                }
                let top = state.top;
                state.top = core::mem::replace(state.below(1)?, top);
                Some(())
            }
            ROT => {
                if state.len < 3 {
                    return None;
                }
                let (third, top) = (*state.below(2)?, state.top);
                state.top = core::mem::replace(state.below(1)?, third);
                *state.below(2)? = top;
                Some(())
            }

            AND => state.binary(Binary::And),
            DIV => state.binary(Binary::Div),
            MINUS => state.binary(Binary::Minus),
            MOD => state.binary(Binary::Mod),
            MUL => state.binary(Binary::Mul),
            OR => state.binary(Binary::Or),
            PLUS => state.binary(Binary::Plus),
            SHL => state.binary(Binary::Shl),
            SHR => state.binary(Binary::Shr),
            SHRA => state.binary(Binary::Shra),
            XOR => state.binary(Binary::Xor),
            ABS => state.unary(|unused, a| generic::unary(Unary::Abs, unused, a)),
            NEG => state.unary(|unused, a| generic::unary(Unary::Neg, unused, a)),
            NOT => state.unary(|unused, a| generic::unary(Unary::Not, unused, a)),
            PLUS_UCONST => {
                let number = state.code.uleb()?;
                state.unary(|_, a| a.wrapping_add(number))
            }
            EQ => state.compare(Compare::Eq),
            GE => state.compare(Compare::Ge),
            GT => state.compare(Compare::Gt),
            LE => state.compare(Compare::Le),
            LT => state.compare(Compare::Lt),
            NE => state.compare(Compare::Ne),

            NOP => Some(()),
            SKIP => {
                let by = state.code.distance(self.encoding)?;
                self.branch(state, branches, by)
            }
            BRA => {
                let by = state.code.distance(self.encoding)?;
                if state.top.number()? != 0 {
                    self.branch(state, branches, by)?;
                }
                state.drop_top()
            }

            _ => None,
        }
    }

    /// Executes an operation that queries the machine or the target. `None` if it is not supported; the stack and the
    /// steps are then unchanged.
    #[inline(always)]
    fn ask(&self, lane: &mut Lane<'_>, parts: &mut Parts) -> Option<()> {
        let code = lane.code.opcode()?;
        if lane.steps == 0 {
            return None;
        }
        match code {
            ADDR => {
                let address = lane.code.fixed(self.encoding, self.encoding.address_bytes)?;
                self.push_memory(lane, address.wrapping_add(self.machine.load_bias()))?;
            }
            BREG0..=BREG31 => self.based(lane, Reg(u64::from(code - BREG0)))?,
            BREGX => {
                let reg = lane.code.register()?;
                self.based(lane, reg)?;
            }
            FBREG => {
                let by = lane.code.sleb()?;
                self.flat(lane)?;
                let mut steps = lane.steps;
                let base = self.frame_base(lane.slots.get_mut(lane.len + 1..)?, &mut steps)?;
                // A location outside its storage is a fault; the address does not wrap around.
                let address = base.checked_add_signed(by).filter(|&address| address <= lane.mask)?;
                lane.push(Slot::Memory(address))?;
                lane.steps = steps;
            }
            CALL_FRAME_CFA => {
                self.flat(lane)?;
                let address = self.cfa()?;
                lane.push(Slot::Memory(address))?;
            }
            DEREF => self.deref(lane, self.encoding.address_bytes)?,
            DEREF_SIZE => {
                let bytes = lane.code.byte()?;
                self.deref(lane, bytes)?;
            }

            // Operations that are common between the others.
            LIT0..=LIT31 => lane.push(Slot::Value(u64::from(code - LIT0) & lane.mask))?,
            PLUS_UCONST => {
                let number = lane.code.uleb()?.wrapping_add(lane.number()?);
                lane.replace(Slot::Value(number & lane.mask))?;
            }

            REG0..=REG31 => self.push_register(lane, Reg(u64::from(code - REG0)))?,
            REGX => {
                let reg = lane.code.register()?;
                self.push_register(lane, reg)?;
            }
            STACK_VALUE => {
                let number = lane.number()?;
                lane.replace(Slot::Implicit(number))?;
            }
            PIECE => {
                let bytes = lane.code.uleb()?;
                if lane.len > 1 {
                    return None;
                }
                let slot = *lane.slots.get(lane.len)?;
                if let Slot::Value(_) = slot {
                    self.flat(lane)?;
                }
                let register_bits =
                    if lane.register_end == lane.code.position() { lane.register_bits } else { 0 };
                self.piece(slot, bytes, register_bits, parts)?;
                lane.len = 0;
            }
            _ => return None,
        }
        lane.code.advance();
        lane.steps -= 1;
        Some(())
    }

    /// Pushes an unsigned number of `bytes` bytes.
    #[inline(always)]
    fn unsigned(&self, state: &mut State<'_, '_>, bytes: u8) -> Option<()> {
        let number = state.code.fixed(self.encoding, bytes)?;
        state.push_value(number)
    }

    /// Pushes a signed number of `bytes` bytes.
    #[inline(always)]
    fn signed(&self, state: &mut State<'_, '_>, bytes: u8) -> Option<()> {
        let number = state.code.fixed(self.encoding, bytes)?;
        state.push_value(sign_extended(number, bytes))
    }

    #[inline(always)]
    fn branch(&self, state: &mut State<'_, '_>, branches: &mut Branches, by: i16) -> Option<()> {
        state.steps -= state.code.branch(by, self.encoding, branches, state.steps)?;
        Some(())
    }
}

/// Returns the register, if the expression is a single register operation.
#[inline(always)]
pub(super) fn alone(expr: &[u8]) -> Option<Reg> {
    match *expr {
        [code @ REG0..=REG31] => Some(Reg(u64::from(code - REG0))),
        [REGX, ..] => {
            let mut code = Bytes::new(expr, 0);
            code.opcode()?;
            code.register().filter(|_| code.next() == expr.len())
        }
        _ => None,
    }
}
