//! Items by their pcs.

use std::ops::Range;

/// Items with a pc range each, sorted by their first pc.
#[derive(Debug, Clone)]
pub(in crate::read) struct PcIndex<T>(Vec<Indexed<T>>);

#[derive(Debug, Clone)]
struct Indexed<T> {
    pcs: Range<u64>,
    /// Largest end among this range and all before it: a search backward stops where it is at or below the pc.
    reach: u64,
    item: T,
}

impl<T> PcIndex<T> {
    pub(in crate::read) fn new(items: impl IntoIterator<Item = (Range<u64>, T)>) -> Self {
        let with_pcs = items.into_iter().filter(|(pcs, _)| !pcs.is_empty());
        let mut items: Vec<_> = with_pcs.map(|(pcs, item)| Indexed { reach: pcs.end, pcs, item }).collect();
        items.sort_by_key(|indexed| indexed.pcs.start);
        let mut reach = 0;
        for indexed in &mut items {
            reach = indexed.reach.max(reach);
            indexed.reach = reach;
        }
        Self(items)
    }

    /// Returns the items whose ranges contain a pc, the last range first.
    pub(in crate::read) fn at(&self, pc: u64) -> impl Iterator<Item = &T> {
        let count = self.0.partition_point(|indexed| indexed.pcs.start <= pc);
        let near = self.0[..count].iter().rev().take_while(move |indexed| indexed.reach > pc);
        near.inspect(|_| crate::work::step())
            .filter(move |indexed| indexed.pcs.contains(&pc))
            .map(|indexed| &indexed.item)
    }

    pub(in crate::read) fn items(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|indexed| &indexed.item)
    }
}
