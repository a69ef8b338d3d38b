//! Divides storage, values and variables into parts: if a statement cuts one side at a bit, the other side is cut at
//! the matching bit, until nothing changes. Each statement then relates whole parts, so that the analysis never handles
//! bits.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use super::code::CodeEffects;
use super::facts::{EffectKind, Source, ValueId};
use super::place::{Place, Storage};

/// Storage, a value or a variable that is divided into parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Whole {
    Storage(u32),
    Value(u32),
    Variable(u32),
}

/// Consecutive bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) whole: Whole,
    pub(super) from: i64,
    pub(super) bits: i64,
}

/// Pieces of a whole, each with a related piece, by their first bits.
#[derive(Debug, Default)]
struct Related {
    pairs: Vec<(Piece, Piece)>,
    /// Bits of the longest piece, which limits the search for the pieces around a bit.
    longest: i64,
}

/// All wholes and their parts. The parts of each kind are numbered consecutively.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    pub(super) storages: Vec<Storage>,
    ids: HashMap<Storage, u32>,
    /// First bit and end of the bits that each storage uses.
    bounds: Vec<(i64, i64)>,
    /// Sorted cuts between the first bit and the end, for each whole that has cuts.
    inner: HashMap<Whole, Vec<i64>>,
    /// Number of each storage's, value's and variable's first part, and the total number.
    first: [Vec<u32>; 3],
}

impl Cuts {
    /// Divides everything that the code uses.
    pub(super) fn new(code: &CodeEffects) -> Self {
        let mut cuts = Self::default();
        for place in &code.places {
            let next = cuts.storages.len() as u32;
            let id = *cuts.ids.entry(place.storage).or_insert(next);
            let end = place.from + i64::from(place.bits.unwrap_or(32));
            let from = place.from;
            if id == next {
                cuts.storages.push(place.storage);
                cuts.bounds.push((from, end));
            }
            let bounds = &mut cuts.bounds[id as usize];
            *bounds = (from.min(bounds.0), end.max(bounds.1));
        }
        cuts.divide(code);
        let counts = [cuts.storages.len(), code.values.len(), code.variables.len()];
        for (kind, count) in counts.into_iter().enumerate() {
            let mut next = 0;
            // The entry after the last whole holds the total number.
            for index in 0..=count as u32 {
                cuts.first[kind].push(next);
                let whole = [Whole::Storage, Whole::Value, Whole::Variable][kind](index);
                next += 1 + cuts.inner.get(&whole).map_or(0, |inner| inner.len() as u32);
            }
        }
        cuts
    }

    /// Returns the division without values, which are no longer needed after lowering.
    pub(super) fn without_values(mut self) -> Self {
        self.first[1] = Vec::new();
        self
    }

    /// Returns the numbers of storage, value and variable parts.
    pub(super) fn counts(&self) -> [u32; 3] {
        [0, 1, 2].map(|kind: usize| self.first[kind].last().copied().unwrap_or(0))
    }

    /// Calls `relate` with each two pieces that a statement relates: if one is cut, the other is cut at the same bit.
    fn each_relation(&self, code: &CodeEffects, mut relate_pieces: impl FnMut(Piece, Piece)) {
        let mut relate = |a: &[Piece], b: &[Piece]| each_pair(a, b, &mut relate_pieces);
        for effect in code.entries.iter().chain(&code.effects) {
            let to = self.pieces(code, effect.to);
            match effect.kind {
                EffectKind::Define(value) | EffectKind::Redefine(value) => {
                    relate(&to, &[value_piece(code, value)]);
                }
                EffectKind::Copy | EffectKind::CopyUniform => {
                    let from = self.pieces(code, effect.from);
                    relate(&to, &from);
                }
                EffectKind::Move(value) => {
                    let from = self.pieces(code, effect.from);
                    relate(&to, &from);
                    relate(&from, &[value_piece(code, value)]);
                }
                // Related to itself, so that it is cut at both ends.
                EffectKind::Clobber => relate(&to, &to),
            }
        }
        for &(_, parameter, value) in &code.incoming {
            relate(&[value_piece(code, parameter)], &[value_piece(code, value)]);
        }
        for assigned in &code.assigned {
            let (from, bits) = assigned.bits.unwrap_or((0, code.variables[assigned.variable as usize]));
            let whole = Whole::Variable(assigned.variable);
            let piece = Piece { whole, from: from.into(), bits: bits.into() };
            match assigned.source {
                Source::Value(value) => relate(&[piece], &[value_piece(code, value)]),
                Source::Contents(places) => {
                    let from = self.pieces(code, places);
                    relate(&[piece], &from);
                }
                Source::Variable(other, first) => {
                    let whole = Whole::Variable(other);
                    relate(&[piece], &[Piece { whole, from: first.into(), bits: piece.bits }]);
                }
                Source::Nothing => {}
            }
        }
    }

    /// Cuts each piece at its ends, and where a related piece is cut. Each cut is followed once.
    fn divide(&mut self, code: &CodeEffects) {
        let mut inner = HashMap::<Whole, BTreeSet<i64>>::new();
        let mut pending = Vec::new();
        let mut cut = |pending: &mut Vec<(Whole, i64)>, whole: Whole, bit: i64| {
            let (start, end) = self.bounds(code, whole);
            if start < bit && bit < end && inner.entry(whole).or_default().insert(bit) {
                pending.push((whole, bit));
            }
        };
        self.each_relation(code, |a, b| {
            for piece in [a, b] {
                cut(&mut pending, piece.whole, piece.from);
                cut(&mut pending, piece.whole, piece.from + piece.bits);
            }
        });
        // Usually nothing is cut. The relations, which take more memory than the statements, are then not needed.
        if pending.is_empty() {
            return;
        }
        let mut related = HashMap::<Whole, Related>::new();
        self.each_relation(code, |a, b| {
            for (a, b) in [(a, b), (b, a)] {
                let of_whole = related.entry(a.whole).or_default();
                of_whole.longest = of_whole.longest.max(a.bits);
                of_whole.pairs.push((a, b));
            }
        });
        related.values_mut().for_each(|of_whole| of_whole.pairs.sort_by_key(|(piece, _)| piece.from));
        while let Some((whole, bit)) = pending.pop() {
            let Some(Related { pairs, longest }) = related.get(&whole) else { continue };
            let first = pairs.partition_point(|(piece, _)| piece.from + longest <= bit);
            let before = pairs[first..].iter().take_while(|(piece, _)| piece.from < bit);
            for (piece, other) in before.filter(|(piece, _)| bit < piece.from + piece.bits) {
                crate::work::step();
                cut(&mut pending, other.whole, other.from + (bit - piece.from));
            }
        }
        self.inner = inner.into_iter().map(|(whole, bits)| (whole, bits.into_iter().collect())).collect();
    }

    fn bounds(&self, code: &CodeEffects, whole: Whole) -> (i64, i64) {
        match whole {
            Whole::Storage(id) => self.bounds[id as usize],
            Whole::Value(id) => (0, code.values[id as usize].bits.into()),
            Whole::Variable(id) => (0, code.variables[id as usize].into()),
        }
    }

    pub(super) fn pieces(&self, code: &CodeEffects, places: (u32, u32)) -> Vec<Piece> {
        let places = &code.places[places.0 as usize..places.1 as usize];
        places.iter().map(|place| self.piece(place)).collect()
    }

    fn piece(&self, place: &Place) -> Piece {
        let id = self.ids.get(&place.storage).copied().unwrap_or(0);
        Piece { whole: Whole::Storage(id), from: place.from, bits: place.bits.unwrap_or(32).into() }
    }

    /// Returns the parts of a piece, which begins and ends at cuts.
    pub(super) fn parts(&self, piece: Piece) -> core::ops::Range<u32> {
        let (kind, id) = kind_and_number(piece.whole);
        let first = self.first[kind][id as usize];
        let Some(inner) = self.inner.get(&piece.whole) else { return first..first + 1 };
        // The n-th cut begins the n-th part after the first.
        let start = inner.partition_point(|&cut| cut <= piece.from) as u32;
        let end = inner.partition_point(|&cut| cut < piece.from + piece.bits) as u32;
        first + start..first + end + 1
    }

    /// Returns a whole's parts: number, first bit, number of bits.
    pub(super) fn parts_of(&self, code: &CodeEffects, whole: Whole) -> Vec<(u32, i64, i64)> {
        let (kind, id) = kind_and_number(whole);
        let (start, end) = self.bounds(code, whole);
        let inner = self.inner.get(&whole).map_or(&[][..], |inner| inner);
        let starts = core::iter::once(start).chain(inner.iter().copied());
        let ends = inner.iter().copied().chain([end]);
        let first = self.first[kind][id as usize];
        starts.zip(ends).zip(first..).map(|((from, end), part)| (part, from, end - from)).collect()
    }

    pub(super) fn storage(&self, storage: Storage) -> Option<u32> {
        self.ids.get(&storage).copied()
    }
}

/// Returns a whole's kind, as an index in [`Cuts::first`], and its number.
fn kind_and_number(whole: Whole) -> (usize, u32) {
    match whole {
        Whole::Storage(id) => (0, id),
        Whole::Value(id) => (1, id),
        Whole::Variable(id) => (2, id),
    }
}

/// Returns all bits in a value.
pub(super) fn value_piece(code: &CodeEffects, value: ValueId) -> Piece {
    Piece { whole: Whole::Value(value.0), from: 0, bits: code.values[value.0 as usize].bits.into() }
}

/// Calls `each` with pairs of equally long pieces, up to the end of the shorter list.
pub(super) fn each_pair(a: &[Piece], b: &[Piece], mut each: impl FnMut(Piece, Piece)) {
    let mut a = a.iter().copied();
    let mut b = b.iter().copied();
    let mut left = a.next();
    let mut right = b.next();
    // Consume the shorter piece; what remains of the longer piece pairs with the next one.
    while let (Some(first), Some(second)) = (left, right) {
        let bits = first.bits.min(second.bits);
        each(Piece { bits, ..first }, Piece { bits, ..second });
        let rest = |piece: Piece| Piece { from: piece.from + bits, bits: piece.bits - bits, ..piece };
        left = if first.bits > bits { Some(rest(first)) } else { a.next() };
        right = if second.bits > bits { Some(rest(second)) } else { b.next() };
    }
}

/// Returns the pieces after the first `bits` bits.
pub(super) fn after(pieces: &[Piece], mut bits: i64) -> Vec<Piece> {
    let mut rest = Vec::new();
    for piece in pieces {
        let skipped = bits.min(piece.bits);
        bits -= skipped;
        if skipped < piece.bits {
            rest.push(Piece { from: piece.from + skipped, bits: piece.bits - skipped, ..*piece });
        }
    }
    rest
}
