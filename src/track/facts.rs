//! Records of [`Code`](super::Code): values, effects of instructions, assignments. Pairs of numbers that are not pcs are
//! ranges of indices.

use core::ops::Range;

use crate::model::Loc;

/// A value of a [`Code`](super::Code): the latest execution of its definition, as a lane saw it; or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub(super) u32);

#[derive(Debug, Clone, Copy)]
pub(super) struct ValueData {
    pub(super) bits: u32,
    pub(super) kind: ValueKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Has one definition.
    Defined { is_defined: bool },
    /// The index of its bytes.
    Constant(u32),
    /// The index of a block parameter.
    Merged(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectKind {
    Define(ValueId),
    Redefine(ValueId),
    Copy,
    CopyUniform,
    /// A copy whose contents have a name behind it.
    Move(ValueId),
    Clobber,
}

/// An effect of an instruction. Places are indices into the list of all places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effect {
    pub(super) kind: EffectKind,
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Instructed {
    pub(super) pcs: (u32, u32),
    pub(super) effects: (u32, u32),
    pub(super) all_lanes: bool,
    /// Whether a wave can stop between the first pc and the end.
    pub(super) is_several: bool,
}

impl Instructed {
    /// Returns the pc up to which places have their old contents. A wave that stops behind the first of several instructions
    /// finds them changed or not; one that executes a single instruction stops at no pc inside of it.
    pub(super) fn until(&self, step: u32) -> u32 {
        match self.is_several {
            true => self.pcs.0.saturating_add(step).min(self.pcs.1),
            false => self.pcs.1,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Value(ValueId),
    /// Places.
    Contents((u32, u32)),
    /// A variable, from a bit on.
    Variable(u32, u32),
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Assigned {
    pub(super) pc: u32,
    pub(super) variable: u32,
    /// First bit and number of bits; all bits of the variable if `None`.
    pub(super) bits: Option<(u32, u32)>,
    pub(super) source: Source,
}

/// A place that the compiler declares for a variable, and that is not derived.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) pcs: Range<u64>,
    pub(super) variable: u32,
    pub(super) loc: Loc,
}
