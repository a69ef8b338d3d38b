//! Decodes bytes to operations.

use super::compact::Form;
use super::leb::{read_sleb, read_uleb};
use super::operand::{PointerForm, sign_extended};
use super::table::{code, for_each_op};
use super::{Compact, Dialect, EncodedAddress, Encoding, LLVM_USER, Op, Opcode, OperationName, Reg};
use crate::error::{Error, ErrorKind, Result};

/// Spelling of a decoded operation. [`Encoder::spelled`](super::Encoder::spelled) reproduces the same bytes from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    code: u8,
    sub: u8,
    lebs: [u8; 2],
}

impl Spelling {
    /// Returns the spelling with this opcode and without padding.
    pub fn opcode(code: u8) -> Self {
        Self { code, sub: 0, lebs: [0; 2] }
    }

    /// Returns the opcode byte.
    pub fn code(self) -> u8 {
        self.code
    }

    /// Returns the length of the sub-operation in bytes; 0 without a sub-operation.
    pub fn sub_bytes(self) -> usize {
        self.sub.into()
    }

    /// Returns the length in bytes of a LEB128 operand, by its index among the LEB128 operands; 0 if there is no such
    /// operand.
    pub fn leb_bytes(self, index: usize) -> usize {
        self.lebs.get(index).copied().map_or(0, usize::from)
    }
}

/// A decoded operation.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Offset of the operation in bytes from the start of the expression.
    pub offset: usize,
    /// The operation.
    pub op: Op<'a>,
    /// Spelling of the operation.
    pub spelling: Spelling,
}

/// Decodes the operations of an expression in order.
///
/// # Errors
/// Each error has the offset of the operation:
///
/// * [`ErrorKind::Truncated`]: the bytes end within the operation.
/// * [`ErrorKind::UnknownOperation`]: the dialect has no operation with this number, or the operation's operands depend
///   on an unknown number.
/// * [`ErrorKind::Malformed`]: a number exceeds 64 bits or takes more than 255 bytes, or a GNU pointer encoding has no
///   value.
///
/// The decoder ends after an error, because operations do not encode their length: the rest cannot be decoded.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    next: usize,
    encoding: Encoding,
}

impl<'a> Decoder<'a> {
    /// Returns a decoder at the start of the bytes.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self { bytes, next: 0, encoding }
    }

    /// Returns the offset of the next operation in bytes from the start.
    pub fn offset(&self) -> usize {
        self.next
    }

    /// Continues at another operation, by its offset in bytes from the start. The offset may be the length of the bytes,
    /// which ends the decoder. The caller must ensure that an operation starts there.
    pub fn seek(&mut self, offset: usize) {
        self.next = offset;
    }

    /// Whether no operation is left.
    pub fn is_at_end(&self) -> bool {
        self.next >= self.bytes.len()
    }

    fn decode(&mut self) -> Result<Decoded<'a>> {
        let offset = self.next;
        let code = self.bytes[offset];
        let encoding = &self.encoding;
        let mut operands = OperandReader {
            bytes: self.bytes,
            next: offset + 1,
            encoding,
            sub: 0,
            lebs: [0; 2],
            leb_count: 0,
        };
        let (text, op) = match LOOKUP[code as usize] {
            OpcodeMeaning::Operation(name) => (name.row().text, read_op(&mut operands, name)),
            OpcodeMeaning::Compact(family) => {
                let family = &super::COMPACT[family as usize];
                (family.text, read_compact(&mut operands, code, family))
            }
            OpcodeMeaning::ByDialect => match read_dialect_name(&mut operands, code) {
                // These operations have operands that depend on a number in the operation. The number is unknown, so
                // the end of the operation is unknown, too.
                Ok((
                    Some(OperationName::NvidiaMux | OperationName::Extended | OperationName::UserExtended)
                    | None,
                    sub,
                )) => {
                    return Err(ErrorKind::UnknownOperation { code, sub }.into());
                }
                Ok((Some(name), _)) => (name.row().text, read_op(&mut operands, name)),
                Err(stop) => ("LLVM_user", Err(stop)),
            },
        };
        let op = op.map_err(|stop| match stop {
            Stop::End => Error::new(ErrorKind::Truncated(format!("operation `{text}`"))),
            Stop::Bad(problem) => Error::malformed(format!("operation `{text}`: {problem}")),
        })?;
        let spelling = Spelling { code, sub: operands.sub, lebs: operands.lebs };
        self.next = operands.next;
        Ok(Decoded { offset, op, spelling })
    }
}

impl<'a> Iterator for Decoder<'a> {
    type Item = Result<Decoded<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_at_end() {
            return None;
        }
        let offset = self.next;
        Some(self.decode().map_err(|error| {
            self.next = self.bytes.len();
            error.at_offset(offset as u64)
        }))
    }
}

/// Returns the operation for an opcode whose meaning depends on the dialect, and the sub-operation if there is one.
fn read_dialect_name(
    operands: &mut OperandReader<'_, '_>,
    code: u8,
) -> Read<(Option<OperationName>, Option<u64>)> {
    let vendor = match operands.encoding.dialect {
        Dialect::Llvm if code == LLVM_USER => {
            let (sub, len) = operands.number(read_uleb)?;
            operands.sub = len;
            return Ok((USER.get(sub as usize).copied().flatten().filter(|_| sub < 256), Some(sub)));
        }
        Dialect::Dwarf5 | Dialect::Llvm => None,
        Dialect::Legacy => LEGACY[code as usize],
        Dialect::Dwarf6 => SIX[code as usize].or_else(|| drafted(operands.encoding, code)),
    };
    Ok((vendor.or(GNU[code as usize]), None))
}

/// Returns the draft operation to which the caller gave the number `code`.
fn drafted(encoding: &Encoding, code: u8) -> Option<OperationName> {
    let is =
        |name: OperationName| encoding.draft.get(name) == Some(code) && name.row().six == Opcode::Unassigned;
    OperationName::ALL.iter().copied().find(|&name| is(name))
}

/// Meaning of an opcode.
#[derive(Clone, Copy)]
enum OpcodeMeaning {
    /// An operation that every dialect has.
    Operation(OperationName),
    /// A compact spelling, of the family with this index in [`COMPACT`](super::COMPACT).
    Compact(u8),
    /// A meaning that depends on the dialect.
    ByDialect,
}

static LOOKUP: [OpcodeMeaning; 256] = lookup();

const fn lookup() -> [OpcodeMeaning; 256] {
    let mut meanings = [OpcodeMeaning::ByDialect; 256];
    let mut index = 0;
    while index < super::COMPACT.len() {
        let family = &super::COMPACT[index];
        let mut code = family.first;
        while code <= family.last() {
            meanings[code as usize] = OpcodeMeaning::Compact(index as u8);
            code += 1;
        }
        index += 1;
    }
    let mut index = 0;
    while index < OperationName::COUNT {
        if let Opcode::Is(code) = OpcodeColumn::STD[index] {
            meanings[code as usize] = OpcodeMeaning::Operation(OperationName::ALL[index]);
        }
        index += 1;
    }
    meanings
}

/// Returns the opcode of an operation whose opcode is the same in every dialect.
pub(crate) const fn opcode(name: OperationName) -> u8 {
    match OpcodeColumn::STD[name as usize] {
        Opcode::Is(code) => code,
        _ => panic!("the opcode depends on the dialect"),
    }
}

static GNU: [Option<OperationName>; 256] = invert(&OpcodeColumn::GNU);
static USER: [Option<OperationName>; 256] = invert(&OpcodeColumn::USER);
static LEGACY: [Option<OperationName>; 256] = invert(&OpcodeColumn::LEGACY);
static SIX: [Option<OperationName>; 256] = invert(&OpcodeColumn::SIX);

/// Returns the operations of a column by opcode.
const fn invert(column: &[Opcode; OperationName::COUNT]) -> [Option<OperationName>; 256] {
    let mut names = [None; 256];
    let mut index = 0;
    while index < OperationName::COUNT {
        if let Opcode::Is(code) = column[index] {
            names[code as usize] = Some(OperationName::ALL[index]);
        }
        index += 1;
    }
    names
}

/// Reason why an operation cannot be decoded.
enum Stop {
    /// The bytes end within the operation.
    End,
    /// The bytes are invalid, for this reason.
    Bad(&'static str),
}

type Read<T> = core::result::Result<T, Stop>;

/// Decodes operands in order.
struct OperandReader<'a, 'e> {
    bytes: &'a [u8],
    /// Offset of the next operand in bytes.
    next: usize,
    encoding: &'e Encoding,
    /// Length of the sub-operation in bytes.
    sub: u8,
    /// Lengths of the LEB128 numbers in bytes.
    lebs: [u8; 2],
    leb_count: usize,
}

impl<'a> OperandReader<'a, '_> {
    /// Decodes a LEB128 number, and returns it with its length in bytes.
    #[inline]
    fn number<T>(&mut self, read: impl Fn(&[u8], usize) -> Option<(T, usize)>) -> Read<(T, u8)> {
        let Some((value, end)) = read(self.bytes, self.next) else {
            // A last byte, without the continuation bit, tells a long number from a truncated one.
            let has_end = self.bytes[self.next..].iter().any(|&byte| byte < 0x80);
            return Err(if has_end { Stop::Bad("LEB128 number exceeds 64 bits") } else { Stop::End });
        };
        let len =
            u8::try_from(end - self.next).map_err(|_| Stop::Bad("LEB128 number is longer than 255 bytes"))?;
        self.next = end;
        Ok((value, len))
    }

    #[inline]
    fn leb<T>(&mut self, read: impl Fn(&[u8], usize) -> Option<(T, usize)>) -> Read<T> {
        let (value, len) = self.number(read)?;
        self.lebs[self.leb_count] = len;
        self.leb_count += 1;
        Ok(value)
    }

    #[inline]
    fn uleb(&mut self) -> Read<u64> {
        self.leb(read_uleb)
    }

    #[inline]
    fn sleb(&mut self) -> Read<i64> {
        self.leb(read_sleb)
    }

    #[inline]
    fn take(&mut self, len: u64) -> Read<&'a [u8]> {
        let end = usize::try_from(len).ok().and_then(|len| self.next.checked_add(len)).ok_or(Stop::End)?;
        let taken = self.bytes.get(self.next..end).ok_or(Stop::End)?;
        self.next = end;
        Ok(taken)
    }

    fn fixed(&mut self, len: u8) -> Read<u64> {
        let bytes = self.take(len.min(8).into())?;
        let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Ok(if self.encoding.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        })
    }

    fn signed(&mut self, len: u8) -> Read<i64> {
        Ok(sign_extended(self.fixed(len)?, len) as i64)
    }

    fn pointer(&mut self) -> Read<EncodedAddress> {
        let encoding = self.fixed(1)? as u8;
        let value = match EncodedAddress::form(encoding, self.encoding.address_bytes) {
            Some(PointerForm::Uleb) => self.uleb()?,
            Some(PointerForm::Sleb) => self.sleb()? as u64,
            Some(PointerForm::Unsigned(bytes)) => self.fixed(bytes)?,
            Some(PointerForm::Signed(bytes)) => self.signed(bytes)? as u64,
            None => return Err(Stop::Bad("unknown pointer encoding")),
        };
        Ok(EncodedAddress { encoding, value })
    }
}

/// Decodes one operand, by its kind.
#[rustfmt::skip]
macro_rules! read_operand {
    ($from:ident, U8) => { $from.fixed(1)? as u8 };
    ($from:ident, Uleb) => { $from.uleb()? };
    ($from:ident, Sleb) => { $from.sleb()? };
    ($from:ident, Register) => { Reg($from.uleb()?) };
    ($from:ident, Address) => { $from.fixed($from.encoding.address_bytes)? };
    ($from:ident, Branch) => { $from.signed(2)? as i16 };
    ($from:ident, Entry2) => { $from.fixed(2)? };
    ($from:ident, Entry4) => { $from.fixed(4)? };
    ($from:ident, EntrySection) => { $from.fixed($from.encoding.entry_bytes())? };
    ($from:ident, TypeEntry) => { $from.uleb()? };
    ($from:ident, Block) => {{
        let len = $from.uleb()?;
        $from.take(len)?
    }};
    ($from:ident, Block1) => {{
        let len = $from.fixed(1)?;
        $from.take(len)?
    }};
    ($from:ident, Expression) => { read_operand!($from, Block) };
    ($from:ident, Encoded) => { $from.pointer()? };
}

macro_rules! make_decoder { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] ($in:tt => $out:tt) $since:literal $cfi:tt;
)*) => {
    /// Opcodes of all operations, by encoding.
    struct OpcodeColumn;
    impl OpcodeColumn {
        const STD: [Opcode; OperationName::COUNT] = [$(code!($std)),*];
        const GNU: [Opcode; OperationName::COUNT] = [$(code!($gnu)),*];
        const USER: [Opcode; OperationName::COUNT] = [$(code!($user)),*];
        const LEGACY: [Opcode; OperationName::COUNT] = [$(code!($legacy)),*];
        const SIX: [Opcode; OperationName::COUNT] = [$(code!($six)),*];
    }

    fn read_op<'a>(from: &mut OperandReader<'a, '_>, name: OperationName) -> Read<Op<'a>> {
        Ok(match name { $(
            OperationName::$variant => Op::$variant { $($field: read_operand!(from, $kind)),* },
        )* })
    }
} }
for_each_op!(make_decoder);

fn read_compact<'a>(from: &mut OperandReader<'a, '_>, code: u8, family: &Compact) -> Read<Op<'a>> {
    let value = match family.form {
        Form::InOpcode => u64::from(code - family.first),
        Form::Fixed(value) => value.into(),
        Form::Unsigned(len) => from.fixed(len)?,
        Form::Signed(len) => from.signed(len)? as u64,
    };
    let offset = if family.name == OperationName::BregX { from.sleb()? } else { 0 };
    Ok(family.op(value, offset))
}
