//! Location fragments, with constant offsets, parts, overlays and repetitions resolved.

use crate::model::{Node, Tree};
use crate::target::{ByteOrder, Target};

/// Consecutive bits in a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragment {
    /// Node, which [`Split`] does not resolve further.
    pub(super) at: usize,
    /// First bit, counted from the start of the node's location.
    pub(super) from: i64,
    /// Size in bits.
    pub(super) bits: u64,
    /// Distance from `from` to the first bit in a register or a value, whose bits a big-endian machine has in the
    /// opposite order: the later bits of the enclosing part come before the fragment. 0 where `from` contains it.
    pub(super) flip: i64,
}

/// Fragment limit, above what any location from a compiler needs.
pub(super) const MAX_FRAGMENTS: usize = 4096;

/// Resolves locations to fragments.
#[derive(Clone, Copy)]
pub(super) struct Split<'t, 'm> {
    pub(super) tree: &'t Tree<'m>,
    pub(super) target: &'m Target,
}

impl Split<'_, '_> {
    /// Appends the fragments for the first `bits` bits in the location `at`. Returns `None` if the location does not have
    /// these bits, or if there are too many fragments.
    pub(super) fn first(self, at: usize, bits: u64, out: &mut Vec<Fragment>) -> Option<()> {
        self.split(Fragment { at, from: 0, bits, flip: 0 }, out)
    }

    /// Appends the fragments of a fragment.
    pub(super) fn split(self, fragment: Fragment, out: &mut Vec<Fragment>) -> Option<()> {
        let Fragment { at, from, bits, .. } = fragment;
        let tree = self.tree;
        if bits == 0 {
            return Some(());
        }
        let moved = |at: usize, by: i64| Some(Fragment { at, from: from.checked_add(by)?, ..fragment });
        match tree.node(at) {
            Node::Offset(bytes) => self.split(moved(tree.last(at), bytes.checked_mul(8)?)?, out),
            Node::BitOffset(by) => self.split(moved(tree.last(at), by)?, out),
            Node::OffsetBy | Node::BitOffsetBy => {
                let (place, by) = tree.two(at);
                let Some(by) = tree.constant(by) else { return self.push(fragment, out) };
                let scale = if matches!(tree.node(at), Node::OffsetBy) { 8 } else { 1 };
                self.split(moved(place, (by as i64).checked_mul(scale)?)?, out)
            }
            Node::Part(_) => self.split(moved(tree.last(at), 0)?, out),
            Node::Parts(_) => {
                let parts = tree.operands(at);
                let sized = parts.iter().map(|&part| match tree.node(part) {
                    Node::Part(bits) => (part, 0, bits),
                    _ => (part, 0, 0),
                });
                self.sequence(sized, from, bits, out)
            }
            Node::Overlay => {
                let operands = tree.operands(at);
                let [below, above, offset, size] = operands[..] else { return None };
                let (Some(offset), Some(size)) = (tree.constant(offset), tree.constant(size)) else {
                    return self.push(fragment, out);
                };
                // The location below is visible before and after the overlaid bits.
                let past = offset.checked_add(size)?;
                let rest = match self.target.byte_order() {
                    // Where it ends does not matter: its bits are in the order of the fragments.
                    ByteOrder::Little => u64::MAX - past,
                    ByteOrder::Big => {
                        self.bits(below).map_or(u64::MAX - past, |bits| bits.saturating_sub(past))
                    }
                };
                let rest = (below, i64::try_from(past).ok()?, rest);
                self.sequence([(below, 0, offset), (above, 0, size), rest], from, bits, out)
            }
            Node::Extend { bits: size, count } => {
                // A whole repetition has a shorter operation.
                if from == 0 && bits == size.checked_mul(count)? && count > 1 {
                    return self.push(fragment, out);
                }
                let count = usize::try_from(count).ok().filter(|&count| count <= MAX_FRAGMENTS)?;
                let elements = core::iter::repeat_n((tree.last(at), 0, size), count);
                self.sequence(elements, from, bits, out)
            }
            _ => self.push(fragment, out),
        }
    }

    /// Appends the fragments of `from..from + bits` in consecutive pieces, each given as location, first bit and size.
    fn sequence(
        self,
        pieces: impl IntoIterator<Item = (usize, i64, u64)>,
        from: i64,
        mut bits: u64,
        out: &mut Vec<Fragment>,
    ) -> Option<()> {
        let mut from = u64::try_from(from).ok()?;
        for (at, first, size) in pieces {
            if from < size && bits > 0 {
                let here = bits.min(size - from);
                self.split(self.part(at, (first, from), here, size)?, out)?;
                bits -= here;
                from = 0;
            } else {
                from = from.saturating_sub(size);
            }
        }
        (bits == 0).then_some(())
    }

    /// Returns `bits` bits from bit `skip` on in a part with `size` bits, which begins at bit `first` of the location.
    pub(super) fn part(self, at: usize, (first, skip): (i64, u64), bits: u64, size: u64) -> Option<Fragment> {
        let flip = match self.target.byte_order() {
            ByteOrder::Little => 0,
            // Where the part ends is unknown: it ends with these bits.
            ByteOrder::Big if size > u64::MAX / 2 => -i128::from(skip),
            ByteOrder::Big => i128::from(size) - 2 * i128::from(skip) - i128::from(bits),
        };
        let from = first.checked_add_unsigned(skip)?;
        // No register or value is so large.
        Some(Fragment { at, from, bits, flip: i64::try_from(flip).unwrap_or(0) })
    }

    fn push(self, fragment: Fragment, out: &mut Vec<Fragment>) -> Option<()> {
        if out.len() == MAX_FRAGMENTS {
            return None;
        }
        let mut fragment = fragment;
        let storage = self.storage(fragment.at);
        let is_number = self.is_number(fragment.at);
        if is_number {
            fragment.from = fragment.from.checked_add(fragment.flip)?;
        }
        if !matches!(self.tree.node(storage), Node::Call(_)) {
            fragment.flip = 0;
        }
        // A fragment that continues the last one is merged with it. A register's fragments continue each other downwards
        // on a big-endian machine.
        if let Some(last) = out.last_mut()
            && last.at == fragment.at
            && (self.target.byte_order() == ByteOrder::Little || last.flip == 0 && fragment.flip == 0)
        {
            let (low, high) = match self.target.byte_order() {
                ByteOrder::Big if is_number => (fragment, *last),
                _ => (*last, fragment),
            };
            if i128::from(low.from) + i128::from(low.bits) == high.from.into() {
                (last.from, last.bits) = (low.from, low.bits + high.bits);
                return Some(());
            }
        }
        out.push(fragment);
        Some(())
    }

    /// Returns whether a location is in a register or a value, whose bits count from the least significant.
    pub(super) fn is_number(self, at: usize) -> bool {
        let node = self.tree.node(self.storage(at));
        matches!(node, Node::Register(_) | Node::Lane(..) | Node::PerLane(_) | Node::Value)
    }

    /// Returns the node of the storage in which a location with an offset is.
    pub(super) fn storage(self, mut at: usize) -> usize {
        loop {
            at = match self.tree.node(at) {
                Node::Offset(_) | Node::BitOffset(_) => self.tree.last(at),
                Node::OffsetBy | Node::BitOffsetBy => self.tree.two(at).0,
                _ => return at,
            };
        }
    }

    /// Returns a location's size in bits, if it has one.
    pub(super) fn bits(self, at: usize) -> Option<u64> {
        let tree = self.tree;
        match tree.node(at) {
            Node::Parts(_) => {
                tree.operands(at).iter().try_fold(0u64, |sum, &part| sum.checked_add(self.bits(part)?))
            }
            Node::Part(bits) => Some(bits),
            Node::Overlay => self.bits(tree.operands(at)[0]),
            Node::Extend { bits, count } | Node::Select { bits, count } => bits.checked_mul(count),
            Node::Register(reg) => Some(self.target.register(reg)?.bits.into()),
            Node::Lane(reg, _) | Node::PerLane(reg) => Some(self.target.register(reg)?.lane_bits().into()),
            Node::Implicit(bytes) => Some(8 * bytes.len() as u64),
            Node::Value | Node::PointerTo(..) => Some(u64::from(self.target.address_bytes()) * 8),
            Node::Offset(by) => self.bits(tree.last(at))?.checked_sub_signed(by.checked_mul(8)?),
            Node::BitOffset(by) => self.bits(tree.last(at))?.checked_sub_signed(by),
            _ => None,
        }
    }
}

/// Returns whether `bits` bits can be read as whole bytes: either they are whole bytes, or the storage, which has `has`
/// bits, covers the last byte.
pub(super) fn has_bytes(has: Option<u64>, bits: u32) -> bool {
    bits.is_multiple_of(8) || has.is_some_and(|has| has >= 8 * u64::from(bits.div_ceil(8)))
}
