//! Warnings: valid descriptions that can be mistakes.
//!
//! Warnings are computed on request, because most modules have been examined before they are emitted.

use core::fmt;

use super::ids::{FunctionId, VariableId};
use super::{Function, Module, overlap};
use crate::error::At;
use crate::op::Reg;

/// Warning kind. Kinds can be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A variable shares bits with another variable, or with a caller's saved register, at one pc.
    SharedBits,
    /// A function has no [rules](super::FrameRule) for its frame.
    NoFrame,
    /// A PTX register has more bits than its variable, or no instruction can set the register before the pc range
    /// starts: [`check_ptx`](crate::check::check_ptx).
    DoubtfulRegister,
}

impl WarningKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::SharedBits, Self::NoFrame, Self::DoubtfulRegister];

    /// The name that allows the kind, such as `shared-bits`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedBits => "shared-bits",
            Self::NoFrame => "no-frame",
            Self::DoubtfulRegister => "doubtful-register",
        }
    }

    /// Returns the kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The entity that shares bits with a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sharer {
    /// A variable of another type.
    Variable(VariableId),
    /// A register's value in the caller.
    Saved(Reg),
}

/// A warning's entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warned {
    /// A variable and the entity that shares its bits: [`WarningKind::SharedBits`].
    Shared(VariableId, Sharer),
    /// A function without frame rules: [`WarningKind::NoFrame`].
    Function(FunctionId),
    /// A variable in a PTX register: [`WarningKind::DoubtfulRegister`].
    Register(VariableId),
}

/// A warning about a description.
///
/// Printed: *warning (shared-bits): unit `a.cl`, function `f`, variable `n`, pc 0xc..0x10: variable `x` of another type
/// is in the same bits of v3*.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The entities.
    pub warned: Warned,
    /// The entities' names, and the half-open pc range in bytes from the function start.
    pub at: At,
    /// The message.
    pub what: String,
}

impl Warning {
    /// The kind.
    pub fn kind(&self) -> WarningKind {
        match self.warned {
            Warned::Shared(..) => WarningKind::SharedBits,
            Warned::Function(_) => WarningKind::NoFrame,
            Warned::Register(_) => WarningKind::DoubtfulRegister,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning ({}): {}: {}", self.kind().name(), self.at, self.what)
    }
}

impl Module {
    /// Returns warnings about the description, sorted by kind, function and pc.
    ///
    /// * [`WarningKind::SharedBits`]: two variables in one function, or a variable and a caller's register, occupy the
    ///   same bits in a register, in a stack slot, or in memory at an offset from the canonical frame address, at one
    ///   pc. Each pair is listed once, and up to 16 neighbours of a location are compared.
    /// * [`WarningKind::NoFrame`]: a function has code without rules for its frame, and the target's ABI has no
    ///   `.eh_frame` either.
    ///
    /// Two variables may share bits if their types are equal apart from qualifiers and typedefs, one type contains the
    /// other, one type is a union, one variable belongs to a function that is inlined into the other variable's
    /// function or inlined call, or both are instances of one variable. A description does not show conversions that
    /// keep the bits, for example from `int` to `unsigned`, so `shared-bits` lists them too. Locations that depend on a
    /// stopped program's contents are not compared.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = overlap::warnings(self);
        let has_none = |function: &Function| {
            function.address.is_some() && function.bytes > 0 && function.frame.is_empty()
        };
        if !self.target.call_frames().has_eh_frame {
            let without = self.functions.iter().filter(|(_, function)| has_none(function));
            warnings.extend(without.map(|(id, function)| Warning {
                warned: Warned::Function(id),
                at: self.at_scope(function.scope),
                what:
                    "function has code without frame rules; expected rules, which lead to its caller".into(),
            }));
        }
        warnings
    }
}
