//! Tokens of PTX: PTX ISA, "Syntax".

use super::text::Span;
use crate::error::{Error, ErrorKind, Result};

/// A token with its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// Text of the token, without quotation marks.
    pub(super) text: &'t str,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Identifier, number, directive or opcode with its modifiers: letters, digits, `_`, `$`, `%` and `.`.
    Word,
    String,
    /// A single character.
    Symbol(u8),
}

/// Reader of tokens, one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// A reader of the tokens from an offset on.
    pub(super) fn from(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// Offset of the end of the last token.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the next token; `None` at the end of the text.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`]: a comment or a string without end, and a character that PTX does not have.
    pub(super) fn next(&mut self) -> Result<Option<Token<'t>>> {
        self.skip_blanks()?;
        let (start, bytes) = (self.at, self.text.as_bytes());
        let Some(&first) = bytes.get(start) else { return Ok(None) };
        let kind = match first {
            _ if is_word(first) => {
                let length = bytes[start..].iter().position(|&byte| !is_word(byte));
                self.at = length.map_or(bytes.len(), |length| start + length);
                Kind::Word
            }
            b'"' => {
                let end = bytes[start + 1..].iter().position(|&byte| matches!(byte, b'"' | b'\n'));
                let end = end.map(|length| start + 1 + length).filter(|&end| bytes[end] == b'"');
                let end = end.ok_or_else(|| self.error(start, "a string ends on its line"))?;
                self.at = end + 1;
                let span = Span { start, end: end + 1 };
                return Ok(Some(Token { kind: Kind::String, text: &self.text[start + 1..end], span }));
            }
            b'!'..=b'~' => {
                self.at = start + 1;
                Kind::Symbol(first)
            }
            _ => return Err(self.error(start, "characters outside of comments and strings are ASCII")),
        };
        let span = Span { start, end: self.at };
        Ok(Some(Token { kind, text: &self.text[start..self.at], span }))
    }

    /// Moves on if the next token is this character. Returns whether it is.
    pub(super) fn take(&mut self, symbol: u8) -> Result<bool> {
        let mut ahead = *self;
        ahead.skip_blanks()?;
        let is_next = self.text.as_bytes().get(ahead.at) == Some(&symbol);
        if is_next {
            self.at = ahead.at + 1;
        }
        Ok(is_next)
    }

    /// Moves behind the next `;`, `{` or `}`, and returns it; `None` at the end of the text. Tokens before it are not
    /// distinguished: most of a text are operands.
    ///
    /// # Errors
    /// The errors of [`Lexer::next`].
    pub(super) fn next_delimiter(&mut self) -> Result<Option<u8>> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            let length = rest.iter().position(|&byte| !IS_OPERAND[usize::from(byte)]);
            self.at += length.unwrap_or(rest.len());
            match bytes.get(self.at) {
                None => return Ok(None),
                Some(&byte @ (b';' | b'{' | b'}')) => {
                    self.at += 1;
                    return Ok(Some(byte));
                }
                Some(b'/' | b'#') => {
                    let start = self.at;
                    self.skip_blanks()?;
                    // A slash that begins no comment.
                    self.at = self.at.max(start + 1);
                }
                // A string, or a character that PTX does not have.
                Some(_) => {
                    self.next()?;
                }
            }
        }
    }

    /// Returns the next token, which is of this kind.
    pub(super) fn expect(&mut self, kind: Kind, rule: &str) -> Result<Token<'t>> {
        let start = *self;
        match self.next()? {
            Some(token) if token.kind == kind => Ok(token),
            Some(token) => Err(self.error(token.span.start, rule)),
            None => Err(start.error(start.text.len(), rule)),
        }
    }

    /// Returns the next word as an unsigned number.
    pub(super) fn number(&mut self, rule: &str) -> Result<u64> {
        let word = self.expect(Kind::Word, rule)?;
        number(word.text).ok_or_else(|| self.error(word.span.start, rule))
    }

    /// Returns an error at an offset, with its line and column.
    #[cold]
    pub(super) fn error(&self, at: usize, rule: &str) -> Error {
        error_at(self.text, at, rule)
    }

    fn skip_blanks(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            let blanks = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
            self.at += blanks;
            let rest = &rest[blanks..];
            self.at += match rest {
                // A directive of the preprocessor, such as `#line`, ends with its line, as a comment does.
                [b'/', b'/', ..] | [b'#', ..] => {
                    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
                }
                [b'/', b'*', inside @ ..] => {
                    let end = inside.windows(2).position(|end| end == b"*/");
                    end.ok_or_else(|| self.error(self.at, "a comment ends with `*/`"))? + 4
                }
                _ => return Ok(()),
            };
        }
    }
}

/// Returns an error at an offset of a text, with its line and column, which count from 1.
#[cold]
pub fn error_at(text: &str, at: usize, rule: &str) -> Error {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = line_of(text, at);
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let rest = text.get(at..).unwrap_or_default();
    let here: String = rest.chars().take_while(|char| !char.is_control()).take(24).collect();
    let here = if here.is_empty() { "the end".into() } else { format!("`{here}`") };
    ErrorKind::Syntax(format!("line {line}, column {column}: {rule}: {here}")).into()
}

/// Returns the line of an offset of a text, counted from 1.
#[cold]
pub fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}

/// Value of an unsigned number: decimal, hexadecimal, octal or binary, with or without `U`.
pub(super) fn number(word: &str) -> Option<u64> {
    let word = word.strip_suffix('U').unwrap_or(word);
    if let Some(digits) = word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = word.strip_prefix("0b").or(word.strip_prefix("0B")) {
        u64::from_str_radix(digits, 2).ok()
    } else if word.len() > 1 && word.starts_with('0') {
        u64::from_str_radix(word, 8).ok()
    } else {
        word.bytes().all(|digit| digit.is_ascii_digit()).then(|| word.parse().ok())?
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Bytes, by value, that neither end a part of a statement nor begin a comment or a string.
static IS_OPERAND: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 0x80 {
        let is_delimiter = matches!(byte, b';' | b'{' | b'}' | b'"' | b'/' | b'#');
        table[byte as usize] = !is_delimiter && (byte.is_ascii_whitespace() || byte.is_ascii_graphic());
        byte += 1;
    }
    table
};
