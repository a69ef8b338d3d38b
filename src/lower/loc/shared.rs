//! A unit's recurring subexpressions, which are written once as procedures and called. DWARF 5 section 2.5.1.5.

use hashbrown::{DefaultHashBuilder, HashMap};

use crate::model::{LocId, Module, Node, Nodes, Tree};

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
    /// What is left of the counted location before each of its nodes.
    starts: Vec<(usize, usize)>,
    /// How many nodes before each node of the counted location depend on the caller.
    dependent: Vec<usize>,
}

/// Location subexpression.
#[derive(Debug, Clone, Copy)]
pub(in crate::lower) struct Part {
    loc: LocId,
    at: At,
    hash: u64,
    /// Node count.
    nodes: usize,
    /// What is left of the location where it begins.
    start: (usize, usize),
    /// Use count.
    times: u64,
    /// Unit offset of its procedure's entry, once it is written.
    entry: Option<u64>,
}

impl Part {
    /// Returns its nodes, but not those of the location around it, which can be large, and have many parts.
    pub(super) fn nodes<'m>(&self, module: &'m Module) -> impl Iterator<Item = Node<'m>> {
        module.nodes(self.loc).since(self.start).take(self.nodes)
    }
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
        self.read_starts(module.nodes(loc));
        for (at, &hash) in hashes.iter().enumerate() {
            let first = tree.start(at);
            let count = at + 1 - first;
            // A procedure has one expression for all its callers, so nothing in it may depend on them.
            let depends_on_the_caller = self.dependent[at + 1] > self.dependent[first];
            if count < NODES || !is_wanted(tree.node(at)) || depends_on_the_caller {
                continue;
            }
            let start = self.starts[first];
            let new = Part { loc, at, hash, nodes: count, start, times: 0, entry: None };
            self.known.entry(hash).or_insert(new).times += 1;
        }
    }

    fn read_starts(&mut self, mut nodes: Nodes<'_>) {
        self.starts.clear();
        self.dependent.clear();
        let mut dependent = 0;
        loop {
            self.starts.push(nodes.left());
            self.dependent.push(dependent);
            let Some(node) = nodes.next() else { break };
            dependent += usize::from(depends_on_the_caller(node));
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

    /// Records that a subexpression is written once, which reduces the uses of the subexpressions within it. `hashes` has
    /// the hashes of its nodes.
    pub(super) fn choose(&mut self, part: &Part, hashes: &[u64]) {
        let times = self.times(part);
        let inner = &hashes[..hashes.len().saturating_sub(1)];
        // The subexpressions within it now occur once in the procedure, instead of once for each use.
        for hash in inner {
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
    pub(super) fn settle(&mut self, part: &Part, entry: u64) {
        if let Some(part) = self.known.get_mut(&part.hash) {
            part.entry = Some(entry);
        }
    }

    /// Unit offset of a subexpression's procedure.
    pub(super) fn entry(&self, module: &Module, tree: &Tree<'_>, at: At, hash: u64) -> Option<u64> {
        let part = self.known.get(&hash)?;
        let entry = part.entry?;
        // Different subexpressions can have the same hash, so the nodes are compared.
        part.nodes(module).inspect(|_| crate::work::step()).eq(tree.subtree(at)).then_some(entry)
    }
}

/// Returns whether a node's encoding depends on its context: the function's frame, or the space for a symbol's address.
fn depends_on_the_caller(node: Node<'_>) -> bool {
    matches!(node, Node::StackAddress(_) | Node::Address(..) | Node::Call(_) | Node::Expr(_))
}
