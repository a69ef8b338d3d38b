//! PTX tokens: PTX ISA, "Syntax".

use super::text::Span;
use crate::error::{Error, ErrorKind, Result};

/// A token with its position in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    /// The token's text, without quotation marks.
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

/// Token reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    /// Returns a reader that starts at an offset.
    pub(super) fn from(text: &'t str, position: usize) -> Self {
        Self { text, position }
    }

    /// Returns the offset at which the last token ends.
    pub(super) fn offset(&self) -> usize {
        self.position
    }

    /// Returns the next token; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Syntax`]: a comment or a string without end, and a character that PTX does not have.
    pub(super) fn next(&mut self) -> Result<Option<Token<'t>>> {
        self.skip_blanks()?;
        let start = self.position;
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(start) else { return Ok(None) };
        let kind = match first {
            _ if is_word(first) => {
                let length = bytes[start..].iter().position(|&byte| !is_word(byte));
                self.position = length.map_or(bytes.len(), |length| start + length);
                Kind::Word
            }
            b'"' => {
                let end = bytes[start + 1..].iter().position(|&byte| matches!(byte, b'"' | b'\n'));
                let end = end.map(|length| start + 1 + length).filter(|&end| bytes[end] == b'"');
                let end = end.ok_or_else(|| self.error(start, "string is not closed on its line"))?;
                self.position = end + 1;
                let span = Span { start, end: end + 1 };
                return Ok(Some(Token { kind: Kind::String, text: &self.text[start + 1..end], span }));
            }
            b'!'..=b'~' => {
                self.position = start + 1;
                Kind::Symbol(first)
            }
            _ => return Err(self.error(start, "invalid character outside comments and strings")),
        };
        let span = Span { start, end: self.position };
        Ok(Some(Token { kind, text: &self.text[start..self.position], span }))
    }

    /// Moves on if the next token is this character. Returns whether it is.
    pub(super) fn take(&mut self, symbol: u8) -> Result<bool> {
        let mut ahead = *self;
        ahead.skip_blanks()?;
        let is_next = self.text.as_bytes().get(ahead.position) == Some(&symbol);
        if is_next {
            self.position = ahead.position + 1;
        }
        Ok(is_next)
    }

    /// Moves after the next `;`, `{` or `}`, and returns that character; `None` at the end. The tokens before it are
    /// not distinguished, because most PTX bytes are operands, which nobody asks for.
    ///
    /// # Errors
    /// The same as [`Lexer::next`].
    pub(super) fn next_delimiter(&mut self) -> Result<Option<u8>> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.position..];
            let length = rest.iter().position(|&byte| !IS_OPERAND[usize::from(byte)]);
            self.position += length.unwrap_or(rest.len());
            match bytes.get(self.position) {
                None => return Ok(None),
                Some(&byte @ (b';' | b'{' | b'}')) => {
                    self.position += 1;
                    return Ok(Some(byte));
                }
                Some(b'/' | b'#') => {
                    let start = self.position;
                    self.skip_blanks()?;
                    // A slash that begins no comment.
                    self.position = self.position.max(start + 1);
                }
                // A string, or a character that PTX does not have.
                Some(_) => {
                    self.next()?;
                }
            }
        }
    }

    /// Returns the next token if it has this kind.
    pub(super) fn expect(&mut self, kind: Kind, expected: &str) -> Result<Token<'t>> {
        let start = *self;
        match self.next()? {
            Some(token) if token.kind == kind => Ok(token),
            Some(token) => Err(self.unexpected(token.span.start, expected)),
            None => Err(start.unexpected(start.text.len(), expected)),
        }
    }

    /// Returns the next word as an unsigned number.
    pub(super) fn number(&mut self, expected: &str) -> Result<u64> {
        let word = self.expect(Kind::Word, expected)?;
        number(word.text).ok_or_else(|| self.unexpected(word.span.start, expected))
    }

    /// Returns an error at an offset, with its line and column.
    pub(super) fn error(&self, offset: usize, problem: &str) -> Error {
        error_at(self.text, offset, problem)
    }

    /// Returns an error about the token at an offset: the token is not what was expected there.
    pub(super) fn unexpected(&self, offset: usize, expected: &str) -> Error {
        syntax_error(self.text, offset, |rest| format!("unexpected {rest}; expected {expected}"))
    }

    fn skip_blanks(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.position..];
            let blanks = rest.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(rest.len());
            self.position += blanks;
            let rest = &rest[blanks..];
            self.position += match rest {
                // A preprocessor directive, such as `#line`, ends with its line, as a comment does.
                [b'/', b'/', ..] | [b'#', ..] => {
                    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
                }
                [b'/', b'*', inside @ ..] => {
                    let end = inside.windows(2).position(|end| end == b"*/");
                    end.ok_or_else(|| self.error(self.position, "comment is not closed"))? + 4
                }
                _ => return Ok(()),
            };
        }
    }
}

/// Returns an error at a text offset, with its line and column, which count from 1.
pub fn error_at(text: &str, offset: usize, problem: &str) -> Error {
    syntax_error(text, offset, |rest| format!("{problem}: {rest}"))
}

/// Returns an error whose message `describe` makes from the beginning of the text at the offset.
fn syntax_error(text: &str, offset: usize, describe: impl FnOnce(&str) -> String) -> Error {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = line_of(text, offset);
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    let rest = text.get(offset..).unwrap_or_default();
    let shown: String = rest.chars().take_while(|char| !char.is_control()).take(24).collect();
    let shown = if shown.is_empty() { "end".into() } else { format!("`{shown}`") };
    ErrorKind::Syntax(format!("line {line}, column {column}: {}", describe(&shown))).into()
}

/// Returns the line at a text offset, counted from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

/// Reads an unsigned number: decimal, hexadecimal, octal or binary, with or without `U`.
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

/// Bytes, by value, that neither delimit statements nor begin a comment or a string.
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
