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
    /// Words of the entry that is described.
    current: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// A recent abbreviation for each [slot](slot) of its words. Most entries repeat one of few.
    recent: [u32; SLOTS],
}

const SLOTS: usize = 128;
/// Abbreviations of a small unit.
const FEW: usize = 28;

impl Default for Abbreviations {
    fn default() -> Self {
        // Room for the abbreviations of a small unit.
        Self {
            words: Vec::with_capacity(8 * FEW),
            ends: Vec::with_capacity(FEW),
            uses: Vec::with_capacity(FEW),
            current: Vec::with_capacity(FEW),
            seen: HashTable::with_capacity(FEW),
            hasher: DefaultHashBuilder::default(),
            recent: [0; SLOTS],
        }
    }
}

/// Number of codes that take one byte.
pub(crate) const SHORT_CODES: usize = 127;

impl Abbreviations {
    /// Begins the description of an entry.
    #[inline]
    pub(crate) fn begin(&mut self, tag: DwTag, has_children: bool) {
        self.current.clear();
        self.current.push(u32::from(tag.0) << 16 | u32::from(has_children));
    }

    /// Adds an attribute to the described entry.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) {
        self.current.push(u32::from(at.0) << 16 | u32::from(form.0));
    }

    /// Adds an attribute whose value is in the abbreviation: `DW_FORM_implicit_const`.
    #[inline]
    pub(crate) fn implicit(&mut self, at: DwAt, value: i64) {
        let attribute = u32::from(at.0) << 16 | u32::from(gimli::DW_FORM_implicit_const.0);
        self.current.extend_from_slice(&[attribute, value as u32, (value >> 32) as u32]);
    }

    /// Tag of the described entry, and whether the entry has children.
    pub(crate) fn tag(&self) -> (DwTag, bool) {
        let first = self.current[0];
        (DwTag((first >> 16) as u16), first & 1 != 0)
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

    /// Ends the description and returns its code.
    #[inline]
    pub(crate) fn code(&mut self) -> u64 {
        let slot = slot(&self.current);
        let mut index = self.recent[slot];
        if index as usize >= self.ends.len() || self.get(index) != self.current {
            index = self.find();
            self.recent[slot] = index;
        }
        self.uses[index as usize] += 1;
        u64::from(index) + 1
    }

    #[inline(never)]
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

    #[inline]
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
                let (at, form) = (word >> 16, word & 0xffff);
                if (at | form) < 0x80 {
                    out.extend_from_slice(&[at as u8, form as u8]);
                } else {
                    write_uleb(out, at.into());
                    write_uleb(out, form.into());
                }
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

#[inline]
fn slice<'a>(words: &'a [u32], ends: &[u32], index: u32) -> &'a [u32] {
    &words[start(ends, index)..ends[index as usize] as usize]
}

/// Slot of an abbreviation in the table of recent ones.
#[inline]
fn slot(words: &[u32]) -> usize {
    let (pairs, last) = words.as_chunks();
    let mix = |hash: u64, &[one, other]: &[u32; 2]| {
        let both = u64::from(one) | u64::from(other) << 32;
        (hash.rotate_left(20) ^ both).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let last = last.first().map_or(0, |&last| last);
    (mix(pairs.iter().fold(0, mix), &[last, 0]) >> (u64::BITS - SLOTS.ilog2())) as usize
}

/// Position of the first word of an abbreviation.
#[inline]
fn start(ends: &[u32], index: u32) -> usize {
    if index == 0 { 0 } else { ends[index as usize - 1] as usize + 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A description: tag, children flag, attributes with a value for those in the abbreviation.
    type Description = (u16, bool, Vec<(u16, Option<i64>)>);

    fn code(all: &mut Abbreviations, (tag, has_children, attributes): &Description) -> u64 {
        all.begin(DwTag(*tag), *has_children);
        for &(at, value) in attributes {
            match value {
                Some(value) => all.implicit(DwAt(at), value),
                None => all.attribute(DwAt(at), gimli::DW_FORM_udata),
            }
        }
        all.code()
    }

    fn descriptions() -> impl Strategy<Value = Vec<Description>> {
        let attribute = (0..9u16, proptest::option::weighted(0.2, prop_oneof![-2..2i64, any::<i64>()]));
        let one = (0..4u16, any::<bool>(), proptest::collection::vec(attribute, 0..4));
        proptest::collection::vec(one, 1..600)
    }

    proptest! {
        #[test]
        fn codes_count_in_the_order_of_first_use(all in descriptions()) {
            let (mut abbreviations, mut known) = (Abbreviations::default(), Vec::new());
            // Each description recurs, when others have taken its slot and when none have.
            for one in all.iter().chain(&all).flat_map(|one| [one, one]) {
                let place = known.iter().position(|other| *other == one).unwrap_or_else(|| {
                    known.push(one);
                    known.len() - 1
                });
                prop_assert_eq!(code(&mut abbreviations, one), place as u64 + 1);
            }
            prop_assert_eq!(abbreviations.len(), known.len());
        }
    }
}
