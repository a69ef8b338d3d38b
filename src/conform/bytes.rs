//! Bytes with undefined bits: `04 -- b:1010----`.

use core::fmt::{self, Display};
use core::str::FromStr;

use crate::eval::Bits;

/// Bytes, expected or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(pub Bits);

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bits = Bits { bytes: Vec::new(), defined: Vec::new() };
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches(' ');
            if rest.is_empty() {
                return Ok(Self(bits));
            }
            let len = if rest.starts_with("b:") { 10 } else { 2 };
            let (byte, defined) = rest.get(..len).and_then(byte).ok_or_else(|| {
                format!(
                    "`{rest}` is not a byte; expected two hexadecimal digits, `--`, or `b:` and eight of `0`, `1`, `-`"
                )
            })?;
            bits.bytes.push(byte);
            bits.defined.push(defined);
            rest = &rest[len..];
        }
    }
}

super::values::textual! { Pattern: "^ *(([0-9a-fA-F]{2}|--|b:[01-]{8}) *)*$"; }

/// Decodes a byte and the mask of its defined bits.
fn byte(text: &str) -> Option<(u8, u8)> {
    match text.strip_prefix("b:") {
        Some(bits) => bits.bytes().try_fold((0, 0), |(byte, defined), bit| match bit {
            b'0' | b'1' => Some((byte << 1 | (bit - b'0'), defined << 1 | 1)),
            b'-' => Some((byte << 1, defined << 1)),
            _ => None,
        }),
        None if text == "--" => Some((0, 0)),
        // `from_str_radix` accepts a sign too.
        None if text.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            Some((u8::from_str_radix(text, 16).ok()?, 0xff))
        }
        None => None,
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (&byte, &defined)) in self.0.bytes.iter().zip(&self.0.defined).enumerate() {
            if index != 0 {
                f.write_str(" ")?;
            }
            match defined {
                0xff => write!(f, "{byte:02x}")?,
                0 => f.write_str("--")?,
                _ => {
                    f.write_str("b:")?;
                    for bit in (0..8).rev() {
                        let text = match (defined >> bit & 1, byte >> bit & 1) {
                            (0, _) => "-",
                            (_, 0) => "0",
                            _ => "1",
                        };
                        f.write_str(text)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Bytes in hexadecimal, separated by blanks.
pub(super) struct Hex<'a>(pub &'a [u8]);

impl Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            write!(f, "{blank}{byte:02x}")?;
        }
        Ok(())
    }
}
