//! Terms as nodes in postfix order.

use super::context::Result;
use super::terms::{TermId, Terms};
use super::untyped::UntypedReason;
use crate::build::MAX_LEVELS;
use crate::model::Node;

/// Maximum number of nodes in a location, above what any compiler writes.
const MAX_NODES: u32 = 1 << 12;

/// Returns a term's tree.
///
/// # Errors
/// [`UntypedReason::TooLarge`].
pub(super) fn nodes<'a>(terms: &Terms<'a>, root: TermId) -> Result<Vec<Node<'a>>> {
    let (count, levels) = terms.size(root);
    if count > MAX_NODES || levels as usize > MAX_LEVELS {
        return Err(UntypedReason::TooLarge.into());
    }
    let mut nodes = Vec::with_capacity(count as usize);
    let mut next = vec![(root, false)];
    while let Some((id, has_operands)) = next.pop() {
        if has_operands {
            nodes.push(terms.node_of(id).ok_or(UntypedReason::Operation)?);
        } else {
            next.push((id, true));
            next.extend(terms.operands(id).iter().rev().map(|&operand| (operand, false)));
        }
    }
    Ok(nodes)
}
