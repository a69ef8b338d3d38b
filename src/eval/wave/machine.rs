//! A machine with another lane in focus.

use core::cell::Cell;

use super::super::location::Location;
use super::super::machine::{Body, Entry, Machine, Unavailable};
use super::super::value::BaseType;
use crate::op::Reg;
use crate::target::SpaceId;

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
    fn lane(&self) -> Option<u64> {
        self.asked.set(true);
        Some(self.lane.get())
    }

    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        self.machine.register(reg, frame, at, into)
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        self.machine.memory(space, lane, address, into)
    }

    fn is_big_endian(&self) -> bool {
        self.machine.is_big_endian()
    }

    fn lanes(&self) -> u64 {
        self.machine.lanes()
    }

    fn iteration(&self) -> Option<u64> {
        self.machine.iteration()
    }

    fn iterations(&self) -> u64 {
        self.machine.iterations()
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        self.machine.pc(frame)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        self.machine.cfa(frame)
    }

    fn frame_base(&self, frame: u32) -> Body<'_> {
        self.machine.frame_base(frame)
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        self.machine.saved(reg, frame)
    }

    fn object(&self) -> Option<Location> {
        self.machine.object()
    }

    fn tls(&self) -> Option<u64> {
        self.machine.tls()
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.machine.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.machine.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<Entry<'_>> {
        self.machine.entry(offset)
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<Entry<'_>> {
        self.machine.call_value(parameter, frame)
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        self.machine.variable_type(offset)
    }
}
