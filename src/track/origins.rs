//! Origins: where each place's contents at the end of a stretch come from, for a lane that waits.
//!
//! Origins are traced backwards. They start as "each place is its own source" at the end of the stretch; each write before
//! this point replaces its destination by its source.

/// The source of contents that no place contains.
pub(super) const LOST: u32 = u32::MAX;
/// Flags a constant among sources.
pub(super) const CONSTANT: u32 = 1 << 31;

/// A write in all lanes. A group of writes reads all sources before it writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write {
    pub(super) to: u32,
    /// A place, a constant, or [`LOST`].
    pub(super) from: u32,
    pub(super) is_first: bool,
}

/// The pcs for which a path has origins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// The path's end.
    End,
    /// All pcs on the path. At the first pc each place is its own source, so this source has no entry.
    Any,
}

/// Maximum number of sources for a place. A place with more sources counts as lost, which bounds the time and is always
/// sound.
const SOURCES: usize = 4;

/// The sources of each place's contents, at a path's start: places, constants, or none. A place without entries is its
/// own source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origins {
    /// A bit for each place with new contents, up to the last such place.
    overwritten: Vec<u64>,
    /// Places with sources, sorted.
    moved: Vec<(u32, u32)>,
}

impl Origins {
    fn is_lost(&self, place: u32) -> bool {
        self.overwritten.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 != 0)
    }

    fn overwrite(&mut self, place: u32) {
        let word = place as usize / 64;
        if self.overwritten.len() <= word {
            self.overwritten.resize(word + 1, 0);
        }
        self.overwritten[word] |= 1 << (place % 64);
    }

    /// Adds the places that another path overwrites.
    pub(super) fn overwrite_all(&mut self, other: &Self) {
        if self.overwritten.len() < other.overwritten.len() {
            self.overwritten.resize(other.overwritten.len(), 0);
        }
        self.overwritten.iter_mut().zip(&other.overwritten).for_each(|(word, other)| *word |= other);
    }

    fn sources(&self, place: u32) -> &[(u32, u32)] {
        let start = self.moved.partition_point(|moved| moved.0 < place);
        let count = self.moved[start..].iter().take_while(|moved| moved.0 == place).count();
        &self.moved[start..start + count]
    }

    /// Returns the places with new contents.
    pub(super) fn overwritten(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.overwritten).flat_map(|(word, &bits)| {
            let next = |bits: &u64| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
            let remaining = core::iter::successors(Some(bits).filter(|&bits| bits != 0), next);
            remaining.map(move |bits| 64 * word + bits.trailing_zeros())
        })
    }

    /// Returns the moved places with their sources.
    pub(super) fn moved(&self) -> impl Iterator<Item = &[(u32, u32)]> {
        self.moved.chunk_by(|a, b| a.0 == b.0)
    }

    /// Adds another path's origins.
    pub(super) fn merge(&mut self, other: &Self, at: At) {
        self.overwrite_all(other);
        if self.moved == other.moved {
            // Only the losses can differ.
            let moved = core::mem::take(&mut self.moved);
            self.moved = moved.into_iter().filter(|moved| !self.is_lost(moved.0)).collect();
            return;
        }
        let mut moved = core::mem::take(&mut self.moved);
        if at == At::End {
            // A place without entries keeps its contents on that path.
            let own = |moved: &[(u32, u32)], others: &[(u32, u32)]| -> Vec<(u32, u32)> {
                let is_other = |place: u32| others.binary_search_by_key(&place, |moved| moved.0).is_err();
                let places = moved.iter().map(|moved| moved.0);
                places.filter(|&place| is_other(place)).map(|place| (place, place)).collect()
            };
            let here = own(&other.moved, &moved);
            moved.extend(own(&moved, &other.moved));
            moved.extend(here);
        }
        moved.extend(&other.moved);
        self.settle(moved, at);
    }

    /// Puts a group of writes before the path.
    pub(super) fn precede(&mut self, writes: &[Write], at: At) {
        // If a group writes a place twice, the last write counts.
        let source = |place: u32| writes.iter().rev().find(|write| write.to == place).map(|write| write.from);
        let mut fresh = writes.iter().filter(|write| {
            let is_own = at == At::Any || self.sources(write.to).is_empty();
            !self.is_lost(write.to) && is_own && source(write.to) == Some(write.from)
        });
        if self.moved.is_empty() {
            let fresh: Vec<(u32, u32)> = fresh.map(|write| (write.to, write.from)).collect();
            if !fresh.is_empty() {
                self.settle(fresh, at);
            }
            return;
        }
        // Sources are read before the group writes, so that a write replaces a source everywhere.
        let is_read = self.moved.iter().any(|moved| source(moved.1).is_some());
        let first = fresh.next();
        if is_read || first.is_some() {
            let new: Vec<(u32, u32)> =
                first.into_iter().chain(fresh).map(|write| (write.to, write.from)).collect();
            let mut moved = core::mem::take(&mut self.moved);
            moved.iter_mut().for_each(|moved| moved.1 = source(moved.1).unwrap_or(moved.1));
            moved.extend(new);
            self.settle(moved, at);
        }
    }

    /// Returns a whole path's origins. `first` are the origins for its first part, and these the origins for its second
    /// part.
    pub(super) fn after(&self, first: &Self, at: At) -> Self {
        let mut joined = Self { overwritten: first.overwritten.clone(), moved: Vec::new() };
        // What the second part overwrites from another source is no longer lost.
        if at == At::End {
            for &(place, _) in &self.moved {
                if let Some(word) = joined.overwritten.get_mut(place as usize / 64) {
                    *word &= !(1 << (place % 64));
                }
            }
            let used = joined.overwritten.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
            joined.overwritten.truncate(used);
        }
        // Losses in the second part always count.
        joined.overwrite_all(self);
        let is_own = |place: u32| at == At::Any || self.sources(place).is_empty();
        let mut moved: Vec<(u32, u32)> =
            first.moved.iter().filter(|moved| is_own(moved.0)).copied().collect();
        for &(place, from) in &self.moved {
            match first.sources(from) {
                _ if from & CONSTANT == 0 && first.is_lost(from) => moved.push((place, LOST)),
                [] => moved.push((place, from)),
                sources => moved.extend(sources.iter().map(|source| (place, source.1))),
            }
        }
        joined.settle(moved, at);
        joined
    }

    /// Replaces the moved places. The list may contain duplicates.
    fn settle(&mut self, mut moved: Vec<(u32, u32)>, at: At) {
        moved.sort_unstable();
        moved.dedup();
        let mut start = 0;
        let mut kept = 0;
        while start < moved.len() {
            let place = moved[start].0;
            let end = start + moved[start..].iter().take_while(|moved| moved.0 == place).count();
            let is_gone = |&(_, from): &(u32, u32)| from == LOST;
            // Too many sources count as a loss.
            if end - start > SOURCES || moved[start..end].iter().any(is_gone) {
                self.overwrite(place);
            } else if !self.is_lost(place) {
                let is_single = end - start == 1;
                for other in start..end {
                    let is_own = moved[other].1 == place && (is_single || at == At::Any);
                    if !is_own {
                        moved[kept] = moved[other];
                        kept += 1;
                    }
                }
            }
            start = end;
        }
        moved.truncate(kept);
        self.moved = moved;
    }
}
