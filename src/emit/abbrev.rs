//! Abbreviations, collected while entries are written: DWARF 5 section 7.5.3.

use core::hash::BuildHasher;

use gimli::{DwAt, DwForm, DwTag};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::op::{write_sleb, write_uleb};

/// Abbreviations of a unit. Equal ones are stored once. Codes count from 1 in the order of first use, or in the order
/// chosen by [`by_use`](Self::by_use).
#[derive(Debug)]
pub(crate) struct Abbreviations {
    /// The abbreviations in sequence, as words: tag and children flag; each attribute with its form, and the value of
    /// an implicit constant in two words; then 0, which encodes no attribute.
    words: Vec<u32>,
    /// End of each abbreviation in `words`, before its 0.
    ends: Vec<u32>,
    /// Number of entries that use each abbreviation.
    uses: Vec<u32>,
    /// Range of `words` that equals the current description so far. It lies in the abbreviation of the last entry with
    /// the same tag, as most entries repeat it. If the end is [`OTHER`], the description differs and is in `current`.
    like: (usize, usize),
    current: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Abbreviation of the last entry with each tag, indexed by the low bits of the tag.
    last: [Last; TAGS],
}

/// An abbreviation and the position of its first word.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    index: u32,
    start: u32,
}

const TAGS: usize = 64;
/// Abbreviations of a small unit.
const FEW: usize = 28;
/// Beyond every position in `words`.
const OTHER: usize = usize::MAX;

impl Default for Abbreviations {
    fn default() -> Self {
        // Room for the abbreviations of a small unit.
        Self {
            words: Vec::with_capacity(8 * FEW),
            ends: Vec::with_capacity(FEW),
            uses: Vec::with_capacity(FEW),
            like: (0, OTHER),
            current: Vec::with_capacity(FEW),
            seen: HashTable::with_capacity(FEW),
            hasher: DefaultHashBuilder::default(),
            last: [Last::default(); TAGS],
        }
    }
}

/// Number of codes that take one byte.
pub(crate) const SHORT_CODES: usize = 127;

impl Abbreviations {
    /// Begins the description of an entry.
    #[inline]
    pub(crate) fn begin(&mut self, tag: DwTag, has_children: bool) {
        let start = self.last[usize::from(tag.0) % TAGS].start as usize;
        self.like = (start, start);
        self.word(u32::from(tag.0) << 16 | u32::from(has_children));
    }

    /// Adds an attribute to the described entry.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) {
        self.word(u32::from(at.0) << 16 | u32::from(form.0));
    }

    /// Adds an attribute whose value is in the abbreviation: `DW_FORM_implicit_const`.
    #[inline]
    pub(crate) fn implicit(&mut self, at: DwAt, value: i64) {
        self.attribute(at, gimli::DW_FORM_implicit_const);
        self.word(value as u32);
        self.word((value >> 32) as u32);
    }

    #[inline]
    fn word(&mut self, word: u32) {
        match self.words.get(self.like.1) {
            Some(&same) if same == word => self.like.1 += 1,
            _ => self.other(word),
        }
    }

    #[inline(never)]
    fn other(&mut self, word: u32) {
        let (start, end) = self.like;
        if end != OTHER {
            self.current.clear();
            self.current.extend_from_slice(&self.words[start..end]);
            self.like.1 = OTHER;
        }
        self.current.push(word);
    }

    /// Words of the described entry.
    fn described(&self) -> &[u32] {
        match self.like {
            (_, OTHER) => &self.current,
            (start, end) => &self.words[start..end],
        }
    }

    /// Tag of the described entry, and whether the entry has children.
    pub(crate) fn tag(&self) -> (DwTag, bool) {
        let first = self.described()[0];
        (DwTag((first >> 16) as u16), first & 1 != 0)
    }

    /// Whether the described entry has an attribute.
    pub(crate) fn has(&self, at: DwAt) -> bool {
        let mut words = self.described()[1..].iter();
        while let Some(word) = words.next() {
            if word >> 16 == u32::from(at.0) {
                return true;
            }
            if word & 0xffff == u32::from(gimli::DW_FORM_implicit_const.0) {
                words.nth(1);
            }
        }
        false
    }

    /// Ends the description and returns its code.
    #[inline]
    pub(crate) fn code(&mut self) -> u64 {
        let (start, end) = self.like;
        let index = match self.words.get(end) {
            Some(0) => self.last[(self.words[start] >> 16) as usize % TAGS].index,
            _ => self.new_code(),
        };
        self.uses[index as usize] += 1;
        u64::from(index) + 1
    }

    /// The index of a description that differs from that of the last entry with its tag.
    #[inline(never)]
    fn new_code(&mut self) -> u32 {
        if let (start, end) = self.like
            && end != OTHER
        {
            self.current.clear();
            self.current.extend_from_slice(&self.words[start..end]);
        }
        let index = self.find();
        let start = start(&self.ends, index) as u32;
        self.last[(self.current[0] >> 16) as usize % TAGS] = Last { index, start };
        index
    }

    fn find(&mut self) -> u32 {
        let hash = self.hasher.hash_one(&self.current);
        let (words, ends) = (&self.words, &self.ends);
        if let Some(&index) = self.seen.find(hash, |&index| slice(words, ends, index) == self.current) {
            return index;
        }
        let index = self.ends.len() as u32;
        self.words.extend_from_slice(&self.current);
        self.ends.push(self.words.len() as u32);
        self.words.push(0);
        self.uses.push(0);
        let (words, ends, hasher) = (&self.words, &self.ends, &self.hasher);
        self.seen.insert_unique(hash, index, |&index| hasher.hash_one(slice(words, ends, index)));
        index
    }

    fn get(&self, index: u32) -> &[u32] {
        slice(&self.words, &self.ends, index)
    }

    /// Number of abbreviations.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of `.debug_info` that [`by_use`](Self::by_use) would save.
    pub(crate) fn saved_by_order(&self) -> u64 {
        if self.len() <= SHORT_CODES {
            return 0;
        }
        // Codes of more than two bytes are rare: they are not counted.
        let long = |uses: &[u32]| uses[SHORT_CODES..].iter().map(|&uses| u64::from(uses)).sum::<u64>();
        let mut sorted = self.uses.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        long(&self.uses) - long(&sorted)
    }

    /// The same abbreviations, sorted so that the most used ones have the shortest codes.
    pub(crate) fn by_use(&self) -> Self {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_by_key(|&index| core::cmp::Reverse(self.uses[index as usize]));
        let mut sorted = Self::default();
        for index in order {
            sorted.current.clear();
            sorted.current.extend_from_slice(self.get(index));
            sorted.find();
        }
        sorted
    }

    /// Whether every abbreviation has the same code in `other`.
    pub(crate) fn is_prefix_of(&self, other: &Self) -> bool {
        other.words.starts_with(&self.words) && other.ends.starts_with(&self.ends)
    }

    /// Appends the abbreviation table to `.debug_abbrev`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for index in 0..self.len() as u32 {
            write_uleb(out, u64::from(index) + 1);
            let mut words = self.get(index).iter();
            let Some(first) = words.next() else { continue };
            write_uleb(out, (first >> 16).into());
            out.push(*first as u8);
            while let Some(word) = words.next() {
                let form = word & 0xffff;
                write_uleb(out, (word >> 16).into());
                write_uleb(out, form.into());
                if form == u32::from(gimli::DW_FORM_implicit_const.0)
                    && let (Some(&low), Some(&high)) = (words.next(), words.next())
                {
                    write_sleb(out, (u64::from(high) << 32 | u64::from(low)) as i64);
                }
            }
            out.extend_from_slice(&[0, 0]);
        }
        out.push(0);
    }
}

fn slice<'a>(words: &'a [u32], ends: &[u32], index: u32) -> &'a [u32] {
    &words[start(ends, index)..ends[index as usize] as usize]
}

/// Position of the first word of an abbreviation.
fn start(ends: &[u32], index: u32) -> usize {
    if index == 0 { 0 } else { ends[index as usize - 1] as usize + 1 }
}
