//! Operations that a consumer reads.

/// Operations that a consumer reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operations {
    /// All operations of the version and the dialect, each in its shortest encoding.
    All,
    /// Operations with these opcodes only, in ascending order; other encodings of one operation are replaced by these.
    Only(&'static [u8]),
}

impl Operations {
    /// Whether the consumer reads an opcode.
    pub(crate) fn has(self, opcode: u8) -> bool {
        match self {
            Self::All => true,
            Self::Only(codes) => codes.binary_search(&opcode).is_ok(),
        }
    }
}
