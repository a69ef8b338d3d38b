//! The fast evaluation's stack: numbers, and their kinds beside them.

use super::super::location::Location;
use super::kinds::{Kind, Packed};
use super::parts::Parts;

/// The stack's size, which has fewer elements. The slot at the element count belongs to the top.
pub(super) const HEIGHT: usize = 64;

pub(super) type Numbers = [u64; HEIGHT];

/// One expression's elements, from index 1.
#[derive(Debug)]
pub(super) struct Level {
    pub numbers: Numbers,
    pub kinds: [Packed; HEIGHT],
}

/// Element count, and the top, which is not stored in its slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct Top {
    pub height: usize,
    pub number: u64,
    /// Remaining steps.
    pub left: u64,
}

/// Returns the slot for the element `index` below the top. The height is known: the mask only spares a check.
#[inline(always)]
pub(super) fn slot<T>(all: &mut [T; HEIGHT], height: usize, index: usize) -> &mut T {
    &mut all[height.wrapping_sub(index) % HEIGHT]
}

impl Top {
    #[inline(always)]
    pub fn push(&mut self, numbers: &mut Numbers, number: u64) {
        *slot(numbers, self.height, 0) = core::mem::replace(&mut self.number, number);
        self.height += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self, numbers: &mut Numbers) {
        self.height -= 1;
        self.number = *slot(numbers, self.height, 0);
    }
}

/// The fast evaluation's memory, which the next evaluation reuses.
#[derive(Debug)]
pub(in super::super) struct Slots {
    /// Elements for the expression, and for its frame base.
    pub(super) levels: Box<[Level; 2]>,
    /// Element count where the direct evaluation stopped.
    height: usize,
    /// Parts in the composite under construction below the elements.
    pub(super) parts: Parts,
    /// Whether the location that the evaluator [keeps](super::super::Evaluator::locate) is a composite constructed
    /// from these parts.
    kept_is_ours: bool,
}

impl Slots {
    pub fn new() -> Self {
        let level = || Level { numbers: [0; HEIGHT], kinds: [Packed::NOTHING; HEIGHT] };
        let levels = Box::new([level(), level()]);
        Self { levels, height: 0, parts: Parts::default(), kept_is_ours: false }
    }

    pub fn clear(&mut self) {
        self.height = 0;
        self.parts.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.height == 0 && self.parts.is_empty()
    }

    /// Stores the top where the direct evaluation stopped.
    #[inline(always)]
    pub(super) fn store(&mut self, top: Top, kind: Packed) {
        let [level, _] = &mut *self.levels;
        // While it ran, the top was in a register only.
        *slot(&mut level.numbers, top.height, 0) = top.number;
        *slot(&mut level.kinds, top.height, 0) = kind;
        self.height = top.height;
    }

    /// Returns the elements' kinds and numbers, bottom first.
    pub(super) fn elements(&self) -> impl Iterator<Item = (Kind, u64)> {
        let [level, _] = &*self.levels;
        level.kinds.iter().map(|kind| kind.kind()).zip(level.numbers).take(self.height + 1).skip(1)
    }

    /// Records that the kept location was not constructed here.
    pub fn forget_kept(&mut self) {
        self.kept_is_ours = false;
    }

    /// Returns the complete composite.
    pub(super) fn composite_location(&mut self) -> Location {
        let mut whole = Location::undefined();
        self.parts.finish(&mut whole, false);
        whole
    }

    /// Makes `kept` the complete composite.
    pub(super) fn keep_parts(&mut self, kept: &mut Location) {
        self.parts.finish(kept, self.kept_is_ours);
        self.kept_is_ours = true;
    }
}
