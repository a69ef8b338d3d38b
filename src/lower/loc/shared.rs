//! A unit's recurring subexpressions, which are written once as procedures and called. DWARF 5 section 2.5.1.5.

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::model::{LocId, Module, Node, Tree};

/// Node index in its tree.
pub(super) type At = usize;

/// Minimum words in a location with subexpressions worth a call.
pub(super) const WORDS: usize = 14;
/// Minimum nodes in a subexpression worth a call.
const NODES: usize = 3;

/// Subexpressions of locations, by hash.
#[derive(Debug, Default)]
pub(super) struct Shared {
    hasher: DefaultHashBuilder,
    known: HashMap<u64, Part>,
}

/// Location subexpression.
#[derive(Debug, Clone, Copy)]
pub(in crate::lower) struct Part {
    pub(super) loc: LocId,
    pub(super) at: At,
    hash: u64,
    /// Node count.
    nodes: usize,
    /// Use count.
    times: u64,
    /// Unit offset of its procedure's entry, once it is written, and what is left of the location where it begins.
    entry: Option<(u64, (usize, usize))>,
}

impl Shared {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(super) fn hashes(&self, tree: &Tree<'_>, out: &mut Vec<u64>) {
        tree.hashes(&self.hasher, out);
    }

    /// Counts a location's subexpressions.
    pub(super) fn count<'m>(
        &mut self,
        module: &'m Module,
        loc: LocId,
        tree: &mut Tree<'m>,
        hashes: &mut Vec<u64>,
        is_wanted: impl Fn(Node<'_>) -> bool,
    ) {
        let nodes = module.nodes(loc);
        if nodes.at_most() < WORDS || tree.read(nodes).is_none() {
            return;
        }
        tree.hashes(&self.hasher, hashes);
        for (at, &hash) in hashes.iter().enumerate() {
            let count = tree.subtree(at).count();
            // A procedure has one expression for all its callers, so nothing in it may depend on them.
            if count < NODES || !is_wanted(tree.node(at)) || tree.subtree(at).any(depends_on_the_caller) {
                continue;
            }
            let new = Part { loc, at, hash, nodes: count, times: 0, entry: None };
            self.known.entry(hash).or_insert(new).times += 1;
        }
    }

    /// Drops the subexpressions with one use. Returns the others, the largest first.
    pub(super) fn repeated(&mut self) -> Vec<Part> {
        self.known.retain(|_, part| part.times > 1);
        let mut parts: Vec<Part> = self.known.values().copied().collect();
        parts.sort_unstable_by_key(|part| (core::cmp::Reverse(part.nodes), part.loc, part.at));
        parts
    }

    /// Uses outside larger chosen subexpressions.
    pub(super) fn times(&self, part: &Part) -> u64 {
        self.known.get(&part.hash).map_or(0, |part| part.times)
    }

    /// Records that a subexpression is written once, which reduces the uses of the subexpressions within it.
    pub(super) fn choose(&mut self, part: &Part, tree: &Tree<'_>, hashes: &[u64]) {
        let times = self.times(part);
        let inner = part.at + 1 - tree.subtree(part.at).count()..part.at;
        // The subexpressions within it now occur once in the procedure, instead of once for each use.
        for hash in &hashes[inner] {
            if let Some(inner) = self.known.get_mut(hash) {
                inner.times = inner.times.saturating_sub(times - 1);
            }
        }
    }

    /// Removes a subexpression, which stays inline.
    pub(super) fn forget(&mut self, part: &Part) {
        self.known.remove(&part.hash);
    }

    /// Records a procedure's offset for its subexpression.
    pub(super) fn settle(&mut self, module: &Module, part: &Part, entry: u64) {
        if let Some(part) = self.known.get_mut(&part.hash) {
            let mut nodes = module.nodes(part.loc);
            nodes.by_ref().take(part.at + 1 - part.nodes).for_each(drop);
            part.entry = Some((entry, nodes.left()));
        }
    }

    /// Unit offset of a subexpression's procedure.
    pub(super) fn entry(&self, module: &Module, tree: &Tree<'_>, at: At, hash: u64) -> Option<u64> {
        let part = self.known.get(&hash)?;
        let (entry, left) = part.entry?;
        // Different subexpressions can have the same hash, so the nodes are compared, but only those of the part: its
        // location can be large, and have many uses of the part.
        let nodes = module.nodes(part.loc).since(left).take(part.nodes);
        nodes.inspect(|_| crate::work::step()).eq(tree.subtree(at)).then_some(entry)
    }
}

/// Returns whether a node's encoding depends on its context: the function's frame, or the space for a symbol's address.
fn depends_on_the_caller(node: Node<'_>) -> bool {
    matches!(node, Node::StackAddress(_) | Node::Address(..) | Node::Call(_) | Node::Expr(_))
}
