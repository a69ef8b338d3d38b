//! Expressions of recent locations.

use crate::model::{LocId, Nodes, Recent, SMALL, Stack};

/// Maximum number of bytes of a remembered expression.
const BYTES: usize = 23;

/// Expressions of recent locations that are small.
#[derive(Debug, Default)]
pub(in crate::lower) struct Memo(Recent<Known>);

#[derive(Debug, Clone, Copy)]
struct Known {
    key: Key,
    bytes: [u8; BYTES],
    len: u8,
}

/// A location, and all else that its expression depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    loc: LocId,
    /// Size of the object in bits; the parts of a composite have fewer.
    bits: u32,
    /// Stack frame with the slots.
    stack: u32,
}

impl Key {
    /// Returns the key of a small location in a consumer's expression. `bits` is the size of the object.
    #[inline]
    pub(super) fn new(loc: LocId, nodes: &Nodes<'_>, bits: Option<u64>, stack: Stack) -> Option<Self> {
        // Looking up a single node takes as long as encoding it.
        if !(2..=SMALL).contains(&nodes.at_most()) {
            return None;
        }
        let bits = if nodes.ends_in_parts() { u32::try_from(bits.unwrap_or(0)).ok()? } else { 0 };
        let base = stack.base.map_or(0, |reg| reg.0.wrapping_add(1));
        let stack = u32::try_from(base).ok().filter(|base| base >> 30 == 0)? << 2 | stack.scaling as u32;
        Some(Self { loc, bits, stack })
    }

    #[inline]
    fn hash(self) -> usize {
        let (stack, bits) = (u64::from(self.stack), u64::from(self.bits));
        let all = self.loc.start() as u64 ^ stack.rotate_left(40) ^ bits.rotate_left(20);
        (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
    }
}

impl Memo {
    /// Appends the expression of a key. Returns whether it is known.
    #[inline]
    pub(super) fn append(&self, key: Key, out: &mut Vec<u8>) -> bool {
        let Some(known) = self.0.get(key.hash()).filter(|known| known.key == key) else { return false };
        let end = out.len() + usize::from(known.len);
        // A copy of constant size is faster.
        out.extend_from_slice(&known.bytes);
        out.truncate(end);
        true
    }

    /// Adds the expression of a key, if it is short.
    pub(super) fn add(&mut self, key: Key, expression: &[u8]) {
        let mut bytes = [0; BYTES];
        if let Some(head) = bytes.get_mut(..expression.len()) {
            head.copy_from_slice(expression);
            self.0.add(key.hash(), Known { key, bytes, len: expression.len() as u8 });
        }
    }
}
