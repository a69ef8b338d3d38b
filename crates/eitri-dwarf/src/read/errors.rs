//! Errors for parts that are left out.

use crate::error::Error;

/// Maximum number of errors that are kept, because a damaged part can have an error for each byte.
pub(super) const MOST: usize = 0x1000;

/// Errors, in file order.
#[derive(Debug, Clone, Default)]
pub(super) struct Errors(Vec<Error>);

impl Errors {
    /// Adds an error. Returns a default value instead of the part.
    pub(super) fn add<T: Default>(&mut self, error: Error) -> T {
        if self.0.len() < MOST {
            self.0.push(error);
        }
        T::default()
    }

    pub(super) fn finish(mut self) -> Vec<Error> {
        self.0.sort_by_key(|error| error.at().offset);
        self.0
    }
}
