//! Panel contents: denoted and read bits in storages.

use crate::eval::{Element, Location, SingleLocation, Storage, spans};
use crate::target::{ByteOrder, SpaceId};

use super::super::watch::Asked;

/// Denoted bits in a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fill {
    /// The storage, which is not a composite.
    pub storage: Storage,
    /// First bit in the storage. Undefined storage has no offsets, so its first bit counts from the start of the
    /// object.
    pub from: u128,
    pub bits: u128,
    /// Composite part, counted from 0.
    pub part: Option<usize>,
    /// Simultaneous location, counted from 0.
    pub place: Option<usize>,
}

/// Storage bytes that a step read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub storage: Storage,
    /// Offset of the first byte.
    pub from: u128,
    pub bytes: u128,
}

/// Approximate maximum number of fills in a panel.
const MOST_FILLS: usize = 256;

/// Returns the bits that an object denotes at a location, separately for each composite part.
pub(super) fn fills(location: &Location, bits: u128, order: ByteOrder) -> Vec<Fill> {
    let mut fills = Vec::new();
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        add(&mut fills, location, (bits, order), None);
        return fills;
    };
    let end = offset.saturating_add(bits);
    for (index, part) in composite.parts().iter().enumerate() {
        let from = part.start.max(*offset);
        let to = (part.start + part.bits).min(end);
        if from < to && fills.len() < MOST_FILLS {
            // A register's first bits come last on a big-endian machine.
            let is_number = part.location.places().all(|place| place.storage.is_number());
            let skip = match order {
                ByteOrder::Big if is_number => part.start + part.bits - to,
                _ => from - part.start,
            };
            let moved = i128::try_from(skip).ok().map(|skip| part.location.clone().moved(skip));
            if let Some(Ok(moved)) = moved {
                add(&mut fills, &moved, (to - from, order), Some(index));
            }
        }
    }
    fills
}

fn add(all: &mut Vec<Fill>, location: &Location, (bits, order): (u128, ByteOrder), part: Option<usize>) {
    let Ok(spans) = spans(location, bits, order) else { return };
    for span in spans {
        if all.len() >= MOST_FILLS {
            return;
        }
        let is_several = span.places.len() > 1;
        for (index, place) in span.places.into_iter().enumerate() {
            let from = match &place.storage {
                // The bytes are drawn in memory order.
                Storage::Implicit(implicit) => implicit.first_in_bytes(place.offset, span.bits),
                Storage::Undefined => {
                    let undefined = all.iter().filter(|fill| fill.storage == Storage::Undefined);
                    undefined.map(|fill| fill.from + fill.bits).max().unwrap_or(0)
                }
                _ => place.offset,
            };
            let place_number = is_several.then_some(index);
            all.push(Fill { storage: place.storage, from, bits: span.bits, part, place: place_number });
        }
    }
}

/// Returns composite parts as bits in the composite itself.
pub(super) fn parts(location: &Location) -> Vec<Fill> {
    let Some(SingleLocation { storage: Storage::Composite(composite), .. }) = location.single() else {
        return Vec::new();
    };
    let storage = || Storage::Composite(composite.clone());
    let parts = composite.parts().iter().enumerate().filter(|(_, part)| part.bits > 0).take(MOST_FILLS);
    parts
        .map(|(index, part)| Fill {
            storage: storage(),
            from: part.start,
            bits: part.bits,
            part: Some(index),
            place: None,
        })
        .collect()
}

/// Returns the start of each simultaneous location whose size is unknown.
pub(super) fn starts(location: &Location) -> Vec<(Storage, u128)> {
    let is_shown =
        |place: &&SingleLocation| !matches!(place.storage, Storage::Composite(_) | Storage::Undefined);
    location.places().filter(is_shown).map(|place| (place.storage.clone(), place.offset)).collect()
}

/// Returns the register and memory bytes that a step read. `bits` returns a register's size, and `address_bits` the
/// address size in a space.
pub(super) fn readings(
    asked: &[Asked],
    bits: impl Fn(crate::op::Reg) -> Option<u32>,
    address_bits: impl Fn(SpaceId) -> Option<u32>,
) -> Vec<Reading> {
    let reading = |asked: &Asked| match *asked {
        Asked::Register { reg, frame, at, len, .. } => {
            let storage = Storage::Register { reg, frame, bits: bits(reg)? };
            Some(Reading { storage, from: at.into(), bytes: len as u128 })
        }
        Asked::Memory { space, lane, address, len, .. } => {
            let storage = Storage::Memory { space, address_bits: address_bits(space)?, lane };
            Some(Reading { storage, from: address.into(), bytes: len as u128 })
        }
        _ => None,
    };
    asked.iter().filter_map(reading).collect()
}

/// Returns the topmost location on the stack.
pub(super) fn top(stack: &[Element]) -> Option<&Location> {
    match stack.last()? {
        Element::Location(location) => Some(location),
        Element::Value(_) => None,
    }
}
