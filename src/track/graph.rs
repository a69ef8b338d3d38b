//! The wave's graph and the lane's: segments of blocks, divided at writes of EXEC, and skips.
//!
//! Node 0 is the entry of the function, and the others follow in the order of pcs. A *skip* is an edge of the lane's
//! graph along which the lane waits, while the wave runs the *stretch* of nodes between.

use core::ops::Range;

use super::code::Code;
use crate::build::{BlockId, Ends, ExecWrite, MaskId};
use crate::error::{At, Error, Result};

/// Consecutive code, or one write of EXEC.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) block: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) write: Option<ExecWrite>,
}

/// Edge of the lane's graph along which the lane waits.
#[derive(Debug, Clone)]
pub(super) struct Skip {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The wait meanwhile, which has the stretch.
    pub(super) wait: u32,
    /// The last node that the wave runs, unless it is part of the stretch.
    pub(super) end: Option<u32>,
}

/// A pc at which lanes wait.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    pub(super) pc: u32,
    /// The node behind which lanes wait.
    pub(super) from: u32,
    /// The nodes that the wave runs meanwhile, sorted, without those at which it ends.
    pub(super) stretch: Range<u32>,
    /// For lanes that wait where their mask was saved: the nodes that they ran since.
    pub(super) since: Vec<u32>,
}

#[derive(Debug)]
pub(super) struct Graphs {
    /// The segment of node n + 1.
    pub(super) segments: Vec<Segment>,
    /// The first and last node of each block.
    pub(super) blocks: Vec<(u32, u32)>,
    /// Edges of the wave.
    pub(super) wave: Vec<(u32, u32)>,
    /// Edges of lanes, without skips.
    pub(super) lanes: Vec<(u32, u32)>,
    pub(super) skips: Vec<Skip>,
    pub(super) waits: Vec<Wait>,
    /// Nodes of stretches.
    pub(super) nodes: Vec<u32>,
}

/// Successors of each node.
struct Next {
    first: Vec<u32>,
    to: Vec<u32>,
}

impl Next {
    fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        edges.clone().for_each(|(from, _)| first[from as usize + 1] += 1);
        for at in 0..nodes {
            first[at + 1] += first[at];
        }
        let mut at = first.clone();
        let mut to = vec![0; first[nodes] as usize];
        for (from, target) in edges {
            to[at[from as usize] as usize] = target;
            at[from as usize] += 1;
        }
        Self { first, to }
    }

    fn of(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.to[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// Finds the nodes that are reached from others.
struct Reach {
    /// The last search that reached each node.
    seen: Vec<u32>,
    search: u32,
    open: Vec<u32>,
}

impl Reach {
    /// Returns the nodes that are reached from `start`, without those for which `is_end` holds, and the latter.
    fn from(&mut self, next: &Next, start: &[u32], is_end: impl Fn(u32) -> bool) -> (Vec<u32>, Vec<u32>) {
        self.search += 1;
        self.open.extend(start);
        let (mut nodes, mut ends) = (Vec::new(), Vec::new());
        while let Some(node) = self.open.pop() {
            if core::mem::replace(&mut self.seen[node as usize], self.search) == self.search {
                continue;
            }
            if is_end(node) {
                ends.push(node);
            } else {
                nodes.push(node);
                self.open.extend(next.of(node));
            }
        }
        nodes.sort_unstable();
        ends.sort_unstable();
        (nodes, ends)
    }
}

impl Graphs {
    pub(super) fn new(code: &Code) -> Result<Self> {
        let flow = &code.flow;
        let (order, masks) = flow.checked(&code.target)?;
        let (segments, blocks) = segments(code);
        let mut graphs = Self {
            segments,
            blocks,
            wave: Vec::new(),
            lanes: Vec::new(),
            skips: Vec::new(),
            waits: Vec::new(),
            nodes: Vec::new(),
        };
        graphs.edges(code);
        let parents = graphs.parents(code, &order, masks.len());
        graphs.skips(code, &masks, &parents)?;
        Ok(graphs)
    }

    pub(super) fn segment(&self, node: u32) -> &Segment {
        &self.segments[node as usize - 1]
    }

    pub(super) fn stretch(&self, range: &Range<u32>) -> &[u32] {
        &self.nodes[range.start as usize..range.end as usize]
    }

    fn edges(&mut self, code: &Code) {
        let flow = &code.flow;
        if let Some(&(first, _)) = self.blocks.first() {
            self.wave.push((0, first));
            self.lanes.push((0, first));
        }
        for (index, segment) in self.segments.iter().enumerate() {
            let node = index as u32 + 1;
            if self.blocks[segment.block as usize].1 != node {
                self.wave.push((node, node + 1));
                if !matches!(segment.write, Some(ExecWrite::Else(_))) {
                    self.lanes.push((node, node + 1));
                }
            }
        }
        let mut edges = flow.edges.clone();
        edges.sort_unstable();
        let mut waves = flow.wave_edges.clone();
        waves.sort_unstable();
        // An edge that is added both ways, as a branch to the next instruction, is one of lanes, too.
        for same in edges.chunk_by(|a, b| a == b) {
            let (from, to) = same[0];
            let edge = (self.blocks[from].1, self.blocks[to].0);
            self.wave.push(edge);
            let start = waves.partition_point(|edge| *edge < (from, to));
            let end = waves.partition_point(|edge| *edge <= (from, to));
            if same.len() > end - start {
                self.lanes.push(edge);
            }
        }
    }

    /// Returns the mask around each mask: the innermost one that is open where it is saved.
    fn parents(&self, code: &Code, order: &[usize], masks: usize) -> Vec<Option<usize>> {
        let mut parents = vec![None; masks];
        let mut entered: Vec<Option<usize>> = vec![None; self.blocks.len()];
        let next =
            Next::new(self.blocks.len(), code.flow.edges.iter().map(|&(from, to)| (from as u32, to as u32)));
        for &block in order {
            let mut top = entered[block];
            for node in self.blocks[block].0..=self.blocks[block].1 {
                match self.segment(node).write {
                    Some(ExecWrite::Save(MaskId(mask))) => {
                        parents[mask] = top;
                        top = Some(mask);
                    }
                    Some(ExecWrite::Restore(MaskId(mask))) => top = parents[mask],
                    _ => {}
                }
            }
            // All edges to a block have the same open masks.
            next.of(block as u32).iter().for_each(|&to| entered[to as usize] = top);
        }
        parents
    }

    fn skips(&mut self, code: &Code, masks: &[Ends], parents: &[Option<usize>]) -> Result<()> {
        let count = self.segments.len() + 1;
        let next = Next::new(count, self.wave.iter().copied());
        let before = Next::new(count, self.wave.iter().map(|&(from, to)| (to, from)));
        let mut reach = Reach { seen: vec![0; count], search: 0, open: Vec::new() };
        let is_in = |mask: usize, around: usize| {
            core::iter::successors(Some(mask), |&mask| parents[mask]).any(|mask| mask == around)
        };
        let writes: Vec<(u32, ExecWrite)> =
            (1u32..).zip(&self.segments).filter_map(|(node, segment)| Some((node, segment.write?))).collect();
        let mut saved = vec![0; masks.len()];
        for &(node, write) in &writes {
            if let ExecWrite::Save(MaskId(mask)) = write {
                saved[mask] = node;
            }
        }
        for &(node, write) in &writes {
            let MaskId(mask) = write.mask();
            let (is_and, waits_at) = match write {
                ExecWrite::And(_) => (true, self.segment(saved[mask]).start),
                ExecWrite::AndNot(_) | ExecWrite::Else(_) => match &masks[mask].1 {
                    Some(restored) => (false, restored.end as u32),
                    None => {
                        let what =
                            "lanes wait where their mask is restored: this mask is saved and not restored";
                        let pcs = masks[mask].0.clone();
                        return Err(Error::bad_argument(what).or_at(At { pcs, ..At::default() }));
                    }
                },
                _ => continue,
            };
            let is_end = |node: u32| match node.checked_sub(1).and_then(|at| self.segments[at as usize].write)
            {
                Some(ExecWrite::Restore(MaskId(restored))) => is_in(mask, restored),
                Some(ExecWrite::Else(MaskId(other)) | ExecWrite::And(MaskId(other))) => {
                    is_and && other == mask
                }
                _ => false,
            };
            let (stretch, ends) = reach.from(&next, next.of(node), is_end);
            let mut since = Vec::new();
            if is_and {
                let (after, _) = reach.from(&next, &[saved[mask]], |at| at == node);
                let (ahead, _) = reach.from(&before, &[node], |at| at == saved[mask]);
                since.extend(after.iter().filter(|node| ahead.binary_search(node).is_ok()));
                since.extend([saved[mask], node]);
                since.sort_unstable();
                since.dedup();
            }
            let wait = self.waits.len() as u32;
            for &end in &ends {
                // A lane that waits for another narrowing takes part in it, and waits on or runs.
                let (to, end) = match self.segment(end).write {
                    Some(ExecWrite::And(_)) => (end, None),
                    _ => (end + 1, Some(end)),
                };
                self.skips.push(Skip { from: node, to, wait, end });
            }
            let stretch = self.keep(&stretch);
            self.waits.push(Wait { pc: waits_at, from: node, stretch, since });
        }
        for &(from, to) in &code.flow.lane_edges {
            let (from, to) = (self.blocks[from].1, self.blocks[to].0);
            let (stretch, _) = reach.from(&next, next.of(from), |node| node == to);
            let stretch = self.keep(&stretch);
            self.skips.push(Skip { from, to, wait: self.waits.len() as u32, end: None });
            self.waits.push(Wait { pc: self.segment(to).start, from, stretch, since: Vec::new() });
        }
        Ok(())
    }

    fn keep(&mut self, nodes: &[u32]) -> Range<u32> {
        let start = self.nodes.len() as u32;
        self.nodes.extend(nodes);
        start..self.nodes.len() as u32
    }

    /// Returns the block that contains a pc.
    fn block(&self, pc: u32) -> Option<u32> {
        let after = self.segments.partition_point(|segment| segment.start <= pc);
        // The last segment that begins at or before the pc is of the block that does.
        let block = self.segments[..after].last()?.block;
        let (_, last) = self.blocks[block as usize];
        (pc < self.segment(last).end).then_some(block)
    }

    /// Returns the node in which assignments at a pc take place: before a write of EXEC there.
    pub(super) fn of_assignment(&self, pc: u32) -> Option<u32> {
        let (first, last) = self.blocks[self.block(pc)? as usize];
        let after = self.segments[first as usize - 1..last as usize].partition_point(|one| one.end < pc);
        let mut nodes = first + after as u32..=last;
        nodes.find(|&node| {
            let segment = self.segment(node);
            let ends = pc == segment.end && node != last;
            segment.write.is_none() && segment.start <= pc && (pc < segment.end || ends)
        })
    }

    /// Returns the node of the instruction at a pc.
    pub(super) fn of_instruction(&self, pc: u32) -> Option<u32> {
        let (first, last) = self.blocks[self.block(pc)? as usize];
        let after = self.segments[first as usize - 1..last as usize].partition_point(|one| one.end <= pc);
        let mut nodes = first + after as u32..=last;
        nodes.find(|&node| self.segment(node).start <= pc && pc < self.segment(node).end)
    }

    /// Whether a segment is the first of its block's code: nothing runs in the block before it.
    pub(super) fn is_first(&self, node: u32) -> bool {
        let segment = self.segment(node);
        segment.start == self.segment(self.blocks[segment.block as usize].0).start
    }
}

/// Divides blocks, in the order of pcs, at writes of EXEC.
fn segments(code: &Code) -> (Vec<Segment>, Vec<(u32, u32)>) {
    let flow = &code.flow;
    let mut sorted: Vec<usize> = (0..flow.blocks.len()).collect();
    sorted.sort_by_key(|&block| flow.blocks[block].start);
    let mut writes: Vec<&(Range<u64>, ExecWrite)> = flow.writes.iter().collect();
    writes.sort_by_key(|(pcs, _)| pcs.start);
    let mut writes = writes.into_iter().peekable();
    let mut segments = Vec::with_capacity(flow.blocks.len() + 2 * flow.writes.len());
    let mut blocks = vec![(0, 0); sorted.len()];
    for block in sorted {
        let pcs = &flow.blocks[block];
        let first = segments.len() as u32 + 1;
        let mut at = pcs.start as u32;
        let block_of = block as u32;
        let plain = |start, end| Segment { block: block_of, start, end, write: None };
        let mut last: Option<&Range<u64>> = None;
        while let Some((of, write)) = writes.next_if(|(of, _)| of.start < pcs.end) {
            let (start, end) = (of.start as u32, of.end as u32);
            let is_further = last == Some(of);
            let start = if is_further { end } else { start };
            if !is_further {
                segments.push(plain(at, start));
            }
            segments.push(Segment { block: block as u32, start, end, write: Some(*write) });
            (at, last) = (end, Some(of));
        }
        segments.push(plain(at, pcs.end as u32));
        blocks[block] = (first, segments.len() as u32);
    }
    (segments, blocks)
}

/// The text of a block in an error.
pub(super) fn block_text(code: &Code, BlockId(block): BlockId) -> String {
    match code.flow.blocks.get(block) {
        Some(pcs) => format!("block {:#x}..{:#x}", pcs.start, pcs.end),
        None => format!("block {block} of this control flow"),
    }
}
