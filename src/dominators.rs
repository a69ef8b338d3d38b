//! Dominators in a graph, by Georgiadis' SEMI-NCA algorithm ("Linear-Time Algorithms for Dominators and Related
//! Problems"): a depth-first walk numbers the nodes, semidominators are computed in reverse order, and a walk up the
//! tree turns them into dominators.
//!
//! Iteration over predecessors is not used, because a node with many distant predecessors, such as a function's exit
//! that lanes reach early, would take quadratic time.

/// The immediate dominator of an unreachable node.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// Reachable nodes in an order in which each node is after its dominators.
pub(crate) struct Dominators {
    /// Reachable nodes in reverse postorder.
    pub(crate) order: Vec<u32>,
    /// Each node's immediate dominator. The immediate dominator of node 0 is node 0.
    pub(crate) immediate: Vec<u32>,
}

/// Nodes, numbered in the order in which the walk first visits them, with the forest of nodes whose semidominators are
/// known.
struct Forest {
    parent: Vec<u32>,
    semidominator: Vec<u32>,
    label: Vec<u32>,
    /// Nodes on the current path. The buffer is kept so that no call allocates.
    path: Vec<u32>,
}

impl Forest {
    /// Returns the node with the least semidominator on the path from a node to its tree's root. All nodes after `last`
    /// are in the forest. Compresses the path so that later calls are short.
    fn least(&mut self, mut node: u32, last: u32) -> u32 {
        if self.parent[node as usize] <= last {
            return self.label[node as usize];
        }
        while self.parent[node as usize] > last {
            self.path.push(node);
            node = self.parent[node as usize];
        }
        let mut above = node;
        let mut least = self.label[node as usize];
        // From the root down, each node takes the least label above it and becomes a child of the root.
        while let Some(node) = self.path.pop() {
            self.parent[node as usize] = self.parent[above as usize];
            let label = &mut self.label[node as usize];
            if self.semidominator[least as usize] < self.semidominator[*label as usize] {
                *label = least;
            } else {
                least = *label;
            }
            above = node;
        }
        self.label[above as usize]
    }
}

impl Dominators {
    /// Finds the dominators of all nodes that are reachable from node 0. `successor` returns a node's successor at an
    /// index, and `predecessors` all predecessors of a node.
    pub(crate) fn new<P: Iterator<Item = u32>>(
        nodes: usize,
        successor: impl Fn(u32, usize) -> Option<u32>,
        predecessors: impl Fn(u32) -> P,
    ) -> Self {
        let mut number = vec![UNREACHED; nodes];
        let mut visited = Vec::new();
        let mut parent = Vec::new();
        let mut order = Vec::new();
        let mut path: Vec<(u32, usize)> = Vec::new();
        if nodes > 0 {
            number[0] = 0;
            visited.push(0);
            parent.push(0);
            path.push((0, 0));
        }
        // The path is explicit instead of a recursion, because a function with many blocks would overflow the stack.
        while let Some((node, next)) = path.last_mut() {
            match successor(*node, *next) {
                Some(to) => {
                    *next += 1;
                    if number[to as usize] == UNREACHED {
                        parent.push(number[*node as usize]);
                        number[to as usize] = visited.len() as u32;
                        visited.push(to);
                        path.push((to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
        order.reverse();
        let count = visited.len() as u32;
        let mut dominators = parent.clone();
        let labels: Vec<u32> = (0..count).collect();
        let mut forest = Forest { parent, semidominator: labels.clone(), label: labels, path: Vec::new() };
        // In reverse order, all later nodes are in the forest already. Unreachable predecessors do not count.
        for node in (1..count).rev() {
            let mut least = dominators[node as usize];
            for from in predecessors(visited[node as usize]).map(|from| number[from as usize]) {
                if from != UNREACHED {
                    let candidate = forest.least(from, node);
                    least = least.min(forest.semidominator[candidate as usize]);
                }
            }
            forest.semidominator[node as usize] = least;
        }
        // The immediate dominator is the nearest ancestor in the dominator tree that is not after the semidominator.
        for node in 1..count as usize {
            while dominators[node] > forest.semidominator[node] {
                dominators[node] = dominators[dominators[node] as usize];
            }
        }
        let mut immediate = vec![UNREACHED; nodes];
        for (&node, &dominator) in visited.iter().zip(&dominators) {
            immediate[node as usize] = visited[dominator as usize];
        }
        Self { order, immediate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a node is reached from node 0 without a given node.
    fn is_reached(next: &[Vec<u32>], node: u32, without: u32) -> bool {
        let mut open = Vec::from_iter((without != 0).then_some(0));
        let mut seen = vec![false; next.len()];
        while let Some(visited) = open.pop() {
            if !core::mem::replace(&mut seen[visited as usize], true) {
                open.extend(next[visited as usize].iter().filter(|&&to| to != without));
            }
        }
        seen[node as usize]
    }

    /// By definition, a node dominates the nodes that are unreachable without it, and all other dominators of a node
    /// dominate the immediate one.
    #[test]
    fn dominators_of_random_graphs_are_as_defined() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |count: u64| {
            random ^= random >> 12;
            random ^= random << 25;
            random ^= random >> 27;
            (random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % count
        };
        for _ in 0..2000 {
            let nodes = 1 + below(9) as usize;
            let mut next = vec![Vec::new(); nodes];
            let mut before = vec![Vec::new(); nodes];
            for _ in 0..below(3 * nodes as u64) {
                let [from, to] = [(); 2].map(|()| below(nodes as u64) as u32);
                next[from as usize].push(to);
                before[to as usize].push(from);
            }
            let dominators = Dominators::new(
                nodes,
                |node, index| next[node as usize].get(index).copied(),
                |node| before[node as usize].iter().copied(),
            );
            let nodes = || 0..nodes as u32;
            let dominates = |above: u32, node: u32| above != node && !is_reached(&next, node, above);
            for node in nodes() {
                let is_known = node == 0 || is_reached(&next, node, UNREACHED);
                let strict: Vec<u32> = nodes().filter(|&above| dominates(above, node)).collect();
                let immediate = strict
                    .iter()
                    .find(|&&node| strict.iter().all(|&above| above == node || dominates(above, node)));
                let expected = match (is_known, node) {
                    (false, _) => UNREACHED,
                    (true, 0) => 0,
                    (true, _) => *immediate.expect("node 0 dominates all nodes"),
                };
                assert_eq!(dominators.immediate[node as usize], expected, "node {node} of {next:?}");
                assert_eq!(dominators.order.contains(&node), is_known);
            }
        }
    }
}
