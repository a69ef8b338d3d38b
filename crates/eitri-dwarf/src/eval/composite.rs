//! Composites: parts of other storages, one after the other.

use crate::error::Count;
use std::sync::Arc;

use super::fault::{Fault, ill_formed, limit};
use super::location::{Location, SingleLocation, Storage};
use super::per_lane::Places;

/// A part of a composite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    /// Offset in bits from the start of the composite.
    pub start: u128,
    /// Size in bits.
    pub bits: u128,
    /// Location of the first of its bits.
    pub location: Location,
}

/// Parts of other storages, one after the other without gaps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Composite {
    parts: Vec<Part>,
    bits: u128,
    complete: bool,
    /// Whether bits beyond the parts are undefined (DWARF 6, 3.12, 251120.1) instead of outside the storage.
    is_open: bool,
    /// Number of parts on all levels: the cost of visiting them.
    weight: u32,
    /// Number of levels of composites, 1 without composites among the parts.
    depth: u32,
    /// Role in the evaluation of a whole wave.
    wave: Wave,
}

/// Whether a composite differs between lanes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Wave {
    /// Equal in all lanes. The other variants occur only in the evaluation of a whole wave.
    Unchanged,
    /// Parts of the composite differ between lanes.
    Parts,
    /// Composite without parts, representing a place that differs between lanes. The size is the smallest of all lanes.
    Places(Arc<Places>),
}

/// Maximum number of nested composites, so that no input can exhaust the machine stack.
const MAX_DEPTH: u32 = 100;

impl Composite {
    /// Returns a composite without parts.
    pub(super) fn empty() -> Self {
        Self {
            parts: Vec::new(),
            bits: 0,
            complete: false,
            is_open: false,
            weight: 0,
            depth: 1,
            wave: Wave::Unchanged,
        }
    }

    /// Makes a composite of DWARF 6, which is always complete, and smaller than objects may be.
    pub(super) fn open(self) -> Self {
        Self { complete: true, is_open: true, ..self }
    }

    /// Returns a storage that represents a place that differs between lanes. `bits` bits remain in each lane.
    pub(super) fn of_places(places: Arc<Places>, bits: u128, weight: u32, depth: u32) -> Self {
        Self { bits, complete: true, weight, depth, wave: Wave::Places(places), ..Self::empty() }
    }

    /// Whether it differs between lanes.
    pub(super) fn varies(&self) -> bool {
        self.wave != Wave::Unchanged
    }

    /// Whether it contains no composite, in any lane.
    pub(super) fn is_flat(&self) -> bool {
        self.depth == u32::from(self.places().is_none())
    }

    /// Returns the place that differs between lanes, if the composite represents one.
    pub(super) fn places(&self) -> Option<&Places> {
        match &self.wave {
            Wave::Places(places) => Some(places),
            _ => None,
        }
    }

    /// Returns the number of parts on all levels, and of levels, of a storage.
    pub(super) fn weigh(storage: &Storage) -> (u32, u32) {
        match storage {
            Storage::Composite(inner) => (inner.weight, inner.depth),
            _ => (1, 0),
        }
    }

    /// Returns the composite with other locations in its parts. The composite varies if a part does.
    pub(super) fn with_parts(&self, mut location: impl FnMut(usize, &Part) -> Location) -> Self {
        let parts = self.parts.iter().enumerate();
        let parts: Vec<_> =
            parts.map(|(index, part)| Part { location: location(index, part), ..*part }).collect();
        let mut all = Self { parts: Vec::new(), weight: 0, depth: 1, wave: Wave::Unchanged, ..*self };
        parts.iter().flat_map(|part| part.location.places()).for_each(|place| all.count(place));
        Self { parts, ..all }
    }

    /// Makes the parts of one lane, made from `all`, those of another lane. Returns false where that is not possible.
    pub(super) fn move_parts(&mut self, all: &Self, lane: u32) -> bool {
        let mut parts = self.parts.iter_mut().zip(&all.parts);
        parts.all(|(part, all)| part.location.move_to(&all.location, lane))
    }

    /// Adds a place to the weight, depth and variation.
    fn count(&mut self, place: &SingleLocation) {
        let (weight, depth) = Self::weigh(&place.storage);
        self.weight = self.weight.saturating_add(weight.max(1));
        self.depth = self.depth.max(depth + 1);
        if matches!(&place.storage, Storage::Composite(inner) if inner.varies()) {
            self.wave = Wave::Parts;
        }
    }

    /// Returns a composite of parts with `bits` bits in all. The parts' storages are not composites and are large
    /// enough.
    pub(super) fn of_plain_parts(parts: Vec<Part>, bits: u128) -> Self {
        Self { bits, weight: parts.len() as u32, parts, ..Self::empty() }
    }

    /// Replaces the parts of a complete composite by such parts, and returns the old ones in `parts`.
    pub(super) fn exchange_plain_parts(&mut self, parts: &mut Vec<Part>, bits: u128) {
        core::mem::swap(&mut self.parts, parts);
        (self.bits, self.weight) = (bits, self.parts.len() as u32);
    }

    /// Returns a complete composite of parts, each with its size in bits.
    ///
    /// # Errors
    /// Ill-formed if a part is larger than the rest of its storage; an evaluation error if there are more than 65536
    /// parts on all levels.
    pub fn of(parts: impl IntoIterator<Item = (Location, u128)>) -> Result<Self, Fault> {
        let mut composite = Self::empty();
        for (location, bits) in parts {
            composite.push(location, bits, u128::MAX, super::Limits::default().parts)?;
        }
        composite.complete();
        Ok(composite)
    }

    /// Returns the parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Returns the size in bits: the sum of the parts.
    pub fn size(&self) -> u128 {
        self.bits
    }

    /// Whether parts can no longer be added.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether bits beyond the parts are undefined.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    pub(super) fn complete(&mut self) {
        self.complete = true;
    }

    /// Adds a part.
    ///
    /// # Errors
    /// Ill-formed if the part is larger than the rest of its storage, or the composite becomes larger than `max_bits`;
    /// an evaluation error if it has more than `max_parts` parts on all levels, or too many levels.
    pub(super) fn push(
        &mut self,
        location: Location,
        bits: u128,
        max_bits: u128,
        max_parts: u32,
    ) -> Result<(), Fault> {
        for place in location.places() {
            if place.remaining().is_some_and(|remaining| remaining < bits) {
                return Err(ill_formed(format!(
                    "a part ends within its storage (A.2.5.4.4.6): {bits} at bit {}",
                    place.offset,
                    bits = Count(bits, "bit")
                )));
            }
            self.count(place);
        }
        let start = self.bits;
        self.bits = start.checked_add(bits).filter(|&all| all <= max_bits).ok_or_else(|| {
            ill_formed(format!(
                "a composite has at most the {max_bits} of the largest address space",
                max_bits = Count(max_bits, "bit")
            ))
        })?;
        if self.weight > max_parts || self.depth > MAX_DEPTH {
            return Err(limit(format!(
                "a composite has at most {max_parts} and {MAX_DEPTH} levels",
                max_parts = Count(max_parts, "part")
            )));
        }
        self.parts.push(Part { start, bits, location });
        Ok(())
    }

    /// Returns the parts of `bits` bits from `offset`: for each the location, the bits to skip in it, and the number of
    /// bits.
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

/// Returns the location without enclosing composites whose one part contains the next `bits` bits. The bits are the
/// same, and a composite of many such parts does not refer to the whole composite many times.
pub(super) fn narrowed(location: Location, bits: u128) -> Location {
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        return location;
    };
    let mut parts = composite.slice(*offset, bits);
    let inside = parts.next().filter(|&(_, _, found)| found == bits);
    let part = inside.and_then(|(part, skip, _)| part.clone().moved(i128::try_from(skip).ok()?).ok());
    drop(parts);
    // The recursion is at most as deep as composites nest.
    part.map_or(location, |part| narrowed(part, bits))
}

impl From<Composite> for Location {
    fn from(composite: Composite) -> Self {
        Storage::Composite(triomphe::Arc::new(composite)).into()
    }
}
