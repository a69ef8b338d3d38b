//! The quick way: operations on numbers of the generic type, bytes of the default address space and whole
//! registers, which most expressions consist of, on a stack of their own.
//!
//! It never fails. Where it meets anything else, or what may be a fault, it stops before the operation, and
//! [`Run`](super::run::Run), which knows all operations and all rules, goes on from there. Both give the same
//! answers: a traced evaluation does not take the quick way, and a property test compares the two.

mod lane;
mod machine;
mod slots;

use super::Where;
use super::arith::{Binary, Compare, Unary};
use super::branch::Branches;
use super::generic;
use super::machine::{Architecture, Machine};
use crate::op::{Encoding, Name, OPERANDS, OPERATIONS, Operand, Reg, sign_extended};
use lane::{Lane, long_uleb};
use machine::Flat;
use slots::{SLOTS, Slot};

pub(super) use slots::Slots;

/// How far an expression was carried out.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    /// Bytes from its start to the next operation.
    pub at: usize,
    /// Steps of the whole evaluation.
    pub steps: u64,
    /// The register of the last operation, if that was `DW_OP_reg*`.
    pub register: Option<Reg>,
    pub branches: Branches,
}

impl Progress {
    /// None, after so many steps, and after the operation that named the register, if one did.
    #[inline(always)]
    pub fn after(steps: u64, register: Option<Reg>) -> Self {
        Self { at: 0, steps, register, branches: Branches::default() }
    }
}

/// What does not change on the quick way.
#[derive(Clone, Copy)]
pub(super) struct Quick<'q> {
    pub machine: &'q dyn Machine,
    pub target: &'q dyn Architecture,
    pub encoding: &'q Encoding,
    pub frame: u32,
    pub place: Where,
    pub is_frame_base: bool,
    /// How many more calls deep it may go.
    pub depth: u32,
    /// How many steps the whole evaluation may take.
    pub max_steps: u64,
    /// How many elements may be on the stack.
    pub room: usize,
    /// How many pieces a composite may have; 0 where none can be begun.
    pub pieces: usize,
}

impl Quick<'_> {
    /// Carries out operations as long as it can, from where the progress is, on a stack that is empty. Says
    /// whether the expression is done.
    pub fn run(&self, expr: &[u8], slots: &mut Slots, progress: &mut Progress) -> bool {
        let room = self.room.min(SLOTS);
        let (is_done, len) = self.operations(expr, &mut slots.all[..=room], &mut slots.pieces, progress);
        slots.len = len;
        is_done
    }

    /// As [`run`](Self::run). Comes with how many elements are then on the stack.
    fn operations(
        &self,
        expr: &[u8],
        slots: &mut [Slot],
        pieces: &mut Vec<(Option<Slot>, u64)>,
        progress: &mut Progress,
    ) -> (bool, usize) {
        let bits = self.address_bits();
        if !(1..=64).contains(&bits) {
            return (false, 0);
        }
        let steps = self.max_steps.saturating_sub(progress.steps);
        let mut lane = Lane {
            expr,
            at: progress.at,
            next: progress.at,
            slots,
            top: Slot::Bottom,
            len: 0,
            mask: u64::MAX >> (64 - bits),
            steps,
            register_end: usize::MAX,
            flat: Flat::Unknown,
        };
        let is_done = loop {
            let Some(&code) = expr.get(lane.at) else { break true };
            lane.next = lane.at + 1;
            if lane.steps == 0 || self.operation(code, &mut lane, pieces, &mut progress.branches).is_none() {
                break false;
            }
            lane.at = lane.next;
            lane.steps -= 1;
        };
        if lane.steps != steps {
            progress.register = match lane.top {
                Slot::Register(_, reg) if lane.register_end == lane.at => Some(reg),
                _ => None,
            };
        }
        if let Some(place) = lane.slots.get_mut(lane.len) {
            *place = lane.top;
        }
        progress.at = lane.at;
        progress.steps += steps - lane.steps;
        (is_done, lane.len)
    }

    /// Carries out one operation. If it cannot, that is `None`, and the stack and the steps are as before.
    #[inline(always)]
    fn operation(
        &self,
        code: u8,
        lane: &mut Lane<'_>,
        pieces: &mut Vec<(Option<Slot>, u64)>,
        branches: &mut Branches,
    ) -> Option<()> {
        let operand = || OPERANDS[usize::from(code)];
        match OPERATIONS[usize::from(code)] {
            Some(Name::ConstU) => {
                let number = match operand() {
                    Operand::Is(number) => number.into(),
                    Operand::Unsigned(bytes) => self.fixed(lane, bytes)?,
                    _ => lane.uleb()?,
                };
                lane.push_value(number)
            }
            Some(Name::ConstS) => {
                let number = match operand() {
                    Operand::Signed(bytes) => sign_extended(self.fixed(lane, bytes)?, bytes),
                    _ => lane.sleb()? as u64,
                };
                lane.push_value(number)
            }

            Some(Name::Drop) => lane.drop_top(),
            Some(Name::Pick) => {
                let index = match operand() {
                    Operand::Is(index) => index,
                    _ => lane.byte()?,
                };
                let picked = if index == 0 { lane.top } else { *lane.below(index.into())? };
                if let Slot::Bottom = picked {
                    return None;
                }
                lane.push(picked)
            }
            Some(Name::Swap) => {
                if lane.len < 2 {
                    return None;
                }
                let top = lane.top;
                lane.top = core::mem::replace(lane.below(1)?, top);
                Some(())
            }
            Some(Name::Rot) => {
                if lane.len < 3 {
                    return None;
                }
                let (third, top) = (*lane.below(2)?, lane.top);
                lane.top = core::mem::replace(lane.below(1)?, third);
                *lane.below(2)? = top;
                Some(())
            }

            Some(Name::And) => lane.binary(Binary::And),
            Some(Name::Div) => lane.binary(Binary::Div),
            Some(Name::Minus) => lane.binary(Binary::Minus),
            Some(Name::Mod) => lane.binary(Binary::Mod),
            Some(Name::Mul) => lane.binary(Binary::Mul),
            Some(Name::Or) => lane.binary(Binary::Or),
            Some(Name::Plus) => lane.binary(Binary::Plus),
            Some(Name::Shl) => lane.binary(Binary::Shl),
            Some(Name::Shr) => lane.binary(Binary::Shr),
            Some(Name::Shra) => lane.binary(Binary::Shra),
            Some(Name::Xor) => lane.binary(Binary::Xor),
            Some(Name::Abs) => lane.unary(|unused, a| generic::unary(Unary::Abs, unused, a)),
            Some(Name::Neg) => lane.unary(|unused, a| generic::unary(Unary::Neg, unused, a)),
            Some(Name::Not) => lane.unary(|unused, a| generic::unary(Unary::Not, unused, a)),
            Some(Name::PlusUconst) => {
                let number = lane.uleb()?;
                lane.unary(|_, a| a.wrapping_add(number))
            }
            Some(Name::Eq) => lane.compare(Compare::Eq),
            Some(Name::Ge) => lane.compare(Compare::Ge),
            Some(Name::Gt) => lane.compare(Compare::Gt),
            Some(Name::Le) => lane.compare(Compare::Le),
            Some(Name::Lt) => lane.compare(Compare::Lt),
            Some(Name::Ne) => lane.compare(Compare::Ne),

            Some(Name::Nop) => Some(()),
            Some(Name::Skip) => {
                let by = self.distance(lane)?;
                self.branch(lane, branches, by)
            }
            Some(Name::Bra) => {
                let by = self.distance(lane)?;
                if lane.number()? != 0 {
                    self.branch(lane, branches, by)?;
                }
                lane.drop_top()
            }

            Some(Name::Addr) => {
                let address = self.fixed(lane, self.encoding.address_bytes)?;
                self.push_memory(lane, address)
            }
            Some(Name::BregX) => {
                let reg = self.reg(lane, operand())?;
                let by = lane.sleb()?;
                self.flat(lane)?;
                let address = self.contents(reg)?;
                self.push_memory(lane, address.wrapping_add(by as u64))
            }
            Some(Name::FbReg) => {
                let by = lane.sleb()?;
                self.flat(lane)?;
                let mut steps = lane.steps;
                // The top is not in its place yet: the inner expression's stack starts there, and leaves it.
                let base = self.frame_base(lane.slots.get_mut(lane.len..)?, &mut steps)?;
                // A location that leaves its storage is a fault, not an address at the other end.
                let address = base.checked_add_signed(by).filter(|&address| address <= lane.mask)?;
                lane.push(Slot::Memory(address))?;
                lane.steps = steps;
                Some(())
            }
            Some(Name::CallFrameCfa) => {
                self.flat(lane)?;
                let address = self.cfa()?;
                lane.push(Slot::Memory(address))
            }
            Some(Name::Deref) => self.deref(lane, self.encoding.address_bytes),
            Some(Name::DerefSize) => {
                let bytes = lane.byte()?;
                self.deref(lane, bytes)
            }

            Some(Name::RegX) => {
                let reg = self.reg(lane, operand())?;
                let bits = self.register_bits(reg)?;
                lane.push(Slot::Register(bits, reg))?;
                lane.register_end = lane.next;
                Some(())
            }
            Some(Name::StackValue) => {
                lane.top = Slot::Implicit(lane.number()?);
                Some(())
            }
            Some(Name::Piece) => {
                let bits = lane.uleb()?.checked_mul(8)?;
                self.flat(lane)?;
                let part = match lane.len {
                    0 => None,
                    1 => Some(lane.top),
                    _ => return None,
                };
                self.piece(part, bits, pieces)?;
                (lane.top, lane.len) = (Slot::Bottom, 0);
                Some(())
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn branch(&self, lane: &mut Lane<'_>, branches: &mut Branches, by: i16) -> Option<()> {
        let (to, steps) = branches.target(lane.expr, self.encoding, lane.next, by).ok()?;
        if steps > 0 {
            // One is for the operation itself.
            lane.steps = lane.steps.checked_sub(steps).filter(|&left| left > 0)?;
        }
        (lane.next, lane.register_end) = (to, usize::MAX);
        Some(())
    }
}

/// The register, if that is all that the expression says.
#[inline(always)]
pub(super) fn alone(expr: &[u8]) -> Option<Reg> {
    let (&code, rest) = expr.split_first()?;
    if OPERATIONS[usize::from(code)] != Some(Name::RegX) {
        return None;
    }
    match OPERANDS[usize::from(code)] {
        Operand::Is(number) => rest.is_empty().then_some(Reg(number.into())),
        _ => long_uleb(rest).filter(|&(_, len)| len == rest.len()).map(|(number, _)| Reg(number)),
    }
}
