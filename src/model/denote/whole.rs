//! Validity of a location as a whole, beyond the requested bits.

use super::{Denote, NoMeaning, Slice, Spans};
use crate::model::nodes::{Node, Sort};
use crate::model::tree::At;

impl Denote<'_> {
    /// Checks each location and number that the location is computed from.
    pub(super) fn is_whole(&self) -> Result<(), NoMeaning> {
        let root = self.of.root;
        let mut ignored = Spans::new();
        for at in 0..root {
            // A node with only numbers as operands computes all of them after its last number.
            let operands = self.of.tree.node(at + 1).sorts().1;
            if !operands.is_empty() && operands.iter().all(|&sort| sort == Sort::Val) {
                continue;
            }
            let looked = match self.of.tree.node(at) {
                node if node.sorts().0 == Sort::Val => self.number(at).map(drop),
                // A part must have all its bits; any other location must have at least its first bit.
                Node::Part(bits) => self.slice(at, Slice::first(bits), &mut ignored),
                _ => self.slice(at, Slice::first(1), &mut ignored),
            };
            let looked = looked.and_then(|()| self.operands_reach(at, &mut ignored));
            meaning_of_part(looked)?;
            ignored.clear();
        }
        meaning_of_part(self.operands_reach(root, &mut ignored))
    }

    /// Checks that a node's operands have the bits that the node takes.
    fn operands_reach(&self, at: At, ignored: &mut Spans) -> Result<(), NoMeaning> {
        match self.of.tree.node(at) {
            Node::Extend { bits, count } | Node::Select { bits, count } => {
                self.slice(at, Slice::first(bits.saturating_mul(count)), ignored)
            }
            Node::Overlay => {
                let operands = self.of.tree.operands(at);
                let [below, above, offset, size] = operands[..] else { return Err(NoMeaning::Malformed) };
                let offset = self.number(offset)?;
                let size = self.number(size)?;
                // Both must have the bits that the overlay takes, even bits that the slice does not ask for.
                self.slice(above, Slice::first(size), ignored)?;
                self.slice(below, Slice::first(offset.saturating_add(size)), ignored)
            }
            // The bit at an offset must exist: the end of the storage is outside.
            Node::Offset(_) | Node::BitOffset(_) | Node::OffsetBy | Node::BitOffsetBy => {
                self.slice(at, Slice::first(1), ignored)
            }
            _ => Ok(()),
        }
    }
}

/// Returns the fault in a part as a fault in the whole location, which has no meaning then.
fn meaning_of_part(looked: Result<(), NoMeaning>) -> Result<(), NoMeaning> {
    match looked {
        Ok(()) => Ok(()),
        // The bits that a raw expression reads from other parts are unknown too.
        Err(why) if why == NoMeaning::Raw || why.is_outside() => Err(why),
        Err(why) => Err(NoMeaning::Part(why.to_string())),
    }
}
