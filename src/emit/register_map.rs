//! NVIDIA's map of PTX registers: `.nv_debug_info_reg_sass` and `.nv_debug_info_reg_type`.
//!
//! ```text
//! .nv_debug_info_reg_sass   function, 0; number of words (u32); for each: word (u32), register, 0, home, first, last (u32)
//! .nv_debug_info_reg_type   function, 0; number of words (u32); for each: type (u8)
//! ```

/// A PTX register's word at some pcs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedWord {
    /// 0 is the lower word.
    pub(crate) word: u32,
    /// Name of the PTX register.
    pub(crate) name: String,
    /// Class times 2²⁴ plus number.
    pub(crate) home: u32,
    /// First and last instruction, in bytes from the function's start.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The register's type.
    pub(crate) ty: u8,
}

/// Contents of the two sections.
#[derive(Debug, Default)]
pub(crate) struct RegisterMap {
    pub(crate) homes: Vec<u8>,
    pub(crate) types: Vec<u8>,
}

impl RegisterMap {
    /// Appends a function's words, unless there are none.
    pub(crate) fn function(&mut self, name: &str, words: &[MappedWord]) {
        if words.is_empty() {
            return;
        }
        for out in [&mut self.homes, &mut self.types] {
            text(out, name);
            number(out, words.len() as u32);
        }
        for word in words {
            number(&mut self.homes, word.word);
            text(&mut self.homes, &word.name);
            for value in [word.home, word.start, word.end] {
                number(&mut self.homes, value);
            }
            self.types.push(word.ty);
        }
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// Cubins are little-endian.
fn number(out: &mut Vec<u8>, number: u32) {
    out.extend_from_slice(&number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two words of a cubin by ptxas 13.5, typed from a hex dump.
    #[test]
    fn bytes_are_those_of_ptxas() {
        let word = |word, name: &str, home, start, end| MappedWord {
            word,
            name: name.into(),
            home,
            start,
            end,
            ty: 3,
        };
        let mut map = RegisterMap::default();
        map.function(
            "kx",
            &[word(0, "%SPL", 0x0500_0000, 0xc0, 0x180), word(1, "%SPL", 0x0500_0003, 0xd0, 0x220)],
        );
        #[rustfmt::skip]
        assert_eq!(map.homes, [
            0x6b, 0x78, 0, 2, 0, 0, 0,
            0, 0, 0, 0, 0x25, 0x53, 0x50, 0x4c, 0, 0, 0, 0, 5, 0xc0, 0, 0, 0, 0x80, 1, 0, 0,
            1, 0, 0, 0, 0x25, 0x53, 0x50, 0x4c, 0, 3, 0, 0, 5, 0xd0, 0, 0, 0, 0x20, 2, 0, 0,
        ]);
        assert_eq!(map.types, [0x6b, 0x78, 0, 2, 0, 0, 0, 3, 3]);
        map.function("none", &[]);
        assert_eq!(map.types.len(), 9);
    }
}
