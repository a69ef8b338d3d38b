//! Changes of a description that a rewrite makes.

use core::fmt;

use crate::import::UnimportedFact;

/// A change of the description, besides its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteChange {
    /// A fact of code that is not in the object is removed.
    Removed(UnimportedFact),
    /// A location or frame that lint proves wrong is written as it was meant, or removed.
    Fixed(super::fix::FixChange),
}

impl fmt::Display for RewriteChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(fact) => write!(f, "removed: {fact}"),
            Self::Fixed(change) => change.fmt(f),
        }
    }
}
