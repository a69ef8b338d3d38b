//! Functions' stack frames, and the locations of the caller's registers.

use core::ops::Range;

use super::ids::{FunctionId, LocId};
use crate::op::Reg;
use crate::target::{Scaling, Target};

/// Location of a function's stack frame in private memory.
///
/// A [stack slot](super::Loc::stack_slot) is an offset in one lane's bytes. The register with the frame's base counts
/// either the bytes of one lane (flat scratch) or the bytes of all lanes in the wave (buffer scratch, where a lane's
/// address is the register divided by the wave size). Callers pass plain offsets, because the unit depends on how the
/// function was compiled.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    /// Register with the base; `None` where the base is private memory's address 0, as in a kernel.
    pub base: Option<Reg>,
    /// Unit that the register counts in.
    pub scaling: Scaling,
}

impl Stack {
    /// Returns a kernel's stack frame, which begins at private memory's address 0.
    pub fn kernel(target: &crate::target::Target) -> Self {
        Self { base: None, scaling: target.scaling() }
    }
}

/// Location of a function's frame, or of a caller's register, for a pc range. DWARF 5 section 6.4.
///
/// The range is half-open, in bytes from the function start: the rule is true before the instruction at `start` runs,
/// until before the instruction at `end` runs.
///
/// A register's location is the register itself if it is unchanged, another register, a lane of a vector register,
/// memory at an offset from the [canonical frame address](super::Loc::cfa), or undefined. In such a location
/// [`Val::entry_value`](super::Val::entry_value) is a register's value in the caller. A register without a rule is
/// unchanged if the calling convention [preserves](crate::target::Target::preserved_bits) it, and undefined if not, unless
/// the frame says otherwise ([`UnspecifiedRegisters`](crate::target::UnspecifiedRegisters)); but
/// [`Target::cfa_register`](crate::target::Target::cfa_register) without a rule is the canonical frame address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRule {
    /// Function that has the frame.
    pub function: FunctionId,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The canonical frame address, or a register.
    pub column: Column,
    /// The column's location.
    pub loc: LocId,
}

impl FrameRule {
    /// Half-open pc range, in bytes from the function start.
    pub fn pcs(&self) -> Range<u64> {
        self.start.into()..self.end.into()
    }
}

/// Returns the registers whose value in the caller depends on
/// [`UnspecifiedRegisters`](crate::target::UnspecifiedRegisters) if a frame has no rule for them: those that a call
/// overwrites, in whole or in part. Sorted.
pub(crate) fn overwritten_registers(target: &Target) -> Vec<Reg> {
    let ranges = target.clobbered().iter();
    let registers =
        ranges.flat_map(|range| (0..u64::from(range.count)).map(|index| Reg(range.first.0 + index)));
    let mut registers: Vec<Reg> = registers.filter(|&reg| is_overwritten(target, reg)).collect();
    registers.sort_unstable();
    registers.dedup();
    registers
}

/// Whether a register is among [`overwritten_registers`].
pub(crate) fn is_overwritten(target: &Target, reg: Reg) -> bool {
    let bits = target.register(reg).map(|register| register.bits);
    // Without a rule, the stack pointer is the canonical frame address.
    target.preserved_bits(reg) != bits && target.cfa_register() != Some(reg)
}

/// Call frame table column. DWARF 5 section 6.4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Column {
    /// The canonical frame address, a location in memory.
    Cfa,
    /// A caller's register.
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
