//! Operations to bytes.

use super::compact::Form;
use super::leb::{write_sleb, write_uleb};
use super::operand::operand_type;
use super::table::for_each_op;
use super::{Code, Dialect, Encoding, LLVM_USER, Name, Op, Reg, Spelling};
use crate::error::{Error, ErrorKind, Result};

/// Appends operations to bytes, each by a method of its own.
///
/// The shortest spelling is chosen (`lit5` for `constu(5)`, `breg3` for `bregx(Reg(3), …)`).
///
/// # Errors
/// An operation that the dialect does not have writes nothing and is remembered: [`finish`](Self::finish)
/// gives the first such operation as an error. Nothing else can fail.
#[derive(Debug)]
pub struct Encoder<'b> {
    out: &'b mut Vec<u8>,
    encoding: Encoding,
    missing: Option<Name>,
}

impl<'b> Encoder<'b> {
    /// An encoder that appends to `out`.
    #[inline]
    pub fn new(out: &'b mut Vec<u8>, encoding: Encoding) -> Self {
        Self { out, encoding, missing: None }
    }

    /// What the bytes depend on.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many bytes `out` has.
    #[inline]
    pub fn position(&self) -> usize {
        self.out.len()
    }

    /// The end of the expression.
    ///
    /// # Errors
    /// [`ErrorKind::CannotSay`] if an operation was used that the dialect does not have. What was written
    /// is then to be thrown away.
    #[inline]
    pub fn finish(self) -> Result<()> {
        match self.missing {
            None => Ok(()),
            Some(name) => Err(missing(name, self.encoding.dialect)),
        }
    }

    #[inline(always)]
    fn opcode(&mut self, name: Name, std: Code, gnu: Code, user: Code, legacy: Code, six: Code) -> bool {
        if let Code::Is(code) = std {
            self.out.push(code);
            return true;
        }
        let vendor = match self.encoding.dialect {
            Dialect::Dwarf5 => None,
            Dialect::Llvm => user.get().inspect(|_| self.out.push(LLVM_USER)),
            Dialect::Legacy => legacy.get(),
            Dialect::Dwarf6 => match six {
                Code::Is(code) => Some(code),
                Code::Unassigned => self.encoding.draft.get(name),
                Code::None => None,
            },
        };
        match vendor.or(gnu.get()) {
            Some(code) => self.out.push(code),
            None => self.missing = self.missing.or(Some(name)),
        }
        self.missing.is_none()
    }

    /// Appends the operation.
    pub fn op(&mut self, op: Op<'_>) -> &mut Self {
        dispatch(self, op);
        self
    }

    /// Appends the operation as it was spelled where it was decoded, padding of LEB128 numbers included.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn spelled(&mut self, op: Op<'_>, spelling: Spelling) -> &mut Self {
        let start = self.out.len();
        if !self.compactly(op, spelling) {
            self.op(op);
            self.respell(op, spelling, start);
        }
        self
    }

    /// Appends the operation in the compact form that the spelling names, if it names one.
    fn compactly(&mut self, op: Op<'_>, spelling: Spelling) -> bool {
        let Some(family) = super::Compact::of(spelling.code()).filter(|family| family.name == op.name())
        else {
            return false;
        };
        let value = match op {
            Op::ConstU { value } => value,
            Op::ConstS { value } => value as u64,
            Op::Pick { index } => index.into(),
            Op::RegX { reg } | Op::BregX { reg, .. } => reg.0,
            _ => return false,
        };
        self.out.push(spelling.code());
        match family.form {
            Form::InOpcode | Form::Fixed(_) => {}
            Form::Unsigned(bytes) | Form::Signed(bytes) => self.fixed(value, bytes),
        }
        if let Op::BregX { by, .. } = op {
            let at = self.out.len();
            write_sleb(self.out, by);
            self.pad(at, spelling.leb_bytes(0), by < 0);
        }
        true
    }

    /// Rewrites the operation at `start`, the last one, with the opcode and the padding of the spelling.
    fn respell(&mut self, op: Op<'_>, spelling: Spelling, start: usize) {
        let written = self.out.split_off(start);
        let operands = match op.row().operands.first() {
            // The shortest form may be a compact one: write the general form anew.
            _ if matches!(op.name(), Name::ConstU | Name::ConstS | Name::RegX | Name::BregX | Name::Pick) => {
                let mut lebs = 0;
                self.out.push(spelling.code());
                match op {
                    Op::ConstU { value } => self.padded_uleb(value, spelling, &mut lebs),
                    Op::ConstS { value } => self.padded_sleb(value, spelling, &mut lebs),
                    Op::RegX { reg } => self.padded_uleb(reg.0, spelling, &mut lebs),
                    Op::BregX { reg, by } => {
                        self.padded_uleb(reg.0, spelling, &mut lebs);
                        self.padded_sleb(by, spelling, &mut lebs);
                    }
                    Op::Pick { index } => self.out.push(index),
                    _ => {}
                }
                return;
            }
            _ => match written.first() {
                Some(&LLVM_USER) if spelling.code() == LLVM_USER => &written[2..],
                Some(_) => &written[1..],
                None => return,
            },
        };
        self.out.push(spelling.code());
        if spelling.code() == LLVM_USER {
            self.out.extend(op.row().user.get());
        }
        // Walk the operands as written and lengthen those that were padded.
        let mut at = 0;
        let mut lebs = 0;
        for &(_, kind) in op.row().operands {
            let Some((bytes, leb)) = super::decode::operand_span(operands, at, kind, self.encoding) else {
                break;
            };
            let from = self.out.len();
            let (number, rest) = operands[at..at + bytes].split_at(leb.unwrap_or(0));
            self.out.extend_from_slice(number);
            if leb.is_some() {
                let negative =
                    kind == super::OperandKind::Sleb && number.last().is_some_and(|b| b & 0x40 != 0);
                self.pad(from, spelling.leb_bytes(lebs), negative);
                lebs += 1;
            }
            self.out.extend_from_slice(rest);
            at += bytes;
        }
    }

    fn padded_uleb(&mut self, value: u64, spelling: Spelling, lebs: &mut usize) {
        let at = self.out.len();
        write_uleb(self.out, value);
        self.pad(at, spelling.leb_bytes(*lebs), false);
        *lebs += 1;
    }

    fn padded_sleb(&mut self, value: i64, spelling: Spelling, lebs: &mut usize) {
        let at = self.out.len();
        write_sleb(self.out, value);
        self.pad(at, spelling.leb_bytes(*lebs), value < 0);
        *lebs += 1;
    }

    /// Lengthens the LEB128 number that starts at `at` and ends the bytes to `len` bytes.
    fn pad(&mut self, at: usize, len: usize, negative: bool) {
        let (more, last) = if negative { (0xff, 0x7f) } else { (0x80, 0x00) };
        while self.out.len() - at < len {
            if let Some(byte) = self.out.last_mut() {
                *byte |= 0x80;
            }
            let is_last = self.out.len() - at + 1 == len;
            self.out.push(if is_last { last } else { more });
        }
    }

    // Writers of operands, named as the kinds of the table.

    #[inline]
    fn fixed(&mut self, value: u64, bytes: u8) {
        let bytes = usize::from(bytes.min(8));
        if self.encoding.big_endian {
            self.out.extend_from_slice(&value.to_be_bytes()[8 - bytes..]);
        } else {
            self.out.extend_from_slice(&value.to_le_bytes()[..bytes]);
        }
    }
}

#[cold]
pub(super) fn missing(name: Name, dialect: Dialect) -> Error {
    let consumer = match dialect {
        Dialect::Dwarf5 => "a reader of plain DWARF 5",
        Dialect::Llvm => "a reader of the LLVM operations",
        Dialect::Legacy => "a reader of the one-byte AMD operations",
        Dialect::Dwarf6 => "a reader of the DWARF 6 draft, without a number from the caller,",
    };
    ErrorKind::CannotSay { what: format!("operation `{}`", name.row().text), consumer: consumer.into() }
        .into()
}

macro_rules! code {
    (_) => {
        Code::None
    };
    (TBA) => {
        Code::Unassigned
    };
    ($code:literal) => {
        Code::Is($code)
    };
}

/// Writes one operand.
macro_rules! write_operand {
    ($e:ident, U8, $value:ident) => { $e.out.push($value) };
    ($e:ident, Uleb, $value:ident) => { write_uleb($e.out, $value) };
    ($e:ident, Sleb, $value:ident) => { write_sleb($e.out, $value) };
    ($e:ident, Register, $value:ident) => { write_uleb($e.out, $value.0) };
    ($e:ident, Address, $value:ident) => { $e.fixed($value, $e.encoding.address_bytes) };
    ($e:ident, Branch, $value:ident) => { $e.fixed($value as u64, 2) };
    ($e:ident, Entry2, $value:ident) => { $e.fixed($value, 2) };
    ($e:ident, Entry4, $value:ident) => { $e.fixed($value, 4) };
    ($e:ident, EntrySection, $value:ident) => {
        // DWARF 2 has the size of an address here.
        $e.fixed($value, if $e.encoding.version < 3 { $e.encoding.address_bytes } else { $e.encoding.offset_bytes })
    };
    ($e:ident, TypeEntry, $value:ident) => { write_uleb($e.out, $value) };
    ($e:ident, Block, $value:ident) => {{
        write_uleb($e.out, $value.len() as u64);
        $e.out.extend_from_slice($value);
    }};
    ($e:ident, Block1, $value:ident) => {{
        // A longer block has no encoding: it is cut, and the length says so.
        let block = &$value[..$value.len().min(255)];
        $e.out.push(block.len() as u8);
        $e.out.extend_from_slice(block);
    }};
    ($e:ident, Expression, $value:ident) => { write_operand!($e, Block, $value) };
    ($e:ident, Encoded, $value:ident) => {{
        $e.out.push($value.encoding);
        match $value.encoding & 0x0f {
            0x01 => write_uleb($e.out, $value.value),
            0x09 => write_sleb($e.out, $value.value as i64),
            0x02 | 0x0a => $e.fixed($value.value, 2),
            0x03 | 0x0b => $e.fixed($value.value, 4),
            0x04 | 0x0c => $e.fixed($value.value, 8),
            _ => $e.fixed($value.value, $e.encoding.address_bytes),
        }
    }};
}

macro_rules! make_encoder { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] ($in:tt => $out:tt) $since:literal;
)*) => {
    impl<'b> Encoder<'b> { $(
        encoder_method!($variant $method $text { $($field: $kind),* } [$std $gnu $user $legacy $six]);
    )* }

    fn dispatch<'a>(encoder: &mut Encoder<'_>, op: Op<'a>) {
        match op { $(Op::$variant { $($field),* } => { encoder.$method($($field),*); })* }
    }
} }

/// The method of one operation.
macro_rules! encoder_method {
    (ConstU $($rest:tt)*) => {
        /// Appends a constant of the generic type as `lit0…lit31`, `const1u…const8u` or `constu`,
        /// whichever is shortest.
        #[inline]
        pub fn constu(&mut self, value: u64) -> &mut Self {
            match value {
                0..32 => self.out.push(0x30 + value as u8),
                32..0x80 => self.out.extend_from_slice(&[0x10, value as u8]),
                _ => {
                    let (code, bytes) = match value {
                        0..0x100 => (0x08, 1),
                        0x4000..0x1_0000 => (0x0a, 2),
                        0x1000_0000..0x1_0000_0000 => (0x0c, 4),
                        0x100_0000_0000_0000.. => (0x0e, 8),
                        _ => (0x10, 0),
                    };
                    self.out.push(code);
                    if bytes == 0 { write_uleb(self.out, value) } else { self.fixed(value, bytes) }
                }
            }
            self
        }
    };
    (ConstS $($rest:tt)*) => {
        /// Appends a constant of the generic type as `const1s…const8s` or `consts`, whichever is shortest.
        #[inline]
        pub fn consts(&mut self, value: i64) -> &mut Self {
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
            self.out.push(code);
            if bytes == 0 { write_sleb(self.out, value) } else { self.fixed(value as u64, bytes) }
            self
        }
    };
    (RegX $($rest:tt)*) => {
        /// Appends the location of a register as `reg0…reg31` or `regx`.
        #[inline]
        pub fn regx(&mut self, reg: Reg) -> &mut Self {
            if reg.0 < 32 {
                self.out.push(0x50 + reg.0 as u8);
            } else {
                self.out.push(0x90);
                write_uleb(self.out, reg.0);
            }
            self
        }
    };
    (BregX $($rest:tt)*) => {
        /// Appends the memory location at a register's contents plus bytes, as `breg0…breg31` or `bregx`.
        #[inline]
        pub fn bregx(&mut self, reg: Reg, by: i64) -> &mut Self {
            if reg.0 < 32 {
                self.out.push(0x70 + reg.0 as u8);
            } else {
                self.out.push(0x92);
                write_uleb(self.out, reg.0);
            }
            write_sleb(self.out, by);
            self
        }
    };
    (Pick $($rest:tt)*) => {
        /// Appends a copy of the stack element that is `index` below the top, as `dup`, `over` or `pick`.
        #[inline]
        pub fn pick(&mut self, index: u8) -> &mut Self {
            match index {
                0 => self.out.push(0x12),
                1 => self.out.push(0x14),
                _ => self.out.extend_from_slice(&[0x15, index]),
            }
            self
        }
    };
    ($variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
     [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt]) => {
        #[doc = concat!("Appends `DW_OP_", $text, "`.")]
        #[inline]
        pub fn $method<'a>(&mut self $(, $field: operand_type!($kind))*) -> &mut Self {
            #[allow(unused_lifetimes)]
            if self.opcode(
                Name::$variant, code!($std), code!($gnu), code!($user), code!($legacy), code!($six),
            ) {
                $(write_operand!(self, $kind, $field);)*
            }
            self
        }
    };
}
for_each_op!(make_encoder);
