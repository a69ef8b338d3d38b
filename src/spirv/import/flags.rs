//! Debug info flags: section 3.2. Each importer takes the flags that it understands, so that the remaining flags can be
//! listed as omissions.

use crate::model::Accessibility;
use crate::omission::Unimported;
pub(super) use crate::spirv::names::flags::*;

/// An instruction's flags that are not imported yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags(pub u32);

impl Flags {
    /// Removes a flag. Returns whether it was set.
    pub fn take(&mut self, flag: u32) -> bool {
        let is_there = self.0 & flag != 0;
        self.0 &= !flag;
        is_there
    }

    /// Removes the two accessibility bits, and returns the accessibility.
    pub fn access(&mut self) -> Option<Accessibility> {
        let access = match self.0 & 3 {
            1 => Some(Accessibility::Protected),
            2 => Some(Accessibility::Private),
            3 => Some(Accessibility::Public),
            _ => None,
        };
        self.0 &= !3;
        access
    }

    /// The remaining flags, as a reason for an omission.
    pub fn left(self) -> Option<Unimported> {
        (self.0 != 0).then_some(Unimported::Flags(self.0))
    }
}
