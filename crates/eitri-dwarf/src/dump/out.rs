//! Dump output: text that is passed on to a writer in blocks, so that memory does not grow with the dump.

use std::fmt;
use std::io;

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
        self.push_str(Digits::new::<10>(number, b"").text());
    }

    /// Prints a number in hexadecimal digits after `0x`, and spaces up to a width.
    pub(super) fn hex(&mut self, number: u64, width: usize) {
        let digits = Digits::new::<16>(number, b"0x");
        self.push_str(digits.text());
        (digits.text().len()..width).for_each(|_| self.push(' '));
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

/// Returns a number's digits, at the end of a buffer.
struct Digits {
    buffer: [u8; 20],
    start: usize,
}

impl Digits {
    fn new<const BASE: u64>(mut number: u64, prefix: &[u8]) -> Self {
        let mut digits = Self { buffer: [0; 20], start: 20 };
        loop {
            digits.push(b"0123456789abcdef"[(number % BASE) as usize]);
            number /= BASE;
            if number == 0 {
                break;
            }
        }
        prefix.iter().rev().for_each(|&byte| digits.push(byte));
        digits
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.buffer[self.start] = byte;
    }

    fn text(&self) -> &str {
        core::str::from_utf8(&self.buffer[self.start..]).unwrap_or_default()
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
    use super::Out;

    #[test]
    fn digits_and_literals_are_those_of_fmt() {
        for number in [0, 1, 9, 10, 15, 16, 255, 1 << 32, u64::MAX - 1, u64::MAX] {
            let mut out = Out::kept();
            out.decimal(number);
            out.push(' ');
            out.hex(number, 12);
            assert_eq!(out.text, format!("{number} {:<12}", format!("{number:#x}")));
        }
        for text in ["", "plain ~", "a\"b", "back\\slash", "tab\t", "ß", "\u{7f}", "'"] {
            let mut out = Out::kept();
            out.quoted(text).expect("kept text");
            assert_eq!(out.text, format!("{text:?}"));
        }
    }
}
