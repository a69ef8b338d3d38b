//! Facts that a comparison reads.

use core::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::numbers::Numbers;
use super::pairs::Reads;

/// Facts that an evaluation read from the machine. The result does not depend on others.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Whether it read the current lane.
    pub(super) lane: Cell<bool>,
    /// Whether it read the contents of a register or of memory.
    pub(super) contents: Cell<bool>,
    /// Whether it read the pc, or the base types and addresses of a unit.
    pub(super) position: Cell<bool>,
    /// Entries that it read, by offset.
    pub(super) entries: RefCell<BTreeSet<u64>>,
    /// Contents that are chosen for the numbers that are read.
    pub(super) numbers: RefCell<Option<Numbers>>,
    /// Whether some contents were chosen.
    pub(super) combines: Cell<bool>,
}

impl Asked {
    pub(super) fn clear(&self) {
        self.lane.set(false);
        self.contents.set(false);
        self.position.set(false);
        self.numbers.take();
        self.combines.set(false);
    }

    /// Returns the facts that were read since the last [`clear`](Self::clear). An entry that was read before counts.
    pub(super) fn reads(&self) -> Reads {
        let position = self.position.get() || !self.entries.borrow().is_empty();
        Reads {
            lane: self.lane.get(),
            contents: self.contents.get(),
            combines: self.combines.get(),
            position,
        }
    }
}
