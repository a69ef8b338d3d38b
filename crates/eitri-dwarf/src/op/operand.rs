//! Operand kinds: their Rust types and their encodings.

/// Operand of the GNU operation `encoded_addr`: a pointer encoding (`DW_EH_PE_*`) and a value.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedAddress {
    /// Pointer encoding. The low four bits select the value format.
    pub encoding: u8,
    /// Value, sign-extended if the format is signed.
    pub value: u64,
}

impl EncodedAddress {
    /// Returns the value format of a pointer encoding. `None` for an encoding without a value, or with alignment that
    /// depends on the final address of the bytes.
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

/// Value format of an [`EncodedAddress`]. Fixed sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointerForm {
    Uleb,
    Sleb,
    Unsigned(u8),
    Signed(u8),
}

/// Whether the number is the zero-extension of its low `bytes` bytes.
#[inline]
pub(crate) fn fits_unsigned(value: u64, bytes: u8) -> bool {
    bytes >= 8 || value >> (8 * bytes) == 0
}

/// Whether the number is the sign-extension of its low `bytes` bytes.
#[inline]
pub(crate) fn fits_signed(value: u64, bytes: u8) -> bool {
    sign_extended(value, bytes) == value
}

/// Returns the sign-extension of the low `bytes` bytes.
#[inline]
pub(crate) fn sign_extended(value: u64, bytes: u8) -> u64 {
    let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
    ((value << unused) as i64 >> unused) as u64
}

/// Kind of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperandKind {
    /// One byte, unsigned.
    U8,
    /// Unsigned LEB128.
    Uleb,
    /// Signed LEB128.
    Sleb,
    /// Register number as unsigned LEB128.
    Register,
    /// Address in the target's default space.
    Address,
    /// Two bytes, signed: the distance from the end of the operand.
    Branch,
    /// Two bytes: the entry offset from the start of the unit.
    Entry2,
    /// Four bytes: the entry offset from the start of the unit.
    Entry4,
    /// Entry offset from the start of `.debug_info`: four bytes in the 32-bit DWARF format, eight in the 64-bit format;
    /// in DWARF 2 the size of an address.
    EntrySection,
    /// Offset of a base type entry from the start of the unit, as unsigned LEB128.
    TypeEntry,
    /// Bytes, preceded by their length as unsigned LEB128.
    Block,
    /// Bytes, preceded by their length in one byte.
    Block1,
    /// Expression, preceded by its length as unsigned LEB128.
    Expression,
    /// GNU encoded pointer.
    Encoded,
}

/// Maps an operand kind to its Rust type, with `'a` for borrowed bytes.
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
