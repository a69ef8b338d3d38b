//! Queries for the machine or the target.

/// An operation's query, by the kinds of the elements that the operation takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// An address in the file.
    Address,
    /// A register's contents and an offset.
    Based,
    FrameBase,
    Cfa,
    /// Reads the default space, at the top element.
    Deref,
    /// Reads another space, at the top element.
    DerefSpace,
    /// Reads a register from the bit on top.
    ReadAt,
    Register,
    Lane,
    /// Moves an address by a number.
    Offset,
    OffsetConst,
    /// Moves a register bit by a number of bits.
    RegisterOffset,
    RegisterOffsetConst,
    PieceNothing,
    PieceMemory,
    PieceSpace,
    PieceKnown,
    PieceRegister,
}

/// A query with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    /// Constant or offset; a piece has its size in bits.
    pub operand: u64,
    /// Register, address space or unit.
    pub small: u32,
    /// Size in bytes.
    pub bytes: u8,
    pub code: Code,
}

impl Instruction {
    pub const fn new(code: Code) -> Self {
        Self { operand: 0, small: 0, bytes: 0, code }
    }
}
