//! A module's strings, each stored once.

use core::hash::{BuildHasher, Hasher};
use core::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};
use std::sync::Arc;

/// Interned strings, numbered in the order of their first use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Strings {
    /// All strings, concatenated.
    text: String,
    /// Each string's end in the text, in bytes.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Whether any string contains a zero byte.
    has_zero: bool,
    numbering: Numbering,
}

/// A numbering's identity. An extended table keeps its identity.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbering(Arc<()>);

impl PartialEq for Numbering {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Strings {
    /// Returns the numbers' identity: if two tables have the same identity, the smaller table's strings have the same
    /// numbers in the larger table.
    pub(crate) fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// Returns how many strings there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// A string.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        self.text.get(range(&self.ends, number)?)
    }

    /// Returns a string's size in bytes; 0 for an unknown number.
    #[inline]
    pub(crate) fn bytes(&self, number: u32) -> usize {
        range(&self.ends, number).map_or(0, |range| range.len())
    }

    /// Returns a string's number, if the string is stored.
    pub(crate) fn number(&self, text: &str) -> Option<u32> {
        self.find(self.hash(text), text)
    }

    /// Returns a string's number. Adds the string if it is not stored yet.
    #[inline]
    pub(crate) fn add(&mut self, text: &str) -> u32 {
        let hash = self.hash(text);
        self.find(hash, text).unwrap_or_else(|| self.append(hash, text))
    }

    /// Whether a stored string contains a zero byte. Few modules have such a string.
    #[inline]
    pub(crate) fn has_zero(&self, text: &str) -> bool {
        self.has_zero && text.contains('\0')
    }

    /// Frees the memory for later strings, except the memory for their numbers.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    #[inline]
    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        let bytes = |&number: &u32| self.text.as_bytes().get(range(&self.ends, number)?);
        self.numbers.find(hash, |number| bytes(number) == Some(text.as_bytes())).copied()
    }

    fn append(&mut self, hash: u64, text: &str) -> u32 {
        let number = self.ends.len() as u32;
        self.has_zero |= text.contains('\0');
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let texts = &self.text;
        let ends = &self.ends;
        let hasher = &self.hasher;
        let text = |number: u32| texts.get(range(ends, number)?);
        // The table stores numbers without hashes, so that a growing table computes them again from the texts.
        let rehash = |&number: &u32| hash_of(hasher, text(number).unwrap_or_default());
        self.numbers.insert_unique(hash, number, rehash);
        number
    }

    #[inline]
    fn hash(&self, text: &str) -> u64 {
        hash_of(&self.hasher, text)
    }
}

/// Equality: the same strings with the same numbers.
impl PartialEq for Strings {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.ends == other.ends
    }
}

/// Returns a string's range in the text, in bytes.
#[inline]
fn range(ends: &[usize], number: u32) -> Option<Range<usize>> {
    let number = number as usize;
    let start = if number == 0 { 0 } else { *ends.get(number - 1)? };
    Some(start..*ends.get(number)?)
}

#[inline]
fn hash_of(hasher: &DefaultHashBuilder, text: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_back_by_number_and_are_stored_once() {
        let mut strings = Strings::default();
        let texts: Vec<String> = (0..1000).map(|n| "é".repeat(n % 7) + &n.to_string()).collect();
        for (number, text) in texts.iter().enumerate() {
            assert_eq!((strings.number(text), strings.add(text)), (None, number as u32));
        }
        for (number, text) in texts.iter().enumerate() {
            assert_eq!((strings.add(text), strings.get(number as u32)), (number as u32, Some(text.as_str())));
        }
        assert_eq!(strings.len(), 1000);
        assert_eq!((strings.get(1000), strings.number("")), (None, None));
        assert_eq!(strings.add(""), 1000);
        assert_eq!((strings.get(1000), strings.get(999)), (Some(""), Some(texts[999].as_str())));
    }
}
