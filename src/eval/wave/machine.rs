//! A machine with another lane in focus.

use core::cell::Cell;

use super::super::forward::forward;
use super::super::machine::Machine;

/// A machine with another lane in focus: everything else is what the machine answers.
///
/// That is what the lanes of a wave differ in. The canonical frame address, the registers of outer frames, the
/// object and the frame base are the same for all lanes, unless what they are described by asks for the lane.
pub struct InLane<'m> {
    machine: &'m dyn Machine,
    lane: Cell<u64>,
    /// Whether it was asked for the lane.
    asked: Cell<bool>,
}

impl<'m> InLane<'m> {
    /// The machine with a lane in focus.
    pub fn new(machine: &'m dyn Machine, lane: u64) -> Self {
        Self { machine, lane: Cell::new(lane), asked: Cell::new(false) }
    }

    /// Puts another lane in focus, for which it was not asked yet.
    pub(super) fn focus(&self, lane: u32) {
        self.lane.set(lane.into());
        self.asked.set(false);
    }

    /// Whether it was asked for the lane in focus.
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
        load_bias debug_addr base_type entry call_value variable_type
    }

    fn lane(&self) -> Option<u64> {
        self.asked.set(true);
        Some(self.lane.get())
    }
}
