//! Bytes to operations.

use super::compact::Form;
use super::leb::{read_sleb, read_uleb};
use super::table::for_each_op;
use super::{Code, Compact, Dialect, EncodedAddress, Encoding, LLVM_USER, Name, Op, OperandKind, Reg};
use crate::error::{Error, ErrorKind, Result};

/// How an operation was spelled: with [`Encoder::spelled`](super::Encoder::spelled) the same bytes come
/// out again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelling {
    code: u8,
    lebs: [u8; 2],
}

impl Spelling {
    /// A spelling with this opcode, without padding.
    pub fn opcode(code: u8) -> Self {
        Self { code, lebs: [0; 2] }
    }

    /// The opcode byte.
    pub fn code(self) -> u8 {
        self.code
    }

    /// How many bytes the LEB128 number of this index among the operands takes; 0 if there is none.
    pub fn leb_bytes(self, index: usize) -> usize {
        self.lebs.get(index).copied().map_or(0, usize::from)
    }
}

/// An operation with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// Bytes from the start of the expression to the operation.
    pub offset: usize,
    /// The operation.
    pub op: Op<'a>,
    /// How it was spelled.
    pub spelling: Spelling,
}

/// Decodes the operations of an expression one by one.
///
/// # Errors
/// An operation that ends after the bytes is [`ErrorKind::Truncated`], a number that is no operation of the
/// dialect is [`ErrorKind::UnknownOperation`], with the offset. Nothing after it can be decoded, since
/// operations do not carry their length; the decoder then ends.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
}

impl<'a> Decoder<'a> {
    /// A decoder at the start of the bytes.
    pub fn new(bytes: &'a [u8], encoding: Encoding) -> Self {
        Self { bytes, at: 0, encoding }
    }

    /// Bytes from the start to the next operation.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Goes on at another operation. `offset` is counted in bytes from the start; one past the end is the
    /// end. Whether an operation starts there is for the caller to know.
    pub fn seek(&mut self, offset: usize) {
        self.at = offset;
    }

    /// Whether there is no operation left.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn decode(&mut self) -> Result<Decoded<'a>> {
        let offset = self.at;
        let mut from =
            Operands { bytes: self.bytes, at: offset + 1, encoding: self.encoding, lebs: [0; 2], n: 0 };
        let code = self.bytes[offset];
        let op = match LOOKUP[code as usize] {
            Found::Row(name) => read_op(&mut from, name),
            Found::Compact(family) => read_compact(&mut from, code, family as usize),
            Found::Other => {
                let (name, sub) = other(&mut from, code);
                match name {
                    // The operands of these follow from the number in them, which is not known here.
                    Some(Name::NvidiaMux | Name::Extended | Name::UserExtended) | None => {
                        return Err(Error::new(ErrorKind::UnknownOperation { code, sub }));
                    }
                    Some(name) => read_op(&mut from, name),
                }
            }
        };
        let op = op.ok_or_else(|| {
            let name = Compact::of(code).map_or_else(|| other_text(code), |family| family.text);
            Error::new(ErrorKind::Truncated(format!("operation {code:#04x}{name}")))
        })?;
        self.at = from.at;
        Ok(Decoded { offset, op, spelling: Spelling { code, lebs: from.lebs } })
    }
}

fn other_text(code: u8) -> &'static str {
    match LOOKUP[code as usize] {
        Found::Row(name) => name.row().text,
        _ => "",
    }
}

impl<'a> Iterator for Decoder<'a> {
    type Item = Result<Decoded<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_at_end() {
            return None;
        }
        let offset = self.at;
        Some(self.decode().map_err(|error| {
            self.at = self.bytes.len();
            error.at_offset(offset as u64)
        }))
    }
}

/// The operation of an opcode that does not mean the same in every dialect, and the sub-operation read.
fn other(from: &mut Operands<'_>, code: u8) -> (Option<Name>, Option<u64>) {
    let dialect = from.encoding.dialect;
    let find = |is: &dyn Fn(Name) -> bool| Name::ALL.iter().copied().find(|&name| is(name));
    if dialect == Dialect::Llvm && code == LLVM_USER {
        let Some((sub, at)) = read_uleb(from.bytes, from.at) else { return (None, None) };
        from.at = at;
        let name = u8::try_from(sub).ok().and_then(|sub| find(&|name| name.row().user == Code::Is(sub)));
        return (name, Some(sub));
    }
    let by_dialect = match dialect {
        Dialect::Legacy => find(&|name| name.row().legacy == Code::Is(code)),
        Dialect::Dwarf6 => find(&|name| match name.row().six {
            Code::Is(six) => six == code,
            Code::Unassigned => from.encoding.draft.get(name) == Some(code),
            Code::None => false,
        }),
        _ => None,
    };
    (by_dialect.or_else(|| find(&|name| name.row().gnu == Code::Is(code))), None)
}

/// What an opcode is.
#[derive(Clone, Copy)]
enum Found {
    /// An operation, in every dialect.
    Row(Name),
    /// A compact spelling, of the family with this index in [`COMPACT`](super::COMPACT).
    Compact(u8),
    /// That depends on the dialect.
    Other,
}

static LOOKUP: [Found; 256] = lookup();

const fn lookup() -> [Found; 256] {
    let mut found = [Found::Other; 256];
    let mut index = 0;
    while index < super::COMPACT.len() {
        let family = &super::COMPACT[index];
        let mut code = family.first;
        while code <= family.last() {
            found[code as usize] = Found::Compact(index as u8);
            code += 1;
        }
        index += 1;
    }
    let mut index = 0;
    while index < Name::COUNT {
        if let Code::Is(code) = STD[index] {
            found[code as usize] = Found::Row(Name::ALL[index]);
        }
        index += 1;
    }
    found
}

/// Reads operands in order.
struct Operands<'a> {
    bytes: &'a [u8],
    at: usize,
    encoding: Encoding,
    lebs: [u8; 2],
    n: usize,
}

impl<'a> Operands<'a> {
    fn leb<T>(&mut self, read: Option<(T, usize)>) -> Option<T> {
        let (value, at) = read?;
        if let Some(len) = self.lebs.get_mut(self.n) {
            *len = u8::try_from(at - self.at).unwrap_or(u8::MAX);
        }
        self.n += 1;
        self.at = at;
        Some(value)
    }

    #[inline]
    fn uleb(&mut self) -> Option<u64> {
        self.leb(read_uleb(self.bytes, self.at))
    }

    #[inline]
    fn sleb(&mut self) -> Option<i64> {
        self.leb(read_sleb(self.bytes, self.at))
    }

    #[inline]
    fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(len).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn fixed(&mut self, len: u8) -> Option<u64> {
        let bytes = self.take(len.into())?;
        let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        Some(match self.encoding.big_endian {
            true => bytes.iter().fold(0, push),
            false => bytes.iter().rev().fold(0, push),
        })
    }

    fn signed(&mut self, len: u8) -> Option<i64> {
        let unused = 64 - 8 * u32::from(len.clamp(1, 8));
        Some((self.fixed(len)? as i64) << unused >> unused)
    }

    fn encoded(&mut self) -> Option<EncodedAddress> {
        let encoding = self.fixed(1)? as u8;
        let value = match encoding & 0x0f {
            0x00 => self.fixed(self.encoding.address_bytes)?,
            0x01 => self.uleb()?,
            0x09 => self.sleb()? as u64,
            0x02 => self.fixed(2)?,
            0x03 => self.fixed(4)?,
            0x04 | 0x0c => self.fixed(8)?,
            0x0a => self.signed(2)? as u64,
            0x0b => self.signed(4)? as u64,
            _ => return None,
        };
        Some(EncodedAddress { encoding, value })
    }
}

/// Reads one operand of a kind.
macro_rules! read_operand {
    ($from:ident, U8) => {
        $from.fixed(1)? as u8
    };
    ($from:ident, Uleb) => {
        $from.uleb()?
    };
    ($from:ident, Sleb) => {
        $from.sleb()?
    };
    ($from:ident, Register) => {
        Reg($from.uleb()?)
    };
    ($from:ident, Address) => {
        $from.fixed($from.encoding.address_bytes)?
    };
    ($from:ident, Branch) => {
        $from.signed(2)? as i16
    };
    ($from:ident, Entry2) => {
        $from.fixed(2)?
    };
    ($from:ident, Entry4) => {
        $from.fixed(4)?
    };
    ($from:ident, EntrySection) => {
        $from.fixed(match $from.encoding.version {
            ..3 => $from.encoding.address_bytes,
            _ => $from.encoding.offset_bytes,
        })?
    };
    ($from:ident, TypeEntry) => {
        $from.uleb()?
    };
    ($from:ident, Block) => {{
        let len = $from.uleb()?;
        $from.take(len)?
    }};
    ($from:ident, Block1) => {{
        let len = $from.fixed(1)?;
        $from.take(len)?
    }};
    ($from:ident, Expression) => {{
        let len = $from.uleb()?;
        $from.take(len)?
    }};
    ($from:ident, Encoded) => {
        $from.encoded()?
    };
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

macro_rules! make_decoder { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    [$std:tt $gnu:tt $user:tt $legacy:tt $six:tt] ($in:tt => $out:tt) $since:literal;
)*) => {
    const STD: [Code; Name::COUNT] = [$(code!($std)),*];

    fn read_op<'a>(from: &mut Operands<'a>, name: Name) -> Option<Op<'a>> {
        Some(match name { $(
            Name::$variant => Op::$variant { $($field: read_operand!(from, $kind)),* },
        )* })
    }
} }
for_each_op!(make_decoder);

fn read_compact<'a>(from: &mut Operands<'a>, code: u8, family: usize) -> Option<Op<'a>> {
    let family = &super::COMPACT[family];
    let value = match family.form {
        Form::InOpcode => u64::from(code - family.first),
        Form::Fixed(value) => value.into(),
        Form::Unsigned(len) => from.fixed(len)?,
        Form::Signed(len) => from.signed(len)? as u64,
    };
    let by = if family.name == Name::BregX { from.sleb()? } else { 0 };
    Some(family.op(value, by))
}

/// How many bytes the operand at `at` takes, and how many of them are a LEB128 number at its start.
pub(super) fn operand_span(
    bytes: &[u8],
    at: usize,
    kind: OperandKind,
    encoding: Encoding,
) -> Option<(usize, Option<usize>)> {
    let mut from = Operands { bytes, at, encoding, lebs: [0; 2], n: 0 };
    match kind {
        OperandKind::U8 => from.fixed(1).map(drop)?,
        OperandKind::Uleb | OperandKind::Register | OperandKind::TypeEntry => from.uleb().map(drop)?,
        OperandKind::Sleb => from.sleb().map(drop)?,
        OperandKind::Address => from.fixed(encoding.address_bytes).map(drop)?,
        OperandKind::Branch | OperandKind::Entry2 => from.fixed(2).map(drop)?,
        OperandKind::Entry4 => from.fixed(4).map(drop)?,
        OperandKind::EntrySection => from
            .fixed(if encoding.version < 3 { encoding.address_bytes } else { encoding.offset_bytes })
            .map(drop)?,
        OperandKind::Block | OperandKind::Expression => {
            let len = from.uleb()?;
            from.take(len).map(drop)?;
        }
        OperandKind::Block1 => {
            let len = from.fixed(1)?;
            from.take(len).map(drop)?;
        }
        OperandKind::Encoded => from.encoded().map(drop)?,
    }
    let leb = (from.n == 1 && kind != OperandKind::Encoded).then_some(from.lebs[0].into());
    Some((from.at - at, leb))
}
