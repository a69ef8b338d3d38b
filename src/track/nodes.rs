//! The graphs' nodes, and their successors.

use crate::build::ExecWrite;

/// Consecutive code, or one EXEC write.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) block: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) write: Option<ExecWrite>,
}

/// Each node's successors, in compressed rows.
#[derive(Debug)]
pub(super) struct Next {
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Next {
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        edges.clone().for_each(|(from, _)| first[from as usize + 1] += 1);
        // Counts become start indices; then each edge takes the next free entry in its row.
        for next in 0..nodes {
            first[next + 1] += first[next];
        }
        let mut next = first.clone();
        let mut to = vec![0; first[nodes] as usize];
        for (from, target) in edges {
            to[next[from as usize] as usize] = target;
            next[from as usize] += 1;
        }
        Self { first, to }
    }

    pub(super) fn successors(&self, node: u32) -> &[u32] {
        let index = node as usize;
        &self.to[self.first[index] as usize..self.first[index + 1] as usize]
    }
}
