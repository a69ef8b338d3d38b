//! Unwinding faults, with the frame and rule.

use super::super::fault::{Class, Fault};
use crate::error::Count;
use crate::op::Reg;
use crate::read::{CfaRule, FrameSection, PcNotation, RegisterRule};

/// A column in the table that call frame information defines (A.6.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FrameColumn {
    /// The canonical frame address.
    Cfa,
    /// A caller's register.
    Register(Reg),
}

/// Reason why a frame could not be unwound, and its location, if known.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnwindFault {
    /// Frame whose rules were followed, 0 the innermost.
    pub frame: u32,
    /// The frame's program location.
    pub pc: Option<u64>,
    /// The frame description entry's section, and its offset in bytes.
    pub entry: Option<(FrameSection, u64)>,
    /// Requested column.
    pub column: Option<FrameColumn>,
    /// Rule as text, such as `offset(-16)`.
    pub rule: Option<String>,
    /// Why it could not be unwound.
    pub why: Cause,
}

/// Why a frame could not be unwound.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The section cannot be read.
    Reading(crate::Error),
    /// The rules are ill-formed, or cannot be followed on this machine.
    Fault(Fault),
}

impl UnwindFault {
    /// Returns the fault's class; `None` if the section could not be read.
    pub fn class(&self) -> Option<Class> {
        match &self.why {
            Cause::Reading(_) => None,
            Cause::Fault(fault) => Some(fault.class),
        }
    }
}

impl core::error::Error for UnwindFault {}

impl core::fmt::Display for UnwindFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.write(f, PcNotation::default())
    }
}

impl UnwindFault {
    /// Returns the message, with pcs as an object writes them.
    pub fn text(&self, pcs: PcNotation<'_>) -> String {
        core::fmt::from_fn(|f| self.write(f, pcs)).to_string()
    }

    fn write(&self, f: &mut core::fmt::Formatter<'_>, pcs: PcNotation<'_>) -> core::fmt::Result {
        write!(f, "frame {}", self.frame)?;
        if let Some(pc) = self.pc {
            write!(f, ", pc {}", pcs.pc(pc))?;
        }
        if let Some((section, offset)) = self.entry {
            write!(f, ", `{}` entry at {offset:#x}", section.name())?;
        }
        match self.column {
            Some(FrameColumn::Cfa) => f.write_str(", canonical frame address")?,
            Some(FrameColumn::Register(reg)) => write!(f, ", register {}", reg.0)?,
            None => {}
        }
        if let Some(rule) = &self.rule {
            write!(f, ", rule {rule}")?;
        }
        match &self.why {
            Cause::Reading(error) => write!(f, ": {error}"),
            Cause::Fault(fault) => write!(f, ": {fault}"),
        }
    }
}

/// Formats a rule as the specification writes it.
pub(super) fn rule_text(rule: RegisterRule<'_>) -> String {
    match rule {
        RegisterRule::Undefined => "undefined".into(),
        RegisterRule::SameValue => "same value".into(),
        RegisterRule::Offset(by) => format!("offset({by})"),
        RegisterRule::ValOffset(by) => format!("val_offset({by})"),
        RegisterRule::Register(reg) => format!("register({})", reg.0),
        RegisterRule::Expression(expr) => format!("expression({})", Count(expr.len(), "byte")),
        RegisterRule::ValExpression(expr) => format!("val_expression({})", Count(expr.len(), "byte")),
    }
}

/// Formats the canonical frame address rule.
pub(super) fn cfa_text(rule: CfaRule<'_>) -> String {
    match rule {
        CfaRule::Unset => "unset".into(),
        CfaRule::Register { register, offset, space: None } => format!("register {}{offset:+}", register.0),
        CfaRule::Register { register, offset, space: Some(space) } => {
            format!("register {}{offset:+} in space {space}", register.0)
        }
        CfaRule::Expression(expr) => format!("expression({})", Count(expr.len(), "byte")),
    }
}

/// An unwinding result.
pub type UnwindResult<T, E = Box<UnwindFault>> = core::result::Result<T, E>;
