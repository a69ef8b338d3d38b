//! Converts stale claims and wrong regions to findings of a check.

use core::ops::Range;

use super::report::{RegionDifference, Stale};
use crate::check::{CheckFinding, FindingKind};

impl From<&Stale> for CheckFinding {
    /// Returns a [`FindingKind::Stale`] finding, with the blocks on the path as its trace.
    fn from(stale: &Stale) -> Self {
        let block = |pcs: &Range<u64>| format!("block {:#x}..{:#x}", pcs.start, pcs.end);
        Self {
            kind: FindingKind::Stale,
            at: stale.at.clone(),
            lane: None,
            expected: format!("the variable in {}", stale.place),
            found: stale.history(),
            trace: stale.path.iter().map(block).collect(),
        }
    }
}

impl From<&RegionDifference> for CheckFinding {
    /// Returns a [`FindingKind::Stale`] finding.
    fn from(difference: &RegionDifference) -> Self {
        Self {
            kind: FindingKind::Stale,
            at: difference.at.clone(),
            lane: None,
            expected: "the regions of the code".into(),
            found: difference.what.clone(),
            trace: Vec::new(),
        }
    }
}
