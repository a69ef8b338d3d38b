//! Machine with made-up contents, on which the steps of expressions are shown.

use crate::eval::{BaseType, DebugInfo, Entry, Location, Machine, Unavailable};
use crate::op::Reg;
use crate::target::{SpaceId, Target};

/// Canonical frame address of the machine.
const CFA: u64 = 0x7000;

/// A machine stopped in a function. A register of number N contains N × 0x100, in each lane plus its number; memory
/// contains the addresses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Witness<'a, 'o> {
    pub(super) info: &'a DebugInfo<'a, 'o>,
    pub(super) frame_base: Option<Entry<'a>>,
    pub(super) pc: u64,
    pub(super) lane: Option<u64>,
    pub(super) lanes: u64,
    pub(super) target: &'a Target,
}

impl Machine for Witness<'_, '_> {
    fn register(&self, reg: Reg, _frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let is_vector = self.target.register(reg).is_some_and(|register| register.is_vector());
        let number = (reg.0 & 0xfff) << 8;
        for (byte, at) in into.iter_mut().zip(at..) {
            let (word, at) = match is_vector {
                true => (number | u64::from(at / 4), at % 4),
                false => (number, at),
            };
            *byte = word.to_le_bytes().get(at as usize).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn memory(
        &self,
        _space: SpaceId,
        _lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        for (index, byte) in into.iter_mut().enumerate() {
            let at = address.wrapping_add(index as u64);
            *byte = (at & !7).to_le_bytes()[at as usize % 8];
        }
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        self.lane
    }

    fn lanes(&self) -> u64 {
        self.lanes
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.pc)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        (frame == 0)
            .then(|| Location::memory(SpaceId::DEFAULT, u32::from(self.target.address_bytes()) * 8, CFA))
    }

    fn frame_base(&self, frame: u32) -> Option<Entry<'_>> {
        self.frame_base.filter(|_| frame == 0)
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.info.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.info.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<Entry<'_>> {
        self.info.entry(offset)
    }
}
