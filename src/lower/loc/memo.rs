//! Expressions of locations that were lowered before: most locations of a program recur.

use crate::model::{LocId, Nodes, Stack};

/// Bytes of a key.
const HEAD: usize = 8;
/// Maximum number of bytes of an expression with its length.
const COUNTED: usize = 24;

/// Starts without an expression: of a location that was not lowered, or once.
const UNKNOWN: u32 = 0;
const ONCE: u32 = 1;

/// Length of an expression in bytes, the expression, and any bytes.
pub(in crate::lower) type Counted = [u8; COUNTED];

/// Short expressions by location. Each is stored once, for the first size and stack frame that it was lowered for.
#[derive(Debug, Default)]
pub(in crate::lower) struct Memo {
    /// Start of each location's record in `records`; 0 without one. A location has at least two words in the pool, so
    /// that half of its first word's index is its own.
    starts: Vec<u32>,
    /// Records: a key, a length, an expression. The first has a key of no location, and zeros follow the last.
    records: Vec<u8>,
}

/// All that an expression depends on beside its location.
#[derive(Debug, Clone, Copy)]
pub(in crate::lower) struct Key {
    /// Size of the object in bits, plus 1, for a composite, whose parts can have more; 0 in the record of an
    /// expression that does not depend on it.
    bits: u32,
    /// Stack frame with the slots; 0 in the record of an expression without slots.
    stack: u32,
}

impl Key {
    /// Returns the key of an object of `bits` bits, 1 or more where it is known.
    #[inline]
    pub(super) fn new(bits: Option<u64>, stack: Stack) -> Option<Self> {
        let bits = bits.unwrap_or(0);
        let base = stack.base.map_or(1, |reg| reg.0.wrapping_add(2));
        if bits >= u64::from(u32::MAX - 1) || base == 0 || base >> 30 != 0 {
            return None;
        }
        Some(Self { bits: bits as u32 + 1, stack: (base as u32) << 2 | stack.scaling as u32 })
    }
}

impl Memo {
    /// Returns the expression of a location, if it is known.
    #[inline]
    pub(in crate::lower) fn get(&self, loc: LocId, key: Key) -> Option<&Counted> {
        let start = self.starts.get(loc.start() / 2).map_or(0, |&start| start as usize);
        let (head, rest) = self.records.get(start..)?.split_first_chunk::<HEAD>()?;
        let [b0, b1, b2, b3, s0, s1, s2, s3] = *head;
        let (bits, stack) = (u32::from_le_bytes([b0, b1, b2, b3]), u32::from_le_bytes([s0, s1, s2, s3]));
        if bits != 0 && bits != key.bits || stack != 0 && stack != key.stack {
            return None;
        }
        rest.first_chunk()
    }

    /// Adds the expression of a location that is lowered again, if it is short and no other is known. Returns without
    /// it the first time: many locations do not recur.
    #[inline]
    pub(super) fn add(&mut self, loc: LocId, key: Key, nodes: &Nodes<'_>, expression: &[u8], words: usize) {
        let index = loc.start() / 2;
        if self.starts.is_empty() {
            self.begin(words);
        }
        match &mut self.starts[index] {
            start @ &mut UNKNOWN => *start = ONCE,
            &mut ONCE => self.record(index, key, nodes, expression),
            _ => {}
        }
    }

    #[inline(never)]
    fn record(&mut self, index: usize, key: Key, nodes: &Nodes<'_>, expression: &[u8]) {
        let (mut record, len) = ([0; HEAD + COUNTED], expression.len());
        let start = self.records.len() - COUNTED;
        let (true, Ok(place)) = (len < COUNTED, u32::try_from(start)) else { return };
        self.starts[index] = place;
        let bits = if nodes.ends_in_parts() { key.bits } else { 0 };
        let stack = if nodes.may_have_slot() { key.stack } else { 0 };
        record[..4].copy_from_slice(&bits.to_le_bytes());
        record[4..HEAD].copy_from_slice(&stack.to_le_bytes());
        record[HEAD] = len as u8;
        record[HEAD + 1..][..len].copy_from_slice(expression);
        self.records.truncate(start);
        self.records.extend_from_slice(&record[..HEAD + 1 + len]);
        self.records.extend_from_slice(&[0; COUNTED]);
    }

    /// Makes room for a module whose locations have `words` words.
    #[cold]
    fn begin(&mut self, words: usize) {
        self.starts.resize(words.div_ceil(2), UNKNOWN);
        self.records.extend_from_slice(&[u8::MAX; HEAD + COUNTED]);
        self.records.extend_from_slice(&[0; COUNTED]);
    }

    /// Forgets the locations of a module.
    pub(in crate::lower) fn clear(&mut self) {
        self.starts.clear();
        self.records.clear();
    }
}

/// Appends an expression with its length.
#[inline]
pub(in crate::lower) fn append(counted: &Counted, out: &mut Vec<u8>) {
    let end = out.len() + 1 + usize::from(counted[0]);
    // A copy of constant size is faster.
    out.extend_from_slice(counted);
    out.truncate(end);
}
