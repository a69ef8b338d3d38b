//! Location fragments, with constant offsets, parts, overlays and repetitions resolved.

use crate::model::{Node, Tree};

/// Consecutive bits in a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fragment {
    /// Node, which [`split`] does not resolve further.
    pub(super) at: usize,
    /// First bit, counted from the start of the node's location.
    pub(super) from: i64,
    /// Size in bits.
    pub(super) bits: u64,
}

/// Fragment limit, above what any location from a compiler needs.
pub(super) const MAX_FRAGMENTS: usize = 4096;

/// Appends the fragments for `bits` bits from bit `from` on in the location `at`. Returns `None` if the location does
/// not have these bits, or if there are too many fragments.
pub(super) fn split(tree: &Tree<'_>, at: usize, from: i64, bits: u64, out: &mut Vec<Fragment>) -> Option<()> {
    if bits == 0 {
        return Some(());
    }
    match tree.node(at) {
        Node::Offset(bytes) => {
            split(tree, tree.last(at), from.checked_add(bytes.checked_mul(8)?)?, bits, out)
        }
        Node::BitOffset(by) => split(tree, tree.last(at), from.checked_add(by)?, bits, out),
        Node::OffsetBy | Node::BitOffsetBy => {
            let (place, by) = tree.two(at);
            let Some(by) = tree.constant(by) else { return push(at, from, bits, out) };
            let scale = if matches!(tree.node(at), Node::OffsetBy) { 8 } else { 1 };
            split(tree, place, from.checked_add((by as i64).checked_mul(scale)?)?, bits, out)
        }
        Node::Part(_) => split(tree, tree.last(at), from, bits, out),
        Node::Parts(_) => {
            let parts = tree.operands(at);
            let sized = parts.iter().map(|&part| match tree.node(part) {
                Node::Part(bits) => (part, 0, bits),
                _ => (part, 0, 0),
            });
            sequence(tree, sized, from, bits, out)
        }
        Node::Overlay => {
            let operands = tree.operands(at);
            let [below, above, offset, size] = operands[..] else { return None };
            let (Some(offset), Some(size)) = (tree.constant(offset), tree.constant(size)) else {
                return push(at, from, bits, out);
            };
            // The location below is visible before and after the overlaid bits.
            let past = offset.checked_add(size)?;
            let rest = (below, i64::try_from(past).ok()?, u64::MAX - past);
            sequence(tree, [(below, 0, offset), (above, 0, size), rest], from, bits, out)
        }
        Node::Extend { bits: size, count } => {
            // A whole repetition has a shorter operation.
            if from == 0 && bits == size.checked_mul(count)? && count > 1 {
                return push(at, from, bits, out);
            }
            let count = usize::try_from(count).ok().filter(|&count| count <= MAX_FRAGMENTS)?;
            let elements = core::iter::repeat_n((tree.last(at), 0, size), count);
            sequence(tree, elements, from, bits, out)
        }
        _ => push(at, from, bits, out),
    }
}

/// Appends the fragments of `from..from + bits` in consecutive pieces, each given as location, first bit and size.
fn sequence(
    tree: &Tree<'_>,
    pieces: impl IntoIterator<Item = (usize, i64, u64)>,
    from: i64,
    mut bits: u64,
    out: &mut Vec<Fragment>,
) -> Option<()> {
    let mut from = u64::try_from(from).ok()?;
    for (at, first, size) in pieces {
        if from < size && bits > 0 {
            let here = bits.min(size - from);
            split(tree, at, first.checked_add_unsigned(from)?, here, out)?;
            bits -= here;
            from = 0;
        } else {
            from = from.saturating_sub(size);
        }
    }
    (bits == 0).then_some(())
}

fn push(at: usize, from: i64, bits: u64, out: &mut Vec<Fragment>) -> Option<()> {
    if out.len() == MAX_FRAGMENTS {
        return None;
    }
    // A fragment that continues the last one is merged with it.
    if let Some(last) = out.last_mut()
        && last.at == at
        && i128::from(last.from) + i128::from(last.bits) == from.into()
    {
        last.bits += bits;
        return Some(());
    }
    out.push(Fragment { at, from, bits });
    Some(())
}
