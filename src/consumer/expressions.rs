//! Form of expressions.

use super::Operations;
use crate::op::{Dialect, DraftCodes};

/// Form of expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpressionForm {
    /// Encoding of operations.
    pub dialect: Dialect,
    /// Codes of the operations without an assigned one, for [`Dialect::Dwarf6`].
    pub draft: DraftCodes,
    /// Operations that the consumer reads.
    pub operations: Operations,
    /// Whether expressions without pcs read registers, such as that of a variable's whole life or of an array's bound.
    /// A reader can fail where a register has no value: then only locations at pcs read registers.
    pub has_registers_at_all_pcs: bool,
    /// Minimum size in bytes of an expression that is emitted once per unit as a procedure, which its uses call; `None`
    /// for a consumer without calls, such as lldb 19. Ignored for DWARF 2, which has no calls.
    pub shared_from_bytes: Option<u32>,
}

impl ExpressionForm {
    /// Operations of the standard, without procedures.
    pub const STANDARD: Self = Self {
        dialect: Dialect::Dwarf5,
        draft: DraftCodes::NONE,
        operations: Operations::All,
        has_registers_at_all_pcs: true,
        shared_from_bytes: None,
    };
}
