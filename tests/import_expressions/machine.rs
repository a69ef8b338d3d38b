//! Stopped programs in which every byte depends on its storage and address, for the evaluator and for the model.

use std::collections::BTreeMap;

use eitri::eval::{self, Body, CallValue, DebugInfo, Location, Machine, ReferencedEntry, Unavailable};
use eitri::model::{DescribedStorage, MachineContents, StorageSpan, VariableId};
use eitri::op::{Encoding, Reg};
use eitri::target::{SpaceId, Target};

/// Contents of registers and memory, and the current lane.
pub struct Stopped<'a> {
    pub target: &'a Target,
    /// Contents: 0 for zeros, 1 for ones, 2 for small numbers, else for numbers of all bits.
    pub seed: u64,
    pub lane: u32,
    pub info: Option<&'a DebugInfo<'a, 'a>>,
    pub frame_base: Option<&'a [u8]>,
    pub unit: u64,
    pub encoding: Encoding,
    /// Addresses of symbols, by name.
    pub symbols: Option<&'a BTreeMap<String, u64>>,
}

impl<'a> Stopped<'a> {
    /// Returns the machine of an expression's context.
    pub fn new(case: &Case<'a>) -> Self {
        let Case { target, info, frame_base, unit, encoding, .. } = *case;
        Self { target, seed: 0, lane: 0, info, frame_base, unit, encoding, symbols: None }
    }
}

use super::compare::Case;

/// The value that the caller passes for every parameter: `const1u 42`.
const PASSED: [u8; 2] = [0x08, 42];

const TLS: u64 = 0x0012_3400;

impl Stopped<'_> {
    fn byte(&self, storage: u64, address: u64) -> u8 {
        let mixed = (storage ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ address;
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let byte = (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> 40;
        match self.seed {
            0 => 0,
            1 => 0xff,
            2 if address.is_multiple_of(4) => 1 + (byte % 7) as u8,
            2 => 0,
            _ => byte as u8,
        }
    }

    fn register_byte(&self, reg: Reg, frame: u32, at: u64) -> u8 {
        // A register's second number has the contents of the first.
        let reg = self.target.register(reg).map_or(reg, |register| register.reg);
        let byte = self.byte(1 + reg.0 * 8, at);
        if frame == 0 { byte } else { byte.wrapping_mul(3) ^ 0x55 }
    }

    fn memory_byte(&self, space: SpaceId, lane: Option<u32>, address: u64) -> u8 {
        self.byte(2 + u64::from(space.0) * 8 + lane.map_or(0, |lane| (u64::from(lane) + 1) << 32), address)
    }

    fn cfa(&self) -> (SpaceId, u64) {
        match (self.target.has_lane_expressions(), self.target.space(SpaceId::PRIVATE_WAVE)) {
            (true, _) => (SpaceId::PRIVATE_LANE, 0x4_5670),
            (false, Some(space)) => (space.id, 0x4_5670),
            (false, None) if self.target.address_bytes() == 8 => (SpaceId::DEFAULT, 0x7fff_1234_5670),
            (false, None) => (SpaceId::DEFAULT, 0x1234_5670 >> (32 - 8 * self.target.address_bytes().min(4))),
        }
    }

    fn number(&self, from: u128, bits: u32, byte: impl Fn(u64) -> u8) -> u64 {
        let skip = (from % 8) as u32;
        let first = (from / 8) as u64;
        let count = (skip + bits).div_ceil(8);
        let bytes = (0..count).map(|index| byte(first.wrapping_add(index.into())));
        let number = bytes.rev().fold(0u128, |number, byte| number << 8 | u128::from(byte)) >> skip;
        number as u64 & u64::MAX >> (64 - bits)
    }
}

impl Machine for Stopped<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        self.target.register(reg).ok_or(Unavailable)?;
        for (index, byte) in into.iter_mut().enumerate() {
            *byte = self.register_byte(reg, frame, u64::from(at) + index as u64);
        }
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        for (index, byte) in into.iter_mut().enumerate() {
            *byte = self.memory_byte(space, lane, address.wrapping_add(index as u64));
        }
        Ok(())
    }

    fn is_big_endian(&self) -> bool {
        self.target.is_big_endian()
    }

    fn lane(&self) -> Option<u64> {
        (self.target.lanes() > 1).then_some(self.lane.into())
    }

    fn lanes(&self) -> u64 {
        self.target.lanes().into()
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let (space, address) = Stopped::cfa(self);
        let space = if self.target.has_lane_expressions() { SpaceId::DEFAULT } else { space };
        let bits = self.target.space(space)?.address_bits;
        (frame == 0).then(|| Location::memory(space, bits, address))
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let body = Body::Expression(self.frame_base?);
        (frame == 0).then(|| ReferencedEntry::new(body, self.unit, Some(self.encoding)))
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let register = self.target.register(reg)?;
        let storage = eval::Storage::Register { reg: register.reg, frame, bits: register.bits };
        (frame == 1).then(|| storage.into())
    }

    fn call_value(&self, _: u64, frame: u32) -> Option<CallValue<'_>> {
        let value = ReferencedEntry::new(Body::Expression(&PASSED), self.unit, Some(self.encoding));
        (frame == 0).then_some(CallValue { value, target: None })
    }

    fn tls(&self) -> Option<u64> {
        Some(TLS)
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.info?.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<eval::BaseType> {
        match self.info {
            Some(info) => info.base_type(unit, offset),
            None => super::references::random_type(offset),
        }
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        match self.info {
            Some(info) => info.entry(offset),
            None => Some(ReferencedEntry::new(Body::Nothing, self.unit, None)),
        }
    }
}

impl MachineContents for Stopped<'_> {
    fn register(&self, reg: Reg, from: u64, bits: u32) -> Option<u64> {
        Some(self.number(from.into(), bits, |at| self.register_byte(reg, 0, at)))
    }

    fn entry_register(&self, reg: Reg) -> Option<u64> {
        let bits = self.target.register(reg)?.bits.min(64);
        Some(self.number(0, bits, |at| self.register_byte(reg, 1, at)))
    }

    fn cfa(&self) -> Option<StorageSpan> {
        let (space, address) = Stopped::cfa(self);
        let lane = self.target.has_lane_expressions().then_some(self.lane);
        let storage = DescribedStorage::Memory(space, lane);
        Some(StorageSpan { storage, from: 8 * u128::from(address), bits: 1 })
    }

    fn thread_local(&self) -> Option<u64> {
        Some(TLS)
    }

    fn passed_value(&self, _: VariableId) -> Option<u64> {
        Some(PASSED[1].into())
    }

    fn memory(&self, space: SpaceId, lane: Option<u32>, from: u128, bits: u32) -> Option<u64> {
        if self.target.is_big_endian() {
            // The first bit is the most significant of the first byte, and of the number.
            let bit = |bit: u128| self.memory_byte(space, lane, (bit / 8) as u64) >> (7 - bit % 8) & 1;
            let bits = from..from + u128::from(bits);
            return Some(bits.fold(0, |number, index| number << 1 | u64::from(bit(index))));
        }
        Some(self.number(from, bits, |at| self.memory_byte(space, lane, at)))
    }

    fn lane(&self) -> Option<u32> {
        (self.target.lanes() > 1).then_some(self.lane)
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        match self.symbols {
            Some(symbols) => symbols.get(name).copied(),
            None => u64::from_str_radix(name.strip_prefix("at_")?, 16).ok(),
        }
    }
}
