//! Warnings: a description can be plausible and a mistake.
//!
//! They are found when they are asked for, for most modules that are written have been looked at before.

use core::fmt;

use super::ids::{FunctionId, VariableId};
use super::{Function, Module, shared};
use crate::error::At;
use crate::op::Reg;

/// A kind of warning, which can be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// A variable and another one, or a register of the caller, are in the same bits at one pc.
    SharedBits,
    /// A function has no [rules](super::FrameRule) for its frame.
    NoFrame,
}

impl WarningKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::SharedBits, Self::NoFrame];

    /// The name by which the kind is allowed: `shared-bits`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedBits => "shared-bits",
            Self::NoFrame => "no-frame",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The other thing in the same bits as a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sharer {
    /// Another variable, of another type.
    Variable(VariableId),
    /// The caller's value of a register.
    Saved(Reg),
}

/// The entities that a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warned {
    /// The variable, and the other thing: [`WarningKind::SharedBits`].
    Shared(VariableId, Sharer),
    /// The function without rules: [`WarningKind::NoFrame`].
    Function(FunctionId),
}

/// A warning about a description.
///
/// Printed: *warning (shared-bits): unit `a.cl`, function `f`, variable `n`, pc 0xc..0x10: variable `x` of another type
/// is in the same bits of v3*.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The entities.
    pub warned: Warned,
    /// Their names, and the pcs, half-open, in bytes from the start of the function.
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
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning ({}): {}: {}", self.kind().name(), self.at, self.what)
    }
}

impl Module {
    /// Warnings about the description, by kind, function and pc.
    ///
    /// * [`WarningKind::SharedBits`]: two variables of one function, or a variable and a register of the caller, are at
    ///   one pc in the same bits of a register, of a stack slot, or of a slot at an offset from the canonical frame
    ///   address. Each pair is listed once, and up to 16 neighbours of a place are looked at.
    /// * [`WarningKind::NoFrame`]: a function has code and no rules for its frame, and the ABI of the target has no
    ///   `.eh_frame` either.
    ///
    /// Two variables may share bits where that is plausible: both have the same type apart from qualifiers and other
    /// names; one type contains the other; one is a union; one is of a function that is inlined into the function or
    /// inlined call of the other; both are instances of one variable. A conversion that leaves the bits as they are,
    /// from `int` to `unsigned` as an example, is not known from a description, so `shared-bits` is listed there too. A
    /// place that depends on what a program holds when it is stopped is not looked at.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = shared::warnings(self);
        let has_none = |function: &Function| {
            function.address.is_some() && function.bytes > 0 && function.frame.is_empty()
        };
        if !self.target.call_frames().has_eh_frame {
            let without = self.functions.iter().filter(|(_, function)| has_none(function));
            warnings.extend(without.map(|(id, function)| Warning {
                warned: Warned::Function(id),
                at: self.at_scope(function.scope),
                what: "it has no rules for its frame, so its callers cannot be found".into(),
            }));
        }
        warnings
    }
}
