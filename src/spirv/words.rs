//! A module as words: the header, followed by the instructions. It is a view, so that nothing is copied.
//!
//! SPIR-V specification, section 2.3 "Physical Layout of a SPIR-V Module and Instruction".

use core::fmt;

use super::opcodes::{Results, results};
use crate::error::{Count, Error, ErrorKind, Result};

/// An id in a module. 0 is invalid.
///
/// Exhaustive: a number is all it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// Allocates unused ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids(u32);

impl Ids {
    /// The allocator for a module without ids: starts at 1.
    pub const NEW: Self = Self(1);

    /// The allocator for a module whose header has this id bound.
    pub fn after(bound: u32) -> Self {
        Self(bound.max(1))
    }

    /// Allocates an id.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if no id is left, because a bound has 32 bits.
    pub fn fresh(&mut self) -> Result<Id> {
        let id = self.0;
        let too_many = || Error::new(ErrorKind::TooLarge("no id below 2^32 is left".into()));
        self.0 = id.checked_add(1).ok_or_else(too_many)?;
        Ok(Id(id))
    }

    /// The id bound: above every allocated id.
    pub fn bound(self) -> u32 {
        self.0
    }
}

/// Every module's first word.
pub const MAGIC: u32 = 0x0723_0203;

/// Number of words before the first instruction.
pub const HEADER: usize = 5;

/// Whether the bytes begin with the magic number, in either byte order.
pub fn is_module(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes()) || bytes.starts_with(&MAGIC.to_be_bytes())
}

/// A file's words, in the first word's byte order.
///
/// # Errors
/// If the first word is not the magic number, or the last word is incomplete.
pub fn from_bytes(bytes: &[u8]) -> Result<Vec<u32>> {
    if !is_module(bytes) {
        return Err(Error::malformed("this is not a SPIR-V module: its first word is not 0x07230203"));
    }
    let (words, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Error::malformed("the last word of the module is not whole").at_word(words.len()));
    }
    let is_big = bytes.starts_with(&MAGIC.to_be_bytes());
    let word = |word: &[u8; 4]| if is_big { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) };
    Ok(words.iter().map(word).collect())
}

/// Words as a file, the least significant byte first, as most compilers write modules.
pub fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A module as a valid instruction sequence.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(&'a [u32]);

impl<'a> Words<'a> {
    /// Checks a module's words.
    ///
    /// # Errors
    /// The error names the word, if the header is invalid, or if an instruction's length is 0, exceeds the remaining
    /// words, or is too short for its result.
    pub fn new(words: &'a [u32]) -> Result<Self> {
        let words = Self::with_header(words)?;
        // Results and operands are read without checks later, so that every length is checked here.
        let mut next = HEADER;
        while let Some(&first) = words.0.get(next) {
            next += words.checked(next, first, results(first as u16))?.len();
        }
        Ok(words)
    }

    /// Words with a valid header; the instructions are unchecked.
    pub(crate) fn with_header(words: &'a [u32]) -> Result<Self> {
        match words.first() {
            Some(&MAGIC) => {}
            Some(&first) if first == MAGIC.swap_bytes() => {
                return Err(Error::malformed("the words have their bytes in the other order").at_word(0));
            }
            _ => {
                return Err(Error::malformed(
                    "this is not a SPIR-V module: its first word is not 0x07230203",
                ));
            }
        }
        if words.len() < HEADER {
            return Err(Error::malformed("the words end inside the header").at_word(words.len()));
        }
        Ok(Self(words))
    }

    /// The words of the instruction whose first word is `first`. Checks that its length covers the words before the
    /// operands, if their number is known.
    #[inline]
    pub(crate) fn checked(self, at: usize, first: u32, results: Option<Results>) -> Result<&'a [u32]> {
        let least = match results {
            Some(Results::TypedId) => 3,
            Some(Results::Id) => 2,
            Some(Results::None) | None => 1,
        };
        let len = (first >> 16) as usize;
        match self.0.get(at..at + len) {
            Some(words) if len >= least => Ok(words),
            _ => Err(too_short(at, len, first as u16, least)),
        }
    }

    /// All words, including the header.
    pub fn all(self) -> &'a [u32] {
        self.0
    }

    /// The version, major and minor: 1 and 6 for SPIR-V 1.6.
    pub fn version(self) -> (u8, u8) {
        ((self.0[1] >> 16) as u8, (self.0[1] >> 8) as u8)
    }

    /// The id bound in the header.
    pub fn bound(self) -> u32 {
        self.0[3]
    }

    /// The instructions, in order.
    pub fn instructions(self) -> Instructions<'a> {
        Instructions { words: self.0, at: HEADER }
    }

    /// The instructions in a range of words that begins and ends at instruction boundaries.
    pub(crate) fn between(self, at: core::ops::Range<usize>) -> Instructions<'a> {
        Instructions { words: &self.0[..at.end], at: at.start }
    }

    /// The instruction that begins at this word.
    #[inline]
    pub(crate) fn at(self, at: usize) -> Instruction<'a> {
        let len = (self.0[at] >> 16) as usize;
        Instruction { at, words: &self.0[at..at + len] }
    }
}

fn too_short(at: usize, len: usize, opcode: u16, least: usize) -> Error {
    let what = if len < least {
        format!("instruction with opcode {opcode} has {}; expected at least {least}", Count(len, "word"))
    } else {
        format!("the words end inside the instruction of opcode {opcode}")
    };
    Error::malformed(what).at_word(at)
}

#[cfg(test)]
std::thread_local! {
    /// Number of instructions visited.
    pub(crate) static STEPS: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// A module's instructions.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    words: &'a [u32],
    at: usize,
}

#[cfg(feature = "rspirv")]
impl<'a> Instructions<'a> {
    /// A sequence of new instructions, without a header.
    pub(crate) fn new(words: &'a [u32]) -> Self {
        Self { words, at: 0 }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Instruction<'a>> {
        let word = self.at;
        // The lengths are checked, so that this never goes past the end.
        let first = *self.words.get(self.at)?;
        self.at += (first >> 16) as usize;
        #[cfg(test)]
        STEPS.set(STEPS.get() + 1);
        Some(Instruction { at: word, words: &self.words[word..self.at] })
    }
}

/// An instruction in a module.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// The instruction's first word, counted from the module's start.
    pub at: usize,
    /// The instruction's words; the first contains length and opcode.
    pub words: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// The instruction's opcode.
    pub fn opcode(self) -> u16 {
        self.words[0] as u16
    }

    /// The word after the instruction.
    pub(crate) fn end(self) -> usize {
        self.at + self.words.len()
    }

    /// The result id; `None` if the instruction has no result, or the opcode is unknown.
    pub fn result(self) -> Option<Id> {
        match results(self.opcode())? {
            Results::None => None,
            Results::Id => Some(Id(self.words[1])),
            Results::TypedId => Some(Id(self.words[2])),
        }
    }

    /// The result type.
    pub fn result_type(self) -> Option<Id> {
        (results(self.opcode()) == Some(Results::TypedId)).then(|| Id(self.words[1]))
    }

    /// The words after the result.
    pub fn operands(self) -> &'a [u32] {
        match results(self.opcode()) {
            Some(Results::TypedId) => &self.words[3..],
            Some(Results::Id) => &self.words[2..],
            Some(Results::None) | None => &self.words[1..],
        }
    }
}

/// A literal string's bytes up to its terminating 0, or at least the first `most` bytes. `None` for a string without an
/// end.
pub(crate) fn string_bytes(words: &[u32], most: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in words {
        if bytes.len() >= most {
            return Some(bytes);
        }
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return Some(bytes);
            }
            bytes.push(byte);
        }
    }
    None
}

/// Number of words in a literal string, including its end; all words if the string has no end.
pub(crate) fn string_words_len(words: &[u32]) -> usize {
    let has_end = |word: &u32| word.to_le_bytes().contains(&0);
    words.iter().position(has_end).map_or(words.len(), |last| last + 1)
}

/// Appends a literal string as words: its bytes, and at least one zero byte as the end.
pub(crate) fn string_words(text: &str, words: &mut Vec<u32>) {
    let (chunks, rest) = text.as_bytes().as_chunks::<4>();
    words.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.push(u32::from_le_bytes(last));
}
