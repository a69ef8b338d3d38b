//! A module with debug instructions, and the way back to the original.

use core::ops::Range;

use crate::error::{Count, Error, Result};
use crate::omission::Omission;

/// Index of the header word with the id bound.
pub(super) const BOUND: usize = 3;

/// A module with debug instructions, and the positions of the added words.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The module's words.
    pub words: Vec<u32>,
    /// Ranges of added words, sorted and never adjacent.
    pub added: Vec<Range<usize>>,
    /// The id bound of the original module.
    pub bound: u32,
    /// Properties that the instruction set cannot express, or expresses unlike the description.
    pub omissions: Vec<Omission>,
}

impl Attached {
    /// The original module, without the added words.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if the caller changed `added` so that the ranges are
    /// unsorted or outside `words`.
    pub fn detach(&self) -> Result<Vec<u32>> {
        let mut words = Vec::with_capacity(self.words.len());
        let mut copied = 0;
        // Copy what lies between the added ranges. `added` is public, so that any order has to be expected.
        for new in &self.added {
            let old = self.words.get(copied..new.start).filter(|_| self.words.get(new.clone()).is_some());
            words.extend_from_slice(old.ok_or_else(|| {
                let (Range { start, end }, words) = (new, Count(self.words.len(), "word"));
                Error::bad_argument(format!(
                    "added words {start}..{end} are out of order or outside the module, which has {words}"
                ))
            })?);
            copied = new.end;
        }
        words.extend_from_slice(&self.words[copied..]);
        let bound = words.get_mut(BOUND).ok_or_else(|| Error::bad_argument("the module has no header"))?;
        *bound = self.bound;
        Ok(words)
    }
}
