//! Expressions that were lowered before, by location, because most locations in a program recur.

use crate::model::{LocId, Nodes, Stack};

/// Bytes for a key and its dependences.
const HEAD: usize = 9;
/// Maximum bytes for an expression with its length.
const COUNTED: usize = 24;

/// Number of starts from which on their memory is not kept for another module.
const LARGE: usize = 1 << 12;

/// Starts without an expression: the location was never lowered, or once.
const UNKNOWN: u32 = 0;
const ONCE: u32 = 1;

/// Expression length in bytes, the expression, and any bytes.
pub(in crate::lower) type Counted = [u8; COUNTED];

/// Short expressions by location. Each is stored once, for the first size and stack frame with which it was lowered.
#[derive(Debug, Default)]
pub(in crate::lower) struct Memo {
    /// Each location's record start in `records`. A location has at least two words in the pool, so half its first
    /// word's index belongs to no other location.
    starts: Vec<u32>,
    /// Records: a key, what the expression depends on, a length, an expression. The first has a key that no location
    /// has, and zeros follow the last, so a record can be copied with its maximum size.
    records: Vec<u8>,
}

/// Expression context: the object's size in bits, plus 1, and above it the stack frame.
#[derive(Debug, Clone, Copy)]
pub(in crate::lower) struct Key(u64);

/// Dependence on the size, as a composite has it.
const ON_SIZE: u8 = 1;
/// Dependence on the stack frame, as a slot has it.
const ON_STACK: u8 = 2;
/// Key bits that an expression depends on.
static DEPENDS: [u64; 4] = [0, u32::MAX as u64, (u32::MAX as u64) << 32, u64::MAX];

impl Key {
    /// Returns the key for an object with `bits` bits, 1 or more where the size is known.
    #[inline]
    pub(super) fn new(bits: Option<u64>, stack: Stack) -> Option<Self> {
        let bits = bits.unwrap_or(0);
        // The register number plus 1, so 0 stands for no register.
        let base = stack.base.map_or(0, |reg| reg.0.wrapping_add(1));
        if bits >= u64::from(u32::MAX - 1) || base >> 30 != 0 {
            return None;
        }
        let stack = base << 2 | stack.scaling as u64;
        Some(Self(stack << 32 | (bits + 1)))
    }
}

impl Memo {
    /// Returns a location's expression, if it is known.
    #[inline]
    pub(in crate::lower) fn get(&self, loc: LocId, key: Key) -> Option<&Counted> {
        let start = self.starts.get(loc.start() / 2).map_or(0, |&start| start as usize);
        let record = self.records.get(start..)?.first_chunk::<{ HEAD + COUNTED }>()?;
        let depends = DEPENDS[usize::from(record[HEAD - 1]) % DEPENDS.len()];
        // A branch for each part would often be mispredicted.
        let differs = (u64::from_le_bytes(*record.first_chunk()?) ^ key.0) & depends;
        if differs == 0 { record.last_chunk() } else { None }
    }

    /// Adds the expression when a location is lowered again, if it is short and none is known. Returns without it the
    /// first time, because many locations do not recur.
    #[inline]
    pub(super) fn add(&mut self, loc: LocId, key: Key, nodes: &Nodes<'_>, expression: &[u8], words: usize) {
        let index = loc.start() / 2;
        if self.starts.is_empty() {
            self.begin(words);
        }
        match self.starts.get_mut(index) {
            Some(start @ &mut UNKNOWN) => *start = ONCE,
            Some(&mut ONCE) => self.record(index, key, nodes, expression),
            _ => {}
        }
    }

    fn record(&mut self, index: usize, key: Key, nodes: &Nodes<'_>, expression: &[u8]) {
        let mut record = [0; HEAD + COUNTED];
        let len = expression.len();
        // The record takes the position of the final zeros, which are appended again after it.
        let start = self.records.len() - COUNTED;
        let (true, Ok(place)) = (len < COUNTED, u32::try_from(start)) else { return };
        self.starts[index] = place;
        // An expression that depends on neither the size nor the frame serves all sizes and frames.
        let on_size = if nodes.ends_in_parts() { ON_SIZE } else { 0 };
        let on_stack = if nodes.may_have_slot() { ON_STACK } else { 0 };
        record[..HEAD - 1].copy_from_slice(&key.0.to_le_bytes());
        record[HEAD - 1] = on_size | on_stack;
        record[HEAD] = len as u8;
        record[HEAD + 1..][..len].copy_from_slice(expression);
        self.records.truncate(start);
        self.records.extend_from_slice(&record[..HEAD + 1 + len]);
        self.records.extend_from_slice(&[0; COUNTED]);
    }

    /// Makes room for a module whose locations have `words` words.
    fn begin(&mut self, words: usize) {
        let count = words.div_ceil(2);
        if self.starts.capacity() < count {
            self.starts = vec![UNKNOWN; count];
        } else {
            self.starts.resize(count, UNKNOWN);
        }
        self.records.extend_from_slice(&[u8::MAX; HEAD + COUNTED]);
        self.records.extend_from_slice(&[0; COUNTED]);
    }

    /// Forgets a module's locations.
    pub(in crate::lower) fn clear(&mut self) {
        if self.starts.len() > LARGE {
            *self = Self::default();
        }
        self.starts.clear();
        self.records.clear();
    }
}

/// Appends an expression with its length.
#[inline]
pub(in crate::lower) fn append(counted: &Counted, out: &mut Vec<u8>) {
    let end = out.len() + 1 + usize::from(counted[0]);
    // A copy with a constant size is faster.
    out.extend_from_slice(counted);
    out.truncate(end);
}
