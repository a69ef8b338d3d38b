//! Errors in the complete module, with the call to blame.

use core::ops::Range;

use crate::error::Error;
use crate::model::{Column, FunctionId, RegionId, VariableId};

/// An error in the whole module, with the call to blame.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub error: Error,
    /// Builder call at fault.
    #[cfg_attr(
        not(feature = "json"),
        expect(dead_code, reason = "only descriptions in JSON have places to name")
    )]
    pub blame: Option<Blame>,
}

/// A builder call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blame {
    /// A variable's location at some pcs.
    Live(VariableId, Range<u64>),
    /// A variable's location at all pcs.
    Always(VariableId),
    /// Frame rule.
    Rule(FunctionId, Column, Range<u64>),
    /// Lane region.
    Region(RegionId),
    /// Whole-wave code.
    WholeWave(FunctionId, Range<u64>),
}

impl Wrong {
    pub(super) fn with(error: Error, blame: Blame) -> Self {
        Self { error, blame: Some(blame) }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { error, blame: None }
    }
}
