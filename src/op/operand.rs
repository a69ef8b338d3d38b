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

impl EncodedAddress {
    /// How a value of this pointer encoding is written. `None` for an encoding that has no value, or one
    /// whose place depends on where the bytes come to lie.
    pub(crate) fn form(encoding: u8, address_bytes: u8) -> Option<PointerForm> {
        Some(match encoding & 0x0f {
            _ if encoding == 0x50 || encoding == 0xff => return None,
            0x00 => PointerForm::Unsigned(address_bytes),
            0x01 => PointerForm::Uleb,
            0x02 => PointerForm::Unsigned(2),
            0x03 => PointerForm::Unsigned(4),
            0x04 => PointerForm::Unsigned(8),
            0x08 => PointerForm::Signed(address_bytes),
            0x09 => PointerForm::Sleb,
            0x0a => PointerForm::Signed(2),
            0x0b => PointerForm::Signed(4),
            0x0c => PointerForm::Signed(8),
            _ => return None,
        })
    }
}

/// How the value of an [`EncodedAddress`] is written. Fixed sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointerForm {
    Uleb,
    Sleb,
    Unsigned(u8),
    Signed(u8),
}

/// Whether the number is the zero-extension of so many bytes.
#[inline]
pub(crate) fn fits_unsigned(value: u64, bytes: u8) -> bool {
    bytes >= 8 || value >> (8 * bytes) == 0
}

/// Whether the number is the sign-extension of so many bytes.
#[inline]
pub(crate) fn fits_signed(value: u64, bytes: u8) -> bool {
    sign_extended(value, bytes) == value
}

/// The low bytes, so many of them, sign-extended.
#[inline]
pub(crate) fn sign_extended(value: u64, bytes: u8) -> u64 {
    let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
    ((value << unused) as i64 >> unused) as u64
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
    /// eight in the 64-bit one; in DWARF 2 of the size of an address.
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
