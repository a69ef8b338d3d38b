//! Tables that the lowering of a unit leaves to the next one. No byte depends on them.

use super::loc::Memo;
use crate::emit::strings::StringIndices;

/// Tables of a thread that lowers units.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) memo: Memo,
    /// Empty, with its pages.
    pub(super) strings: StringIndices,
    /// Bytes of an entry of a location list in the last unit with lists, rounded up.
    pub(super) entry_bytes: Option<usize>,
}
