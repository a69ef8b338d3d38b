//! Whether a location means something as a whole, though not all of it is asked for.

use super::{Denote, NoMeaning, Span};
use crate::model::nodes::{Node, Sort};
use crate::model::tree::At;

impl Denote<'_> {
    /// Looks at each place and number on the way to the location's bits.
    pub(super) fn is_whole(&self, root: At) -> Result<(), NoMeaning> {
        let mut ignored = Vec::new();
        for at in 0..root {
            let looked = match self.tree.node(at) {
                node if node.sorts().0 == Sort::Val => self.number(at).map(drop),
                Node::Part(bits) => self.slice(at, 0, bits, &mut ignored),
                _ => self.slice(at, 0, 1, &mut ignored),
            };
            let looked = looked.and_then(|()| self.operands_reach(at, &mut ignored));
            outside(looked)?;
            ignored.clear();
        }
        outside(self.operands_reach(root, &mut ignored))
    }

    /// Looks whether the operands of a node have the bits that it takes of them.
    fn operands_reach(&self, at: At, ignored: &mut Vec<Span>) -> Result<(), NoMeaning> {
        match self.tree.node(at) {
            Node::Extend { bits, count } | Node::Select { bits, count } => {
                self.slice(at, 0, bits.saturating_mul(count), ignored)
            }
            Node::Overlay => {
                let operands = self.tree.operands(at);
                let [below, above, offset, size] = operands[..] else { return Err(NoMeaning::Malformed) };
                let (offset, size) = (self.number(offset)?, self.number(size)?);
                self.slice(above, 0, size, ignored)?;
                self.slice(below, 0, offset.saturating_add(size), ignored)
            }
            // A place is in its storage: just behind the end there is none.
            Node::Offset(_) | Node::BitOffset(_) | Node::OffsetBy | Node::BitOffsetBy => {
                self.slice(at, 0, 1, ignored)
            }
            _ => Ok(()),
        }
    }
}

/// What is wrong with a part of a location makes the whole mean nothing.
fn outside(looked: Result<(), NoMeaning>) -> Result<(), NoMeaning> {
    match looked {
        Ok(()) => Ok(()),
        // What a raw expression needs of the others is not known either.
        Err(why @ (NoMeaning::Raw | NoMeaning::Outside(_) | NoMeaning::Part(_))) => Err(why),
        Err(why) => Err(NoMeaning::Part(why.to_string())),
    }
}
