//! Parts of the composite under construction in the fast evaluator.

use super::super::composite::{Composite, Part};
use super::super::location::{ImplicitBits, Location, Storage};
use super::Quick;
use super::slots::Slot;
use crate::target::SpaceId;

/// Parts, each constructed in place. Their memory is reused from one composite to the next.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Parts of the composite, followed by parts of earlier ones. None of them owns memory.
    all: Vec<Part>,
    /// Number of parts of the composite.
    len: usize,
    /// Maximum number of parts.
    pub most: usize,
    /// Total size in bits.
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

    /// Returns the composite built so far.
    pub fn composite(&self) -> Option<Composite> {
        (self.len > 0).then(|| Composite::of_plain_parts(self.all[..self.len].to_vec(), self.bits))
    }

    /// Makes `location` the complete composite. Nothing is allocated if its old composite was made here and is not
    /// shared.
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
    /// Adds the location of an element, or undefined storage, as a part of `bits` bits. `register_bits` is the size of
    /// the element's register.
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

    /// A separate function, as it calls the machine: the caller then needs no stack frame.
    #[inline(never)]
    fn implicit_part(&self, location: &mut Location, number: u64) {
        replace(location, self.implicit(number));
    }

    /// Returns the implicit location of a value of the generic type.
    #[inline(always)]
    pub(super) fn implicit(&self, number: u64) -> Location {
        let bytes = self.encoding.address_bytes;
        let bits = ImplicitBits::number(number, bytes.min(8), self.machine.is_big_endian());
        Storage::Implicit(bits).into()
    }
}

/// Replaces a location that owns no memory, so that nothing needs to be dropped.
#[inline(always)]
fn replace(old: &mut Location, new: Location) {
    core::mem::forget(core::mem::replace(old, new));
}
