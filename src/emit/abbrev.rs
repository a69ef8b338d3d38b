//! Abbreviations, found as they come: DWARF 5 section 7.5.3.

use core::hash::BuildHasher;

use gimli::{DwAt, DwForm, DwTag};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::op::{write_sleb, write_uleb};

/// The abbreviations of a unit. Equal ones are stored once; codes count from 1 in the order of first use,
/// or in the order that [`by_use`](Self::by_use) gives.
#[derive(Debug)]
pub(crate) struct Abbreviations {
    /// One after the other, as words: the tag and whether there are children; each attribute and its form,
    /// after an implicit constant its value in two words.
    words: Vec<u32>,
    /// Where each ends.
    ends: Vec<u32>,
    /// How many entries each has.
    uses: Vec<u32>,
    /// The one that is being described.
    current: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// The one that the last entry of a tag had, by the low bits of the tag.
    last: [u32; TAGS],
}

const TAGS: usize = 64;

impl Default for Abbreviations {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            ends: Vec::new(),
            uses: Vec::new(),
            current: Vec::new(),
            seen: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            last: [0; TAGS],
        }
    }
}

/// As many codes have one byte.
pub(crate) const SHORT_CODES: usize = 127;

impl Abbreviations {
    /// Begins the description of an entry.
    #[inline]
    pub(crate) fn begin(&mut self, tag: DwTag, has_children: bool) {
        self.current.clear();
        self.current.push(u32::from(tag.0) << 16 | u32::from(has_children));
    }

    /// Adds an attribute to it.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) {
        self.current.push(u32::from(at.0) << 16 | u32::from(form.0));
    }

    /// Adds an attribute whose value is in the abbreviation.
    pub(crate) fn implicit(&mut self, at: DwAt, value: i64) {
        self.attribute(at, gimli::DW_FORM_implicit_const);
        self.current.extend_from_slice(&[value as u32, (value >> 32) as u32]);
    }

    /// The tag of the described entry, and whether it has children.
    pub(crate) fn tag(&self) -> (DwTag, bool) {
        (DwTag((self.current[0] >> 16) as u16), self.current[0] & 1 != 0)
    }

    /// Whether the described entry has an attribute.
    pub(crate) fn has(&self, at: DwAt) -> bool {
        let mut words = self.current[1..].iter();
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

    /// The code of the described entry.
    #[inline]
    pub(crate) fn code(&mut self) -> u64 {
        let slot = (self.current[0] >> 16) as usize % TAGS;
        let last = self.last[slot];
        let index = if (last as usize) < self.ends.len() && self.get(last) == self.current {
            last
        } else {
            self.find()
        };
        self.last[slot] = index;
        self.uses[index as usize] += 1;
        u64::from(index) + 1
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
        self.uses.push(0);
        let (words, ends, hasher) = (&self.words, &self.ends, &self.hasher);
        self.seen.insert_unique(hash, index, |&index| hasher.hash_one(slice(words, ends, index)));
        index
    }

    fn get(&self, index: u32) -> &[u32] {
        slice(&self.words, &self.ends, index)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many bytes of `.debug_info` would be saved if those that most entries have came first.
    pub(crate) fn saved_by_order(&self) -> u64 {
        if self.len() <= SHORT_CODES {
            return 0;
        }
        // Codes of more than two bytes are rare, and so is this.
        let long = |uses: &[u32]| uses[SHORT_CODES..].iter().map(|&uses| u64::from(uses)).sum::<u64>();
        let mut sorted = self.uses.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        long(&self.uses) - long(&sorted)
    }

    /// The same abbreviations, with the shortest codes for those that most entries have.
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

    /// Whether all of these have the same codes in the other.
    pub(crate) fn is_prefix_of(&self, other: &Self) -> bool {
        other.words.starts_with(&self.words) && other.ends.starts_with(&self.ends)
    }

    /// Appends the table to the section.
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
    let index = index as usize;
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &words[start..ends[index] as usize]
}
