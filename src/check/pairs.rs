//! Locations that were compared before. A comparison that reads neither the pc nor another entry has one result,
//! wherever the described and the encoded location recur.

use core::hash::{BuildHasher, Hash, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};
use smallvec::SmallVec;

use crate::model::{LocId, Module, Stack};
use crate::op::Encoding;

/// Inputs of a comparison that most variables share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) encoding: Encoding,
    /// Stack frame of the function.
    pub(super) stack: Stack,
    /// Number of lanes in the function's entry.
    pub(super) lanes: u64,
    /// Space of the variable's memory places, as the entry has it.
    pub(super) class: Option<u64>,
}

/// Locations of a variable at a pc: the described ones, and the expressions of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair<'o> {
    /// Number of the [`Setting`].
    pub(super) setting: u32,
    /// Number of compared bits; `None` for a variable without a size.
    pub(super) bits: Option<u64>,
    pub(super) described: SmallVec<[LocId; 2]>,
    pub(super) found: SmallVec<[&'o [u8]; 1]>,
}

/// Pairs without a difference.
#[derive(Default)]
pub(super) struct Pairs<'o> {
    settings: Vec<Setting>,
    /// Pairs, each with its hash and its number of comparisons.
    known: HashTable<(u64, u32, Pair<'o>)>,
    hasher: DefaultHashBuilder,
}

/// Maximum number of pairs, for a limit of memory. Then the search for pairs begins anew.
const MOST: usize = 1 << 15;

impl<'o> Pairs<'o> {
    /// Returns the number of a setting. There are few: one for each stack register.
    pub(super) fn setting(&mut self, setting: Setting) -> u32 {
        let known = self.settings.iter().position(|known| *known == setting);
        known.unwrap_or_else(|| {
            self.settings.push(setting);
            self.settings.len() - 1
        }) as u32
    }

    /// Returns the setting of a pair.
    pub(super) fn setting_of(&self, pair: &Pair<'o>) -> Option<&Setting> {
        self.settings.get(pair.setting as usize)
    }

    /// Returns the number of comparisons of a pair without a difference, if it is known.
    pub(super) fn comparisons(&self, module: &Module, pair: &Pair<'o>) -> Option<u64> {
        let hash = self.hash(module, pair);
        let is_same = |&(known, _, ref other): &(u64, u32, Pair<'o>)| {
            known == hash
                && (other.setting, other.bits, &other.found) == (pair.setting, pair.bits, &pair.found)
                && other.described.len() == pair.described.len()
                && core::iter::zip(&other.described, &pair.described)
                    .all(|(&one, &other)| module.locs.is_same(one, other))
        };
        self.known.find(hash, is_same).map(|&(_, count, _)| count.into())
    }

    /// Adds a pair that is not known, with its number of comparisons.
    pub(super) fn add(&mut self, module: &Module, pair: Pair<'o>, comparisons: u64) {
        let Ok(comparisons) = u32::try_from(comparisons) else { return };
        if self.known.len() == MOST {
            self.known.clear();
        }
        let hash = self.hash(module, &pair);
        self.known.insert_unique(hash, (hash, comparisons, pair), |&(hash, ..)| hash);
    }

    fn hash(&self, module: &Module, pair: &Pair<'o>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        (pair.setting, pair.bits, &pair.found).hash(&mut hasher);
        pair.described.iter().for_each(|&loc| module.locs.hash(loc, &mut hasher));
        hasher.finish()
    }
}
