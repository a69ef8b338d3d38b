//! The stack of the quick way, and what is on it as the rest of the evaluator has it.

use super::super::Element;
use super::super::composite::Composite;
use super::super::location::Location;
use super::super::value::Value;
use super::Quick;
use super::machine::Flat;
use super::parts::Parts;
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
    pub(super) parts: Parts,
    /// Whether the location that the evaluator [keeps](super::super::Evaluator::locate) is a composite of such parts.
    kept_is_ours: bool,
}

impl Slots {
    pub fn new() -> Self {
        let all = Box::new([Slot::Bottom; SLOTS + 1]);
        Self { all, len: 0, flat: Flat::Unknown, parts: Parts::default(), kept_is_ours: false }
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.parts.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0 && self.parts.is_empty()
    }

    /// Notes that the location which is kept is another's.
    pub fn forget_kept(&mut self) {
        self.kept_is_ours = false;
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
            [] if slots.parts.is_empty() => None,
            [] => {
                let mut whole = Location::undefined();
                slots.parts.finish(&mut whole, false);
                Some(whole)
            }
        }
    }

    /// Makes `kept` the location that an expression which is done results in. If that is for others to find, it is
    /// `None`, and `kept` as it was.
    #[inline(always)]
    pub fn locate(&self, slots: &mut Slots, kept: &mut Location) -> Option<()> {
        let address_bits = self.address_bits();
        match slots.elements() {
            [.., Slot::Value(_)] if self.or_find(slots.flat) == Flat::No => return None,
            [.., Slot::Value(address) | Slot::Memory(address)] => {
                *kept = Location::memory(SpaceId::DEFAULT, address_bits, *address);
            }
            [.., top] => *kept = self.location_of(*top),
            [] if slots.parts.is_empty() => return None,
            [] => {
                slots.parts.finish(kept, slots.kept_is_ours);
                slots.kept_is_ours = true;
                return Some(());
            }
        }
        slots.kept_is_ours = false;
        Some(())
    }

    /// The composite below the elements, as far as it is built.
    pub fn composite(&self, slots: &Slots) -> Option<Composite> {
        slots.parts.composite()
    }

    /// The value that an expression which is done results in.
    #[inline(always)]
    pub fn value(&self, slots: &Slots) -> Option<Value> {
        let number = slots.elements().last()?.number()?;
        Some(Value::generic(number, self.encoding.address_bytes))
    }
}
