//! Stack of the fast evaluator, and conversion of its elements for the full evaluator.

use super::super::Element;
use super::super::composite::Composite;
use super::super::location::Location;
use super::super::value::Value;
use super::Fast;
use super::machine::Flat;
use super::parts::Parts;
use crate::op::Reg;
use crate::target::SpaceId;

/// Element of the fast evaluator's stack.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Slot {
    /// A value of the generic type.
    Value(u64),
    /// A byte of the default address space.
    Memory(u64),
    /// Known bits: a value of the generic type.
    Implicit(u64),
    /// The start of an existing register of the innermost frame.
    Register(Reg),
    /// No element: the slot below the lowest element.
    Bottom,
}

/// Maximum number of elements on the stack.
pub(super) const SLOTS: usize = 64;

/// Stack of the fast evaluator. Its memory is reused from one evaluation to the next.
#[derive(Debug)]
pub(in super::super) struct Slots {
    /// Slots; the first is not an element.
    pub(super) all: Box<[Slot; SLOTS + 1]>,
    /// Number of elements.
    pub(super) len: usize,
    /// Known property of the default space.
    pub(super) flat: Flat,
    /// Parts of the composite under construction below the elements.
    pub parts: Parts,
    /// Whether the location that the evaluator [keeps](super::super::Evaluator::locate) is a composite made from these
    /// parts.
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

    /// Records that the kept location was not made here.
    pub fn forget_kept(&mut self) {
        self.kept_is_ours = false;
    }

    /// Returns the stack above `height` elements, for `room` elements in all; its first slot is not an element.
    pub fn room(&mut self, height: usize, room: usize) -> Option<&mut [Slot]> {
        self.all.get_mut(height..=room)
    }

    /// Returns the complete composite.
    pub fn composite_location(&mut self) -> Location {
        let mut whole = Location::undefined();
        self.parts.finish(&mut whole, false);
        whole
    }

    /// Makes `kept` the complete composite.
    pub fn keep_parts(&mut self, kept: &mut Location) {
        self.parts.finish(kept, self.kept_is_ours);
        self.kept_is_ours = true;
    }

    /// Returns the elements, bottom first.
    pub fn elements(&self) -> &[Slot] {
        self.all.get(1..=self.len).unwrap_or_default()
    }
}

impl Slot {
    /// Returns the value, or the address that converts to one.
    #[inline(always)]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Value(number) | Self::Memory(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the slot, if it is an element.
    #[inline(always)]
    pub fn element(self) -> Option<Self> {
        (!matches!(self, Self::Bottom)).then_some(self)
    }
}

impl Fast<'_> {
    /// Converts a slot to an element of the full evaluator.
    pub fn element(&self, slot: Slot) -> Element {
        match slot {
            Slot::Value(number) => Element::Value(Value::generic(number, self.encoding.address_bytes)),
            slot => Element::Location(self.location_of(slot)),
        }
    }

    /// Converts a slot to a location: a value becomes an address, and the bottom the undefined location.
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

    /// Returns the location that a finished expression results in.
    #[inline(always)]
    pub fn location(&self, slots: &mut Slots) -> Option<Location> {
        let address_bits = self.address_bits();
        match slots.elements() {
            [.., Slot::Value(_)] if self.or_find(slots.flat) == Flat::No => None,
            // Constructed in place: copying a location is slower.
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
            [] => Some(slots.composite_location()),
        }
    }

    /// Makes `kept` the location that a finished expression results in. `None` if only the full evaluator can find it;
    /// `kept` is then unchanged.
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
                slots.keep_parts(kept);
                return Some(());
            }
        }
        slots.kept_is_ours = false;
        Some(())
    }

    /// Returns the composite below the elements, as built so far.
    pub fn composite(&self, slots: &Slots) -> Option<Composite> {
        slots.parts.composite()
    }

    /// Returns the value that a finished expression results in.
    #[inline(always)]
    pub fn value(&self, slots: &Slots) -> Option<Value> {
        let number = slots.elements().last()?.number()?;
        Some(Value::generic(number, self.encoding.address_bytes))
    }
}
