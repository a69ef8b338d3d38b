//! Stopped program for the evaluator: registers and memory from the [witnesses](super::witness), and the object's own
//! debug information.

use super::asked::Asked;
use super::homes::Homes;
use super::numbers::ByteStorage;
use super::referred::References;
use super::witness::{self, Fill, Patch};
use crate::eval::{
    BaseType, Body, DebugInfo, Location, Machine, PtxRegisters, ReferencedEntry, SingleLocation, Storage,
    Unavailable,
};
use crate::op::Reg;
use crate::target::{SpaceId, Target};

pub(super) struct Stopped<'a, 'o> {
    pub(super) target: &'a Target,
    pub(super) info: &'a DebugInfo<'a, 'o>,
    /// Entries that expressions refer to.
    pub(super) references: &'a References<'a, 'o>,
    pub(super) fill: Fill,
    pub(super) lane: Option<u32>,
    /// Lane count in the function's entry; 1 without the attribute.
    pub(super) lanes: u64,
    /// Program location, an address in the object.
    pub(super) pc: Option<u64>,
    pub(super) load_bias: u64,
    pub(super) asked: &'a Asked,
    pub(super) patch: Option<&'a Patch>,
    /// Homes of PTX registers; `None` for a machine with PTX registers of its own.
    pub(super) homes: Option<&'a Homes<'a>>,
}

impl Machine for Stopped<'_, '_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        if frame == 0
            && let Some(homes) = self.homes
            && self.target.register(reg).is_some_and(|register| register.is_packed())
        {
            self.asked.position.set(true);
            let (function, pc) = self.pc.and_then(|pc| homes.at(pc)).ok_or(Unavailable)?;
            return PtxRegisters::new(self, self.target, Some(function), pc).register(reg, frame, at, into);
        }
        let storage = match frame {
            0 => ByteStorage::Register(reg),
            // Frame 1 is the caller: its registers have the values on entry.
            1 => ByteStorage::Entry(reg),
            _ => return Err(Unavailable),
        };
        self.target.register(reg).ok_or(Unavailable)?;
        let order = self.target.byte_order();
        witness::read((self.fill, self.patch), self.asked, (storage, order), at.into(), into);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let storage = ByteStorage::Memory(space, lane);
        let order = self.target.byte_order();
        witness::read((self.fill, self.patch), self.asked, (storage, order), address, into);
        Ok(())
    }

    fn is_big_endian(&self) -> bool {
        self.target.is_big_endian()
    }

    fn lane(&self) -> Option<u64> {
        self.asked.lane.set(true);
        self.lane.map(Into::into)
    }

    fn lanes(&self) -> u64 {
        self.lanes
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        self.asked.position.set(true);
        self.pc.filter(|_| frame == 0)
    }

    /// Frame base for the function at the pc, which a thread's stack slots need.
    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let pc = self.pc.filter(|_| frame == 0 && self.target.has_lane_expressions())?;
        self.info.frame_base(pc)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let (space, address) = witness::cfa(self.target);
        // On NVIDIA's processors it is a number, because the variable's class names the space.
        let space = if self.target.has_lane_expressions() { SpaceId::DEFAULT } else { space };
        let bits = self.target.space(space)?.address_bits;
        // Callers' frames have no witness: nothing in an expression reaches them.
        (frame == 0).then(|| Location::memory(space, bits, address))
    }

    /// Location of a caller's register: the register in the caller's frame, which has the value on entry. Nothing
    /// describes where it is saved.
    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let bits = self.target.register(reg)?.bits;
        let storage = Storage::Register { reg, frame, bits };
        (frame == 1).then(|| SingleLocation { storage, offset: 0 }.into())
    }

    fn tls(&self) -> Option<u64> {
        Some(witness::THREAD_LOCAL)
    }

    fn load_bias(&self) -> u64 {
        self.load_bias
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.asked.position.set(true);
        self.info.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.asked.position.set(true);
        self.info.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let mut entry = self.info.entry(offset)?;
        self.asked.entries.borrow_mut().insert(offset);
        if let (Body::EncodedList(_), Some(pc)) = (entry.body, self.pc)
            && let Some(list) = self.references.list(offset)
        {
            entry.body = Body::List(list.part_at(pc));
        }
        Some(entry)
    }
}
