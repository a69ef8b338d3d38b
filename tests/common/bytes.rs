//! Builder for bytes of sections.

/// Bytes in a byte order and DWARF format.
#[derive(Debug, Clone, Default)]
pub struct Bytes {
    pub bytes: Vec<u8>,
    pub big_endian: bool,
    /// Whether the format is 64-bit DWARF.
    pub is_long: bool,
}

impl Bytes {
    pub fn new(big_endian: bool, is_long: bool) -> Self {
        Self { bytes: Vec::new(), big_endian, is_long }
    }

    /// Every combination of byte order and format.
    pub fn all() -> [Self; 4] {
        [(false, false), (false, true), (true, false), (true, true)].map(|(big, long)| Self::new(big, long))
    }

    /// An empty builder with the same byte order and format.
    pub fn empty(&self) -> Self {
        Self::new(self.big_endian, self.is_long)
    }

    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Appends a number of `len` bytes.
    pub fn int(&mut self, len: usize, value: u64) -> &mut Self {
        if self.big_endian {
            self.bytes.extend(&value.to_be_bytes()[8 - len..])
        } else {
            self.bytes.extend(&value.to_le_bytes()[..len])
        }
        self
    }

    pub fn u8s(&mut self, values: impl AsRef<[u8]>) -> &mut Self {
        self.bytes.extend(values.as_ref());
        self
    }

    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.int(2, value.into())
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.int(4, value.into())
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.int(8, value)
    }

    /// Appends a section offset.
    pub fn offset(&mut self, value: u64) -> &mut Self {
        self.int(if self.is_long { 8 } else { 4 }, value)
    }

    pub fn uleb(&mut self, value: u64) -> &mut Self {
        gimli::leb128::write::unsigned(&mut self.bytes, value).unwrap();
        self
    }

    pub fn sleb(&mut self, value: i64) -> &mut Self {
        gimli::leb128::write::signed(&mut self.bytes, value).unwrap();
        self
    }

    /// Appends a string and its zero byte.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.u8s(text).u8s([0])
    }

    /// Appends contents after their initial length: DWARF 5 section 7.4.
    pub fn unit(&mut self, contents: &Self) -> &mut Self {
        if self.is_long {
            self.u32(0xffff_ffff);
        }
        self.offset(contents.len());
        self.u8s(&contents.bytes)
    }
}
