//! `.debug_loclists` and `.debug_rnglists`: DWARF 5 sections 7.28 and 7.29.

use core::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The lists of one unit, with a table of offsets before them, by which attributes name them.
///
/// Equal lists are stored once.
#[derive(Debug)]
pub(crate) struct Lists {
    /// The lists, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Where each starts in `bytes`.
    starts: Vec<u32>,
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Lists {
    /// Room for so many lists of so many bytes in all: what is there need not be moved or hashed again when
    /// there is more.
    pub(crate) fn new(count: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            starts: Vec::with_capacity(count),
            seen: HashTable::with_capacity(count),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Ends the list that starts at `start` of [`bytes`](Self::bytes) and gives its index. If there is an
    /// equal one already, that is it, and the bytes are taken back; `is_settled` says that the bytes are
    /// final, so that they can be compared.
    #[inline]
    pub(crate) fn end(&mut self, start: usize, is_settled: bool) -> u64 {
        let (bytes, starts) = (&self.bytes, &self.starts);
        let end_of = |index: u32| starts.get(index as usize + 1).map_or(start, |&next| next as usize);
        let list = &bytes[start..];
        let hash = self.hasher.hash_one(list);
        let index = starts.len() as u32;
        if is_settled {
            let same = |&other: &u32| &bytes[starts[other as usize] as usize..end_of(other)] == list;
            if let Some(&same) = self.seen.find(hash, same) {
                self.bytes.truncate(start);
                return same.into();
            }
            let hasher = &self.hasher;
            let rehash =
                |&other: &u32| hasher.hash_one(&bytes[starts[other as usize] as usize..end_of(other)]);
            self.seen.insert_unique(hash, index, rehash);
        }
        self.starts.push(start as u32);
        index.into()
    }

    /// Appends header, table and lists to the section; gives the offset of the first list, by which what was
    /// at an offset in [`bytes`](Self::bytes) moved.
    pub(crate) fn finish(mut self, section: &mut Vec<u8>, address_bytes: u8) -> usize {
        let header = section.len();
        let table = 4 * self.starts.len();
        // After the length: version, address size, segment selector size, number of offsets.
        let length = 2 + 1 + 1 + 4 + table + self.bytes.len();
        section.extend_from_slice(&(length as u32).to_le_bytes());
        section.extend_from_slice(&5u16.to_le_bytes());
        section.extend_from_slice(&[address_bytes, 0]);
        section.extend_from_slice(&(self.starts.len() as u32).to_le_bytes());
        debug_assert_eq!(section.len() - header, 12);
        for start in &self.starts {
            section.extend_from_slice(&(start + table as u32).to_le_bytes());
        }
        let lists = section.len();
        if header == 0 {
            // The only unit's, or the first: the lists stay where they are, and the rest moves.
            let head = core::mem::take(section);
            self.bytes.splice(0..0, head);
            *section = self.bytes;
        } else {
            section.extend_from_slice(&self.bytes);
        }
        lists
    }
}
