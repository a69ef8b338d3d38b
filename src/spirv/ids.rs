//! New ids.

use super::words::Id;
use crate::error::{Error, ErrorKind, Result};

/// Gives out ids that are not used yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids(u32);

impl Ids {
    /// From 1 on: for a module that has none yet.
    pub const NEW: Self = Self(1);

    /// Of a module whose header has this bound, which all its ids are less than.
    pub fn after(bound: u32) -> Self {
        Self(bound.max(1))
    }

    /// The next one.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if there is none: a bound has 32 bits.
    pub fn fresh(&mut self) -> Result<Id> {
        let id = self.0;
        let too_many = || Error::new(ErrorKind::TooLarge("a module has less than 2^32 ids".into()));
        self.0 = id.checked_add(1).ok_or_else(too_many)?;
        Ok(Id(id))
    }

    /// What every id that was given out is less than.
    pub fn bound(self) -> u32 {
        self.0
    }
}
