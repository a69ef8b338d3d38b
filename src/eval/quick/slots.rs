//! The stack of the quick way, and what is on it as the rest of the evaluator has it.

use super::super::Element;
use super::super::composite::Composite;
use super::super::location::Location;
use super::super::value::Value;
use super::Quick;
use super::machine::Flat;
use crate::op::{Encoding, Reg};
use crate::target::SpaceId;

/// An element of the quick way's stack.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Slot {
    /// A value of the generic type.
    Value(u64),
    /// A byte of the default address space.
    Memory(u64),
    /// Known bits: a value of the generic type.
    Implicit(u64),
    /// The start of a register of the innermost frame, and its size in bits.
    Register(u32, Reg),
    /// No element: what is below the lowest.
    Bottom,
}

/// How many elements the stack has at most.
pub(super) const SLOTS: usize = 64;

/// The quick way's stack. Its room is kept from one evaluation to the next.
#[derive(Debug)]
pub(in super::super) struct Slots {
    /// The first is no element.
    pub(super) all: Box<[Slot; SLOTS + 1]>,
    /// How many are in use.
    pub(super) len: usize,
    /// The parts of the composite that is being built below them, and their sizes in bits. Without an element a
    /// part is undefined.
    pub(super) pieces: Vec<(Option<Slot>, u64)>,
}

impl Slots {
    pub fn new() -> Self {
        Self { all: Box::new([Slot::Bottom; SLOTS + 1]), len: 0, pieces: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.pieces.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.pieces.is_empty()
    }

    /// The composite below the elements, as far as it is built.
    pub fn composite(&self, encoding: &Encoding, big_endian: bool) -> Option<Composite> {
        let part = |&(slot, bits): &(Option<Slot>, u64)| match slot {
            Some(slot) => (slot.location(encoding, big_endian), bits),
            None => (Location::undefined(), bits),
        };
        (!self.pieces.is_empty()).then(|| Composite::of_simple(self.pieces.iter().map(part)))
    }

    /// The elements, the bottom first.
    pub fn elements(&self) -> &[Slot] {
        self.all.get(1..=self.len).unwrap_or_default()
    }
}

impl Slot {
    /// A value, or an address that converts to one.
    #[inline(always)]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Value(number) | Self::Memory(number) => Some(number),
            _ => None,
        }
    }

    /// The element as the rest of the evaluator has it.
    pub fn element(self, encoding: &Encoding, big_endian: bool) -> Element {
        match self {
            Self::Value(number) => Element::Value(Value::generic(number, encoding.address_bytes)),
            slot => Element::Location(slot.location(encoding, big_endian)),
        }
    }

    /// The same as a location: a value is an address.
    #[inline(always)]
    pub fn location(self, encoding: &Encoding, big_endian: bool) -> Location {
        match self {
            Self::Value(address) | Self::Memory(address) => {
                Location::memory(SpaceId::DEFAULT, u32::from(encoding.address_bytes) * 8, address)
            }
            Self::Register(bits, reg) => Location::register(reg, bits),
            Self::Implicit(number) => implicit(number, encoding, big_endian),
            Self::Bottom => Location::undefined(),
        }
    }
}

impl Quick<'_> {
    /// The location that an expression which is done results in.
    #[inline(always)]
    pub fn location(&self, slots: &Slots) -> Option<Location> {
        match *slots.elements() {
            [.., Slot::Value(_)] if self.find_flat() == Flat::No => None,
            [.., top @ (Slot::Value(_) | Slot::Memory(_) | Slot::Register(..))] => {
                Some(top.location(self.encoding, false))
            }
            _ => self.other_location(slots),
        }
    }

    #[inline(never)]
    fn other_location(&self, slots: &Slots) -> Option<Location> {
        let big_endian = self.machine.is_big_endian();
        if let Some(top) = slots.elements().last() {
            return Some(top.location(self.encoding, big_endian));
        }
        let mut composite = slots.composite(self.encoding, big_endian)?;
        composite.complete();
        Some(composite.into())
    }

    /// The value that an expression which is done results in.
    #[inline(always)]
    pub fn value(&self, slots: &Slots) -> Option<Value> {
        let number = slots.elements().last()?.number()?;
        Some(Value::generic(number, self.encoding.address_bytes))
    }
}

/// Where a value of the generic type is, if it stands nowhere.
fn implicit(number: u64, encoding: &Encoding, big_endian: bool) -> Location {
    let len = usize::from(encoding.address_bytes);
    let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
    let bytes = if big_endian { &big[8 - len..] } else { &little[..len] };
    Location::implicit(bytes)
}
