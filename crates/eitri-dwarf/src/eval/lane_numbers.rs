//! A number for each lane in a wave.

use std::sync::Arc;

use super::word::Binary;

/// A number for each lane. Numbers for lanes that are not evaluated are arbitrary.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LaneNumbers {
    /// Numbers that increase or decrease evenly from lane to lane. The numbers are not negative.
    Linear(Line),
    Each(Arc<Table>),
}

/// Numbers by lane.
pub(super) type Table = [u64; 64];

/// Numbers that differ by a constant from lane to lane: `first + step * lane`. The numbers have at most 61 bits
/// and a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    first: i64,
    step: i64,
}

/// Limit for the first number.
const FIRST: i64 = 1 << 60;
/// Limit for the difference between adjacent lanes, so that no lane exceeds 61 bits.
const STEP: i64 = 1 << 54;

impl LaneNumbers {
    pub fn of_table(numbers: Table) -> Self {
        Self::Each(Arc::new(numbers))
    }

    #[inline]
    pub fn get(&self, lane: u32) -> u64 {
        match self {
            Self::Linear(line) => line.get(lane) as u64,
            Self::Each(numbers) => numbers[lane as usize],
        }
    }

    /// Returns the least and the greatest number in some lanes; `None` without lanes.
    pub fn bounds(&self, lanes: u64) -> Option<(u64, u64)> {
        match self {
            Self::Linear(line) => line.bounds(lanes).map(|(least, greatest)| (least as u64, greatest as u64)),
            Self::Each(numbers) => {
                let mut of_lanes = lanes_of(lanes).map(|lane| numbers[lane as usize]);
                let first = of_lanes.next()?;
                let widen = |(least, greatest): (u64, u64), one| (least.min(one), greatest.max(one));
                Some(of_lanes.fold((first, first), widen))
            }
        }
    }

    /// Returns the numbers as a table.
    pub fn table(&self) -> Table {
        match self {
            Self::Linear(_) => core::array::from_fn(|lane| self.get(lane as u32)),
            Self::Each(numbers) => **numbers,
        }
    }
}

impl Line {
    /// Each lane's number is the lane.
    pub const LANE: Self = Self { first: 0, step: 1 };

    fn new(first: i64, step: i64) -> Option<Self> {
        // The limits leave room for a sum of two lines in 64 bits.
        let is_small = (-FIRST..=FIRST).contains(&first) && (-STEP..=STEP).contains(&step);
        is_small.then_some(Self { first, step })
    }

    /// Returns a number that is equal in all lanes.
    pub fn constant(number: i64) -> Option<Self> {
        Self::new(number, 0)
    }

    /// Returns the number, if it is equal in all lanes.
    pub fn as_constant(self) -> Option<i64> {
        (self.step == 0).then_some(self.first)
    }

    #[inline]
    pub fn get(self, lane: u32) -> i64 {
        self.first + self.step * i64::from(lane)
    }

    /// Returns the least and the greatest number in some lanes; `None` without lanes.
    pub fn bounds(self, lanes: u64) -> Option<(i64, i64)> {
        // Linear numbers have their extremes in the first and the last lane.
        let last = lanes.checked_ilog2()?;
        let left = self.get(lanes.trailing_zeros());
        let right = self.get(last);
        Some((left.min(right), left.max(right)))
    }

    /// Whether the numbers in some lanes are from 0 to `last`.
    pub fn is_within(self, lanes: u64, last: u64) -> bool {
        self.bounds(lanes).is_some_and(|(least, greatest)| least >= 0 && greatest as u64 <= last)
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        Self::new(self.first + other.first, self.step + other.step)
    }

    pub fn times(self, by: i64) -> Option<Self> {
        Self::new(self.first.checked_mul(by)?, self.step.checked_mul(by)?)
    }

    /// Returns an operation's result on numbers without a limit; `None` where it is not linear.
    pub fn binary(op: Binary, left: Self, right: Self) -> Option<Self> {
        match op {
            Binary::Plus => left.plus(right),
            Binary::Minus => left.plus(right.times(-1)?),
            Binary::Mul => match (left.as_constant(), right.as_constant()) {
                (_, Some(by)) => left.times(by),
                (Some(by), None) => right.times(by),
                (None, None) => None,
            },
            // A shift is a product, as long as nothing overflows.
            Binary::Shl => left.times(1i64.checked_shl(right.as_constant()?.try_into().ok()?)?),
            _ => None,
        }
    }
}

/// Returns the lanes whose bits are set, lowest first.
pub(super) fn lanes_of(mut lanes: u64) -> impl Iterator<Item = u32> + Clone {
    core::iter::from_fn(move || {
        let lane = (lanes != 0).then(|| lanes.trailing_zeros())?;
        // Clears the lowest set bit.
        lanes &= lanes - 1;
        Some(lane)
    })
}
