//! Records in [`CodeEffects`](super::CodeEffects): values, instruction effects, assignments. Pairs of numbers that are not pcs are index
//! ranges.

use core::ops::Range;

use crate::model::Loc;

/// A value in a [`CodeEffects`](super::CodeEffects): a constant, or the latest execution of the value's definition, as a lane saw it.
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
    /// Index of the constant's bytes.
    Constant(u32),
    /// Index of the block parameter.
    Merged(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectKind {
    Define(ValueId),
    Redefine(ValueId),
    Copy,
    CopyUniform,
    /// A copy that also names the contents.
    Move(ValueId),
    Clobber,
}

/// An instruction's effect. Places are indices into the list of all places.
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
    /// Returns the pc up to which places keep their old contents. A wave that stops after the first of several instructions
    /// may find the places changed or unchanged. A wave cannot stop inside a single instruction.
    pub(super) fn until(&self, step: u32) -> u32 {
        if self.is_several { self.pcs.0.saturating_add(step).min(self.pcs.1) } else { self.pcs.1 }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Value(ValueId),
    /// The contents of places.
    Contents((u32, u32)),
    /// A variable's bits, from a bit on.
    Variable(u32, u32),
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Assigned {
    pub(super) pc: u32,
    pub(super) variable: u32,
    /// First bit and number of bits; `None` for all of the variable's bits.
    pub(super) bits: Option<(u32, u32)>,
    pub(super) source: Source,
}

/// A location that the compiler declares for a variable, in addition to derived locations.
#[derive(Debug, Clone)]
pub(super) struct Home {
    pub(super) pcs: Range<u64>,
    pub(super) variable: u32,
    pub(super) loc: Loc,
}
