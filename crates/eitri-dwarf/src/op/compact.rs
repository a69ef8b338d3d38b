//! Compact spellings: opcodes that include an operation's operand, or give it a fixed size.

use super::encode::{Failure, Spelled};
use super::leb::{write_byte_sleb, write_byte_uleb, write_sleb};
use super::operand::{fits_signed, fits_unsigned};
use super::{Encoder, Op, OperationName, Reg};

/// Opcode family that encodes one operation from the table in fewer bytes.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// Text form; families with 32 opcodes append a number (`lit5`).
    pub text: &'static str,
    /// First opcode.
    pub first: u8,
    /// Number of opcodes in the family: 32, or 1.
    pub count: u8,
    /// Encoded operation.
    pub name: OperationName,
    /// Encoding of the operand.
    pub form: Form,
}

/// Encoding of the operand in a compact spelling.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Operand in the opcode, as the distance from the family's first opcode.
    InOpcode,
    /// Implied operand: always this number.
    Fixed(u8),
    /// Zero-extended operand in this number of bytes.
    Unsigned(u8),
    /// Sign-extended operand in this number of bytes.
    Signed(u8),
}

/// All compact spellings.
#[rustfmt::skip]
pub const COMPACT: &[Compact] = &[
    Compact { text: "const1u", first: 0x08, count: 1,  name: OperationName::ConstU, form: Form::Unsigned(1) },
    Compact { text: "const1s", first: 0x09, count: 1,  name: OperationName::ConstS, form: Form::Signed(1) },
    Compact { text: "const2u", first: 0x0a, count: 1,  name: OperationName::ConstU, form: Form::Unsigned(2) },
    Compact { text: "const2s", first: 0x0b, count: 1,  name: OperationName::ConstS, form: Form::Signed(2) },
    Compact { text: "const4u", first: 0x0c, count: 1,  name: OperationName::ConstU, form: Form::Unsigned(4) },
    Compact { text: "const4s", first: 0x0d, count: 1,  name: OperationName::ConstS, form: Form::Signed(4) },
    Compact { text: "const8u", first: 0x0e, count: 1,  name: OperationName::ConstU, form: Form::Unsigned(8) },
    Compact { text: "const8s", first: 0x0f, count: 1,  name: OperationName::ConstS, form: Form::Signed(8) },
    Compact { text: "dup",     first: 0x12, count: 1,  name: OperationName::Pick,   form: Form::Fixed(0) },
    Compact { text: "over",    first: 0x14, count: 1,  name: OperationName::Pick,   form: Form::Fixed(1) },
    Compact { text: "lit",     first: 0x30, count: 32, name: OperationName::ConstU, form: Form::InOpcode },
    Compact { text: "reg",     first: 0x50, count: 32, name: OperationName::RegX,   form: Form::InOpcode },
    Compact { text: "breg",    first: 0x70, count: 32, name: OperationName::BregX,  form: Form::InOpcode },
];

impl Compact {
    /// Returns the family that contains an opcode.
    pub fn from_opcode(code: u8) -> Option<&'static Self> {
        COMPACT.iter().find(|family| (family.first..=family.last()).contains(&code))
    }

    /// Returns the family's last opcode.
    pub const fn last(&self) -> u8 {
        self.first + (self.count - 1)
    }

    /// Whether an opcode of the family can encode the operand. `number` counts from the family's first opcode.
    pub(crate) fn holds(&self, value: u64, number: u8) -> bool {
        match self.form {
            Form::InOpcode => value == u64::from(number),
            Form::Fixed(only) => value == u64::from(only),
            Form::Unsigned(bytes) => fits_unsigned(value, bytes),
            Form::Signed(bytes) => fits_signed(value, bytes),
        }
    }

    /// Returns the operation for an operand. Only `breg` has an offset.
    pub(crate) fn op(&self, value: u64, offset: i64) -> Op<'static> {
        match self.name {
            OperationName::ConstU => Op::ConstU { value },
            OperationName::ConstS => Op::ConstS { value: value as i64 },
            OperationName::Pick => Op::Pick { index: value as u8 },
            OperationName::RegX => Op::RegX { reg: Reg(value) },
            _ => Op::BregX { reg: Reg(value), offset },
        }
    }
}

/// Encodes operations with compact spellings.
impl Encoder<'_> {
    /// Appends an operation in the compact spelling that the opcode selects.
    pub(super) fn compact(&mut self, op: Op<'_>, family: &Compact, code: u8, lebs: &mut Spelled) {
        let value = match op {
            Op::ConstU { value } => value,
            Op::ConstS { value } => value as u64,
            Op::Pick { index } => index.into(),
            Op::RegX { reg } | Op::BregX { reg, .. } => reg.0,
            _ => 0,
        };
        if family.name != op.name() || !family.holds(value, code - family.first) {
            self.fail(Failure::Misspelled { name: op.name(), code });
        }
        self.out.push(code);
        if let Form::Unsigned(bytes) | Form::Signed(bytes) = family.form {
            self.fixed(value, bytes);
        }
        if let Op::BregX { offset, .. } = op {
            self.sleb(offset, lebs);
        }
    }

    /// Appends a generic-type constant as `lit0…lit31`, `const1u…const8u` or `constu`, whichever is shortest.
    #[inline(always)]
    pub fn constu(&mut self, value: u64) -> &mut Self {
        // The ranges between these have no shorter fixed-size form than LEB128.
        let (code, bytes) = match value {
            0..32 => (0x30 + value as u8, 0),
            0x80..0x100 => (0x08, 1),
            0x4000..0x1_0000 => (0x0a, 2),
            0x1000_0000..0x1_0000_0000 => (0x0c, 4),
            0x100_0000_0000_0000.. => (0x0e, 8),
            _ => {
                write_byte_uleb(self.out, 0x10, value);
                return self;
            }
        };
        self.out.push(code);
        self.fixed(value, bytes);
        self
    }

    /// Appends a generic-type constant as `const1u…const8u`, in `bytes` bytes: 1, 2, 4 or 8.
    #[doc(hidden)]
    pub fn const_fixed(&mut self, value: u64, bytes: u8) -> &mut Self {
        self.out.push(0x08 + 2 * bytes.trailing_zeros() as u8);
        self.fixed(value, bytes);
        self
    }

    /// Appends a generic-type constant as `const1s…const8s` or `consts`, whichever is shortest.
    #[inline]
    pub fn consts(&mut self, value: i64) -> &mut Self {
        // 0 bytes: `consts`, whose LEB128 number is at most as long as the fixed-size form.
        let (code, bytes) = match value {
            -0x40..0x40 => (0x11, 0),
            -0x80..0x80 => (0x09, 1),
            -0x2000..0x2000 => (0x11, 0),
            -0x8000..0x8000 => (0x0b, 2),
            -0x800_0000..0x800_0000 => (0x11, 0),
            -0x8000_0000..0x8000_0000 => (0x0d, 4),
            -0x80_0000_0000_0000..0x80_0000_0000_0000 => (0x11, 0),
            _ => (0x0f, 8),
        };
        if bytes == 0 {
            write_byte_sleb(self.out, code, value)
        } else {
            self.out.push(code);
            self.fixed(value as u64, bytes)
        }
        self
    }

    /// Appends a register's location as `reg0…reg31` or `regx`.
    #[inline]
    pub fn regx(&mut self, reg: Reg) -> &mut Self {
        if reg.0 < 32 {
            self.out.push(0x50 + reg.0 as u8);
        } else {
            write_byte_uleb(self.out, 0x90, reg.0);
        }
        self
    }

    /// Appends the memory location at a register's contents plus `offset` bytes, as `breg0…breg31` or `bregx`.
    #[inline(always)]
    pub fn bregx(&mut self, reg: Reg, offset: i64) -> &mut Self {
        if reg.0 < 32 {
            write_byte_sleb(self.out, 0x70 + reg.0 as u8, offset);
        } else {
            write_byte_uleb(self.out, 0x92, reg.0);
            write_sleb(self.out, offset);
        }
        self
    }

    /// Appends a copy of the stack element `index` below the top, as `dup`, `over` or `pick`.
    #[inline]
    pub fn pick(&mut self, index: u8) -> &mut Self {
        match index {
            0 => self.out.push(0x12),
            1 => self.out.push(0x14),
            _ => self.out.extend_from_slice(&[0x15, index]),
        }
        self
    }
}
