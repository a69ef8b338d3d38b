//! Pc ranges, indexed by the pcs that they contain.

use core::ops::Range;

use smallvec::SmallVec;

/// Ranges that can overlap. Finding the ranges that contain a pc takes time linear in how many these are, and
/// logarithmic in how many there are.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// Ranges by start, each with its number.
    sorted: Vec<(Range<u64>, usize)>,
    /// Implicit tree over the ranges: the middle of each part holds the part's largest end, so that a search skips
    /// parts that end too early.
    ends: Vec<u64>,
}

impl Ranges {
    /// Builds the index from ranges, each with its number.
    pub(super) fn new(ranges: impl Iterator<Item = (Range<u64>, usize)>) -> Self {
        let mut sorted: Vec<_> = ranges.collect();
        sorted.sort_unstable_by_key(|(range, number)| (range.start, *number));
        let mut ends = vec![0; sorted.len()];
        last_end(&sorted, &mut ends);
        Self { sorted, ends }
    }

    /// Returns whether any range overlaps `pcs`. Empty ranges overlap nothing.
    pub(super) fn meet(&self, pcs: &Range<u64>) -> bool {
        meet(&self.sorted, &self.ends, pcs)
    }

    /// Returns the numbers that belong to the ranges containing a pc, in ascending order.
    pub(super) fn containing(&self, pc: u64) -> SmallVec<[usize; 2]> {
        let mut numbers = SmallVec::new();
        collect_containing(&self.sorted, &self.ends, pc, &mut numbers);
        numbers.sort_unstable();
        numbers
    }
}

fn last_end(sorted: &[(Range<u64>, usize)], ends: &mut [u64]) -> u64 {
    let middle = sorted.len() / 2;
    let Some((range, _)) = sorted.get(middle) else { return 0 };
    let (before, after) = ends.split_at_mut(middle);
    let Some((here, after)) = after.split_first_mut() else { return 0 };
    let others = last_end(&sorted[..middle], before).max(last_end(&sorted[middle + 1..], after));
    *here = others.max(range.end);
    *here
}

fn meet(sorted: &[(Range<u64>, usize)], ends: &[u64], pcs: &Range<u64>) -> bool {
    let middle = sorted.len() / 2;
    let Some((range, _)) = sorted.get(middle).filter(|_| ends[middle] > pcs.start) else { return false };
    let is_met = range.start.max(pcs.start) < range.end.min(pcs.end);
    is_met
        || meet(&sorted[..middle], &ends[..middle], pcs)
        || range.start < pcs.end && meet(&sorted[middle + 1..], &ends[middle + 1..], pcs)
}

fn collect_containing(
    sorted: &[(Range<u64>, usize)],
    ends: &[u64],
    pc: u64,
    found: &mut SmallVec<[usize; 2]>,
) {
    let middle = sorted.len() / 2;
    let Some((range, number)) = sorted.get(middle).filter(|_| ends[middle] > pc) else { return };
    collect_containing(&sorted[..middle], &ends[..middle], pc, found);
    // Ranges to the right start later: none of them can contain an earlier pc.
    if range.start <= pc {
        found.extend(range.contains(&pc).then_some(*number));
        collect_containing(&sorted[middle + 1..], &ends[middle + 1..], pc, found);
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn all_that_contain_a_pc_are_found() {
        // Ranges that overlap, and empty or reversed ones.
        let ranges: Vec<_> = (0..200u64).map(|n| (n * 37 % 101)..(n * 53 % 113)).collect();
        let index = Ranges::new(ranges.iter().cloned().zip(0..));
        for pc in 0..120 {
            let expected: Vec<usize> =
                (0..ranges.len()).filter(|&number| ranges[number].contains(&pc)).collect();
            assert_eq!(index.containing(pc)[..], expected, "{pc}");
            for end in pc..120 {
                let is_met = (pc..end).any(|pc| ranges.iter().any(|range| range.contains(&pc)));
                assert_eq!(index.meet(&(pc..end)), is_met, "{pc}..{end}");
            }
        }
        assert!(Ranges::default().containing(0).is_empty());
    }
}
