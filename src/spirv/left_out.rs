//! What is not carried over, between a model and a module of either set.

use core::fmt;

use crate::error::At;

/// What the set cannot say, the [mode](super::Mode) leaves out, or is said otherwise than it was described; and what
/// a module says that cannot be described. What is about machine code is not listed: pcs, rows, where variables and
/// frames are in registers and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Of what: unit, function, variable; the debug instruction of a module.
    pub at: At,
    /// What, and what is said instead.
    pub what: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, what } = self;
        // Of the module as a whole there is no place.
        if *at == At::default() {
            return f.write_str(what);
        }
        write!(f, "{at}: {what}")
    }
}
