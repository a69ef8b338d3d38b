//! Composites: parts of other storages, one after the other.

use std::sync::Arc;

use super::fault::{Fault, error, ill_formed};
use super::location::{Location, SingleLocation, Storage};

/// A part of a composite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Bits from the start of the composite.
    pub start: u128,
    /// Its size in bits.
    pub bits: u128,
    /// Where its bits are, from the first on.
    pub location: Location,
}

/// Parts of other storages, one after the other without gaps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Composite {
    parts: Vec<Part>,
    bits: u128,
    complete: bool,
    /// Parts of all levels: what it costs to go through them.
    weight: u32,
    /// Levels of composites, 1 if no part is one.
    depth: u32,
}

/// Levels of composites in composites that are followed, so that no input can exhaust the machine stack.
const MAX_DEPTH: u32 = 100;

impl Composite {
    /// A composite without parts.
    pub(super) fn empty() -> Self {
        Self { parts: Vec::new(), bits: 0, complete: false, weight: 0, depth: 1 }
    }

    /// A composite that is being built, of parts whose storages are no composites and have enough bits.
    pub(super) fn of_simple(places: impl ExactSizeIterator<Item = (Location, u64)>) -> Self {
        let weight = places.len() as u32;
        let mut bits = 0;
        let part = |(location, size): (Location, u64)| {
            let part = Part { start: bits, bits: size.into(), location };
            bits += part.bits;
            part
        };
        let parts = places.map(part).collect();
        Self { parts, bits, complete: false, weight, depth: 1 }
    }

    /// A complete composite of parts, each with its size in bits.
    ///
    /// # Errors
    /// Ill-formed if a part needs more bits than its storage has; an evaluation error if there are more than
    /// 65536 parts on all levels.
    pub fn of(parts: impl IntoIterator<Item = (Location, u128)>) -> Result<Self, Fault> {
        let mut composite = Self::empty();
        for (location, bits) in parts {
            composite.push(location, bits, u128::MAX, super::Limits::default().parts)?;
        }
        composite.complete();
        Ok(composite)
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The size in bits: the sum of the parts.
    pub fn size(&self) -> u128 {
        self.bits
    }

    /// Whether no more parts can be added.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn complete(&mut self) {
        self.complete = true;
    }

    /// Adds a part.
    ///
    /// # Errors
    /// Ill-formed if the part needs more bits than its storage has, or the composite gets larger than
    /// `max_bits`; an evaluation error if it has more than `max_parts` parts on all levels.
    pub(super) fn push(
        &mut self,
        location: Location,
        bits: u128,
        max_bits: u128,
        max_parts: u32,
    ) -> Result<(), Fault> {
        let mut weight = 0u32;
        for place in location.places() {
            if place.remaining().is_some_and(|remaining| remaining < bits) {
                return Err(ill_formed(format!(
                    "a part of {bits} bits at bit {} needs more bits than its storage has (A.2.5.4.4.6)",
                    place.offset
                )));
            }
            let (inner, depth) = match &place.storage {
                Storage::Composite(inner) => (inner.weight, inner.depth + 1),
                _ => (1, 1),
            };
            weight = weight.saturating_add(inner.max(1));
            self.depth = self.depth.max(depth);
        }
        let start = self.bits;
        self.bits = start.checked_add(bits).filter(|&all| all <= max_bits).ok_or_else(|| {
            ill_formed(format!("a composite of more than the {max_bits} bits of the largest address space"))
        })?;
        self.weight = self.weight.saturating_add(weight);
        if self.weight > max_parts || self.depth > MAX_DEPTH {
            return Err(error(format!("a composite of more than {max_parts} parts, or {MAX_DEPTH} levels")));
        }
        self.parts.push(Part { start, bits, location });
        Ok(())
    }

    /// The parts that hold the bits from `offset` on, `bits` of them: for each the location, the bits to skip
    /// in it, and how many it gives.
    pub fn slice(&self, offset: u128, bits: u128) -> impl Iterator<Item = (&Location, u128, u128)> {
        let end = offset.saturating_add(bits);
        let first = self.parts.partition_point(|part| part.start + part.bits <= offset);
        self.parts[first..].iter().take_while(move |part| part.start < end).filter_map(move |part| {
            let from = part.start.max(offset);
            let to = (part.start + part.bits).min(end);
            (from < to).then(|| (&part.location, from - part.start, to - from))
        })
    }
}

/// The location without the composite around it, where the next `bits` bits are all in one part. The bits are the
/// same, and what is made of many such parts does not hold the whole composite many times.
pub(super) fn narrowed(location: Location, bits: u128) -> Location {
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        return location;
    };
    let mut parts = composite.slice(*offset, bits);
    let inside = parts.next().filter(|&(_, _, found)| found == bits);
    let part = inside.and_then(|(part, skip, _)| part.clone().moved(i128::try_from(skip).ok()?).ok());
    drop(parts);
    // As deep as composites can be in each other.
    part.map_or(location, |part| narrowed(part, bits))
}

impl From<Composite> for Location {
    fn from(composite: Composite) -> Self {
        Storage::Composite(Arc::new(composite)).into()
    }
}
