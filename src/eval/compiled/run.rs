//! Execution of compiled instructions.

use super::super::arith::{Binary, Compare, Unary};
use super::super::fast::{Fast, Slots};
use super::super::generic;
use super::super::location::Location;
use super::code::{Code, Instruction};
use super::compile::Program;
use crate::op::Reg;

/// Size of the stack. The slot at the number of elements is that of the top, which is not stored.
pub(super) const HEIGHT: usize = 64;

/// Elements below the top, from index 1. The memory is reused from one evaluation to the next.
#[derive(Debug)]
pub(in super::super) struct Stack(Box<[u64; HEIGHT]>);

impl Stack {
    pub fn new() -> Self {
        Self(Box::new([0; HEIGHT]))
    }
}

/// Position and top of an execution.
pub(super) struct State {
    pub at: usize,
    /// Number of elements.
    pub height: usize,
    pub top: u64,
    /// Number of steps left.
    pub left: u64,
}

/// Returns the slot of the element `index` below the top. The height is proved: the mask only spares a check.
#[inline(always)]
fn slot(stack: &mut [u64; HEIGHT], height: usize, index: usize) -> &mut u64 {
    &mut stack[height.wrapping_sub(index) % HEIGHT]
}

impl State {
    #[inline(always)]
    fn push(&mut self, stack: &mut [u64; HEIGHT], number: u64) {
        *slot(stack, self.height, 0) = core::mem::replace(&mut self.top, number);
        self.height += 1;
    }
}

/// Execution of a program.
pub(super) struct Execution<'v> {
    pub fast: Fast<'v>,
    pub program: &'v Program,
    /// Mask of the generic type's bits, of 64.
    pub mask: u64,
}

impl Execution<'_> {
    /// Executes the program. Returns the top element; `None` at any possible fault.
    pub fn run(&self, stack: &mut Stack, slots: &mut Slots) -> Option<u64> {
        let (all, stack) = (&self.program.all[..], &mut *stack.0);
        let left = self.fast.max_steps.checked_sub(self.program.steps)?;
        let mut state = State { at: 0, height: 0, top: 0, left };
        loop {
            let one = all.get(state.at)?;
            let pushed = match one.code {
                Code::End => return Some(state.top),
                Code::Const => one.operand,
                Code::Based => self.based(one, one.operand)?,
                Code::BasedDeref => self.word(self.based(one, one.operand)?, one.bytes)?,
                Code::Read => self.read(one, 0)?,
                Code::Register => {
                    self.fast.register_bits(Reg(one.small.into()))?;
                    0
                }
                Code::Address => one.operand.wrapping_add(self.fast.machine.load_bias()) & self.mask,
                Code::FrameBase => self.frame_base(one, &mut state, slots)?,
                Code::Cfa => self.fast.cfa()?,
                Code::Lane => self.lane()? & self.mask,
                code => {
                    match code {
                        Code::PlusConst => state.top = state.top.wrapping_add(one.operand) & self.mask,
                        Code::PlusDeref => {
                            let address = state.top.wrapping_add(one.operand) & self.mask;
                            state.top = self.word(address, one.bytes)?;
                        }
                        Code::Deref => state.top = self.word(state.top, one.bytes)?,
                        Code::RegisterPiece => self.register_piece(one, 0, &mut slots.parts)?,
                        Code::BasedPiece => {
                            let address = self.based(one, i64::from(one.operand as i32) as u64)?;
                            self.memory_piece(one.operand >> 32, address, &mut slots.parts)?;
                        }
                        Code::ConstPiece => {
                            self.known_piece(one.small.into(), one.operand, &mut slots.parts);
                        }
                        _ if self.other(one, &mut state, stack, slots)? => {}
                        _ => {
                            let at = state.at;
                            state = self.calculate(stack, state)?;
                            if state.at == at {
                                return None;
                            }
                            continue;
                        }
                    }
                    state.at += 1;
                    continue;
                }
            };
            state.push(stack, pushed);
            state.at += 1;
        }
    }

    /// Executes a less frequent instruction that queries the machine or the target. Returns whether it is one.
    #[inline(never)]
    fn other(
        &self,
        one: &Instruction,
        state: &mut State,
        stack: &mut [u64; HEIGHT],
        slots: &mut Slots,
    ) -> Option<bool> {
        let top = state.top;
        match one.code {
            Code::ReadAt => state.top = self.read(one, top)?,
            Code::DerefSpace => state.top = self.word_in(one, top)?,
            Code::Space => state.top = top & self.space(one.small)?.last(),
            Code::OffsetConst => state.top = self.moved(one, top, one.operand)?,
            Code::RegisterOffsetConst => state.top = self.moved_in_register(one, top, one.operand)?,
            Code::Offset | Code::RegisterOffset => {
                state.height -= 1;
                let from = *slot(stack, state.height, 0);
                state.top = match one.code {
                    Code::Offset => self.moved(one, from, top)?,
                    _ => self.moved_in_register(one, from, top)?,
                };
            }
            Code::PieceNothing => slots.parts.add(one.operand, Location::undefined()),
            Code::PieceMemory | Code::PieceSpace | Code::PieceKnown | Code::PieceRegister => {
                match one.code {
                    Code::PieceMemory => self.memory_piece(one.operand, top, &mut slots.parts)?,
                    Code::PieceSpace => self.space_piece(one, top, &mut slots.parts)?,
                    Code::PieceRegister => self.register_piece(one, top, &mut slots.parts)?,
                    _ => self.known_piece(one.operand, top, &mut slots.parts),
                }
                state.height -= 1;
                state.top = *slot(stack, state.height, 0);
            }
            _ => return Some(false),
        }
        Some(true)
    }

    /// Executes as many instructions as possible that only move elements or calculate. The loop makes no calls, so its
    /// state stays in registers.
    #[inline(never)]
    fn calculate(&self, stack: &mut [u64; HEIGHT], state: State) -> Option<State> {
        let (all, mask) = (&self.program.all[..], self.mask);
        let unused = mask.leading_zeros();
        let State { mut at, mut height, mut top, mut left } = state;
        macro_rules! binary {
            ($op:ident) => {{
                height -= 1;
                top = generic::binary(Binary::$op, unused, *slot(stack, height, 0), top)? & mask;
            }};
            ($op:ident, $right:expr) => {
                top = generic::binary(Binary::$op, unused, top, $right)? & mask
            };
        }
        macro_rules! compare {
            ($op:ident) => {{
                height -= 1;
                top = generic::compare(Compare::$op, unused, *slot(stack, height, 0), top);
            }};
            ($op:ident, $right:expr) => {
                top = generic::compare(Compare::$op, unused, top, $right)
            };
        }
        macro_rules! jump {
            ($one:ident) => {{
                left = left.checked_sub($one.operand >> 32)?;
                at = $one.operand as u32 as usize;
                continue;
            }};
        }
        while let Some(one) = all.get(at) {
            match one.code {
                Code::Const => {
                    *slot(stack, height, 0) = core::mem::replace(&mut top, one.operand);
                    height += 1;
                }
                Code::Drop => {
                    height -= 1;
                    top = *slot(stack, height, 0);
                }
                Code::Dup => {
                    *slot(stack, height, 0) = top;
                    height += 1;
                }
                Code::Pick => {
                    let picked = *slot(stack, height, one.small as usize);
                    *slot(stack, height, 0) = core::mem::replace(&mut top, picked);
                    height += 1;
                }
                Code::Swap => core::mem::swap(&mut top, slot(stack, height, 1)),
                Code::Rot => {
                    let third = core::mem::replace(slot(stack, height, 2), top);
                    top = core::mem::replace(slot(stack, height, 1), third);
                }

                Code::And => binary!(And),
                Code::Div => binary!(Div),
                Code::Minus => binary!(Minus),
                Code::Mod => binary!(Mod),
                Code::ModFloor => binary!(ModFloor),
                Code::Mul => binary!(Mul),
                Code::Or => binary!(Or),
                Code::Plus => binary!(Plus),
                Code::Shl => binary!(Shl),
                Code::Shr => binary!(Shr),
                Code::Shra => binary!(Shra),
                Code::Xor => binary!(Xor),
                Code::AndConst => binary!(And, one.operand),
                Code::DivConst => binary!(Div, one.operand),
                Code::MinusConst => binary!(Minus, one.operand),
                Code::ModConst => binary!(Mod, one.operand),
                Code::ModFloorConst => binary!(ModFloor, one.operand),
                Code::MulConst => binary!(Mul, one.operand),
                Code::OrConst => binary!(Or, one.operand),
                Code::PlusConst => binary!(Plus, one.operand),
                Code::ShlConst => binary!(Shl, one.operand),
                Code::ShrConst => binary!(Shr, one.operand),
                Code::ShraConst => binary!(Shra, one.operand),
                Code::XorConst => binary!(Xor, one.operand),
                Code::Square => top = top.wrapping_mul(top) & mask,
                Code::Abs => top = generic::unary(Unary::Abs, unused, top) & mask,
                Code::Neg => top = generic::unary(Unary::Neg, unused, top) & mask,
                Code::Not => top = generic::unary(Unary::Not, unused, top) & mask,

                Code::Eq => compare!(Eq),
                Code::Ge => compare!(Ge),
                Code::Gt => compare!(Gt),
                Code::Le => compare!(Le),
                Code::Lt => compare!(Lt),
                Code::Ne => compare!(Ne),
                Code::EqConst => compare!(Eq, one.operand),
                Code::GeConst => compare!(Ge, one.operand),
                Code::GtConst => compare!(Gt, one.operand),
                Code::LeConst => compare!(Le, one.operand),
                Code::LtConst => compare!(Lt, one.operand),
                Code::NeConst => compare!(Ne, one.operand),

                Code::Jump => jump!(one),
                Code::JumpIf => {
                    let condition = top;
                    height -= 1;
                    top = *slot(stack, height, 0);
                    if condition != 0 {
                        jump!(one)
                    }
                }
                Code::JumpIfTop => {
                    if top != 0 {
                        jump!(one)
                    }
                }
                _ => break,
            }
            at += 1;
        }
        Some(State { at, height, top, left })
    }
}
