//! Locations with too many words for [`Recent`](crate::model::Recent), which were checked and stored before. Imported code
//! has few of them many times: producers without operations on lanes compose each from the same parts.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::model::{LocId, Pool};

/// Longer locations without constant bytes, and without entities.
#[derive(Debug, Default)]
pub(super) struct Longer {
    known: HashTable<Known>,
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
struct Known {
    hash: u64,
    loc: LocId,
    /// As in [`Placed`](super::builder::Placed).
    room: u32,
}

impl Longer {
    /// Returns the location with these words, and its room.
    pub(super) fn get(&self, locs: &Pool, words: &[u32]) -> Option<(LocId, u32)> {
        let hash = self.hasher.hash_one(words);
        let is_same = |known: &Known| known.hash == hash && locs.has_words(known.loc, words);
        self.known.find(hash, is_same).map(|known| (known.loc, known.room))
    }

    /// Adds a location that is not known.
    pub(super) fn add(&mut self, words: &[u32], loc: LocId, room: u32) {
        let hash = self.hasher.hash_one(words);
        self.known.insert_unique(hash, Known { hash, loc, room }, |known| known.hash);
    }

    /// Forgets all locations.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
