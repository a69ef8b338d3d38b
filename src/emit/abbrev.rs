//! Abbreviations, collected while entries are written: DWARF 5 section 7.5.3.

use core::hash::BuildHasher;

use gimli::{DwAt, DwChildren, DwForm, DwTag};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::op::{write_sleb, write_uleb};

/// A unit's abbreviations. Equal ones are stored once. Codes count from 1 in the order of first use, or in the order
/// that [`by_use`](Self::by_use) chooses.
#[derive(Debug)]
pub(crate) struct Abbreviations {
    /// The abbreviations in sequence, as words: tag and children flag; each attribute with its form, and an implicit
    /// constant's value in two words; then 0, which encodes no attribute.
    words: Vec<u32>,
    /// The abbreviations, by code less 1.
    all: Vec<Abbreviation>,
    /// Words for the entry that is being described.
    current: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// A recent abbreviation for each [slot](slot), because most entries repeat one of few.
    recent: [u32; SLOTS],
}

/// An abbreviation.
#[derive(Debug, Clone, Copy)]
struct Abbreviation {
    /// Half-open range of the abbreviation's words, without the 0.
    start: u32,
    end: u32,
    /// How many entries use it.
    uses: u32,
}

const SLOTS: usize = 128;
/// How many abbreviations a small unit has.
const FEW: usize = 28;

impl Default for Abbreviations {
    fn default() -> Self {
        // Room for a small unit, so that the tables do not grow in most units.
        Self {
            words: Vec::with_capacity(8 * FEW),
            all: Vec::with_capacity(FEW),
            current: Vec::with_capacity(FEW),
            seen: HashTable::with_capacity(FEW),
            hasher: DefaultHashBuilder::default(),
            recent: [0; SLOTS],
        }
    }
}

/// How many codes take one byte.
pub(crate) const SHORT_CODES: usize = 127;

impl Abbreviations {
    /// Begins describing an entry.
    #[inline]
    pub(crate) fn begin(&mut self, tag: DwTag, children: DwChildren) {
        self.current.clear();
        self.current.push(u32::from(tag.0) << 16 | u32::from(children.0));
    }

    /// Adds an attribute to the described entry.
    #[inline(always)]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) {
        self.current.push(u32::from(at.0) << 16 | u32::from(form.0));
    }

    /// Adds an attribute whose value is in the abbreviation: `DW_FORM_implicit_const`.
    #[inline(always)]
    pub(crate) fn implicit(&mut self, at: DwAt, value: i64) {
        let attribute = u32::from(at.0) << 16 | u32::from(gimli::DW_FORM_implicit_const.0);
        self.current.extend_from_slice(&[attribute, value as u32, (value >> 32) as u32]);
    }

    /// Tag of the described entry, and whether it has children.
    pub(crate) fn tag(&self) -> (DwTag, DwChildren) {
        let first = self.current[0];
        (DwTag((first >> 16) as u16), DwChildren(first as u8))
    }

    /// Whether the described entry has an attribute.
    pub(crate) fn has(&self, at: DwAt) -> bool {
        let mut words = self.current[1..].iter();
        while let Some(word) = words.next() {
            if word >> 16 == u32::from(at.0) {
                return true;
            }
            // The next two words are the constant's value, not attributes.
            if word & 0xffff == u32::from(gimli::DW_FORM_implicit_const.0) {
                words.nth(1);
            }
        }
        false
    }

    /// Ends the description and returns its code.
    #[inline]
    pub(crate) fn code(&mut self) -> u64 {
        // One comparison recognizes most abbreviations, without a search in the table.
        let recent = &mut self.recent[slot(&self.current)];
        let known = self.all.get_mut(*recent as usize);
        if let Some(known) = known.filter(|known| known.words(&self.words) == self.current) {
            known.uses += 1;
            return u64::from(*recent) + 1;
        }
        let index = self.find();
        self.recent[slot(&self.current)] = index;
        self.all[index as usize].uses += 1;
        u64::from(index) + 1
    }

    fn find(&mut self) -> u32 {
        let hash = self.hasher.hash_one(&self.current);
        let words = &self.words;
        let abbreviations = &self.all;
        let words_of = |index: u32| abbreviations[index as usize].words(words);
        if let Some(&index) = self.seen.find(hash, |&index| words_of(index) == self.current) {
            return index;
        }
        let index = self.all.len() as u32;
        let start = self.words.len() as u32;
        self.words.extend_from_slice(&self.current);
        self.all.push(Abbreviation { start, end: self.words.len() as u32, uses: 0 });
        self.words.push(0);
        let words = &self.words;
        let abbreviations = &self.all;
        let hasher = &self.hasher;
        self.seen
            .insert_unique(hash, index, |&index| hasher.hash_one(abbreviations[index as usize].words(words)));
        index
    }

    /// How many abbreviations there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Bytes that [`by_use`](Self::by_use) would save in `.debug_info`.
    pub(crate) fn saved_by_order(&self) -> u64 {
        if self.len() <= SHORT_CODES {
            return 0;
        }
        // Codes in more than two bytes are rare, so they are not counted.
        let long = |uses: &[u32]| uses[SHORT_CODES..].iter().map(|&uses| u64::from(uses)).sum::<u64>();
        let uses: Vec<u32> = self.all.iter().map(|abbreviation| abbreviation.uses).collect();
        let mut sorted = uses.clone();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        long(&uses) - long(&sorted)
    }

    /// The same abbreviations, sorted so that the most used ones have the shortest codes.
    pub(crate) fn by_use(&self) -> Self {
        let mut order = self.all.clone();
        order.sort_by_key(|abbreviation| core::cmp::Reverse(abbreviation.uses));
        let mut sorted = Self::default();
        for one in order {
            sorted.current.clear();
            sorted.current.extend_from_slice(one.words(&self.words));
            sorted.find();
        }
        sorted
    }

    /// Whether every abbreviation has the same code in `other`.
    pub(crate) fn is_prefix_of(&self, other: &Self) -> bool {
        other.words.starts_with(&self.words)
    }

    /// Appends the abbreviation table to `.debug_abbrev`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (code, one) in (1..).zip(&self.all) {
            write_uleb(out, code);
            let mut words = one.words(&self.words).iter();
            let Some(first) = words.next() else { continue };
            write_uleb(out, (first >> 16).into());
            out.push(*first as u8);
            while let Some(word) = words.next() {
                let attribute = word >> 16;
                let form = word & 0xffff;
                // Most attributes and forms take one byte each.
                if (attribute | form) < 0x80 {
                    out.extend_from_slice(&[attribute as u8, form as u8]);
                } else {
                    write_uleb(out, attribute.into());
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

impl Abbreviation {
    #[inline]
    fn words(self, all: &[u32]) -> &[u32] {
        &all[self.start as usize..self.end as usize]
    }
}

/// Slot for an abbreviation in the table of recent ones.
#[inline]
fn slot(words: &[u32]) -> usize {
    let (pairs, last) = words.as_chunks();
    // A multiplicative hash. Its highest bits depend on all words, so they select the slot.
    let mix = |hash: u64, &[one, other]: &[u32; 2]| {
        let both = u64::from(one) | u64::from(other) << 32;
        (hash.rotate_left(20) ^ both).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let last = last.first().map_or(0, |&last| last);
    (mix(pairs.iter().fold(0, mix), &[last, 0]) >> (u64::BITS - SLOTS.ilog2())) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A description: tag, children flag, attributes with a value for those in the abbreviation.
    type Description = (u16, bool, Vec<(u16, Option<i64>)>);

    fn code(all: &mut Abbreviations, (tag, has_children, attributes): &Description) -> u64 {
        all.begin(DwTag(*tag), DwChildren((*has_children).into()));
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
        let abbreviation = (0..4u16, any::<bool>(), proptest::collection::vec(attribute, 0..4));
        proptest::collection::vec(abbreviation, 1..600)
    }

    proptest! {
        #[test]
        fn codes_count_in_the_order_of_first_use(all in descriptions()) {
            let mut abbreviations = Abbreviations::default();
            let mut known = Vec::new();
            // Each description recurs, when others have taken its slot and when none have.
            for abbreviation in all.iter().chain(&all).flat_map(|abbreviation| [abbreviation, abbreviation]) {
                let place = known.iter().position(|other| *other == abbreviation).unwrap_or_else(|| {
                    known.push(abbreviation);
                    known.len() - 1
                });
                prop_assert_eq!(code(&mut abbreviations, abbreviation), place as u64 + 1);
            }
            prop_assert_eq!(abbreviations.len(), known.len());
        }
    }
}
