//! Variables' live ranges.

use super::ids::{LocId, VariableId};

/// A live range: a variable's location for a pc range.
///
/// The range is half-open, in bytes from the function start: the location is valid before the instruction at `start`
/// runs, until before the instruction at `end` runs. Several locations for one range mean that the variable is in all
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
    /// Half-open pc range, in bytes from the function start.
    pub fn pcs(&self) -> core::ops::Range<u64> {
        self.start.into()..self.end.into()
    }
}
