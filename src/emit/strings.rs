//! `.debug_str` and `.debug_line_str`.

/// Strings, each stored once, by the number that the caller knows them by.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    /// Where each is, plus 1.
    places: Vec<u32>,
}

impl Strings {
    /// The offset of a string.
    #[inline]
    pub(crate) fn offset(&mut self, number: u32, text: &str) -> u32 {
        let number = number as usize;
        if number >= self.places.len() {
            self.places.resize(number + 1, 0);
        }
        if self.places[number] == 0 {
            self.places[number] = self.bytes.len() as u32 + 1;
            self.bytes.extend_from_slice(text.as_bytes());
            self.bytes.push(0);
        }
        self.places[number] - 1
    }
}
