//! Locations that were compared before. A comparison that reads neither the pc nor another entry has one result,
//! wherever the described and the encoded location recur.

use core::hash::{BuildHasher, Hash, Hasher};

use crate::model::{LocId, Module, Stack};
use crate::op::Encoding;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Inputs of a comparison that most variables share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) encoding: Encoding,
    /// The function's stack frame.
    pub(super) stack: Stack,
    /// Lane count in the function's entry.
    pub(super) lanes: u64,
    /// Space for the variable's memory locations, as the entry states it.
    pub(super) class: Option<u64>,
}

/// A variable's location, and an expression in the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair<'o> {
    /// The [`Setting`]'s number.
    pub(super) setting: u32,
    /// How many bits are compared; `None` for a variable without a size.
    pub(super) bits: Option<u64>,
    pub(super) described: LocId,
    pub(super) found: &'o [u8],
}

/// Comparisons without a difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Agreement {
    /// How many comparisons there were: one for each witness at which the described location has a meaning.
    pub(super) comparisons: u32,
    pub(super) reads: Reads,
}

/// Facts that a comparison read, besides the location.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reads {
    pub(super) lane: bool,
    pub(super) contents: bool,
    /// Numbers, for which contents were chosen.
    pub(super) combines: bool,
    /// The pc, or another entry: the result may differ at another pc.
    pub(super) position: bool,
}

impl Reads {
    /// Returns the facts that either comparison read.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            lane: self.lane || other.lane,
            contents: self.contents || other.contents,
            combines: self.combines || other.combines,
            position: self.position || other.position,
        }
    }
}

/// Pairs without a difference, whose comparisons read no position.
#[derive(Default)]
pub(super) struct Pairs<'o> {
    settings: Vec<Setting>,
    known: HashTable<(Pair<'o>, Agreement)>,
    hasher: DefaultHashBuilder,
}

/// Maximum number of pairs, which limits memory: as many as fit into 2^15 slots. The table is then cleared and fills
/// again.
const MOST: usize = 7 << 12;

impl<'o> Pairs<'o> {
    /// Returns a setting's number. There are few settings, one for each stack register, so that a list is searched.
    pub(super) fn setting(&mut self, setting: Setting) -> u32 {
        let known = self.settings.iter().position(|known| *known == setting);
        known.unwrap_or_else(|| {
            self.settings.push(setting);
            self.settings.len() - 1
        }) as u32
    }

    /// Returns a pair's comparisons, if it is known.
    pub(super) fn get(&self, module: &Module, pair: &Pair<'o>) -> Option<Agreement> {
        let is_same = |(other, _): &(Pair<'o>, Agreement)| {
            (other.setting, other.bits, other.found) == (pair.setting, pair.bits, pair.found)
                && module.locs.is_same(other.described, pair.described)
        };
        self.known.find(self.hash(module, pair), is_same).map(|&(_, same)| same)
    }

    /// Adds a pair that is not known.
    pub(super) fn add(&mut self, module: &Module, pair: Pair<'o>, same: Agreement) {
        // The table never grows beyond its first allocation.
        if self.known.len() == MOST {
            self.known.clear();
        }
        let hash = self.hash(module, &pair);
        let hasher = &self.hasher;
        self.known.insert_unique(hash, (pair, same), |(pair, _)| hash_of(hasher, module, pair));
    }

    fn hash(&self, module: &Module, pair: &Pair<'o>) -> u64 {
        hash_of(&self.hasher, module, pair)
    }
}

fn hash_of(hasher: &DefaultHashBuilder, module: &Module, pair: &Pair<'_>) -> u64 {
    let mut hasher = hasher.build_hasher();
    (pair.setting, pair.bits, pair.found).hash(&mut hasher);
    // By structure, because equal locations can have different ids.
    module.locs.hash(pair.described, &mut hasher);
    hasher.finish()
}
