//! How a function uses its stack, and where its caller's registers are.

use core::ops::Range;

use super::ids::{FunctionId, LocId};
use crate::op::Reg;
use crate::target::{Scaling, Target};

/// Where a function's stack frame in private memory is.
///
/// A [stack slot](super::Loc::stack_slot) is an offset in the bytes of one lane. The register that holds
/// the frame's base may count so too (flat scratch), or count the bytes of all lanes of the wave (buffer
/// scratch, where it is divided by the wave size to give a lane's address). That is a fact of how the
/// function was compiled; the caller does no arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// The register that holds the base; `None` where the base is address 0 of private memory, as in a
    /// kernel.
    pub base: Option<Reg>,
    /// How the register counts.
    pub scaling: Scaling,
}

impl Stack {
    /// A stack frame that begins at address 0 of private memory: a kernel's.
    pub fn kernel(target: &crate::target::Target) -> Self {
        Self { base: None, scaling: target.scaling() }
    }
}

/// Where the frame of a function, or a register of its caller, is for a range of pcs. DWARF 5 section 6.4.
///
/// The range is half-open, in bytes from the start of the function: it is true before the instruction at `start` runs,
/// until before the one at `end` runs.
///
/// A register is where its location says: the register itself if it is as the caller left it, another one, a lane of
/// one, a place counted from the [canonical frame address](super::Loc::cfa), nowhere. In such a location
/// [`Val::entry_value`](super::Val::entry_value) is what the caller had in a register. A register of which nothing is
/// said is as the caller left it; but [`Target::cfa_register`](crate::target::Target::cfa_register) holds the
/// canonical frame address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRule {
    /// Whose frame.
    pub function: FunctionId,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Of what.
    pub column: Column,
    /// Where.
    pub loc: LocId,
}

impl FrameRule {
    /// The pcs, in bytes from the start of the function.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }

    /// Whether it holds at a pc.
    pub(crate) fn covers(&self, pc: u32) -> bool {
        (self.start..self.end).contains(&pc)
    }
}

/// What a frame says the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The canonical frame address, a place in memory.
    Cfa,
    /// A register of the caller.
    Register(Reg),
}

impl Column {
    /// What to call it in an error or a finding.
    pub(crate) fn name(self, target: &Target) -> String {
        match self {
            Self::Cfa => "the CFA".into(),
            Self::Register(reg) => match target.register(reg) {
                Some(register) => register.name().to_string(),
                None => format!("register {}", reg.0),
            },
        }
    }
}
