//! A machine with another current lane.

use core::cell::Cell;

use super::super::forward::forward;
use super::super::machine::Machine;

/// A machine with another current lane, and otherwise unchanged.
///
/// A wave's lanes differ only in the current lane. The canonical frame address, outer frames' registers, the object
/// and the frame base are equal for all lanes, unless their descriptions use the lane.
pub struct InLane<'m> {
    machine: &'m dyn Machine,
    lane: Cell<u64>,
    /// Whether the lane was queried.
    asked: Cell<bool>,
}

impl<'m> InLane<'m> {
    /// Returns the machine with a current lane.
    pub fn new(machine: &'m dyn Machine, lane: u64) -> Self {
        Self { machine, lane: Cell::new(lane), asked: Cell::new(false) }
    }

    /// Sets the current lane, and resets the query record.
    pub(super) fn focus(&self, lane: u32) {
        self.lane.set(lane.into());
        self.asked.set(false);
    }

    /// Whether the current lane was queried.
    pub(super) fn was_asked(&self) -> bool {
        self.asked.get()
    }
}

impl core::fmt::Debug for InLane<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("InLane").field("lane", &self.lane.get()).finish_non_exhaustive()
    }
}

impl Machine for InLane<'_> {
    forward! {
        register memory is_big_endian lanes iteration iterations pc cfa frame_base saved object tls
        load_bias debug_addr base_type entry call_value entry_value variable_type
    }

    fn lane(&self) -> Option<u64> {
        self.asked.set(true);
        Some(self.lane.get())
    }
}
