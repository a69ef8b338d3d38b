//! Report of a judgement: stale claims, missed places, and locations that are not judged.

use core::fmt;
use core::ops::Range;

use crate::error::At;
use crate::model::VariableId;

/// Result of a judgement. Counts are of parts of variables, pcs of instructions, and places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Claims that an execution can refute.
    pub stale: Vec<Stale>,
    /// Places that nobody claims.
    pub missed: Vec<Missed>,
    /// Locations that are not judged.
    pub unjudged: Vec<Unjudged>,
    /// Number of claims.
    pub claimed: u64,
    /// Number of claims that the code proves.
    pub right: u64,
    /// Number of places that the code proves.
    pub recoverable: u64,
}

/// Claim that an execution can refute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The variable.
    pub variable: VariableId,
    /// Unit, function, name and pcs.
    pub at: At,
    /// Bits of the variable.
    pub bits: Range<u64>,
    /// Half-open pcs of instructions, in bytes from the start of the function.
    pub pcs: Range<u64>,
    /// The claimed place.
    pub place: String,
    /// Whether lanes wait at one of the pcs.
    pub waits: bool,
    /// Pc of the wave while these lanes wait: behind the instruction that overwrites the place.
    pub wave: Option<u64>,
    /// The pc of the instruction that overwrote the place, or from which on the variable has another value.
    pub overwritten: Option<u64>,
    /// Effect of this instruction or assignment.
    pub with: Option<String>,
    /// Blocks from this instruction to the first of the pcs, or to the wave: their half-open pcs.
    pub path: Vec<Range<u64>>,
    /// The places of the variable at the first of the pcs.
    pub places: Vec<String>,
}

/// Place that the code proves and nobody claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missed {
    /// The variable.
    pub variable: VariableId,
    /// Bits of the variable.
    pub bits: Range<u64>,
    /// Half-open pcs of instructions.
    pub pcs: Range<u64>,
    /// The place.
    pub place: String,
}

/// Location that is not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    /// The variable.
    pub variable: VariableId,
    /// Half-open pcs.
    pub pcs: Range<u64>,
    /// The reason.
    pub why: String,
}

impl Report {
    /// Whether no claim is stale.
    pub fn is_sound(&self) -> bool {
        self.stale.is_empty()
    }
}

impl Stale {
    /// Returns what happened to the place, and where the variable is.
    pub(super) fn history(&self) -> String {
        let place = &self.place;
        let happened = match (self.overwritten, &self.with, self.wave) {
            (Some(pc), Some(with), Some(wave)) => format!(
                "{place} is overwritten at {pc:#x}, {with}, while lanes wait and the wave is at {wave:#x}"
            ),
            (Some(pc), Some(with), None) => format!("{place} was overwritten at {pc:#x}, {with}"),
            (Some(pc), None, _) => {
                format!("{place} is not written from {pc:#x} on, where the variable is assigned")
            }
            (None, ..) => format!("{place} does not have it"),
        };
        match &self.places[..] {
            [] => format!("{happened}; it is nowhere"),
            places => format!("{happened}; it is in {}", places.join(", ")),
        }
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stale: {}: {}", self.at, self.history())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stale.iter().try_for_each(|stale| writeln!(f, "{stale}"))?;
        let Self { claimed, right, recoverable, .. } = self;
        writeln!(f, "{claimed} claimed, {right} right, {recoverable} recoverable")
    }
}
