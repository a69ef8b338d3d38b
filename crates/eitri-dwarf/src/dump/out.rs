//! Dump output: text that is passed on to a writer in blocks, so that memory does not grow with the dump.

use std::fmt;
use std::io;

use crate::error::{Digits, PcText};

/// Block size in bytes.
const BLOCK: usize = 1 << 16;

/// Text that is kept, or passed on to a writer.
pub(super) struct Out<'w> {
    text: String,
    to: Option<&'w mut dyn io::Write>,
    /// The writer's first error. Later text is dropped.
    failed: Option<io::Error>,
}

impl<'w> Out<'w> {
    /// Keeps the text.
    pub(super) fn kept() -> Self {
        Self { text: String::new(), to: None, failed: None }
    }

    /// Passes the text on.
    pub(super) fn to(writer: &'w mut dyn io::Write) -> Self {
        Self { text: String::with_capacity(2 * BLOCK), to: Some(writer), failed: None }
    }

    pub(super) fn push(&mut self, char: char) {
        self.text.push(char);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        if self.text.len() >= BLOCK {
            self.pass_on();
        }
        self.text.push_str(text);
    }

    /// Prints a number in decimal digits. Formatting by `fmt` takes several times as long.
    pub(super) fn decimal(&mut self, number: u64) {
        self.push_str(Digits::decimal(number).text());
    }

    /// Prints a pc, and spaces up to a width.
    pub(super) fn pc(&mut self, pc: &PcText<'_>, width: usize) -> fmt::Result {
        if self.text.len() >= BLOCK {
            self.pass_on();
        }
        let start = self.text.len();
        fmt::Write::write_fmt(self, format_args!("{pc}"))?;
        (self.text.len().saturating_sub(start)..width).for_each(|_| self.push(' '));
        Ok(())
    }

    /// Prints a string literal as `{:?}` does.
    pub(super) fn quoted(&mut self, text: &str) -> fmt::Result {
        let is_plain = |&byte: &u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        if !text.as_bytes().iter().all(is_plain) {
            return fmt::Write::write_fmt(self, format_args!("{text:?}"));
        }
        self.push('"');
        self.push_str(text);
        self.push('"');
        Ok(())
    }

    fn pass_on(&mut self) {
        let Some(to) = &mut self.to else { return };
        if self.failed.is_none() {
            self.failed = to.write_all(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    /// Passes on the rest, and returns the kept text.
    ///
    /// # Errors
    /// The writer's first error.
    pub(super) fn finish(mut self) -> io::Result<String> {
        self.pass_on();
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.text),
        }
    }
}

impl fmt::Write for Out<'_> {
    /// Fails once the writer has failed, so that printing ends.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        if self.failed.is_none() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Out, PcText};

    #[test]
    fn digits_and_literals_are_those_of_fmt() {
        for number in [0, 1, 9, 10, 15, 16, 255, 1 << 32, u64::MAX - 1, u64::MAX] {
            let mut out = Out::kept();
            out.decimal(number);
            out.push(' ');
            out.pc(&PcText::address(number), 12).expect("kept text");
            assert_eq!(out.text, format!("{number} {:<12}", format!("{number:#x}")));
        }
        for text in ["", "plain ~", "a\"b", "back\\slash", "tab\t", "ß", "\u{7f}", "'"] {
            let mut out = Out::kept();
            out.quoted(text).expect("kept text");
            assert_eq!(out.text, format!("{text:?}"));
        }
    }
}
