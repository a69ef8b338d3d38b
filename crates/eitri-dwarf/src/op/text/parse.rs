//! Parses text to bytes.

use super::MAX_DEPTH;
use crate::error::{At, Error, ErrorKind, Named, Result};
use crate::near;
use crate::op::compact::Form;
use crate::op::table::for_each_op;
use crate::op::{
    BranchLabel, COMPACT, Compact, Dialect, EncodedAddress, Encoding, Expr, ExprBuilder, LLVM_USER, Op,
    Opcode, OperationName, Reg, Spelling, encode,
};
use crate::target::Target;

/// Parses an expression.
///
/// # Errors
/// Each error has the operation's index: [`ErrorKind::UnknownName`] if an operation is unknown;
/// [`ErrorKind::Syntax`] if an operand is missing, superfluous, or not a number of its size;
/// [`ErrorKind::Inexpressible`] if the dialect lacks the operation.
///
/// # Example
///
/// ```
/// # use eitri_dwarf::op::{Dialect, Encoding, text};
/// # use eitri_dwarf::target::Target;
/// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
/// # let encoding = Encoding::new(8, Dialect::Llvm);
/// // Registers by name or number, branches by label: 1 if s4 is not 0, and otherwise 2.
/// let choice = "bregx s4 0; bra L0; lit2; skip L1; L0: lit1; L1: stack_value";
/// let expr = text::parse(choice, encoding, Some(&gpu))?;
/// // The error names the operation, counted from 0.
/// let error = text::parse("lit2; ofset", encoding, None).unwrap_err();
/// assert_eq!(error.at().operation, Some(1));
/// println!("{error}");
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn parse(text: &str, encoding: Encoding, target: Option<&Target>) -> Result<Expr> {
    expression(text, &Context { encoding, target, depth: 0 })
}

/// Returns an error for text that does not follow the grammar.
fn syntax(problem: impl Into<String>) -> Error {
    ErrorKind::Syntax(problem.into()).into()
}

/// Parameters of the parser.
#[derive(Clone, Copy)]
struct Context<'t> {
    encoding: Encoding,
    target: Option<&'t Target>,
    depth: usize,
}

fn expression(text: &str, context: &Context<'_>) -> Result<Expr> {
    let mut reader = Reader { builder: Expr::build(context.encoding), labels: Vec::new(), context };
    let mut index = 0;
    for part in split(text) {
        let operation = At { operation: Some(index), ..At::default() };
        index += usize::from(reader.part(part).map_err(|error| error.or_at(operation))?);
    }
    reader.builder.finish()
}

/// Splits text at semicolons outside brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |c| {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ';' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

struct Reader<'t> {
    builder: ExprBuilder,
    labels: Vec<(&'t str, BranchLabel)>,
    context: &'t Context<'t>,
}

impl<'t> Reader<'t> {
    fn label(&mut self, name: &'t str) -> BranchLabel {
        if let Some(&(_, label)) = self.labels.iter().find(|(known, _)| *known == name) {
            return label;
        }
        let label = self.builder.label();
        self.labels.push((name, label));
        label
    }

    /// Parses labels and the operation after them. Returns whether there is an operation.
    fn part(&mut self, mut part: &'t str) -> Result<bool> {
        while let Some((name, rest)) = part.split_once(':').filter(|(name, _)| is_label(name)) {
            let label = self.label(name);
            self.builder.bind(label);
            part = rest.trim();
        }
        if part.is_empty() {
            return Ok(false);
        }
        let (word, rest) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
        let bare = word.strip_prefix("DW_OP_").unwrap_or(word);
        let mut words = UnparsedOperands { rest: rest.trim(), context: self.context };
        if matches!(bare, "skip" | "bra") && is_label(words.rest) {
            let label = self.label(words.rest);
            match bare {
                "skip" => self.builder.skip(label),
                _ => self.builder.bra(label),
            };
            return Ok(true);
        }
        if let Some((family, number)) = compact(bare) {
            self.compact(family, number, &mut words)?;
            return Ok(true);
        }
        let name = OperationName::parse(bare).ok_or_else(|| {
            let nearest = near::nearest(bare, OperationName::ALL.iter().map(|name| name.row().text));
            Error::new(ErrorKind::UnknownName { kind: Named::Operation, name: word.into(), nearest })
        })?;
        let encoding = self.context.encoding;
        let code = opcode(name, bare, &encoding).ok_or_else(|| encode::missing(name, &encoding))?;
        general(&mut words, name, &mut self.builder, Spelling::opcode(code))?;
        Ok(true)
    }

    /// Parses the operands of a compact spelling. `number` is the number in the spelling's name, if there is one.
    fn compact(
        &mut self,
        family: &Compact,
        number: Option<u8>,
        words: &mut UnparsedOperands<'_>,
    ) -> Result<()> {
        let value = match (family.form, number) {
            (Form::InOpcode, Some(number)) => number.into(),
            // The name has no number, so the register is a separate operand: its name.
            (Form::InOpcode, None) => words.register()?.0,
            (Form::Fixed(value), _) => value.into(),
            (Form::Unsigned(_), _) => words.number::<u64>()?,
            (Form::Signed(_), _) => words.number::<i64>()? as u64,
        };
        let offset = if family.name == OperationName::BregX { words.number::<i64>()? } else { 0 };
        words.end(family.text)?;
        let number = if family.count == 1 { 0 } else { u8::try_from(value).unwrap_or(u8::MAX) };
        if number >= family.count || !family.holds(value, number) {
            return Err(syntax(format!("operand of `{}` is too large", family.text)));
        }
        self.builder.ops().spelled(family.op(value, offset), Spelling::opcode(family.first + number));
        Ok(())
    }
}

/// Returns the operation's general opcode. A vendor prefix selects the vendor's encoding.
fn opcode(name: OperationName, bare: &str, encoding: &Encoding) -> Option<u8> {
    let row = name.row();
    if bare.starts_with("GNU_") {
        return row.gnu.get();
    }
    let vendor = match encoding.dialect {
        Dialect::Dwarf5 => None,
        Dialect::Llvm => row.user.get().map(|_| LLVM_USER),
        Dialect::Legacy => row.legacy.get(),
        Dialect::Dwarf6 if row.six == Opcode::Unassigned => encoding.draft.get(name),
        Dialect::Dwarf6 => row.six.get(),
    };
    if bare.starts_with("LLVM_") {
        return vendor;
    }
    row.std.get().or(vendor).or(row.gnu.get())
}

fn is_label(word: &str) -> bool {
    word.strip_prefix('L')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the family of a compact spelling, and the number in its name.
fn compact(word: &str) -> Option<(&'static Compact, Option<u8>)> {
    COMPACT.iter().find_map(|family| {
        let number = word.strip_prefix(family.text)?;
        if number.is_empty() {
            return (family.text != "lit").then_some((family, None));
        }
        let is_number = family.count > 1 && number.bytes().all(|b| b.is_ascii_digit());
        let number = number.parse().ok().filter(|&number| is_number && number < family.count)?;
        Some((family, Some(number)))
    })
}

/// Operands of one operation that are not parsed yet.
struct UnparsedOperands<'t> {
    rest: &'t str,
    context: &'t Context<'t>,
}

impl<'t> UnparsedOperands<'t> {
    fn word(&mut self) -> Result<&'t str> {
        let rest = self.rest.trim_start();
        let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        self.rest = rest;
        if word.is_empty() { Err(syntax("operand is missing")) } else { Ok(word) }
    }

    fn number<T: TryFrom<i128>>(&mut self) -> Result<T> {
        let word = self.word()?;
        number(word).ok_or_else(|| syntax(format!("`{word}` is not a number in the operand's range")))
    }

    /// Parses a 64-bit number, signed or unsigned.
    fn wrapping(&mut self) -> Result<u64> {
        let mut signed = Self { rest: self.rest, context: self.context };
        match signed.number::<i64>() {
            Ok(value) => {
                *self = signed;
                Ok(value as u64)
            }
            Err(_) => self.number(),
        }
    }

    fn register(&mut self) -> Result<Reg> {
        let word = self.word()?;
        match (number(word), self.context.target) {
            (Some(value), _) => Ok(Reg(value)),
            (None, Some(target)) => target.register_named(word),
            (None, None) => Err(syntax(format!(
                "`{word}` is not a register number; expected a number, because there is no target with register names"
            ))),
        }
    }

    fn entry(&mut self) -> Result<u64> {
        let word = self.word()?;
        word.strip_prefix('@')
            .and_then(number)
            .ok_or_else(|| syntax(format!("`{word}` is not an entry offset; expected an offset like @0x2a")))
    }

    fn bracketed(&mut self, open: char, close: char) -> Result<&'t str> {
        let mut depth = 0usize;
        let inner = self.rest.trim_start().strip_prefix(open);
        let split = inner.and_then(|inner| {
            inner.split_once(|c| {
                let ends = c == close && depth == 0;
                depth += usize::from(c == open);
                depth -= usize::from(c == close && !ends);
                ends
            })
        });
        let (inner, rest) =
            split.ok_or_else(|| syntax(format!("operand is missing; expected {open}…{close}")))?;
        self.rest = rest;
        Ok(inner)
    }

    fn block(&mut self) -> Result<Vec<u8>> {
        let text = self.bracketed('{', '}')?;
        let byte = |word: &str| {
            let is_byte = word.len() <= 2 && word.bytes().all(|b| b.is_ascii_hexdigit());
            u8::from_str_radix(word, 16).ok().filter(|_| is_byte)
        };
        text.split_whitespace()
            .map(byte)
            .collect::<Option<_>>()
            .ok_or_else(|| syntax(format!("`{{{text}}}` is not a block of hexadecimal bytes")))
    }

    fn expression(&mut self) -> Result<Vec<u8>> {
        if self.rest.trim_start().starts_with('{') {
            return self.block();
        }
        let text = self.bracketed('(', ')')?;
        let depth = self.context.depth + 1;
        if depth > MAX_DEPTH {
            return Err(syntax(format!("expressions are nested more than {MAX_DEPTH} deep")));
        }
        Ok(expression(text, &Context { depth, ..*self.context })?.bytes().to_vec())
    }

    fn end(&self, name: &str) -> Result<()> {
        match self.rest.trim() {
            "" => Ok(()),
            more => Err(syntax(format!("`{name}` has no operand `{more}`"))),
        }
    }
}

/// Parses a decimal or hexadecimal number, with an optional sign.
fn number<T: TryFrom<i128>>(word: &str) -> Option<T> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word.strip_prefix('+').unwrap_or(word)),
    };
    let (radix, digits) = digits.strip_prefix("0x").map_or((10, digits), |hex| (16, hex));
    let is_number = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let value = i128::from_str_radix(digits, radix).ok().filter(|_| is_number)?;
    T::try_from(sign * value).ok()
}

#[rustfmt::skip]
macro_rules! parse_operand {
    ($w:ident, U8) => { $w.number::<u8>()? };
    ($w:ident, Uleb) => { $w.number::<u64>()? };
    ($w:ident, Sleb) => { $w.number::<i64>()? };
    ($w:ident, Register) => { $w.register()? };
    ($w:ident, Address) => { $w.number::<u64>()? };
    ($w:ident, Branch) => { $w.number::<i16>()? };
    ($w:ident, Entry2) => { $w.entry()? };
    ($w:ident, Entry4) => { $w.entry()? };
    ($w:ident, EntrySection) => { $w.entry()? };
    ($w:ident, TypeEntry) => { $w.entry()? };
    ($w:ident, Block) => { &$w.block()?[..] };
    ($w:ident, Block1) => { &$w.block()?[..] };
    ($w:ident, Expression) => { &$w.expression()?[..] };
    ($w:ident, Encoded) => { EncodedAddress { encoding: $w.number::<u8>()?, value: $w.wrapping()? } };
}

macro_rules! make_parser { ($(
    $variant:ident $method:ident $text:literal { $($field:ident: $kind:ident),* }
    $codes:tt $stack:tt $since:literal $cfi:tt;
)*) => {
    /// Parses the operands and appends the operation.
    fn general(words: &mut UnparsedOperands<'_>, name: OperationName, to: &mut ExprBuilder, spelling: Spelling) -> Result<()> {
        match name { $(OperationName::$variant => {
            $(let $field = parse_operand!(words, $kind);)*
            words.end($text)?;
            to.ops().spelled(Op::$variant { $($field),* }, spelling);
        })* }
        Ok(())
    }
} }
for_each_op!(make_parser);
