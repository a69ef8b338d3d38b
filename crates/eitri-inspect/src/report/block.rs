//! A page's data: tables of words, and texts, in a single byte block.
//!
//! ```text
//! u32            number of tables
//! u32 each       words in the table
//! u32 …          the tables, one after the other
//! bytes          the texts in UTF-8, each ended by a zero byte; text 0 is empty
//! ```
//!
//! All numbers are little-endian. The block is compressed (RFC 1950), and encoded in base 64 (RFC 4648), so that it
//! cannot contain markup.

use std::collections::HashMap;

/// Texts, each once.
#[derive(Debug)]
pub(super) struct Strings {
    numbers: HashMap<String, u32>,
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { numbers: HashMap::from([(String::new(), 0)]), bytes: vec![0] }
    }
}

impl Strings {
    /// Returns a text's number.
    pub(super) fn add(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        // A zero byte ends a text.
        self.bytes.extend(text.bytes().map(|byte| if byte == 0 { b' ' } else { byte }));
        self.bytes.push(0);
        self.numbers.insert(text.into(), number);
        number
    }
}

/// An encoded block.
#[derive(Debug)]
pub(super) struct Block(Vec<u8>);

impl Block {
    pub(super) fn new(tables: &[Vec<u32>], strings: &Strings) -> Self {
        let words = tables.iter().map(Vec::len).sum::<usize>() + tables.len() + 1;
        let mut bytes = Vec::with_capacity(4 * words + strings.bytes.len());
        let mut add = |word: u32| bytes.extend(word.to_le_bytes());
        add(tables.len() as u32);
        tables.iter().for_each(|table| add(table.len() as u32));
        tables.iter().flatten().for_each(|word| add(*word));
        bytes.extend(&strings.bytes);
        Self(bytes)
    }

    /// Returns the page element that contains the block.
    pub(super) fn element(&self) -> String {
        let (bytes, how) = packed(&self.0);
        let mut out =
            format!("<script id=\"data\" type=\"application/octet-stream\" data-packing=\"{how}\">");
        base64(&bytes, &mut out);
        out.push_str("</script>");
        out
    }
}

#[cfg(feature = "zlib")]
fn packed(bytes: &[u8]) -> (Vec<u8>, &'static str) {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing to memory does not fail.
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.map_or_else(|_| (bytes.to_vec(), "none"), |packed| (packed, "deflate"))
}

#[cfg(not(feature = "zlib"))]
fn packed(bytes: &[u8]) -> (Vec<u8>, &'static str) {
    (bytes.to_vec(), "none")
}

fn base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group
            .iter()
            .enumerate()
            .fold(0, |word, (index, byte)| word | u32::from(*byte) << (16 - 8 * index));
        for digit in 0..4 {
            out.push(if digit <= group.len() {
                char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    /// Property under test: the test vectors in RFC 4648 section 10.
    #[test]
    fn base_64_is_that_of_the_rfc() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            let mut out = String::new();
            super::base64(bytes.as_bytes(), &mut out);
            assert_eq!(out, expected);
        }
    }
}
