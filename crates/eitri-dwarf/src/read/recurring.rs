//! Numbers for keys that recur in the same order, as a function's variables do in its instances.

use core::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

/// Numbers of keys, from 0 on.
#[derive(Debug)]
pub struct Recurring<K> {
    hasher: DefaultHashBuilder,
    numbers: HashTable<u32>,
    all: Vec<K>,
    /// The last key's number. The same key, or the key after it, is found without the table.
    last: usize,
}

impl<K> Default for Recurring<K> {
    fn default() -> Self {
        Self { hasher: Default::default(), numbers: HashTable::new(), all: Vec::new(), last: 0 }
    }
}

impl<K: Copy + Eq + Hash> Recurring<K> {
    /// Returns a key's number, and whether it is new.
    #[inline]
    #[doc(hidden)]
    pub fn add(&mut self, key: K) -> (usize, bool) {
        match self.find(key) {
            Some(number) => (number, false),
            None => (self.insert(key), true),
        }
    }

    /// Returns a key's number, if it has a number.
    #[inline]
    #[doc(hidden)]
    pub fn find(&mut self, key: K) -> Option<usize> {
        let near = self.all.get(self.last..).unwrap_or_default().iter().take(2);
        match near.into_iter().position(|known| *known == key) {
            Some(step) => self.last += step,
            None => self.last = self.look_up(key)?,
        }
        Some(self.last)
    }

    fn look_up(&self, key: K) -> Option<usize> {
        let is_same = |number: &u32| self.all[*number as usize] == key;
        self.numbers.find(self.hasher.hash_one(key), is_same).map(|number| *number as usize)
    }

    fn insert(&mut self, key: K) -> usize {
        let Self { hasher, numbers, all, last } = self;
        // Keys belong to entries, whose numbers have this type.
        let number = all.len() as u32;
        all.push(key);
        let hash = |number: &u32| hasher.hash_one(all[*number as usize]);
        numbers.insert_unique(hasher.hash_one(key), number, hash);
        *last = number as usize;
        *last
    }

    /// Returns the number of the last key that was found or added.
    #[doc(hidden)]
    pub fn last(&self) -> usize {
        self.last
    }

    /// Returns the keys, by number.
    #[doc(hidden)]
    pub fn keys(&self) -> &[K] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::Recurring;

    /// A key's number is the number of its first occurrence, whatever the order.
    #[test]
    fn numbers_of_keys() {
        let mut numbers = Recurring::default();
        let keys = [5, 5, 7, 9, 5, 7, 9, 9, 7, 5, 1, 7, 1];
        let assigned: Vec<_> = keys.iter().map(|key| numbers.add(*key)).collect();
        let first = |key| numbers.keys().iter().position(|known| *known == key);
        assert_eq!(numbers.keys(), [5, 7, 9, 1]);
        for (index, (key, (number, is_new))) in keys.iter().zip(&assigned).enumerate() {
            assert_eq!(Some(*number), first(*key));
            assert_eq!(*is_new, !keys[..index].contains(key));
        }
    }
}
