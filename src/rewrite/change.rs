//! Changes of a description that a rewrite makes.

use core::fmt;

/// A change of the description, besides its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteChange {
    /// What lint proves wrong was written as it was meant, or removed.
    Fixed(super::fix::FixChange),
}

impl fmt::Display for RewriteChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(change) => change.fmt(f),
        }
    }
}
