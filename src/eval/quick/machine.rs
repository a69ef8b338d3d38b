//! What the quick way asks the machine and the target.

use super::super::Where;
use super::super::location::{Storage, memory_bits};
use super::super::machine::Body;
use super::super::ops::is_not_for_cfi;
use super::lane::{Lane, number};
use super::slots::{SLOTS, Slot};
use super::{Progress, Quick, alone};
use crate::op::{Dialect, Name, OPERATIONS, Reg};
use crate::target::{Per, SpaceId};

/// Whether an address of the default space is as large as a value of the generic type, and all lanes share the
/// memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flat {
    Unknown,
    No,
    /// It is; and whether numbers have their most significant byte first.
    Yes {
        big_endian: bool,
    },
}

impl Quick<'_> {
    /// Of the operations that only some expressions may have.
    pub(super) fn is_allowed(&self, name: Name) -> Option<()> {
        (self.place == Where::Location || !is_not_for_cfi(name)).then_some(())
    }

    /// The size of a register of the innermost frame. Those of other frames are anywhere.
    #[inline(never)]
    pub(super) fn register_bits(&self, reg: Reg) -> Option<u32> {
        if self.frame != 0 {
            return None;
        }
        self.target.register_bits(reg)
    }

    /// Makes sure that the default space is [flat](Flat). Says whether numbers have their most significant byte
    /// first.
    #[inline(always)]
    pub(super) fn flat(&self, lane: &mut Lane<'_>) -> Option<bool> {
        if lane.flat == Flat::Unknown {
            lane.flat = self.find_flat();
        }
        match lane.flat {
            Flat::Yes { big_endian } => Some(big_endian),
            _ => None,
        }
    }

    #[inline(never)]
    pub(super) fn find_flat(&self) -> Flat {
        match self.target.space(SpaceId::DEFAULT) {
            Some(space) if space.address_bits == self.address_bits() && space.per != Per::Lane => {
                Flat::Yes { big_endian: self.machine.is_big_endian() }
            }
            _ => Flat::No,
        }
    }

    pub(super) fn address_bits(&self) -> u32 {
        u32::from(self.encoding.address_bytes) * 8
    }

    #[inline(always)]
    pub(super) fn push_memory(&self, lane: &mut Lane<'_>, address: u64) -> Option<()> {
        self.flat(lane)?;
        lane.push(Slot::Memory(address & lane.mask))
    }

    /// The address in a register.
    #[inline(never)]
    pub(super) fn contents(&self, reg: Reg) -> Option<u64> {
        if self.register_bits(reg)? < self.address_bits() {
            return None;
        }
        let read = |bytes: &mut [u8]| self.machine.register(reg, 0, 0, bytes).ok();
        // A register's bytes come with the least significant first, on every machine.
        number(self.encoding.address_bytes, false, read)
    }

    #[inline(always)]
    pub(super) fn deref(&self, lane: &mut Lane<'_>, bytes: u8) -> Option<()> {
        if bytes == 0 || bytes > self.encoding.address_bytes {
            return None;
        }
        let big_endian = self.flat(lane)?;
        let address = lane.number()?;
        if address > lane.mask - u64::from(bytes - 1) {
            return None;
        }
        lane.top = Slot::Value(self.memory(address, bytes, big_endian)?);
        Some(())
    }

    #[inline(never)]
    pub(super) fn memory(&self, address: u64, bytes: u8, big_endian: bool) -> Option<u64> {
        let read = |into: &mut [u8]| self.machine.memory(SpaceId::DEFAULT, None, address, into).ok();
        number(bytes, big_endian, read)
    }

    /// The canonical frame address, if it is a byte of the default space and nothing else.
    #[inline(never)]
    pub(super) fn cfa(&self) -> Option<u64> {
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

    /// The address of the frame base. The stack is for its expression.
    #[inline(never)]
    pub(super) fn frame_base(&self, slots: &mut [Slot], steps: &mut u64) -> Option<u64> {
        self.is_allowed(Name::FbReg)?;
        if self.is_frame_base || self.depth == 0 {
            return None;
        }
        let Body::Expression(expr) = self.machine.frame_base(self.frame) else { return None };
        // One is for the operation itself.
        let max_steps = *steps - 1;
        if let Some(reg) = alone(expr).filter(|_| max_steps > 0 && slots.len() > 1) {
            *steps -= 1;
            return self.contents(reg);
        }
        // Whether that is `DW_OP_fbreg`, which must not be there, the long way finds out.
        if expr.iter().any(|&code| OPERATIONS[usize::from(code)] == Some(Name::FbReg)) {
            return None;
        }
        let within = Self { is_frame_base: true, depth: self.depth - 1, max_steps, pieces: 0, ..*self };
        let mut progress = Progress::after(0, None);
        let (true, len) = within.operations(expr, slots, &mut Vec::new(), &mut progress) else { return None };
        *steps -= progress.steps;
        match progress.register {
            Some(reg) => self.contents(reg),
            None if len > 0 => slots.get(len)?.number(),
            None => None,
        }
    }

    /// Makes an element, or nothing, a part of the composite.
    #[inline(never)]
    pub(super) fn piece(
        &self,
        slot: Option<Slot>,
        bits: u64,
        pieces: &mut Vec<(Option<Slot>, u64)>,
    ) -> Option<()> {
        let size = match slot {
            None => u64::MAX,
            Some(Slot::Register(bits, _)) => bits.into(),
            Some(Slot::Implicit(_)) => self.address_bits().into(),
            Some(Slot::Bottom) => return None,
            Some(Slot::Value(address) | Slot::Memory(address)) => {
                let all = memory_bits(self.address_bits());
                u64::try_from(all - u128::from(address) * 8).unwrap_or(u64::MAX)
            }
        };
        // The composite is an element too. Few and small pieces do not come near the size of the largest storage.
        let is_small = self.room > SLOTS
            && pieces.len() < self.pieces.min(SLOTS)
            && bits < 1 << 16
            && self.address_bits() >= 32;
        if !is_small || bits > size || self.encoding.dialect == Dialect::Dwarf6 {
            return None;
        }
        pieces.push((slot, bits));
        Some(())
    }
}
