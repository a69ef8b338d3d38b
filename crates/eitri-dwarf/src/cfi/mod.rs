//! Call frame instructions: DWARF 5 sections 6.4.2 and 7.24, with the instructions of GNU, AArch64 and AMD's extension.
//!
//! ```
//! use eitri_dwarf::cfi::{CfiOperand, row};
//!
//! let row = row(0x0e).expect("an instruction");
//! assert_eq!((row.name, row.since), ("DW_CFA_def_cfa_offset", 2));
//! assert_eq!(row.operands, [("offset", CfiOperand::Bytes)]);
//! ```

pub(crate) mod table;

use crate::op::Dialect;
use table::{for_each_instruction, is_in_dialect};

/// Kind of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CfiOperand {
    /// Number of steps in the low six bits of the opcode. A step is the code alignment factor.
    LowSteps,
    /// Number of steps in 1 byte.
    Steps1,
    /// Number of steps in 2 bytes.
    Steps2,
    /// Number of steps in 4 bytes.
    Steps4,
    /// Number of steps in 8 bytes.
    Steps8,
    /// Address.
    Address,
    /// Register in the low six bits of the opcode.
    LowRegister,
    /// Register, unsigned LEB128.
    Register,
    /// Offset in bytes, unsigned LEB128.
    Bytes,
    /// Offset in multiples of the data alignment factor, unsigned LEB128.
    Factored,
    /// Offset in multiples of the data alignment factor, signed LEB128.
    SignedFactored,
    /// Negated offset in multiples of the data alignment factor, unsigned LEB128.
    NegatedFactored,
    /// Expression: its length as unsigned LEB128, and its bytes.
    Expression,
    /// Address space, unsigned LEB128.
    Space,
    /// Number of bytes, unsigned LEB128.
    Size,
}

/// One call frame instruction's row in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CfiRow {
    /// Name, with `DW_CFA_`.
    pub name: &'static str,
    /// Opcode, without the operand in its low six bits.
    pub code: u8,
    /// Name and kind of each operand, in encoding order.
    pub operands: &'static [(&'static str, CfiOperand)],
    /// DWARF version that introduced the instruction; 0 if it is not part of the standard.
    pub since: u16,
    /// Whether only AMD's extension has the instruction.
    pub is_amd: bool,
}

impl CfiRow {
    /// Whether a dialect has the instruction.
    pub fn is_in(&self, dialect: Dialect) -> bool {
        !self.is_amd || is_in_dialect!(amd dialect)
    }
}

/// Converts a cell in the column `dialects`.
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
    /// Instruction opcodes.
    #[allow(dead_code, reason = "the emitter does not write all instructions")]
    #[doc(hidden)]
    pub mod code { $(
        #[doc = concat!("`", $name, "`.")]
        #[doc(hidden)]
        pub const $constant: u8 = $code;
    )* }

    /// All call frame instructions, in the order of the table.
    pub const ROWS: &[CfiRow] = &[$(CfiRow {
        name: $name,
        code: $code,
        operands: &[$((stringify!($field), CfiOperand::$operand)),*],
        since: $since,
        is_amd: is_amd!($dialects),
    }),*];
} }
for_each_instruction!(make_rows);

/// Returns the row for an opcode, without the operand in its low six bits.
pub fn row(code: u8) -> Option<&'static CfiRow> {
    ROWS.iter().find(|row| row.code == code)
}
