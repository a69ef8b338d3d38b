//! Changes of a description that a rewrite makes.

use core::fmt;

use crate::error::Count;
use crate::import::UnimportedFact;
use crate::read::Object;

/// A change of the description, besides its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteChange {
    /// A fact of code that is not in the object is removed.
    Removed(UnimportedFact),
    /// A location or frame that lint proves wrong is written as it was meant, or removed.
    Fixed(super::fix::FixChange),
    /// Copies of debug sections in a linked cubin are emptied, because they would contradict the sections.
    Emptied(EmptiedCopies),
}

/// Copies of debug sections in a linked cubin for sm_100 and later, `.nv.merc.*`, with their relocations.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptiedCopies {
    /// Names of the sections, each with its size in bytes before.
    pub sections: Vec<(String, u64)>,
}

impl EmptiedCopies {
    /// Returns the copies that a rewrite emptied; `None` if it emptied none. The sections of both objects have the same indices.
    pub(super) fn new(before: &Object<'_>, after: &Object<'_>) -> Option<Self> {
        let both = before.sections().iter().zip(after.sections());
        let emptied = both.filter(|(old, new)| {
            old.name.starts_with(".nv.merc.") && !before.is_relocatable() && old.stored > 0 && new.stored == 0
        });
        let sections: Vec<_> = emptied.map(|(old, _)| (old.name.to_string(), old.stored)).collect();
        (!sections.is_empty()).then_some(Self { sections })
    }
}

impl fmt::Display for EmptiedCopies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.sections.iter().map(|(_, bytes)| bytes).sum::<u64>();
        write!(
            f,
            "emptied: {} with {}, copies of debug sections whose originals changed: NVIDIA's tools read the originals, and code \
             that the driver finalizes for another processor has no debug information",
            Count(self.sections.len(), "section"),
            Count(bytes, "byte"),
        )
    }
}

impl fmt::Display for RewriteChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(fact) => write!(f, "removed: {fact}"),
            Self::Fixed(change) => change.fmt(f),
            Self::Emptied(copies) => copies.fmt(f),
        }
    }
}
