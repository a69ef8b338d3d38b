//! Locations resolved to storage bits, the form in which they are compared.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;

use super::fault::{Fault, brief, error};
use super::location::{ImplicitBits, Location, SingleLocation, Storage};
use crate::error::Count;

/// An object's consecutive bits, with their single locations.
///
/// Exhaustive: a literal names all fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// How many bits the span has.
    pub bits: u128,
    /// Single locations of the bits, sorted and without duplicates; no storage among them is a composite.
    pub places: Vec<SingleLocation>,
}

/// Resolves the first `bits` bits at a location to spans, in order. Composites are resolved, and each span has all
/// single locations of its bits. Adjacent spans that continue in the same storages are joined.
///
/// # Errors
/// An evaluation error if a storage ends before `bits` bits, or if the spans have more than 2^20 single locations in
/// all.
pub fn spans(location: &Location, bits: u128) -> Result<Vec<Span>, Fault> {
    if bits == 0 {
        return Ok(Vec::new());
    }
    let mut resolved = cut(location, 0, bits)?;
    for span in &mut resolved {
        // Sorted, so that equal sets compare equal.
        span.places.sort_unstable();
        span.places.dedup();
    }
    resolved.dedup_by(|next, span| {
        let joins = next.places.len() == span.places.len()
            && span.places.iter().zip(&next.places).all(|(place, next)| {
                place.storage == next.storage
                    && (place.storage == Storage::Undefined || place.offset + span.bits == next.offset)
            });
        if joins {
            span.bits += next.bits;
        }
        joins
    });
    Ok(resolved)
}

/// Calls `is_right` with the storage, the offset in it and the bit count of each part of an object's bits, in order.
/// Returns whether `is_right` accepts each part; `false` for bits outside their storage, or with several single
/// locations.
pub fn all_parts<F>(location: &Location, skip: u128, bits: u128, is_right: &mut F) -> bool
where
    F: FnMut(&Storage, u128, u128) -> bool,
{
    let Some(SingleLocation { storage, offset }) = location.single() else { return false };
    let from = offset.saturating_add(skip);
    if storage.end().is_some_and(|end| end.saturating_sub(from) < bits) {
        return false;
    }
    let Storage::Composite(composite) = storage else { return is_right(storage, from, bits) };
    let mut left = bits;
    for (part, skip, bits) in composite.slice(from, bits) {
        if !all_parts(part, skip, bits, is_right) {
            return false;
        }
        left -= bits;
    }
    left == 0 || is_right(&Storage::Undefined, 0, left)
}

/// Whether two span lists name the same bits of the same storages. Known bits are compared by value.
pub fn are_equal(left: &[Span], right: &[Span]) -> bool {
    let mut left = Cursor::new(left);
    let mut right = Cursor::new(right);
    loop {
        match (left.left(), right.left()) {
            (None, None) => return true,
            (Some(a), Some(b)) => {
                // Span boundaries of the two lists need not agree.
                let bits = a.min(b);
                if left.take(bits) != right.take(bits) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Hashes spans bit by bit, so that lists naming the same bits have equal hashes.
pub fn hash(spans: &[Span]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut spans = Cursor::new(spans);
    while spans.left().is_some() {
        for SingleLocation { storage, offset } in spans.take(1) {
            (core::mem::discriminant(&storage), offset).hash(&mut hasher);
            match &storage {
                Storage::Register { reg, frame, .. } => (reg, frame).hash(&mut hasher),
                Storage::Memory { space, lane, .. } => (space, lane).hash(&mut hasher),
                Storage::Implicit(implicit) => implicit.bytes().hash(&mut hasher),
                Storage::ImplicitPointer(pointer) => pointer.hash(&mut hasher),
                _ => {}
            }
        }
    }
    hasher.finish()
}

/// Iterates over spans in steps that have any number of bits.
struct Cursor<'a> {
    spans: &'a [Span],
    used: u128,
}

impl<'a> Cursor<'a> {
    fn new(spans: &'a [Span]) -> Self {
        Self { spans, used: 0 }
    }

    fn left(&self) -> Option<u128> {
        Some(self.spans.first()?.bits - self.used)
    }

    fn take(&mut self, bits: u128) -> Vec<SingleLocation> {
        let Some((span, rest)) = self.spans.split_first() else { return Vec::new() };
        let mut places: Vec<_> = span.places.iter().map(|place| exact(place, self.used, bits)).collect();
        places.sort_unstable();
        places.dedup();
        self.used += bits;
        if self.used == span.bits {
            *self = Cursor::new(rest);
        }
        places
    }
}

/// Returns the single location `skip` bits further. Known bits are cut to the `bits` bits in question.
fn exact(place: &SingleLocation, skip: u128, bits: u128) -> SingleLocation {
    match &place.storage {
        Storage::Undefined => place.clone(),
        Storage::Implicit(implicit) => {
            let from = place.offset + skip;
            let mut bytes = vec![0; bits.div_ceil(8) as usize];
            super::order::copy_bits(&mut bytes, 0, implicit.bytes(), from as usize, bits as usize);
            let storage = Storage::Implicit(ImplicitBits::new(&bytes, bits as u64));
            SingleLocation { storage, offset: 0 }
        }
        storage => SingleLocation { storage: storage.clone(), offset: place.offset + skip },
    }
}

/// Maximum number of single locations in all spans together. Composites with different part boundaries have more
/// spans than parts in all.
const MOST_PLACES: usize = 1 << 20;

fn cut(location: &Location, skip: u128, bits: u128) -> Result<Vec<Span>, Fault> {
    if let Some(place) = location.single() {
        return cut_place(place, skip, bits);
    }
    let lists = location.places().map(|place| cut_place(place, skip, bits));
    together(&lists.collect::<Result<Vec<_>, Fault>>()?)
}

fn cut_place(place: &SingleLocation, skip: u128, bits: u128) -> Result<Vec<Span>, Fault> {
    let end = place.storage.end();
    if end.is_some_and(|end| end.saturating_sub(place.offset).saturating_sub(skip) < bits) {
        let place = brief(place);
        return Err(error(format!(
            "object of {bits} at {skip} from {place} ends after its storage",
            bits = Count(bits, "bit"),
            skip = Count(skip, "bit")
        )));
    }
    match &place.storage {
        Storage::Composite(composite) => {
            let mut spans = Vec::new();
            let mut left = bits;
            for (part, skip, bits) in composite.slice(place.offset + skip, bits) {
                spans.append(&mut cut(part, skip, bits)?);
                left -= bits;
            }
            spans.extend((left > 0).then(|| undefined(left)));
            Ok(spans)
        }
        // Offsets in undefined storage do not matter.
        Storage::Undefined => Ok(vec![undefined(bits)]),
        storage => {
            let place = SingleLocation { storage: storage.clone(), offset: place.offset + skip };
            Ok(vec![Span { bits, places: vec![place] }])
        }
    }
}

fn undefined(bits: u128) -> Span {
    Span { bits, places: vec![SingleLocation { storage: Storage::Undefined, offset: 0 }] }
}

/// Merges span lists with equal total size: each resulting span has the single locations from all lists.
fn together(lists: &[Vec<Span>]) -> Result<Vec<Span>, Fault> {
    let mut cuts: Vec<Cut<'_>> = lists.iter().map(|list| Cut::new(list)).collect();
    let mut merged = Vec::new();
    let mut count = 0;
    while let Some(bits) = cuts.iter().filter_map(Cut::left).min() {
        let mut places = Vec::new();
        cuts.iter_mut().for_each(|cut| cut.take(bits, &mut places));
        count += places.len();
        if count > MOST_PLACES {
            return Err(error(format!("object has more than {MOST_PLACES} single locations")));
        }
        merged.push(Span { bits, places });
    }
    Ok(merged)
}

/// Variant of [`Cursor`] that keeps known bits whole, so that adjacent spans can still be joined.
struct Cut<'a>(Cursor<'a>);

impl<'a> Cut<'a> {
    fn new(spans: &'a [Span]) -> Self {
        Self(Cursor::new(spans))
    }

    fn left(&self) -> Option<u128> {
        self.0.left()
    }

    fn take(&mut self, bits: u128, into: &mut Vec<SingleLocation>) {
        let Some((span, rest)) = self.0.spans.split_first() else { return };
        into.extend(span.places.iter().map(|place| match place.storage {
            Storage::Undefined => place.clone(),
            _ => SingleLocation { storage: place.storage.clone(), offset: place.offset + self.0.used },
        }));
        self.0.used += bits;
        if self.0.used == span.bits {
            self.0 = Cursor::new(rest);
        }
    }
}
