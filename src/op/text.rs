//! Operations as text, and back.
//!
//! Operations are separated by `; `, operands by blanks. Registers are printed by the name that the
//! target gives them and can be given by name or number; numbers are decimal or `0x` hexadecimal, blocks
//! `{de ad}`, expressions `(op; op)`, entries `@0x2a`. A branch prints the label that it goes to, `L0`, and
//! a label stands before its operation as `L0:`; where it goes into the middle of an operation, or out of
//! the expression, it prints the signed number of bytes. What cannot be decoded is printed as
//! `<error; the rest in hexadecimal>`.
//!
//! Compact spellings are printed as they were found (`lit5`, `const2u 5`, `breg7 -8`) and are read as
//! they stand, so that text and bytes determine each other.
//!
//! ```
//! use eitri::op::{Dialect, Encoding, text};
//!
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let expr = text::parse("regx 2560; push_lane; lit4; mul; offset", encoding, None)?;
//! assert_eq!(text::print(expr.bytes(), encoding, None), "regx 2560; push_lane; lit4; mul; offset");
//! # Ok::<(), eitri::Error>(())
//! ```

use core::fmt::Write;

use super::compact::Form;
use super::table::for_each_op;
use super::{
    COMPACT, Compact, Decoded, Decoder, Dialect, EncodedAddress, Encoder, Encoding, Expr, LLVM_USER, Name,
    Op, Reg,
};
use crate::error::{Error, Result};
use crate::target::Target;

/// How deep expressions in expressions are printed. Two levels have a meaning; bytes can have any number.
const DEEPEST: u8 = 16;

/// Prints the operations of an expression. Never fails: what cannot be decoded is printed as such, and so
/// is an expression within more than 16 others.
pub fn print(bytes: &[u8], encoding: Encoding, target: Option<&Target>) -> String {
    print_within(bytes, encoding, target, 0)
}

fn print_within(bytes: &[u8], encoding: Encoding, target: Option<&Target>, depth: u8) -> String {
    let mut out = String::new();
    if depth > DEEPEST {
        out.push_str("<nested too deeply;");
        for byte in bytes {
            let _ = write!(out, " {byte:02x}");
        }
        out.push('>');
        return out;
    }
    let decoded: Vec<_> = Decoder::new(bytes, encoding).map_while(Result::ok).collect();
    let end = decoded.len();
    let mut labels: Vec<usize> = Vec::new();
    for index in 0..decoded.len() {
        labels.extend(branch_target(&decoded, index, bytes.len()));
    }
    labels.sort_unstable();
    labels.dedup();
    let label = |offset: usize| labels.binary_search(&offset).ok();
    let mut separator = "";
    for (index, one) in decoded.iter().enumerate() {
        out.push_str(separator);
        separator = "; ";
        if let Some(number) = label(one.offset) {
            let _ = write!(out, "L{number}: ");
        }
        match branch_target(&decoded, index, bytes.len()).and_then(label) {
            Some(number) => {
                let _ = write!(out, "{} L{number}", one.op.row().text);
            }
            None => print_one(&mut out, one, encoding, target, depth),
        }
    }
    let mut rest = Decoder::new(bytes, encoding);
    let consumed = (&mut rest).take(end).last();
    let at = if consumed.is_some() { rest.offset() } else { 0 };
    if let Some(Err(error)) = rest.next() {
        let _ = write!(out, "{separator}<{error};");
        for byte in &bytes[at..] {
            let _ = write!(out, " {byte:02x}");
        }
        out.push('>');
    } else if let Some(number) = label(bytes.len()) {
        let _ = write!(out, "{separator}L{number}:");
    }
    out
}

/// The offset to which the operation branches, if an operation starts there or the expression ends.
fn branch_target(decoded: &[Decoded<'_>], index: usize, end: usize) -> Option<usize> {
    let (Op::Bra { by } | Op::Skip { by }) = decoded[index].op else { return None };
    let to = usize::try_from(decoded[index].offset as i64 + 3 + i64::from(by)).ok()?;
    (to == end || decoded.binary_search_by_key(&to, |one| one.offset).is_ok()).then_some(to)
}

fn print_one(out: &mut String, one: &Decoded<'_>, encoding: Encoding, target: Option<&Target>, depth: u8) {
    let code = one.spelling.code();
    let family = Compact::of(code).filter(|family| family.name == one.op.name());
    let mut printer = Printer { out, encoding, target, depth };
    match family.map(|family| (family, family.form)) {
        Some((family, Form::InOpcode)) => {
            let number = code - family.first;
            match (one.op, target.and_then(|target| target.register(Reg(number.into())))) {
                // A register that has a name is printed by it, as in the general form.
                (Op::RegX { .. } | Op::BregX { .. }, Some(_)) => {
                    let _ = write!(printer.out, "{}", family.text);
                    printer.register(Reg(number.into()));
                }
                _ => {
                    let _ = write!(printer.out, "{}{number}", family.text);
                }
            }
            if let Op::BregX { by, .. } = one.op {
                let _ = write!(printer.out, " {by}");
            }
        }
        Some((family, Form::Fixed(_))) => printer.out.push_str(family.text),
        Some((family, _)) => {
            printer.out.push_str(family.text);
            match one.op {
                Op::ConstU { value } => printer.unsigned(value),
                Op::ConstS { value } => printer.signed(value),
                _ => {}
            }
        }
        None => {
            if code == 0x96 || one.op.name() != Name::Nop {
                // `nop` has a vendor's twin, which must not be lost.
                printer.out.push_str(prefix(one));
            } else {
                printer.out.push_str("LLVM_");
            }
            printer.out.push_str(one.op.row().text);
            printer.operands(one.op);
        }
    }
}

/// What tells a GNU opcode from the standard one of the same operation.
fn prefix(one: &Decoded<'_>) -> &'static str {
    let row = one.op.row();
    let is_gnu = row.gnu.get() == Some(one.spelling.code()) && one.spelling.code() != LLVM_USER;
    if is_gnu { "GNU_" } else { "" }
}

struct Printer<'o, 't> {
    out: &'o mut String,
    encoding: Encoding,
    target: Option<&'t Target>,
    /// How many expressions this one is in.
    depth: u8,
}

impl Printer<'_, '_> {
    fn register(&mut self, reg: Reg) {
        let _ = match self.target.and_then(|target| target.register(reg)) {
            Some(info) => write!(self.out, " {}", info.name()),
            None => write!(self.out, " {}", reg.0),
        };
    }

    fn unsigned(&mut self, value: u64) {
        let _ = write!(self.out, " {value}");
    }

    fn signed(&mut self, value: i64) {
        let _ = write!(self.out, " {value}");
    }

    fn address(&mut self, value: u64) {
        let _ = write!(self.out, " {value:#x}");
    }

    fn entry(&mut self, value: u64) {
        let _ = write!(self.out, " @{value:#x}");
    }

    fn block(&mut self, bytes: &[u8]) {
        self.out.push_str(" {");
        for (index, byte) in bytes.iter().enumerate() {
            let _ = write!(self.out, "{}{byte:02x}", if index == 0 { "" } else { " " });
        }
        self.out.push('}');
    }
}

macro_rules! print_operand {
    ($p:ident, U8, $value:ident) => {
        $p.unsigned($value.into())
    };
    ($p:ident, Uleb, $value:ident) => {
        $p.unsigned($value)
    };
    ($p:ident, Sleb, $value:ident) => {
        $p.signed($value)
    };
    ($p:ident, Register, $value:ident) => {
        $p.register($value)
    };
    ($p:ident, Address, $value:ident) => {
        $p.address($value)
    };
    ($p:ident, Branch, $value:ident) => {
        $p.signed($value.into())
    };
    ($p:ident, Entry2, $value:ident) => {
        $p.entry($value)
    };
    ($p:ident, Entry4, $value:ident) => {
        $p.entry($value)
    };
    ($p:ident, EntrySection, $value:ident) => {
        $p.entry($value)
    };
    ($p:ident, TypeEntry, $value:ident) => {
        $p.entry($value)
    };
    ($p:ident, Block, $value:ident) => {
        $p.block($value)
    };
    ($p:ident, Block1, $value:ident) => {
        $p.block($value)
    };
    ($p:ident, Expression, $value:ident) => {{
        let inner = print_within($value, $p.encoding, $p.target, $p.depth + 1);
        let _ = write!($p.out, " ({inner})");
    }};
    ($p:ident, Encoded, $value:ident) => {{
        $p.address($value.encoding.into());
        $p.address($value.value);
    }};
}

macro_rules! make_printer { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    $codes:tt $stack:tt $since:literal;
)*) => {
    impl Printer<'_, '_> {
        fn operands(&mut self, op: Op<'_>) {
            match op { $(Op::$variant { $($field),* } => { $(print_operand!(self, $kind, $field);)* })* }
        }
    }

    fn parse_general(words: &mut Words<'_>, name: Name) -> Result<Owned> {
        Ok(match name { $(Name::$variant => {
            $(let $field = parse_operand!(words, $kind);)*
            Owned::new(move |encoder| {
                $(let $field = borrow_operand!($kind, $field);)*
                encoder.op(Op::$variant { $($field),* });
            })
        })* })
    }
} }

/// An operation that owns its blocks, as something that encodes it.
struct Owned(Box<dyn Fn(&mut Encoder<'_>)>);

impl Owned {
    fn new(encode: impl Fn(&mut Encoder<'_>) + 'static) -> Self {
        Self(Box::new(encode))
    }
}

macro_rules! parse_operand {
    ($w:ident, U8) => {
        $w.number::<u8>()?
    };
    ($w:ident, Uleb) => {
        $w.number::<u64>()?
    };
    ($w:ident, Sleb) => {
        $w.number::<i64>()?
    };
    ($w:ident, Register) => {
        $w.register()?
    };
    ($w:ident, Address) => {
        $w.number::<u64>()?
    };
    ($w:ident, Branch) => {
        $w.number::<i16>()?
    };
    ($w:ident, Entry2) => {
        $w.entry()?
    };
    ($w:ident, Entry4) => {
        $w.entry()?
    };
    ($w:ident, EntrySection) => {
        $w.entry()?
    };
    ($w:ident, TypeEntry) => {
        $w.entry()?
    };
    ($w:ident, Block) => {
        $w.block()?
    };
    ($w:ident, Block1) => {
        $w.block()?
    };
    ($w:ident, Expression) => {
        $w.expression()?
    };
    ($w:ident, Encoded) => {
        EncodedAddress { encoding: $w.number::<u8>()?, value: $w.wrapping()? }
    };
}

macro_rules! borrow_operand {
    (Block, $value:ident) => {
        &$value[..]
    };
    (Block1, $value:ident) => {
        &$value[..]
    };
    (Expression, $value:ident) => {
        &$value[..]
    };
    ($kind:ident, $value:ident) => {
        $value
    };
}
for_each_op!(make_printer);

/// Reads an expression.
///
/// # Errors
/// [`BadArgument`](crate::error::ErrorKind::BadArgument) with the operation's index where an operation is not known,
/// or an operand is missing, too many, or not a number of its size;
/// [`CannotSay`](crate::error::ErrorKind::CannotSay) where the dialect does not have the operation.
pub fn parse(text: &str, encoding: Encoding, target: Option<&Target>) -> Result<Expr> {
    let mut builder = Expr::build(encoding);
    let mut labels: Vec<(&str, super::Label)> = Vec::new();
    for (index, part) in split(text).into_iter().enumerate() {
        parse_one(part, &mut builder, &mut labels, encoding, target).map_err(|error| {
            error.or_at(crate::error::At { operation: Some(index), ..Default::default() })
        })?;
    }
    builder.finish()
}

/// Splits at the semicolons outside of brackets.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn parse_one<'t>(
    mut part: &'t str,
    builder: &mut super::ExprBuilder,
    labels: &mut Vec<(&'t str, super::Label)>,
    encoding: Encoding,
    target: Option<&Target>,
) -> Result<()> {
    let mut label_of = |name: &'t str, builder: &mut super::ExprBuilder| match labels
        .iter()
        .find(|(known, _)| *known == name)
    {
        Some(&(_, label)) => label,
        None => {
            let label = builder.label();
            labels.push((name, label));
            label
        }
    };
    while let Some((name, rest)) = part.split_once(':') {
        if !is_label(name) {
            break;
        }
        let label = label_of(name, builder);
        builder.bind(label);
        part = rest.trim();
    }
    let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    let rest = rest.trim();
    if word.is_empty() {
        return Ok(());
    }
    let bare = word.strip_prefix("DW_OP_").unwrap_or(word);
    if matches!(bare, "skip" | "bra") && is_label(rest) {
        let label = label_of(rest, builder);
        if bare == "skip" {
            builder.skip(label)
        } else {
            builder.bra(label)
        };
        return Ok(());
    }
    let mut words = Words { rest, encoding, target };
    if let Some((family, number)) = compact(bare, target) {
        let value = match family.form {
            Form::InOpcode => number.into(),
            Form::Fixed(value) => value.into(),
            Form::Unsigned(bytes) => {
                let value = words.number::<u64>()?;
                fits(bytes >= 8 || value >> (8 * bytes) == 0, bare)?;
                value
            }
            Form::Signed(bytes) => {
                let value = words.number::<i64>()?;
                let unused = 64 - 8 * u32::from(bytes);
                fits(value << unused >> unused == value, bare)?;
                value as u64
            }
        };
        let by = if family.name == Name::BregX { words.number::<i64>()? } else { 0 };
        words.end(bare)?;
        builder.ops().spelled(family.op(value, by), super::Spelling::opcode(family.first + number));
        return Ok(());
    }
    let Some(name) = Name::parse(bare) else {
        return Err(Error::bad_argument(format!("unknown operation `{word}`")));
    };
    // A name given in full asks for that vendor's encoding.
    let spelling = match bare {
        _ if bare.starts_with("GNU_") => name.row().gnu.get(),
        "LLVM_nop" if encoding.dialect == Dialect::Llvm => Some(LLVM_USER),
        _ => Some(name.row().std.get().unwrap_or(0)).filter(|&code| code != 0),
    };
    let owned = parse_general(&mut words, name)?;
    words.end(bare)?;
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, encoding);
    (owned.0)(&mut encoder);
    encoder.finish()?;
    let Some(one) = Decoder::new(&bytes, encoding).next() else { return Ok(()) };
    let one = one?;
    match spelling {
        Some(code) if code != one.spelling.code() => {
            builder.ops().spelled(one.op, super::Spelling::opcode(code));
        }
        _ => {
            builder.ops().spelled(one.op, one.spelling);
        }
    }
    Ok(())
}

fn fits(does: bool, name: &str) -> Result<()> {
    if does { Ok(()) } else { Err(Error::bad_argument(format!("the operand of `{name}` is too large"))) }
}

fn is_label(word: &str) -> bool {
    word.strip_prefix('L')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The family and the number in it, of a compact spelling.
fn compact(word: &str, target: Option<&Target>) -> Option<(&'static Compact, u8)> {
    COMPACT.iter().find_map(|family| match family.count {
        1 => (family.text == word).then_some((family, 0)),
        count => {
            let number = word.strip_prefix(family.text)?;
            let number = number.parse::<u8>().ok().or_else(|| {
                let reg = target?.register_named(number).ok()?;
                u8::try_from(reg.0).ok()
            })?;
            (number < count).then_some((family, number))
        }
    })
}

/// The operands of one operation, still text.
struct Words<'t> {
    rest: &'t str,
    encoding: Encoding,
    target: Option<&'t Target>,
}

impl<'t> Words<'t> {
    fn word(&mut self) -> Result<&'t str> {
        let rest = self.rest.trim_start();
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        self.rest = rest;
        if word.is_empty() { Err(Error::bad_argument("an operand is missing")) } else { Ok(word) }
    }

    fn number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let word = self.word()?;
        number(word)
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| Error::bad_argument(format!("`{word}` is not a number of the operand's size")))
    }

    /// A number of 64 bits, signed or not.
    fn wrapping(&mut self) -> Result<u64> {
        self.number::<i128>().map(|value| value as u64)
    }

    fn register(&mut self) -> Result<Reg> {
        let word = self.word()?;
        if let Some(value) = number(word).and_then(|value| u64::try_from(value).ok()) {
            return Ok(Reg(value));
        }
        match self.target {
            Some(target) => target.register_named(word),
            None => Err(Error::bad_argument(format!("register `{word}` has a name, but there is no target"))),
        }
    }

    fn entry(&mut self) -> Result<u64> {
        let word = self.word()?;
        word.strip_prefix('@')
            .and_then(number)
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| Error::bad_argument(format!("`{word}` is not an entry, like @0x2a")))
    }

    fn bracketed(&mut self, open: char, close: char) -> Result<&'t str> {
        let rest = self.rest.trim_start();
        let inner = rest.strip_prefix(open);
        let mut depth = 1usize;
        let end = inner.and_then(|inner| {
            inner.char_indices().find_map(|(at, c)| {
                depth = if c == open {
                    depth + 1
                } else if c == close {
                    depth - 1
                } else {
                    depth
                };
                (depth == 0).then_some(at)
            })
        });
        let (Some(inner), Some(end)) = (inner, end) else {
            return Err(Error::bad_argument(format!("expected {open}…{close}")));
        };
        self.rest = &inner[end + close.len_utf8()..];
        Ok(&inner[..end])
    }

    fn block(&mut self) -> Result<Vec<u8>> {
        let text = self.bracketed('{', '}')?;
        text.split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16))
            .collect::<Result<_, _>>()
            .map_err(|_| Error::bad_argument(format!("`{{{text}}}` is not a block of bytes in hexadecimal")))
    }

    fn expression(&mut self) -> Result<Vec<u8>> {
        let text = self.bracketed('(', ')')?;
        Ok(parse(text, self.encoding, self.target)?.bytes().to_vec())
    }

    fn end(&self, name: &str) -> Result<()> {
        match self.rest.trim() {
            "" => Ok(()),
            more => Err(Error::bad_argument(format!("`{name}` has no operand `{more}`"))),
        }
    }
}

fn number(word: &str) -> Option<i128> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}
