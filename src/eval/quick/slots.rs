//! The stack of the quick way, and what is on it as the rest of the evaluator has it.

use std::sync::Arc;

use super::super::Element;
use super::super::composite::Composite;
use super::super::location::{Location, Storage};
use super::super::value::Value;
use super::Quick;
use super::machine::Flat;
use crate::op::Reg;
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
    /// The start of a register of the innermost frame. There is one of that number.
    Register(Reg),
    /// No element: what is below the lowest.
    Bottom,
}

/// A part of a composite that is being built.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// Where it starts; the bottom, if it is nowhere.
    pub slot: Slot,
    /// The size of the register, if it starts in one.
    pub register_bits: u32,
    /// Its size in bits.
    pub bits: u64,
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
    /// What the default space was found to be.
    pub(super) flat: Flat,
    /// The parts of the composite that is being built below them.
    pub(super) pieces: Vec<Piece>,
    /// The composite of the evaluation before, to be used once more if nobody else does.
    last: Option<Arc<Composite>>,
}

impl Slots {
    pub fn new() -> Self {
        let all = Box::new([Slot::Bottom; SLOTS + 1]);
        Self { all, len: 0, flat: Flat::Unknown, pieces: Vec::new(), last: None }
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.pieces.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.pieces.is_empty()
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

    /// The same, if it is an element.
    #[inline(always)]
    pub fn element(self) -> Option<Self> {
        (!matches!(self, Self::Bottom)).then_some(self)
    }
}

impl Quick<'_> {
    /// An element as the rest of the evaluator has it.
    pub fn element(&self, slot: Slot) -> Element {
        match slot {
            Slot::Value(number) => Element::Value(Value::generic(number, self.encoding.address_bytes)),
            slot => Element::Location(self.location_of(slot)),
        }
    }

    /// The same as a location: a value is an address, and nothing is nowhere.
    #[inline(always)]
    pub fn location_of(&self, slot: Slot) -> Location {
        match slot {
            Slot::Value(address) | Slot::Memory(address) => {
                Location::memory(SpaceId::DEFAULT, self.address_bits(), address)
            }
            Slot::Register(reg) => Location::register(reg, self.register_bits(reg).unwrap_or(0)),
            Slot::Implicit(number) => self.implicit(number),
            Slot::Bottom => Location::undefined(),
        }
    }

    /// Where a value of the generic type is, if it stands nowhere.
    #[inline(never)]
    fn implicit(&self, number: u64) -> Location {
        let len = usize::from(self.encoding.address_bytes);
        let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
        Location::implicit(if self.machine.is_big_endian() { &big[8 - len..] } else { &little[..len] })
    }

    /// The location that an expression which is done results in.
    #[inline(always)]
    pub fn location(&self, slots: &mut Slots) -> Option<Location> {
        let address_bits = self.address_bits();
        match slots.elements() {
            [.., Slot::Value(_)] if self.or_find(slots.flat) == Flat::No => None,
            // These are put together in their place: to copy a location is slower.
            [.., Slot::Value(address) | Slot::Memory(address)] => {
                Some(Location::memory(SpaceId::DEFAULT, address_bits, *address))
            }
            _ => self.other_location(slots),
        }
    }

    #[inline(never)]
    fn other_location(&self, slots: &mut Slots) -> Option<Location> {
        match *slots.elements() {
            [.., top] => Some(self.location_of(top)),
            [] if slots.pieces.is_empty() => None,
            [] => Some(self.whole(slots)),
        }
    }

    /// The composite below the elements, as far as it is built.
    pub fn composite(&self, slots: &Slots) -> Option<Composite> {
        let mut composite = Composite::empty();
        self.renew(&mut composite, &slots.pieces, false);
        (!slots.pieces.is_empty()).then_some(composite)
    }

    /// The same, complete. Where the caller has let go of the one before, this allocates nothing.
    fn whole(&self, slots: &mut Slots) -> Location {
        let mut last = slots.last.take().unwrap_or_else(|| Arc::new(Composite::empty()));
        let composite = match Arc::get_mut(&mut last) {
            Some(composite) => composite,
            None => {
                last = Arc::new(Composite::empty());
                // Nobody else has this one, so that it is not cloned.
                Arc::make_mut(&mut last)
            }
        };
        self.renew(composite, &slots.pieces, true);
        slots.last = Some(last.clone());
        Storage::Composite(last).into()
    }

    fn renew(&self, composite: &mut Composite, pieces: &[Piece], complete: bool) {
        let sizes = pieces.iter().map(|piece| piece.bits);
        let bits = self.address_bits();
        // Each is put together in its place: to copy a location is slower.
        let set = |index: usize, location: &mut Location| match pieces[index].slot {
            Slot::Value(at) | Slot::Memory(at) => *location = Location::memory(SpaceId::DEFAULT, bits, at),
            Slot::Register(reg) => *location = Location::register(reg, pieces[index].register_bits),
            slot => *location = self.location_of(slot),
        };
        composite.renew(sizes, set, complete);
    }

    /// The value that an expression which is done results in.
    #[inline(always)]
    pub fn value(&self, slots: &Slots) -> Option<Value> {
        let number = slots.elements().last()?.number()?;
        Some(Value::generic(number, self.encoding.address_bytes))
    }
}
