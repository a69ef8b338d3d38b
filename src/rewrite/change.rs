//! Changes of a description that a rewrite makes.

use core::fmt;

/// A change of the description, besides its encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteChange {}

impl fmt::Display for RewriteChange {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}
