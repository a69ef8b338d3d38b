//! Digits of numbers.

/// A number's digits, at the end of a buffer. Formatting by `fmt` takes several times as long.
pub(crate) struct Digits {
    buffer: [u8; 20],
    start: usize,
}

impl Digits {
    /// Returns a number in decimal digits.
    pub(crate) fn decimal(number: u64) -> Self {
        Self::new::<10>(number, b"")
    }

    /// Returns a number in hexadecimal digits after `0x`.
    pub(crate) fn hexadecimal(number: u64) -> Self {
        Self::new::<16>(number, b"0x")
    }

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

    pub(crate) fn text(&self) -> &str {
        core::str::from_utf8(&self.buffer[self.start..]).unwrap_or_default()
    }
}
