//! The fast evaluation's results, as elements for the full evaluation.

use super::super::location::{Composite, Location};
use super::super::stack::Element;
use super::super::value::Value;
use super::inputs::Fast;
use super::kinds::Kind;
use super::query::register;
use super::stack::Slots;
use crate::op::Reg;
use crate::target::SpaceId;

/// A finished expression's result.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Found {
    /// The top element. The default space is known to be flat if `is_flat`.
    Top { kind: Kind, number: u64, is_flat: bool },
    /// The composite in the slots.
    Parts,
}

impl Fast<'_> {
    /// Returns the resulting location.
    #[inline(always)]
    pub fn location(&self, found: Found, slots: &mut Slots) -> Option<Location> {
        match found {
            Found::Top { kind, number, is_flat } => self.top_location(kind, number, is_flat),
            Found::Parts => Some(slots.composite_location()),
        }
    }

    /// Makes `kept` the resulting location. `None` if only the full evaluator can find it; `kept` is then unchanged.
    #[inline(always)]
    pub fn locate(&self, found: Found, slots: &mut Slots, kept: &mut Location) -> Option<()> {
        match found {
            Found::Top { kind, number, is_flat } => {
                // Constructed where it is kept, because copying a location is slower.
                if self.is_memory(kind, is_flat)? {
                    kept.replace(|| self.memory(number))
                } else {
                    self.keep_other(kind, number, kept)?
                }
                slots.forget_kept();
            }
            Found::Parts => slots.keep_parts(kept),
        }
        Some(())
    }

    /// Returns the resulting value.
    #[inline(always)]
    pub fn value(&self, found: Found) -> Option<Value> {
        match found {
            Found::Top { kind, number, .. } if kind.is_number() => Some(self.generic(number)),
            _ => None,
        }
    }

    /// Returns the elements at which the direct evaluation stopped, with the composite below, bottom first.
    pub fn elements(&self, slots: &Slots) -> impl Iterator<Item = Element> {
        let composite =
            slots.parts.composite().map(|composite: Composite| Element::Location(composite.into()));
        composite.into_iter().chain(slots.elements().map(|(kind, number)| match kind {
            Kind::Value => Element::Value(self.generic(number)),
            kind => Element::Location(self.top_location(kind, number, true).unwrap_or(Location::undefined())),
        }))
    }

    #[inline(always)]
    fn generic(&self, number: u64) -> Value {
        Value::generic(number, self.encoding.address_bytes)
    }

    #[inline(always)]
    fn top_location(&self, kind: Kind, number: u64, is_flat: bool) -> Option<Location> {
        if self.is_memory(kind, is_flat)? {
            Some(self.memory(number))
        } else {
            self.other_location(kind, number)
        }
    }

    /// Whether an element is, or converts to, a byte in the default space. `None` if its address has another size.
    #[inline(always)]
    fn is_memory(&self, kind: Kind, is_flat: bool) -> Option<bool> {
        match kind {
            Kind::Value => (is_flat || self.is_flat()).then_some(true),
            kind => Some(kind == Kind::Memory(SpaceId::DEFAULT)),
        }
    }

    #[inline(always)]
    fn memory(&self, address: u64) -> Location {
        Location::memory(SpaceId::DEFAULT, self.address_bits(), address)
    }

    #[inline(never)]
    fn keep_other(&self, kind: Kind, number: u64, kept: &mut Location) -> Option<()> {
        *kept = self.other_location(kind, number)?;
        Some(())
    }

    #[inline(never)]
    fn other_location(&self, kind: Kind, number: u64) -> Option<Location> {
        match kind {
            Kind::Memory(space) => Some(self.space(space)?.location(number)),
            Kind::Register(reg) => Some(register(reg, self.register_bits(Reg(reg.into()))?, number)),
            Kind::Known => Some(self.implicit(number)),
            Kind::Value | Kind::Nothing => None,
        }
    }
}
