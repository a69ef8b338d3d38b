//! Queries of compiled expressions to the machine and the target. `None` marks a possible fault.

use super::super::fast::{Parts, Slots};
use super::super::generic;
use super::super::location::{Location, SingleLocation, Storage};
use super::code::Instruction;
use super::run::{Execution, HEIGHT, State};
use crate::op::Reg;
use crate::target::{Per, SpaceId};

/// An address space other than the default one.
pub(super) struct Space {
    id: SpaceId,
    address_bits: u32,
    /// The current lane, where each lane has its own memory.
    lane: Option<u32>,
}

impl Space {
    /// Returns the largest address.
    pub fn last(&self) -> u64 {
        u64::MAX >> (64 - self.address_bits)
    }

    pub fn location(&self, address: u64) -> Location {
        let Self { id: space, address_bits, lane } = *self;
        let storage = Storage::Memory { space, address_bits, lane };
        SingleLocation { storage, offset: u128::from(address) * 8 }.into()
    }
}

impl Execution<'_> {
    /// Returns the address in a register plus an offset.
    #[inline(always)]
    pub(super) fn based(&self, one: &Instruction, by: u64) -> Option<u64> {
        Some(self.fast.contents(Reg(one.small.into()))?.wrapping_add(by) & self.mask)
    }

    /// Returns the number in bytes of the default space.
    #[inline(always)]
    pub(super) fn word(&self, address: u64, bytes: u8) -> Option<u64> {
        self.fast.word_at(self.mask, address, bytes)
    }

    /// Returns the number in bytes of another space.
    pub(super) fn word_in(&self, one: &Instruction, address: u64) -> Option<u64> {
        let space = self.space(one.small)?;
        if address > space.last().checked_sub(u64::from(one.bytes - 1))? {
            return None;
        }
        self.fast.machine.memory_word(space.id, space.lane, address, one.bytes).ok()
    }

    /// Returns the number in bytes of a register, from a bit on.
    #[inline(always)]
    pub(super) fn read(&self, one: &Instruction, from: u64) -> Option<u64> {
        let (reg, bits) = (Reg(one.small.into()), u64::from(one.bytes) * 8);
        if u64::from(self.fast.register_bits(reg)?) < from.checked_add(bits)? {
            return None;
        }
        match from {
            0 => self.fast.machine.register_word(reg, 0, one.bytes).ok(),
            _ => self.read_inside(reg, from, one.bytes),
        }
    }

    #[inline(never)]
    fn read_inside(&self, reg: Reg, from: u64, bytes: u8) -> Option<u64> {
        let at = u32::try_from(from / 8).ok().filter(|_| from.is_multiple_of(8))?;
        let mut word = [0; 8];
        self.fast.machine.register(reg, 0, at, word.get_mut(..bytes.into())?).ok()?;
        Some(u64::from_le_bytes(word))
    }

    #[inline(never)]
    pub(super) fn frame_base(&self, one: &Instruction, state: &mut State, slots: &mut Slots) -> Option<u64> {
        // A composite under construction is an element, too.
        let room = slots.room(state.height + 1, self.fast.room.min(HEIGHT))?;
        // One step is for the operation itself, which is counted.
        let mut steps = state.left.checked_add(1)?;
        let base = self.fast.frame_base(room, &mut steps)?;
        state.left = steps.checked_sub(1)?;
        // A location outside its storage is a fault; the address does not wrap around.
        base.checked_add_signed(one.operand as i64).filter(|&address| address <= self.mask)
    }

    #[inline(never)]
    pub(super) fn lane(&self) -> Option<u64> {
        let machine = self.fast.machine;
        machine.lane().filter(|&lane| lane < machine.lanes())
    }

    /// Returns a space other than the default one.
    pub(super) fn space(&self, id: u32) -> Option<Space> {
        let id = SpaceId(id);
        let layout = self.fast.target.space(id).filter(|layout| (1..=64).contains(&layout.address_bits))?;
        let lane = match layout.per {
            Per::Process | Per::Thread => None,
            Per::Lane => Some(self.lane()?.try_into().ok()?),
        };
        Some(Space { id, address_bits: layout.address_bits, lane })
    }

    /// Returns an address moved by a number of bytes.
    pub(super) fn moved(&self, one: &Instruction, address: u64, by: u64) -> Option<u64> {
        let last = match SpaceId(one.small) {
            SpaceId::DEFAULT => self.mask,
            _ => self.space(one.small)?.last(),
        };
        let by = generic::signed(self.mask.leading_zeros(), by);
        address.checked_add_signed(by).filter(|&address| address <= last)
    }

    /// Returns a bit of a register moved by a number of units.
    pub(super) fn moved_in_register(&self, one: &Instruction, from: u64, by: u64) -> Option<u64> {
        let size = self.fast.register_bits(Reg(one.small.into()))?;
        let by = generic::signed(self.mask.leading_zeros(), by).checked_mul(one.bytes.into())?;
        from.checked_add_signed(by).filter(|&bit| bit < size.into())
    }

    #[inline(always)]
    pub(super) fn register_piece(&self, one: &Instruction, from: u64, parts: &mut Parts) -> Option<()> {
        let size = self.fast.register_bits(Reg(one.small.into()))?;
        if one.operand > u64::from(size).checked_sub(from)? {
            return None;
        }
        parts.add(one.operand, register(one.small, size, from));
        Some(())
    }

    /// Adds memory of the default space as a piece of `bits` bits.
    #[inline(always)]
    pub(super) fn memory_piece(&self, bits: u64, address: u64, parts: &mut Parts) -> Option<()> {
        if !fits(bits, address, self.mask) {
            return None;
        }
        parts.add(bits, Location::memory(SpaceId::DEFAULT, self.fast.address_bits(), address));
        Some(())
    }

    /// Adds memory of another space as a piece.
    pub(super) fn space_piece(&self, one: &Instruction, address: u64, parts: &mut Parts) -> Option<()> {
        let space = self.space(one.small)?;
        if !fits(one.operand, address, space.last()) {
            return None;
        }
        parts.add(one.operand, space.location(address));
        Some(())
    }

    #[inline(always)]
    pub(super) fn known_piece(&self, bits: u64, number: u64, parts: &mut Parts) {
        parts.add(bits, self.fast.implicit(number));
    }
}

/// Returns a bit of a register.
#[inline(always)]
pub(super) fn register(reg: u32, bits: u32, from: u64) -> Location {
    let storage = Storage::Register { reg: Reg(reg.into()), frame: 0, bits };
    SingleLocation { storage, offset: from.into() }.into()
}

/// Whether a piece of `bits` bits ends at or before the last address.
#[inline(always)]
fn fits(bits: u64, address: u64, last: u64) -> bool {
    bits <= (last - address).saturating_mul(8).saturating_add(8)
}
