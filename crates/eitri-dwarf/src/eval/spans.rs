//! Locations resolved to storage bits, the form in which they are compared.

use core::hash::{Hash, Hasher};
use std::hash::DefaultHasher;

use super::fault::{Fault, brief, error};
use super::location::{ImplicitBits, Location, SingleLocation, Slice, Storage};
use super::order::{copy_bits, copy_high_bits};
use crate::error::Count;
use crate::target::ByteOrder;

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
/// A single location's offset is the lowest number of the span's bits. On a big-endian machine the first bit of a span in
/// a register is the most significant, so that a register's spans continue each other downwards.
///
/// # Errors
/// An evaluation error if a storage ends before `bits` bits, or if the spans have more than 2^20 single locations in
/// all.
pub fn spans(location: &Location, bits: u128, order: ByteOrder) -> Result<Vec<Span>, Fault> {
    if bits == 0 {
        return Ok(Vec::new());
    }
    let mut resolved = cut(location, Slice::whole(bits), order)?;
    for span in &mut resolved {
        // Sorted, so that equal sets compare equal.
        span.places.sort_unstable();
        span.places.dedup();
    }
    resolved.dedup_by(|next, span| {
        let joins = next.places.len() == span.places.len()
            && span.places.iter().zip(&next.places).all(|(place, after)| {
                let (low, high) = match order {
                    ByteOrder::Big if place.storage.is_number() => ((after, next.bits), place),
                    _ => ((place, span.bits), after),
                };
                place.storage == after.storage
                    && (place.storage == Storage::Undefined || low.0.offset + low.1 == high.offset)
            });
        if joins {
            for (place, after) in span.places.iter_mut().zip(&next.places) {
                place.offset = place.offset.min(after.offset);
            }
            span.bits += next.bits;
        }
        joins
    });
    Ok(resolved)
}

/// Calls `is_right` with the storage, the offset in it and the bit count of each part of an object's bits, in order.
/// Returns whether `is_right` accepts each part; `false` for bits outside their storage, or with several single
/// locations.
///
/// The machine is little-endian: on a big-endian machine, parts of registers are not in the order of their bits.
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

/// Whether two span lists, resolved with the same byte order, name the same bits of the same storages. Known bits are
/// compared by value.
pub fn are_equal(left: &[Span], right: &[Span], order: ByteOrder) -> bool {
    let mut left = Cursor::new(left, order);
    let mut right = Cursor::new(right, order);
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
pub fn hash(spans: &[Span], order: ByteOrder) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut spans = Cursor::new(spans, order);
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

/// Returns a single location of `bits` of a span's bits, from bit `skip` on. Known bits are cut to the bits in question.
pub fn span_part(
    span: &Span,
    place: &SingleLocation,
    skip: u128,
    bits: u128,
    order: ByteOrder,
) -> SingleLocation {
    let after = span.bits.saturating_sub(skip).saturating_sub(bits);
    exact(place, Slice { skip, bits, after }, order)
}

/// Iterates over spans in steps that have any number of bits.
struct Cursor<'a> {
    spans: &'a [Span],
    used: u128,
    order: ByteOrder,
}

impl<'a> Cursor<'a> {
    fn new(spans: &'a [Span], order: ByteOrder) -> Self {
        Self { spans, used: 0, order }
    }

    fn left(&self) -> Option<u128> {
        Some(self.spans.first()?.bits - self.used)
    }

    fn take(&mut self, bits: u128) -> Vec<SingleLocation> {
        let Some((span, rest)) = self.spans.split_first() else { return Vec::new() };
        let part = |place| span_part(span, place, self.used, bits, self.order);
        let mut places: Vec<_> = span.places.iter().map(part).collect();
        places.sort_unstable();
        places.dedup();
        self.used += bits;
        if self.used == span.bits {
            *self = Cursor::new(rest, self.order);
        }
        places
    }
}

/// Returns the single location of some of a span's bits. Known bits are cut to the bits in question.
fn exact(place: &SingleLocation, slice: Slice, order: ByteOrder) -> SingleLocation {
    let from = slice.first_bit(place, order);
    match &place.storage {
        Storage::Undefined => place.clone(),
        Storage::Implicit(implicit) => {
            let first = implicit.first_in_bytes(from, slice.bits);
            let bits = slice.bits as usize;
            let mut bytes = vec![0; bits.div_ceil(8)];
            let copy = if order == ByteOrder::Big { copy_high_bits } else { copy_bits };
            copy(&mut bytes, 0, implicit.bytes(), first as usize, bits);
            let storage = Storage::Implicit(ImplicitBits::new(&bytes, bits as u64));
            SingleLocation { storage, offset: 0 }
        }
        storage => SingleLocation { storage: storage.clone(), offset: from },
    }
}

/// Maximum number of single locations in all spans together. Composites with different part boundaries have more
/// spans than parts in all.
const MOST_PLACES: usize = 1 << 20;

fn cut(location: &Location, slice: Slice, order: ByteOrder) -> Result<Vec<Span>, Fault> {
    if let Some(place) = location.single() {
        return cut_place(place, slice, order);
    }
    let lists = location.places().map(|place| cut_place(place, slice, order));
    together(&lists.collect::<Result<Vec<_>, Fault>>()?, order)
}

fn cut_place(place: &SingleLocation, slice: Slice, order: ByteOrder) -> Result<Vec<Span>, Fault> {
    let from = slice.first_bit(place, order);
    let bits = slice.bits;
    let end = place.storage.end();
    if end.is_some_and(|end| end.saturating_sub(from) < bits) {
        return Err(error(format!(
            "object of {bits} at {skip} from {place} ends after its storage",
            bits = Count(bits, "bit"),
            skip = Count(from - place.offset, "bit"),
            place = brief(place)
        )));
    }
    match &place.storage {
        Storage::Composite(composite) => {
            let mut spans = Vec::new();
            let mut left = bits;
            for (part, slice) in composite.slices(from, bits) {
                spans.append(&mut cut(part, slice, order)?);
                left -= slice.bits;
            }
            spans.extend((left > 0).then(|| undefined(left)));
            Ok(spans)
        }
        // Offsets in undefined storage do not matter.
        Storage::Undefined => Ok(vec![undefined(bits)]),
        storage => {
            let place = SingleLocation { storage: storage.clone(), offset: from };
            Ok(vec![Span { bits, places: vec![place] }])
        }
    }
}

fn undefined(bits: u128) -> Span {
    Span { bits, places: vec![SingleLocation { storage: Storage::Undefined, offset: 0 }] }
}

/// Merges span lists with equal total size: each resulting span has the single locations from all lists.
fn together(lists: &[Vec<Span>], order: ByteOrder) -> Result<Vec<Span>, Fault> {
    let mut cuts: Vec<Cut<'_>> = lists.iter().map(|list| Cut::new(list, order)).collect();
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
    fn new(spans: &'a [Span], order: ByteOrder) -> Self {
        Self(Cursor::new(spans, order))
    }

    fn left(&self) -> Option<u128> {
        self.0.left()
    }

    fn take(&mut self, bits: u128, into: &mut Vec<SingleLocation>) {
        let Some((span, rest)) = self.0.spans.split_first() else { return };
        let slice = Slice { skip: self.0.used, bits, after: span.bits - self.0.used - bits };
        into.extend(span.places.iter().map(|place| match place.storage {
            Storage::Undefined => place.clone(),
            _ => SingleLocation {
                storage: place.storage.clone(),
                offset: slice.first_bit(place, self.0.order),
            },
        }));
        self.0.used += bits;
        if self.0.used == span.bits {
            self.0 = Cursor::new(rest, self.0.order);
        }
    }
}
