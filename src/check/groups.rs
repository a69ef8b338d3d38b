//! Items by key, without memory for keys that have no item.

/// Items, each with its key, sorted by key. Items with the same key keep their order.
pub(super) struct Groups<K, V>(Vec<(K, V)>);

impl<K: Copy + Ord, V: Copy> Groups<K, V> {
    pub(super) fn new(items: impl Iterator<Item = (K, V)>) -> Self {
        let mut items: Vec<_> = items.collect();
        items.sort_by_key(|&(key, _)| key);
        Self(items)
    }

    /// Returns a key's items.
    pub(super) fn items(&self, key: K) -> impl ExactSizeIterator<Item = V> + '_ {
        let start = self.0.partition_point(|&(other, _)| other < key);
        let count = self.0[start..].partition_point(|&(other, _)| other == key);
        self.0[start..start + count].iter().map(|&(_, item)| item)
    }

    pub(super) fn has(&self, key: K) -> bool {
        self.0.binary_search_by_key(&key, |&(key, _)| key).is_ok()
    }
}
