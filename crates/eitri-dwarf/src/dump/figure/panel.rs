//! Contents of a panel: denoted and read bits of storages.

use crate::eval::{Element, Location, SingleLocation, Storage, spans};
use crate::target::SpaceId;

use super::super::watch::Asked;

/// Denoted bits of a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fill {
    /// The storage, which is not a composite.
    pub storage: Storage,
    /// First bit in the storage. For undefined storage, which has no offsets, the first bit counts from the start of
    /// the object.
    pub from: u128,
    pub bits: u128,
    /// Part of the composite, counted from 0.
    pub part: Option<usize>,
    /// Place among several, counted from 0.
    pub place: Option<usize>,
}

/// Bytes of a storage that a step read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading {
    pub storage: Storage,
    /// Offset of the first byte.
    pub from: u128,
    pub bytes: u128,
}

/// Approximate maximum number of fills in a panel.
const MOST_FILLS: usize = 256;

/// Denoted bits of an object at a location, separately for each part of a composite.
pub(super) fn fills(location: &Location, bits: u128) -> Vec<Fill> {
    let mut all = Vec::new();
    let Some(SingleLocation { storage: Storage::Composite(composite), offset }) = location.single() else {
        add(&mut all, location, bits, None);
        return all;
    };
    let end = offset.saturating_add(bits);
    for (index, part) in composite.parts().iter().enumerate() {
        let (from, to) = (part.start.max(*offset), (part.start + part.bits).min(end));
        if from < to && all.len() < MOST_FILLS {
            let moved = i128::try_from(from - part.start).ok().map(|skip| part.location.clone().moved(skip));
            if let Some(Ok(moved)) = moved {
                add(&mut all, &moved, to - from, Some(index));
            }
        }
    }
    all
}

fn add(all: &mut Vec<Fill>, location: &Location, bits: u128, part: Option<usize>) {
    let Ok(spans) = spans(location, bits) else { return };
    for span in spans {
        if all.len() >= MOST_FILLS {
            return;
        }
        let is_several = span.places.len() > 1;
        for (index, place) in span.places.into_iter().enumerate() {
            let from = match place.storage {
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

/// Parts of a composite, as bits of the composite itself.
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

/// Start of each place of a location whose size is unknown.
pub(super) fn starts(location: &Location) -> Vec<(Storage, u128)> {
    let is_shown =
        |place: &&SingleLocation| !matches!(place.storage, Storage::Composite(_) | Storage::Undefined);
    location.places().filter(is_shown).map(|place| (place.storage.clone(), place.offset)).collect()
}

/// Bytes of registers and memory that a step read. `bits` gives the size of a register, `address_bits` the size of
/// addresses in a space.
pub(super) fn readings(
    asked: &[Asked],
    bits: impl Fn(crate::op::Reg) -> Option<u32>,
    address_bits: impl Fn(SpaceId) -> Option<u32>,
) -> Vec<Reading> {
    let one = |asked: &Asked| match *asked {
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
    asked.iter().filter_map(one).collect()
}

/// The location on top of the stack.
pub(super) fn top(stack: &[Element]) -> Option<&Location> {
    match stack.last()? {
        Element::Location(location) => Some(location),
        Element::Value(_) => None,
    }
}
