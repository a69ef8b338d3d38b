//! When a variable is where.

use super::ids::{LocId, VariableId};

/// A variable is at a location for a range of pcs.
///
/// The range is half-open, in bytes from the start of the function: it is true before the instruction at
/// `start` runs, until before the one at `end` runs. Several of one range say that the variable is in all
/// those places at once; where no range is, the variable is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Live {
    /// Whose location.
    pub variable: VariableId,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Where.
    pub loc: LocId,
}

impl Live {
    /// The pcs, in bytes from the start of the function.
    pub fn pcs(&self) -> core::ops::Range<u64> {
        self.start.into()..self.end.into()
    }
}
