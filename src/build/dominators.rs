//! Dominators of a graph's nodes. Georgiadis, "Linear-Time Algorithms for Dominators and Related Problems", the
//! algorithm SEMI-NCA. A node with many predecessors far apart, as the end of a function that lanes leave early, takes
//! no longer than others.

/// The immediate dominator of a node that is not reached.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// Reached nodes in an order with each node behind its dominators.
pub(crate) struct Dominators {
    /// The nodes that are reached, in reverse postorder.
    pub(crate) order: Vec<u32>,
    /// The immediate dominator of each node: that of node 0 is node 0.
    pub(crate) of: Vec<u32>,
}

/// Nodes by the number of their first visit, with the forest of those that have a semidominator.
struct Forest {
    parent: Vec<u32>,
    semi: Vec<u32>,
    label: Vec<u32>,
    open: Vec<u32>,
}

impl Forest {
    /// Returns the node with the least semidominator on the path from a node to its root, which follows `last`.
    fn eval(&mut self, mut node: u32, last: u32) -> u32 {
        if self.parent[node as usize] <= last {
            return self.label[node as usize];
        }
        while self.parent[node as usize] > last {
            self.open.push(node);
            node = self.parent[node as usize];
        }
        let mut above = node;
        let mut least = self.label[node as usize];
        while let Some(node) = self.open.pop() {
            self.parent[node as usize] = self.parent[above as usize];
            let label = &mut self.label[node as usize];
            if self.semi[least as usize] < self.semi[*label as usize] {
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
    /// Finds the dominators of nodes that are reached from node 0. `next` returns a successor of a node by its position,
    /// and `before` all predecessors.
    pub(crate) fn new<B: Iterator<Item = u32>>(
        nodes: usize,
        next: impl Fn(u32, usize) -> Option<u32>,
        before: impl Fn(u32) -> B,
    ) -> Self {
        let mut number = vec![UNREACHED; nodes];
        let mut visited = Vec::new();
        let mut parent = Vec::new();
        let mut order = Vec::new();
        let mut open: Vec<(u32, usize)> = Vec::new();
        if nodes > 0 {
            number[0] = 0;
            visited.push(0);
            parent.push(0);
            open.push((0, 0));
        }
        while let Some((node, at)) = open.last_mut() {
            match next(*node, *at) {
                Some(to) => {
                    *at += 1;
                    if number[to as usize] == UNREACHED {
                        parent.push(number[*node as usize]);
                        number[to as usize] = visited.len() as u32;
                        visited.push(to);
                        open.push((to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    open.pop();
                }
            }
        }
        order.reverse();
        let count = visited.len() as u32;
        let mut ancestors = parent.clone();
        let each: Vec<u32> = (0..count).collect();
        let mut forest = Forest { parent, semi: each.clone(), label: each, open: Vec::new() };
        for at in (1..count).rev() {
            let mut semi = ancestors[at as usize];
            for from in before(visited[at as usize]).map(|from| number[from as usize]) {
                if from != UNREACHED {
                    let least = forest.eval(from, at);
                    semi = semi.min(forest.semi[least as usize]);
                }
            }
            forest.semi[at as usize] = semi;
        }
        for at in 1..count as usize {
            while ancestors[at] > forest.semi[at] {
                ancestors[at] = ancestors[ancestors[at] as usize];
            }
        }
        let mut dominators = vec![UNREACHED; nodes];
        for (&node, &dominator) in visited.iter().zip(&ancestors) {
            dominators[node as usize] = visited[dominator as usize];
        }
        Self { order, of: dominators }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a node is reached from node 0 without another one.
    fn is_reached(next: &[Vec<u32>], node: u32, without: u32) -> bool {
        let mut open = Vec::from_iter((without != 0).then_some(0));
        let mut seen = vec![false; next.len()];
        while let Some(at) = open.pop() {
            if !core::mem::replace(&mut seen[at as usize], true) {
                open.extend(next[at as usize].iter().filter(|&&to| to != without));
            }
        }
        seen[node as usize]
    }

    /// The definition: a node dominates those that are not reached without it, and the immediate one is dominated by
    /// the others.
    #[test]
    fn dominators_are_those_of_the_definition() {
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
                |node, at| next[node as usize].get(at).copied(),
                |node| before[node as usize].iter().copied(),
            );
            let nodes = || 0..nodes as u32;
            let dominates = |one: u32, node: u32| one != node && !is_reached(&next, node, one);
            for node in nodes() {
                let is_known = node == 0 || is_reached(&next, node, UNREACHED);
                let candidates: Vec<u32> = nodes().filter(|&one| dominates(one, node)).collect();
                let immediate = candidates
                    .iter()
                    .find(|&&one| candidates.iter().all(|&two| one == two || dominates(two, one)));
                let expected = match (is_known, node) {
                    (false, _) => UNREACHED,
                    (true, 0) => 0,
                    (true, _) => *immediate.expect("node 0 dominates all"),
                };
                assert_eq!(dominators.of[node as usize], expected, "node {node} of {next:?}");
                assert_eq!(dominators.order.contains(&node), is_known);
            }
        }
    }
}
