//! Queries of the fast evaluator to the machine and the target.

use super::super::Where;
use super::super::location::{Location, Storage};
use super::super::machine::Body;
use super::code::Bytes;
use super::lane::Lane;
use super::opcode::FBREG;
use super::parts::Parts;
use super::slots::{SLOTS, Slot, Slots};
use super::{Fast, Progress, alone};
use crate::op::{Dialect, Name, Reg};
use crate::target::{Per, SpaceId};

/// Whether addresses of the default space have the size of the generic type, and all lanes share that memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flat {
    Unknown,
    No,
    Yes,
}

impl Fast<'_> {
    /// Checks that an operation is allowed at the expression's position.
    pub(super) fn is_allowed(&self, name: Name) -> Option<()> {
        (self.place == Where::Location || name.row().is_for_cfi).then_some(())
    }

    /// Returns the size of a register of the innermost frame. Registers of other frames can be at any location.
    #[inline(always)]
    pub fn register_bits(&self, reg: Reg) -> Option<u32> {
        if self.frame != 0 {
            return None;
        }
        self.target.whole_register_bits(reg)
    }

    /// Requires the default space to be [flat](Flat).
    #[inline(always)]
    pub(super) fn flat(&self, lane: &mut Lane<'_>) -> Option<()> {
        lane.flat = self.or_find(lane.flat);
        (lane.flat == Flat::Yes).then_some(())
    }

    /// Returns whether the default space is flat, determining it if unknown.
    #[inline(always)]
    pub(super) fn or_find(&self, flat: Flat) -> Flat {
        if flat == Flat::Unknown { self.find_flat() } else { flat }
    }

    /// Whether the default space is flat.
    pub fn is_flat(&self) -> bool {
        self.find_flat() == Flat::Yes
    }

    #[inline(never)]
    fn find_flat(&self) -> Flat {
        match self.target.space(SpaceId::DEFAULT) {
            Some(space) if space.address_bits == self.address_bits() && space.per != Per::Lane => Flat::Yes,
            _ => Flat::No,
        }
    }

    pub fn address_bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }

    #[inline(always)]
    pub(super) fn push_memory(&self, lane: &mut Lane<'_>, address: u64) -> Option<()> {
        self.flat(lane)?;
        lane.push(Slot::Memory(address & lane.mask))
    }

    /// Pushes the address in a register plus an offset.
    #[inline(always)]
    pub(super) fn based(&self, lane: &mut Lane<'_>, reg: Reg) -> Option<()> {
        let by = lane.code.sleb()?;
        let address = self.based_address(lane, reg, by)?;
        lane.push(Slot::Memory(address))
    }

    /// Returns the address in a register plus an offset.
    #[inline(always)]
    pub(super) fn based_address(&self, lane: &mut Lane<'_>, reg: Reg, by: i64) -> Option<u64> {
        self.flat(lane)?;
        Some(self.contents(reg)?.wrapping_add(by as u64) & lane.mask)
    }

    #[inline(always)]
    pub(super) fn push_register(&self, lane: &mut Lane<'_>, reg: Reg) -> Option<()> {
        lane.register_bits = self.register_bits(reg)?;
        lane.push(Slot::Register(reg))?;
        lane.register_end = lane.code.next();
        Some(())
    }

    /// Returns the address in a register.
    #[inline(always)]
    pub fn contents(&self, reg: Reg) -> Option<u64> {
        if self.register_bits(reg)? < self.address_bits() {
            return None;
        }
        self.machine.register_word(reg, 0, self.encoding.address_bytes).ok()
    }

    #[inline(always)]
    pub(super) fn deref(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<()> {
        if bytes == 0 || bytes > self.encoding.address_bytes {
            return None;
        }
        self.flat(lane)?;
        let address = lane.number()?;
        let word = self.word_at(lane.mask, address, bytes)?;
        lane.replace(Slot::Value(word))
    }

    /// Returns the number in `bytes` bytes of the flat default space, of 1 up to the size of an address.
    #[inline(always)]
    pub fn word_at(&self, mask: u64, address: u64, bytes: u8) -> Option<u64> {
        if address > mask - u64::from(bytes - 1) {
            return None;
        }
        let word = self.machine.memory_word(SpaceId::DEFAULT, None, address, bytes).ok()?;
        Some(word & mask)
    }

    /// Returns the canonical frame address, if it is a single byte of the default space.
    #[inline(never)]
    pub fn cfa(&self) -> Option<u64> {
        self.is_allowed(Name::CallFrameCfa)?;
        if self.encoding.dialect == Dialect::Dwarf6 {
            return None;
        }
        let location = self.machine.cfa(self.frame)?;
        match location.single()?.storage {
            Storage::Memory { address_bits, .. } if address_bits == self.address_bits() => {
                location.default_address()
            }
            _ => None,
        }
    }

    /// Returns the location at an offset from the frame base, for an expression of that operation alone.
    #[inline(always)]
    pub fn based_on_frame(&self, slots: &mut Slots, by: i64) -> Option<Location> {
        let bits = self.address_bits();
        if !(1..=64).contains(&bits) || self.max_steps == 0 || self.find_flat() != Flat::Yes {
            return None;
        }
        let mut steps = self.max_steps;
        let base = self.frame_base(slots.all.get_mut(1..=self.room.min(SLOTS))?, &mut steps)?;
        let address = base.checked_add_signed(by).filter(|&address| address <= u64::MAX >> (64 - bits))?;
        Some(Location::memory(SpaceId::DEFAULT, bits, address))
    }

    /// Returns the address of the frame base. `slots` is the stack for its expression.
    #[inline(never)]
    pub fn frame_base(&self, slots: &mut [Slot], steps: &mut u64) -> Option<u64> {
        self.is_allowed(Name::FbReg)?;
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let base = self.machine.frame_base(self.frame)?;
        let Body::Expression(expr) = base.body else { return None };
        // Operations that depend on the unit are not supported here, so the unit does not matter.
        if base.encoding.is_some_and(|encoding| encoding != *self.encoding) {
            return None;
        }
        // One step is for the operation itself.
        let max_steps = *steps - 1;
        if let Some(reg) = alone(expr).filter(|_| max_steps > 0 && slots.len() > 1) {
            *steps -= 1;
            return self.contents(reg);
        }
        // Only the full evaluator distinguishes `DW_OP_fbreg`, which is not allowed here, from operand bytes.
        if expr.contains(&FBREG) {
            return None;
        }
        let within = Self { is_frame_base: true, depth: self.depth - 1, max_steps, pieces: 0, ..*self };
        let mut progress = Progress::after(0, None);
        let end = within.operations(Bytes::new(expr, 0), slots, &mut Parts::default(), &mut progress);
        if !end.is_done {
            return None;
        }
        *steps -= progress.steps;
        match progress.register {
            Some(reg) => self.contents(reg),
            None if end.len > 0 => slots.get(end.len)?.number(),
            None => None,
        }
    }

    /// Makes an element, or undefined storage, a part of the composite. `register_bits` is the size of the element's
    /// register, or 0 if unknown.
    #[inline(never)]
    pub(super) fn piece(
        &self,
        slot: Slot,
        bytes: u64,
        mut register_bits: u32,
        parts: &mut Parts,
    ) -> Option<()> {
        if parts.is_empty() {
            // The composite takes an element too.
            let can_begin =
                self.room > SLOTS && self.address_bits() >= 32 && self.encoding.dialect != Dialect::Dwarf6;
            parts.most = if can_begin { self.pieces.min(SLOTS) } else { 0 };
        }
        // A few small pieces cannot exceed the size of the largest storage.
        if parts.len() >= parts.most || bytes >= 1 << 13 {
            return None;
        }
        let bits = 8 * bytes;
        let size = match slot {
            Slot::Bottom => u64::MAX,
            Slot::Register(reg) => {
                if register_bits == 0 {
                    register_bits = self.register_bits(reg)?;
                }
                register_bits.into()
            }
            Slot::Implicit(_) => self.address_bits().into(),
            // From the address to the end of the memory.
            Slot::Value(address) | Slot::Memory(address) => {
                let last = u64::MAX >> (64 - self.address_bits());
                (last - address).saturating_mul(8).saturating_add(8)
            }
        };
        if bits > size {
            return None;
        }
        match slot {
            Slot::Value(address) | Slot::Memory(address) => {
                parts.add(bits, Location::memory(SpaceId::DEFAULT, self.address_bits(), address));
            }
            Slot::Register(reg) => parts.add(bits, Location::register(reg, register_bits)),
            Slot::Implicit(number) => parts.add(bits, self.implicit(number)),
            Slot::Bottom => parts.add(bits, Location::undefined()),
        }
        Some(())
    }
}
