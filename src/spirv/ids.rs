//! Allocation of ids.

use super::words::Id;
use crate::error::{Error, ErrorKind, Result};

/// Allocator of unused ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids(u32);

impl Ids {
    /// The allocator of a module without ids: starts at 1.
    pub const NEW: Self = Self(1);

    /// The allocator of a module whose header has this id bound.
    pub fn after(bound: u32) -> Self {
        Self(bound.max(1))
    }

    /// Allocates an id.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if no id is left: a bound has 32 bits.
    pub fn fresh(&mut self) -> Result<Id> {
        let id = self.0;
        let too_many = || Error::new(ErrorKind::TooLarge("a module has less than 2^32 ids".into()));
        self.0 = id.checked_add(1).ok_or_else(too_many)?;
        Ok(Id(id))
    }

    /// The id bound: above every allocated id.
    pub fn bound(self) -> u32 {
        self.0
    }
}
