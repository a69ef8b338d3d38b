//! Live ranges of variables.

use super::ids::{LocId, VariableId};

/// A live range: the location of a variable for a range of pcs.
///
/// The range is half-open, in bytes from the start of the function: the location is valid before the instruction at
/// `start` runs, until before the one at `end` runs. Several locations for one range mean that the variable is in all
/// of them at once. Outside every range the variable is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Live {
    /// The variable.
    pub variable: VariableId,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The location.
    pub loc: LocId,
}

impl Live {
    /// Half-open pc range, in bytes from the start of the function.
    pub fn pcs(&self) -> core::ops::Range<u64> {
        self.start.into()..self.end.into()
    }
}
