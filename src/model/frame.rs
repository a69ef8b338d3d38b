//! Stack frames of functions, and the locations of the caller's registers.

use core::ops::Range;

use super::ids::{FunctionId, LocId};
use crate::op::Reg;
use crate::target::{Scaling, Target};

/// Location of a function's stack frame in private memory.
///
/// A [stack slot](super::Loc::stack_slot) is an offset in the bytes of one lane. The register with the frame's base
/// counts either the bytes of one lane (flat scratch) or the bytes of all lanes of the wave (buffer scratch, where the
/// register divided by the wave size is a lane's address). The unit depends on how the function was compiled; callers
/// pass plain offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// Register with the base; `None` where the base is address 0 of private memory, as in a kernel.
    pub base: Option<Reg>,
    /// Unit that the register counts in.
    pub scaling: Scaling,
}

impl Stack {
    /// The stack frame of a kernel, which begins at address 0 of private memory.
    pub fn kernel(target: &crate::target::Target) -> Self {
        Self { base: None, scaling: target.scaling() }
    }
}

/// Location of a function's frame, or of a register of its caller, for a range of pcs. DWARF 5 section 6.4.
///
/// The range is half-open, in bytes from the start of the function: the rule is true before the instruction at `start`
/// runs, until before the one at `end` runs.
///
/// The location of a register is the register itself if it is unchanged, another register, a lane of one, memory at an
/// offset from the [canonical frame address](super::Loc::cfa), or undefined. In such a location
/// [`Val::entry_value`](super::Val::entry_value) is the caller's value of a register. A register without a rule is
/// unchanged if the calling convention [preserves](crate::target::Target::preserved_bits) it, and undefined if not; but
/// [`Target::cfa_register`](crate::target::Target::cfa_register) without a rule is the canonical frame address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRule {
    /// Function that has the frame.
    pub function: FunctionId,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The canonical frame address, or a register.
    pub column: Column,
    /// Location of the column.
    pub loc: LocId,
}

impl FrameRule {
    /// Half-open pc range, in bytes from the start of the function.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

/// Column of the call frame table. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The canonical frame address, a location in memory.
    Cfa,
    /// A register of the caller.
    Register(Reg),
}

impl Column {
    /// Returns the column's name, for errors and findings.
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
