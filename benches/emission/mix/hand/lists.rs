//! `.debug_loclists` and `.debug_rnglists`. Equal lists of a unit are stored once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::bytes::{begin_length, end_length};

#[derive(Default)]
pub struct Lists {
    pub section: Vec<u8>,
    /// Lists of the current unit. The table of their offsets precedes them in the section.
    pub bytes: Vec<u8>,
    starts: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Lists {
    /// Ends the list that begins at `start` and returns its index.
    #[inline]
    pub fn end(&mut self, start: usize) -> u64 {
        self.bytes.push(0);
        let (bytes, starts, hasher) = (&self.bytes, &self.starts, &self.hasher);
        let list = &bytes[start..];
        let of = |index: u32| {
            let end = starts.get(index as usize + 1).map_or(start, |&end| end as usize);
            &bytes[starts[index as usize] as usize..end]
        };
        let hash = hasher.hash_one(list);
        if let Some(&same) = self.seen.find(hash, |&other| of(other) == list) {
            self.bytes.truncate(start);
            return same.into();
        }
        let index = starts.len() as u32;
        self.seen.insert_unique(hash, index, |&other| hasher.hash_one(of(other)));
        self.starts.push(start as u32);
        index.into()
    }

    /// Appends the contribution of the unit to the section.
    pub fn finish(&mut self) {
        let length = begin_length(&mut self.section);
        self.section.extend_from_slice(&[5, 0, 8, 0]);
        self.section.extend_from_slice(&(self.starts.len() as u32).to_le_bytes());
        let table = 4 * self.starts.len() as u32;
        for start in self.starts.drain(..) {
            self.section.extend_from_slice(&(table + start).to_le_bytes());
        }
        self.section.append(&mut self.bytes);
        end_length(&mut self.section, length);
        self.seen.clear();
    }
}
