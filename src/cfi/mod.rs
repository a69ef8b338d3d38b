//! Call frame instructions: DWARF 5 sections 6.4.2 and 7.24, and those of GNU, AArch64 and AMD's extension.

pub(crate) mod table;

use crate::op::Dialect;
use table::{for_each_instruction, is_in_dialect};

/// Encoding of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operand {
    /// A number of steps in the low six bits of the opcode; a step is the code alignment factor.
    LowSteps,
    /// A number of steps in 1 byte.
    Steps1,
    /// A number of steps in 2 bytes.
    Steps2,
    /// A number of steps in 4 bytes.
    Steps4,
    /// A number of steps in 8 bytes.
    Steps8,
    /// An address.
    Address,
    /// A register in the low six bits of the opcode.
    LowRegister,
    /// A register, unsigned LEB128.
    Register,
    /// An offset in bytes, unsigned LEB128.
    Bytes,
    /// An offset in multiples of the data alignment factor, unsigned LEB128.
    Factored,
    /// An offset in multiples of the data alignment factor, signed LEB128.
    SignedFactored,
    /// A negated offset in multiples of the data alignment factor, unsigned LEB128.
    NegatedFactored,
    /// A block with an expression: its length as unsigned LEB128, and its bytes.
    Expression,
    /// An address space, unsigned LEB128.
    Space,
    /// A number of bytes, unsigned LEB128.
    Size,
}

/// The table's row of one call frame instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Name, with `DW_CFA_`.
    pub name: &'static str,
    /// Opcode, without an operand in its low six bits.
    pub code: u8,
    /// Names and encodings of the operands, in order.
    pub operands: &'static [(&'static str, Operand)],
    /// DWARF version that introduced the instruction; 0 where it is not part of the standard.
    pub since: u16,
    /// Whether it exists only in AMD's extension.
    pub is_amd: bool,
}

impl Row {
    /// Whether a dialect has the instruction.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        !self.is_amd || is_in_dialect!(amd dialect)
    }
}

/// Converts a cell of the column of dialects.
macro_rules! is_amd {
    (all) => {
        false
    };
    (amd) => {
        true
    };
}

macro_rules! make_rows { ($(
    $kind:ident $constant:ident $name:literal $code:literal { $($field:ident: $operand:ident),* }
    $since:literal $dialects:ident;
)*) => {
    /// Opcodes of the instructions.
    #[allow(dead_code, reason = "not all of them are written")]
    pub(crate) mod code { $(
        #[doc = concat!("`", $name, "`.")]
        pub(crate) const $constant: u8 = $code;
    )* }

    /// All call frame instructions, in the order of the table.
    pub const ROWS: &[Row] = &[$(Row {
        name: $name,
        code: $code,
        operands: &[$((stringify!($field), Operand::$operand)),*],
        since: $since,
        is_amd: is_amd!($dialects),
    }),*];
} }
for_each_instruction!(make_rows);

/// Returns the row of an opcode, without an operand in its low six bits.
pub fn row(code: u8) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.code == code)
}
