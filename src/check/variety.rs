//! How much of a described result depends on contents.
//!
//! Two registers that are confused have different contents, but a result with one bit of them is equal half of the time.
//! Such a comparison needs more contents than a comparison of whole numbers or addresses.

use core::hash::{Hash, Hasher};
use std::collections::BTreeSet;
use std::hash::DefaultHasher;

use crate::model::{DescribedStorage, StorageSpan};

/// Bits of a result that are enough for one comparison: a number or an address has more.
const ENOUGH: u32 = 16;

/// Bits that all comparisons of a result with fewer bits have together.
const WANTED: u32 = 32;

/// Results in several contents.
#[derive(Debug)]
pub(super) struct Variety {
    /// The first result, span by span.
    first: Vec<Shape>,
    /// Bits in which a later result differs, by span.
    varied: Vec<u128>,
    /// Hashes of all results.
    results: BTreeSet<u64>,
    /// How many results there are.
    count: usize,
}

/// A span as storage, size in bits, and the number that depends on contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    storage: (u8, u64),
    bits: u64,
    number: u128,
}

impl Shape {
    fn new(span: &StorageSpan) -> Self {
        let (storage, number) = match &span.storage {
            DescribedStorage::Register(reg) => ((0, reg.0), span.from),
            DescribedStorage::Memory(space, lane) => {
                ((1, u64::from(space.0) << 32 | u64::from(lane.unwrap_or(0))), span.from)
            }
            DescribedStorage::Implicit(bytes) => ((2, 0), number(bytes)),
            DescribedStorage::Pointer(..) => ((3, 0), span.from),
            DescribedStorage::Undefined => ((4, 0), span.from),
        };
        Self { storage, bits: span.bits, number }
    }
}

/// Bytes as a number, in which each bit of longer bytes still has an effect.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number: u128, &byte| number.rotate_left(8) ^ u128::from(byte))
}

impl Variety {
    /// Starts with a result.
    pub(super) fn new<'s>(spans: impl Iterator<Item = &'s StorageSpan>) -> Self {
        let first: Vec<Shape> = spans.map(Shape::new).collect();
        let results = BTreeSet::from([hash(&first)]);
        Self { varied: vec![0; first.len()], first, results, count: 1 }
    }

    /// Adds a result in other contents.
    pub(super) fn add<'s>(&mut self, spans: impl Iterator<Item = &'s StorageSpan>) {
        let shapes: Vec<Shape> = spans.map(Shape::new).collect();
        self.results.insert(hash(&shapes));
        self.count += 1;
        for ((first, new), varied) in self.first.iter().zip(&shapes).zip(&mut self.varied) {
            *varied |= first.number ^ new.number;
        }
    }

    /// Returns how many more contents the comparison needs, so that a result of few bits is not equal by chance.
    pub(super) fn more_contents(&self) -> u32 {
        // A part of the result can have few bits. A part that never varied does not depend on contents.
        let bits = self.varied.iter().map(|varied| varied.count_ones()).filter(|&bits| bits > 0).min();
        let bits = bits.unwrap_or(1);
        // Bits that vary together, such as those of a sign, are one bit: several results are equal.
        let bits = match (self.results.len(), self.count) {
            // A single result tells nothing.
            (_, 1) => return 0,
            (..=2, _) => 1,
            (different, count) if different < count => bits.min(2),
            _ => bits,
        };
        if bits < ENOUGH { WANTED.div_ceil(bits) } else { 0 }
    }
}

fn hash(shapes: &[Shape]) -> u64 {
    let mut hasher = DefaultHasher::new();
    shapes.hash(&mut hasher);
    hasher.finish()
}
