//! The kinds of operands that operations have: how each is held and how each is encoded.

/// A DWARF register number.
///
/// Numbers are the target's ([`Target`](crate::target::Target) gives them their names). They are not
/// limited to 16 bits: PTX packs the name of a virtual register into the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u64);

/// The operand of the GNU operation `encoded_addr`: a pointer encoding (`DW_EH_PE_*`) and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedAddress {
    /// The encoding. Its low four bits give the format of the value.
    pub encoding: u8,
    /// The value, sign-extended where the format is signed.
    pub value: u64,
}

/// How an operand is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperandKind {
    /// One byte, unsigned.
    U8,
    /// Unsigned LEB128.
    Uleb,
    /// Signed LEB128.
    Sleb,
    /// A register number as unsigned LEB128.
    Register,
    /// An address of the target's default space.
    Address,
    /// Two bytes, signed: how far to go from the end of the operand.
    Branch,
    /// Two bytes: the offset of an entry from the start of its unit.
    Entry2,
    /// Four bytes: the offset of an entry from the start of its unit.
    Entry4,
    /// The offset of an entry from the start of `.debug_info`, four bytes in the 32-bit DWARF format and
    /// eight in the 64-bit one.
    EntrySection,
    /// The offset of a base type entry from the start of its unit, as unsigned LEB128.
    TypeEntry,
    /// A block of bytes after its length as unsigned LEB128.
    Block,
    /// A block of bytes after its length as one byte.
    Block1,
    /// An expression after its length as unsigned LEB128.
    Expression,
    /// A GNU encoded pointer.
    Encoded,
}

/// The Rust type that holds an operand of a kind, with `'a` for what it borrows.
macro_rules! operand_type {
    (U8) => { u8 };
    (Uleb) => { u64 };
    (Sleb) => { i64 };
    (Register) => { $crate::op::Reg };
    (Address) => { u64 };
    (Branch) => { i16 };
    (Entry2) => { u64 };
    (Entry4) => { u64 };
    (EntrySection) => { u64 };
    (TypeEntry) => { u64 };
    (Block) => { &'a [u8] };
    (Block1) => { &'a [u8] };
    (Expression) => { &'a [u8] };
    (Encoded) => { $crate::op::EncodedAddress };
}
pub(crate) use operand_type;
