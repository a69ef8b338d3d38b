//! An evaluation's inputs and progress.

use super::super::architecture::Architecture;
use super::super::branch::Branches;
use super::super::context::ExpressionSite;
use super::super::location::Location;
use super::super::machine::Machine;
use super::code::Bytes;
use super::opcode::{FBREG, REG0, REG31, REGX};
use crate::op::{Encoding, Reg};
use crate::target::SpaceId;

/// An evaluation's progress within an expression.
#[derive(Debug, Clone)]
pub(in super::super) struct Progress {
    /// The next operation's byte offset.
    pub at: usize,
    /// Steps that the whole evaluation has taken.
    pub steps: u64,
    /// The last operation's register, if that was `DW_OP_reg*`.
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

/// An evaluation's constant inputs.
#[derive(Clone, Copy)]
pub(in super::super) struct Fast<'f> {
    pub machine: &'f dyn Machine,
    pub target: &'f dyn Architecture,
    pub encoding: &'f Encoding,
    /// Mask with the generic type's bits; 0 if they are none or more than 64.
    pub mask: u64,
    pub frame: u32,
    pub place: ExpressionSite,
    pub is_frame_base: bool,
    /// Whether the machine may be asked for its lane. Otherwise, operations that usually depend on the lane are not supported.
    pub asks_lane: bool,
    /// Maximum depth of further nested calls.
    pub depth: u32,
    /// Maximum number of steps in the whole evaluation.
    pub max_steps: u64,
    /// Maximum number of elements on the stack.
    pub room: usize,
    /// Maximum number of pieces in a composite; 0 where none can be started.
    pub pieces: usize,
}

impl Fast<'_> {
    pub(super) fn address_bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }
}

/// Returns the mask with the generic type's bits; 0 if they are none or more than 64.
#[inline(always)]
pub(in super::super) fn mask(encoding: &Encoding) -> u64 {
    let bits = u32::from(encoding.address_bytes) * 8;
    if (1..=64).contains(&bits) { u64::MAX >> (64 - bits) } else { 0 }
}

/// Location of an expression with a single operation.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Whole {
    /// The start of a register in the innermost frame.
    Register { reg: Reg, bits: u32 },
    /// A byte in the default space.
    Memory { address_bits: u32, address: u64 },
}

impl Whole {
    #[inline(always)]
    pub fn location(self) -> Location {
        match self {
            Self::Register { reg, bits } => Location::register(reg, bits),
            Self::Memory { address_bits, address } => {
                Location::memory(SpaceId::DEFAULT, address_bits, address)
            }
        }
    }
}

/// The single operation in an expression that needs no stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Single {
    Register(Reg),
    /// An offset from the frame base.
    FrameBase(i64),
}

impl Single {
    /// Returns the operation, if the expression has no other operation.
    #[inline(always)]
    pub fn parse(expr: &[u8], encoding: &Encoding) -> Option<Self> {
        let mut code = Bytes::new(expr, encoding, 0);
        let single = match code.opcode()? {
            code @ REG0..=REG31 => Self::Register(Reg(u64::from(code - REG0))),
            REGX => Self::Register(code.register()?),
            FBREG => Self::FrameBase(code.sleb()?),
            _ => return None,
        };
        (code.next() == expr.len()).then_some(single)
    }
}
