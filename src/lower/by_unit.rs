//! Module entities grouped by unit.

use crate::model::UnitId;

/// One kind's entities, grouped by unit. Within a unit they keep the module's order.
pub(super) struct ByUnit {
    /// Index of each unit's first entity, and the total at the end.
    pub(super) starts: Vec<u32>,
    /// Entity ids sorted by unit, and each entity's index within its unit. `None` if ids ascend, and each unit's entities are
    /// consecutive, as in most modules, because both then follow from `starts`.
    pub(super) mixed: Option<(Vec<u32>, Vec<u32>)>,
}

impl ByUnit {
    /// Groups entities by unit. `ids` yields all ids of a kind, in the module's order.
    pub(super) fn new(
        count: usize,
        ids: impl Iterator<Item = u32> + Clone,
        unit_of: impl Fn(u32) -> UnitId,
    ) -> Self {
        let mut counts = vec![0; count];
        let mut is_mixed = false;
        let mut last = 0;
        for (index, id) in (0..).zip(ids.clone()) {
            let unit = unit_of(id).as_u32() as usize;
            counts[unit] += 1;
            // A unit number that falls means that a unit's entities are interleaved with another unit's.
            is_mixed |= id != index || unit < last;
            last = unit;
        }
        Self::counted(counts, is_mixed, ids, unit_of)
    }

    /// Groups entities by unit, given each unit's entity count. `is_mixed`: ids do not ascend, or a unit's entities are not
    /// consecutive.
    pub(super) fn counted(
        counts: Vec<u32>,
        is_mixed: bool,
        ids: impl Iterator<Item = u32>,
        unit_of: impl Fn(u32) -> UnitId,
    ) -> Self {
        let count = counts.len();
        // Counting sort: the counts become start indices, and the last element becomes the total.
        let mut starts = counts;
        starts.push(0);
        let mut before = 0;
        for start in &mut starts {
            before += core::mem::replace(start, before);
        }
        let mixed = is_mixed.then(|| {
            let mut next = starts.clone();
            let mut sorted = vec![0; starts[count] as usize];
            let mut places = vec![0; sorted.len()];
            for id in ids {
                let unit = unit_of(id).as_u32() as usize;
                sorted[next[unit] as usize] = id;
                places[id as usize] = next[unit] - starts[unit];
                next[unit] += 1;
            }
            (sorted, places)
        });
        Self { starts, mixed }
    }

    /// A unit's entity ids.
    pub(super) fn ids(&self, unit: UnitId) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        let unit = unit.as_u32() as usize;
        (self.starts[unit]..self.starts[unit + 1]).map(|index| match &self.mixed {
            None => index,
            Some((ids, _)) => ids[index as usize],
        })
    }

    /// Entity index within its unit, counted from 0.
    #[inline]
    pub(super) fn place(&self, unit: UnitId, id: u32) -> u32 {
        match &self.mixed {
            None => id - self.starts[unit.as_u32() as usize],
            Some((_, places)) => places[id as usize],
        }
    }

    /// A unit's entity count.
    #[inline]
    pub(super) fn count(&self, unit: UnitId) -> u32 {
        let unit = unit.as_u32() as usize;
        self.starts[unit + 1] - self.starts[unit]
    }
}
