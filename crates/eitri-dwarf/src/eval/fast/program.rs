//! Execution of compiled instructions.

use super::super::arith::{Binary, Compare, Unary};
use super::super::word::{self, Signs};
use super::Fast;
use super::compile::Program;
use super::direct::rotate;
use super::instruction::Code;
use super::kinds::Kind;
use super::results::Found;
use super::stack::{Numbers, Slots, Top, slot};

/// Execution of a program.
pub(super) struct Execution<'v> {
    pub fast: &'v Fast<'v>,
    pub program: &'v Program,
}

impl Execution<'_> {
    /// Executes the program. `None` at any possible fault.
    #[inline(always)]
    pub fn run(&self, slots: &mut Slots) -> Option<Found> {
        let number = self.top(slots)?;
        Some(match self.program.outcome {
            Kind::Nothing => Found::Parts,
            kind => Found::Top { kind, number, is_flat: self.program.needs_flat },
        })
    }

    /// Executes the program. Returns the top element.
    fn top(&self, slots: &mut Slots) -> Option<u64> {
        let Self { fast, program } = self;
        let [level, inner] = &mut *slots.levels;
        let (numbers, parts) = (&mut level.numbers, &mut slots.parts);
        let left = fast.max_steps.checked_sub(program.steps)?;
        let (mut at, mut top) = (0, Top { height: 0, number: 0, left });
        loop {
            let one = program.all.get(at)?;
            match one.code {
                Code::End => return Some(top.number),
                Code::Const => top.push(numbers, one.operand),
                Code::BasedDeref => top.push(numbers, fast.word(fast.based(one, one.operand)?, one.bytes)?),
                Code::Read => top.push(numbers, fast.read(one, 0)?),
                Code::PlusConst => top.number = top.number.wrapping_add(one.operand) & program.mask,
                Code::PlusDeref => {
                    let address = top.number.wrapping_add(one.operand) & program.mask;
                    top.number = fast.word(address, one.bytes)?;
                }
                Code::RegisterPiece => fast.register_piece(one, 0, parts)?,
                Code::BasedPiece => {
                    let address = fast.based(one, i64::from(one.operand as i32) as u64)?;
                    fast.memory_piece(one.operand >> 32, address, parts)?;
                }
                Code::ConstPiece => fast.known_piece(one.small.into(), one.operand, parts),
                code if code.is_query() => top = fast.query(one, top, numbers, Some(inner), parts)?,
                _ => {
                    (at, top) = self.calculate(numbers, at, top)?;
                    continue;
                }
            }
            at += 1;
        }
    }

    /// Executes as many instructions as possible that only move elements or calculate. Returns the index of the next
    /// one, and the top. The loop makes no calls, so its state stays in registers.
    #[inline(never)]
    fn calculate(&self, numbers: &mut Numbers, mut at: usize, top: Top) -> Option<(usize, Top)> {
        let (all, mask) = (&self.program.all[..], self.program.mask);
        let unused = mask.leading_zeros();
        let Top { mut height, number: mut top, mut left } = top;
        macro_rules! binary {
            ($op:ident) => {{
                height -= 1;
                top =
                    word::binary(Binary::$op, Signs::Generic, unused, *slot(numbers, height, 0), top)? & mask;
            }};
            ($op:ident, $right:expr) => {
                top = word::binary(Binary::$op, Signs::Generic, unused, top, $right)? & mask
            };
        }
        macro_rules! compare {
            ($op:ident) => {{
                height -= 1;
                top = word::compare(Compare::$op, unused, *slot(numbers, height, 0), top);
            }};
            ($op:ident, $right:expr) => {
                top = word::compare(Compare::$op, unused, top, $right)
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
                    *slot(numbers, height, 0) = core::mem::replace(&mut top, one.operand);
                    height += 1;
                }
                Code::Drop => {
                    height -= 1;
                    top = *slot(numbers, height, 0);
                }
                Code::Dup => {
                    *slot(numbers, height, 0) = top;
                    height += 1;
                }
                Code::Pick => {
                    let picked = *slot(numbers, height, one.small as usize);
                    *slot(numbers, height, 0) = core::mem::replace(&mut top, picked);
                    height += 1;
                }
                Code::Swap => core::mem::swap(&mut top, slot(numbers, height, 1)),
                Code::Rot => rotate(&mut top, numbers, height),

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
                Code::Abs => top = word::unary(Unary::Abs, unused, top) & mask,
                Code::Neg => top = word::unary(Unary::Neg, unused, top) & mask,
                Code::Not => top = word::unary(Unary::Not, unused, top) & mask,

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
                    top = *slot(numbers, height, 0);
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
        Some((at, Top { height, number: top, left }))
    }
}
