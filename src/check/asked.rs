//! Facts that a comparison reads.

use core::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::numbers::Numbers;
use super::pairs::Reads;
use super::variety::Variety;
use crate::model::StorageSpan;

/// Facts that an evaluation read from the machine. The result depends on nothing else, so that a comparison needs to
/// vary only these.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Whether it read the current lane.
    pub(super) lane: Cell<bool>,
    /// Whether it read register or memory contents.
    pub(super) contents: Cell<bool>,
    /// Whether it read the pc, or a unit's base types and addresses.
    pub(super) position: Cell<bool>,
    /// Entries that it read, by offset.
    pub(super) entries: RefCell<BTreeSet<u64>>,
    /// Contents chosen for the numbers that the evaluation reads.
    pub(super) numbers: RefCell<Option<Numbers>>,
    /// Whether some contents were chosen.
    pub(super) combines: Cell<bool>,
    /// Described results so far, in the contents of one pc and lane.
    pub(super) variety: RefCell<Option<Variety>>,
}

impl Asked {
    pub(super) fn clear(&self) {
        self.lane.set(false);
        self.contents.set(false);
        self.position.set(false);
        // `entries` stays: `Pcs::follow` takes it, after several evaluations.
        self.numbers.take();
        self.combines.set(false);
        self.variety.take();
    }

    /// Adds a described result in the current contents, if it was computed from contents.
    pub(super) fn add_result<'s>(&self, spans: impl Iterator<Item = &'s StorageSpan>) {
        if !self.contents.get() {
            return;
        }
        match &mut *self.variety.borrow_mut() {
            Some(variety) => variety.add(spans),
            none => *none = Some(Variety::new(spans)),
        }
    }

    /// Returns the facts that were read since the last [`clear`](Self::clear). An entry that was read earlier also
    /// counts.
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
