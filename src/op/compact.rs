//! Compact spellings: opcodes that hold an operand, or a fixed-size one, of an operation of the table.

use super::{Name, Op, Reg};

/// A family of opcodes that spell one operation of the table in fewer bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// The text form; families of 32 have their number appended (`lit5`).
    pub text: &'static str,
    /// The first opcode.
    pub first: u8,
    /// How many opcodes the family has: 32, or 1.
    pub count: u8,
    /// The operation that it spells.
    pub name: Name,
    /// What follows the opcode.
    pub form: Form,
}

/// Where a compact spelling has the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In the opcode: its distance from the family's first.
    InOpcode,
    /// Nowhere: it is this number.
    Fixed(u8),
    /// In this many bytes, zero-extended.
    Unsigned(u8),
    /// In this many bytes, sign-extended.
    Signed(u8),
}

/// Every compact spelling.
#[rustfmt::skip]
pub const COMPACT: &[Compact] = &[
    Compact { text: "const1u", first: 0x08, count: 1,  name: Name::ConstU, form: Form::Unsigned(1) },
    Compact { text: "const1s", first: 0x09, count: 1,  name: Name::ConstS, form: Form::Signed(1) },
    Compact { text: "const2u", first: 0x0a, count: 1,  name: Name::ConstU, form: Form::Unsigned(2) },
    Compact { text: "const2s", first: 0x0b, count: 1,  name: Name::ConstS, form: Form::Signed(2) },
    Compact { text: "const4u", first: 0x0c, count: 1,  name: Name::ConstU, form: Form::Unsigned(4) },
    Compact { text: "const4s", first: 0x0d, count: 1,  name: Name::ConstS, form: Form::Signed(4) },
    Compact { text: "const8u", first: 0x0e, count: 1,  name: Name::ConstU, form: Form::Unsigned(8) },
    Compact { text: "const8s", first: 0x0f, count: 1,  name: Name::ConstS, form: Form::Signed(8) },
    Compact { text: "dup",     first: 0x12, count: 1,  name: Name::Pick,   form: Form::Fixed(0) },
    Compact { text: "over",    first: 0x14, count: 1,  name: Name::Pick,   form: Form::Fixed(1) },
    Compact { text: "lit",     first: 0x30, count: 32, name: Name::ConstU, form: Form::InOpcode },
    Compact { text: "reg",     first: 0x50, count: 32, name: Name::RegX,   form: Form::InOpcode },
    Compact { text: "breg",    first: 0x70, count: 32, name: Name::BregX,  form: Form::InOpcode },
];

impl Compact {
    /// The family that has this opcode.
    pub fn of(code: u8) -> Option<&'static Self> {
        COMPACT.iter().find(|family| (family.first..=family.last()).contains(&code))
    }

    /// The family's last opcode.
    pub const fn last(&self) -> u8 {
        self.first + (self.count - 1)
    }

    /// The operation, given its operand, and for `breg` the displacement.
    pub(crate) fn op(&self, value: u64, by: i64) -> Op<'static> {
        match self.name {
            Name::ConstU => Op::ConstU { value },
            Name::ConstS => Op::ConstS { value: value as i64 },
            Name::Pick => Op::Pick { index: value as u8 },
            Name::RegX => Op::RegX { reg: Reg(value) },
            _ => Op::BregX { reg: Reg(value), by },
        }
    }
}
