//! The parts of the composite that the quick way is building.

use super::super::composite::{Composite, Part};
use super::super::location::{ImplicitBits, Location, Storage};
use super::Quick;
use super::slots::Slot;
use crate::target::SpaceId;

/// Parts, each put together in its place. Their room is kept from one composite to the next.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Those of the composite, and behind them some of earlier ones. None of them owns anything.
    all: Vec<Part>,
    /// How many are the composite's.
    len: usize,
    /// How many it may have.
    pub most: usize,
    /// Their sizes, added up.
    bits: u128,
}

impl Parts {
    pub fn clear(&mut self) {
        (self.len, self.bits) = (0, 0);
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    #[cold]
    fn grow(&mut self) {
        self.all.push(Part { start: 0, bits: 0, location: Location::undefined() });
    }

    /// The composite as far as it is built.
    pub fn composite(&self) -> Option<Composite> {
        (self.len > 0).then(|| Composite::of_plain_parts(self.all[..self.len].to_vec(), self.bits))
    }

    /// Makes `location` the complete composite. If that is one that was made here and nobody else has it, nothing is
    /// allocated.
    #[inline(never)]
    pub fn finish(&mut self, location: &mut Location, was_made_here: bool) {
        self.all.truncate(self.len);
        match location.own_composite().filter(|_| was_made_here) {
            Some(composite) => composite.exchange_plain_parts(&mut self.all, self.bits),
            None => {
                let mut composite = Composite::of_plain_parts(core::mem::take(&mut self.all), self.bits);
                composite.complete();
                *location = composite.into();
            }
        }
    }
}

impl Quick<'_> {
    /// Adds what is at an element, or nothing, as a part. The register is one of so many bits.
    #[inline(always)]
    pub(super) fn add_part(&self, parts: &mut Parts, slot: Slot, bits: u64, register_bits: u32) {
        let start = parts.bits;
        if parts.len == parts.all.len() {
            parts.grow();
        }
        let Some(part) = parts.all.get_mut(parts.len) else { return };
        (part.start, part.bits) = (start, bits.into());
        match slot {
            Slot::Value(address) | Slot::Memory(address) => {
                replace(&mut part.location, Location::memory(SpaceId::DEFAULT, self.address_bits(), address));
            }
            Slot::Register(reg) => replace(&mut part.location, Location::register(reg, register_bits)),
            Slot::Implicit(number) => self.implicit_part(&mut part.location, number),
            Slot::Bottom => replace(&mut part.location, Location::undefined()),
        }
        parts.len += 1;
        parts.bits = start + u128::from(bits);
    }

    /// What asks the machine is apart, so that the rest needs no stack.
    #[inline(never)]
    fn implicit_part(&self, location: &mut Location, number: u64) {
        replace(location, self.implicit(number));
    }

    /// Where a value of the generic type is, if it stands nowhere.
    #[inline(always)]
    pub(super) fn implicit(&self, number: u64) -> Location {
        let bytes = self.encoding.address_bytes;
        let bits = ImplicitBits::number(number, bytes.min(8), self.machine.is_big_endian());
        Storage::Implicit(bits).into()
    }
}

/// Puts a location in the place of one that owns nothing, so that there is nothing to drop.
#[inline(always)]
fn replace(old: &mut Location, new: Location) {
    core::mem::forget(core::mem::replace(old, new));
}
