//! Node trees: the operands that postfix order leaves implicit.

use core::hash::{BuildHasher, Hash, Hasher};

use smallvec::SmallVec;

use super::nodes::{Node, Sort};
use super::postfix::Nodes;

/// A location as a tree. Reusable: [`read`](Tree::read) replaces its contents.
#[derive(Debug, Default)]
pub(crate) struct Tree<'m> {
    nodes: Vec<(Node<'m>, u32)>,
}

/// A node's index in its tree.
pub(crate) type At = usize;

impl<'m> Tree<'m> {
    /// Reads the nodes and returns the root. `None` if the nodes do not form exactly one tree, or an operand does not
    /// have the sort that its node takes.
    #[inline]
    pub(crate) fn read(&mut self, nodes: Nodes<'m>) -> Option<At> {
        self.nodes.clear();
        self.nodes.reserve(nodes.at_most());
        let root = self.append(nodes)?;
        (self.node(root).sorts().0 == Sort::Loc).then_some(root)
    }

    /// Reads nodes, which may be a number, and returns the root. `None` as for [`read`](Self::read).
    pub(crate) fn read_part(&mut self, nodes: impl Iterator<Item = Node<'m>>) -> Option<At> {
        self.nodes.clear();
        self.append(nodes)
    }

    #[inline]
    fn append(&mut self, nodes: impl Iterator<Item = Node<'m>>) -> Option<At> {
        for node in nodes {
            // An operand ends where the next operand's subtree starts; the last operand ends just before the node.
            let mut start = self.nodes.len();
            for index in (0..node.arity()).rev() {
                let operand = start.checked_sub(1)?;
                let (child, from) = self.nodes[operand];
                debug_assert!(sort_fits(&node, index, &child), "{node:?} takes no {child:?}");
                start = from as usize;
            }
            // Each node has its subtree's start, so that operands are found without a walk.
            self.nodes.push((node, start as u32));
        }
        let (_, start) = *self.nodes.last()?;
        // A second tree before the last would leave nodes that no node takes.
        (start == 0).then_some(self.nodes.len() - 1)
    }

    #[inline]
    pub(crate) fn node(&self, at: At) -> Node<'m> {
        self.nodes[at].0
    }

    /// Returns a node's only operand, or the last operand.
    #[inline]
    pub(crate) fn last(&self, at: At) -> At {
        at - 1
    }

    /// The operand before this one.
    #[inline]
    pub(crate) fn before(&self, at: At) -> At {
        self.nodes[at].1 as usize - 1
    }

    /// Returns the last two operands.
    #[inline]
    pub(crate) fn two(&self, at: At) -> (At, At) {
        let second = self.last(at);
        (self.before(second), second)
    }

    /// All operands, in order.
    pub(crate) fn operands(&self, at: At) -> SmallVec<[At; 8]> {
        let mut operands = SmallVec::new();
        let mut next = at;
        for _ in 0..self.node(at).arity() {
            // Operands are found from the last to the first, because only their ends are adjacent.
            next = if next == at { self.last(at) } else { self.before(next) };
            operands.push(next);
        }
        operands.reverse();
        operands
    }

    /// Appends a hash for each node; equal subtrees have equal hashes.
    pub(crate) fn hashes(&self, hasher: &impl BuildHasher, out: &mut Vec<u64>) {
        out.clear();
        for at in 0..self.nodes.len() {
            crate::work::step();
            let mut state = hasher.build_hasher();
            self.node(at).hash(&mut state);
            for operand in self.operands(at) {
                state.write_u64(out[operand]);
            }
            out.push(state.finish());
        }
    }

    /// Returns the index of a subtree's first node.
    pub(crate) fn start(&self, at: At) -> At {
        self.nodes[at].1 as usize
    }

    /// Returns a subtree's nodes, in postfix order.
    pub(crate) fn subtree(&self, at: At) -> impl Iterator<Item = Node<'m>> + Clone {
        self.nodes[self.nodes[at].1 as usize..=at].iter().map(|&(node, _)| node)
    }

    /// Returns a constant number's value; `None` for any other node.
    pub(crate) fn constant(&self, at: At) -> Option<u64> {
        match self.node(at) {
            Node::Const(value) => Some(value),
            Node::Plus(by) => Some(self.constant(self.last(at))?.wrapping_add_signed(by)),
            _ => None,
        }
    }
}

fn sort_fits(node: &Node<'_>, index: usize, child: &Node<'_>) -> bool {
    match node {
        Node::Parts(_) => matches!(child, Node::Part(_)),
        _ => node.sorts().1[index] == child.sorts().0,
    }
}
