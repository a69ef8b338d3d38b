//! A check's report: stale claims, missed places, and locations that cannot be checked.

use core::fmt;
use core::ops::Range;

use crate::error::At;
use crate::model::{RegionId, VariableId};

/// Result of a check against code. Claims and places are counted by variable part and instruction pc.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrackReport {
    /// Claims that an execution can refute.
    pub stale: Vec<Stale>,
    /// Proven places that the description does not claim.
    pub missed: Vec<Missed>,
    /// Differences of the described regions from those of the code, if the function describes its lanes.
    pub regions: Vec<RegionDifference>,
    /// Locations that cannot be checked.
    pub unchecked: Vec<Unchecked>,
    /// Number of claims.
    pub claimed: u64,
    /// Number of claims that the code proves.
    pub right: u64,
    /// Number of places that the code proves.
    pub recoverable: u64,
}

/// A claim that an execution can refute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stale {
    /// The variable.
    pub variable: VariableId,
    /// Unit, function, variable name and pcs.
    pub at: At,
    /// The range of the variable's bits.
    pub bits: Range<u64>,
    /// The variable's size in bits.
    pub variable_bits: u64,
    /// Half-open pc range of instructions, in bytes from the function's start. Neighbouring pcs with the same claim are one
    /// range.
    pub pcs: Range<u64>,
    /// The claimed place.
    pub place: String,
    /// Whether lanes wait at one of the pcs.
    pub waits: bool,
    /// The wave's pc while these lanes wait: after the instruction that overwrites the place.
    pub wave: Option<u64>,
    /// The pc of the instruction that overwrote the place, or of the assignment that gave the variable another value.
    pub overwritten: Option<u64>,
    /// This instruction's effect; `None` for an assignment.
    pub with: Option<String>,
    /// Half-open pc ranges for the blocks from this instruction to the first pc, or to the wave.
    pub path: Vec<Range<u64>>,
    /// The variable's actual places at the first pc.
    pub places: Vec<String>,
}

/// A place that the code proves and the description does not claim.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missed {
    /// The variable.
    pub variable: VariableId,
    /// The range of the variable's bits.
    pub bits: Range<u64>,
    /// Half-open pc range of instructions.
    pub pcs: Range<u64>,
    /// The place.
    pub place: String,
}

/// A difference of a described region from the code: of its pcs, of the pc at which its lanes wait, or of its mask.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegionDifference {
    /// The described region; `None` for a region that the description lacks.
    pub region: Option<RegionId>,
    /// Unit, function, region and pcs.
    pub at: At,
    /// The difference.
    pub what: String,
}

/// A location that cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unchecked {
    /// The variable.
    pub variable: VariableId,
    /// Unit, function, variable name and pcs.
    pub at: At,
    /// Half-open pc range.
    pub pcs: Range<u64>,
    /// Reason.
    pub why: String,
}

impl TrackReport {
    /// Whether no claim is stale, and the regions are those of the code.
    pub fn is_sound(&self) -> bool {
        self.stale.is_empty() && self.regions.is_empty()
    }
}

impl Stale {
    /// Returns what happened to the place, and the variable's actual places.
    pub(super) fn history(&self) -> String {
        let Self { place, bits, .. } = self;
        let place = if *bits == (0..self.variable_bits) {
            place.clone()
        } else {
            format!("{place} with bits {} to {}", bits.start, bits.end.saturating_sub(1))
        };
        let happened = match (self.overwritten, &self.with, self.wave) {
            (Some(pc), Some(with), Some(wave)) => format!(
                "{place} is overwritten at {pc:#x}, {with}, while lanes wait and the wave is at {wave:#x}"
            ),
            (Some(pc), Some(with), None) => format!("{place} was overwritten at {pc:#x}, {with}"),
            (Some(pc), None, _) => {
                format!("{place} is not written from {pc:#x} on, where the variable is assigned")
            }
            (None, ..) => format!("{place} does not contain the variable"),
        };
        match &self.places[..] {
            [] => format!("{happened}; the variable is in no place"),
            places => format!("{happened}; the variable is in {}", places.join(", ")),
        }
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stale: {}: {}", self.at, self.history())
    }
}

impl fmt::Display for RegionDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "region: {}: {}", self.at, self.what)
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unchecked: {}: {}", self.at, self.why)
    }
}

impl fmt::Display for TrackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stale.iter().try_for_each(|stale| writeln!(f, "{stale}"))?;
        self.regions.iter().try_for_each(|difference| writeln!(f, "{difference}"))?;
        self.unchecked.iter().try_for_each(|unchecked| writeln!(f, "{unchecked}"))?;
        let Self { claimed, right, recoverable, unchecked, .. } = self;
        let unchecked = unchecked.len();
        writeln!(f, "{claimed} claimed, {right} right, {recoverable} recoverable, {unchecked} unchecked")
    }
}
