//! The wave's graph and the lane's graph. Their nodes are segments: blocks, divided at EXEC writes.
//!
//! Node 0 is the function entry; the other nodes follow in pc order. A *skip* is an edge in the lane's graph along which the
//! lane waits, while the wave runs the *stretch* of nodes between its ends.

use core::ops::Range;

use super::code::CodeEffects;
use super::nodes::{Next, Segment};
use super::regions::{Mask, Regions};
use crate::build::{BlockId, Ends, ExecWrite, MaskId};
use crate::error::{At, Error, Result};

/// An edge in the lane's graph along which the lane waits.
#[derive(Debug, Clone)]
pub(super) struct Skip {
    pub(super) from: u32,
    pub(super) to: u32,
    /// The wait during the skip.
    pub(super) wait: u32,
    /// The last node that the wave runs, unless it is part of the stretch.
    pub(super) end: Option<u32>,
}

impl Skip {
    /// Returns the node that ends the stretch.
    pub(super) fn last(&self) -> u32 {
        self.end.unwrap_or(self.to)
    }
}

/// A pc at which lanes wait.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    pub(super) pc: u32,
    /// The node after which lanes wait.
    pub(super) from: u32,
    pub(super) until: Until,
    /// Nodes that ran since the mask was saved, for waits at the save.
    pub(super) since: Vec<u32>,
}

/// What ends a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Until {
    /// A region's exit.
    Exit(u32),
    /// Other ends for a mask's lanes: for lanes that are done, or for lanes that wait at the mask's save.
    Ends { mask: usize, is_later: bool },
    /// A node that only lanes go to.
    Node(u32),
}

#[derive(Debug)]
pub(super) struct Graphs {
    /// Node n + 1's segment.
    pub(super) segments: Vec<Segment>,
    /// Each block's first and last node.
    pub(super) blocks: Vec<(u32, u32)>,
    /// The wave's graph.
    pub(super) wave: Next,
    /// Edges in the lane's graph, without skips.
    pub(super) lanes: Vec<(u32, u32)>,
    pub(super) regions: Regions,
    /// Sorted by wait.
    pub(super) skips: Vec<Skip>,
    pub(super) waits: Vec<Wait>,
}

/// Searches for reachable nodes. The buffers are kept, so that many searches do not allocate.
struct Reach {
    /// The last search that reached each node.
    seen: Vec<u32>,
    search: u32,
    open: Vec<u32>,
}

impl Reach {
    fn new(nodes: usize) -> Self {
        Self { seen: vec![0; nodes], search: 0, open: Vec::new() }
    }

    /// Returns the nodes that are reachable from `start` without passing through an end, and the reached ends.
    fn from<'n>(
        &mut self,
        next: impl Fn(u32) -> &'n [u32],
        start: &[u32],
        is_end: impl Fn(u32) -> bool,
    ) -> (Vec<u32>, Vec<u32>) {
        self.search += 1;
        self.open.extend(start);
        let mut nodes = Vec::new();
        let mut ends = Vec::new();
        while let Some(node) = self.open.pop() {
            if core::mem::replace(&mut self.seen[node as usize], self.search) == self.search {
                continue;
            }
            if is_end(node) {
                ends.push(node);
            } else {
                nodes.push(node);
                self.open.extend(next(node));
            }
        }
        nodes.sort_unstable();
        ends.sort_unstable();
        (nodes, ends)
    }
}

impl Graphs {
    pub(super) fn new(code: &CodeEffects) -> Result<Self> {
        let (order, masks) = code.flow.checked(&code.target)?;
        let (segments, blocks) = segments(code);
        let (wave, lanes) = edges(code, &segments, &blocks);
        let count = segments.len() + 1;
        let before = Next::new(count, wave.iter().map(|&(from, to)| (to, from)));
        let wave = Next::new(count, wave.iter().copied());
        let regions = regions(code, &order, masks.len(), (&segments, &blocks), &before);
        let skips = Vec::new();
        let waits = Vec::new();
        let mut graphs = Self { segments, blocks, wave, lanes, regions, skips, waits };
        graphs.skips(code, &masks, &before)?;
        Ok(graphs)
    }

    pub(super) fn segment(&self, node: u32) -> &Segment {
        &self.segments[node as usize - 1]
    }

    /// Returns the indices of a wait's skips.
    pub(super) fn skips_of(&self, wait: u32) -> Range<usize> {
        let start = self.skips.partition_point(|skip| skip.wait < wait);
        // The skips are sorted by wait.
        start..self.skips.partition_point(|skip| skip.wait <= wait)
    }

    /// Returns the sorted nodes that the wave runs during a wait, without the nodes that end it.
    pub(super) fn stretch(&self, wait: u32) -> Vec<u32> {
        let ends: Vec<u32> = self.skips[self.skips_of(wait)].iter().map(Skip::last).collect();
        let start = self.wave.successors(self.waits[wait as usize].from);
        let mut reach = Reach::new(self.segments.len() + 1);
        reach.from(|node| self.wave.successors(node), start, |node| ends.contains(&node)).0
    }

    /// Returns a node's successors in a region, in which an inner region is one step; without a region, its successors
    /// in the wave's graph.
    pub(super) fn next(&self, region: Option<u32>, node: u32) -> &[u32] {
        match self.inner(region, node).map(|inner| self.regions.mask(inner)) {
            Some(inner) if inner.is_passed => inner.restored.as_slice(),
            Some(_) => &[],
            None => self.wave.successors(node),
        }
    }

    /// Returns the inner region that a region's node enters.
    pub(super) fn inner(&self, region: Option<u32>, node: u32) -> Option<u32> {
        let segment = self.segments.get((node as usize).checked_sub(1)?)?;
        self.regions.entered(segment).filter(|&entered| region.is_some_and(|region| region != entered))
    }

    /// Returns the node after which a wait begins, as seen from an enclosing region. If the wait begins in an inner
    /// region, this is the inner region's exit (if the wave gets there), together with the inner region.
    pub(super) fn begins(&self, region: u32, node: u32) -> Option<(u32, Option<u32>)> {
        let own = self.regions.node_region(node);
        if own == region {
            return Some((node, None));
        }
        let inner = self.regions.within(own, region);
        let exit = self.regions.mask(inner).restored.filter(|_| self.regions.comes_out(node, inner))?;
        Some((exit, Some(inner)))
    }

    fn skips(&mut self, code: &CodeEffects, masks: &[Ends], before: &Next) -> Result<()> {
        let mut reach = Reach::new(self.segments.len() + 1);
        let writes: Vec<(u32, ExecWrite)> =
            (1u32..).zip(&self.segments).filter_map(|(node, segment)| Some((node, segment.write?))).collect();
        // After `And`, the lanes that it switches off wait at the save of their mask; after `AndNot` and `Else`, they
        // are done and wait after its restore.
        for &(node, write) in &writes {
            let MaskId(mask) = write.mask();
            let held = self.regions.masks[mask];
            let (is_later, pc) = match write {
                ExecWrite::And(_) => (true, self.segment(held.saved).start),
                ExecWrite::AndNot(_) | ExecWrite::Else(_) => match &masks[mask].1 {
                    Some(restored) => (false, restored.end as u32),
                    None => {
                        let what = "mask is saved but not restored; lanes wait where their mask is restored";
                        let pcs = masks[mask].0.clone();
                        return Err(Error::bad_argument(what).or_at(At::new(|context| context.pcs = pcs)));
                    }
                },
                _ => continue,
            };
            let region = self.regions.mask_region(mask);
            let is_exit = !is_later && held.is_region;
            let ends = match held.restored {
                Some(restored) if is_exit => {
                    Vec::from_iter(self.regions.comes_out(node, region).then_some(restored))
                }
                _ => self.ends(&mut reach, node, mask, is_later),
            };
            let until = if is_exit { Until::Exit(region) } else { Until::Ends { mask, is_later } };
            let mut since = Vec::new();
            if is_later {
                // These nodes are on a path from the node that saves the mask.
                let (ahead, _) =
                    reach.from(|node| before.successors(node), &[node], |other| other == held.saved);
                let is_ahead = |node: u32| ahead.binary_search(&node).is_ok();
                let is_end = |other: u32| other == node || other != held.saved && !is_ahead(other);
                let (after, _) = reach.from(|node| self.wave.successors(node), &[held.saved], is_end);
                since.extend(after);
                since.extend([held.saved, node]);
                since.sort_unstable();
                since.dedup();
            }
            let wait = self.waits.len() as u32;
            for end in ends {
                // At another narrowing of the same mask, waiting lanes take part: they wait on, or run.
                let (to, end) = match self.segment(end).write {
                    Some(ExecWrite::And(_)) => (end, None),
                    _ => (end + 1, Some(end)),
                };
                self.skips.push(Skip { from: node, to, wait, end });
            }
            self.waits.push(Wait { pc, from: node, until, since });
        }
        // Such an edge is the compiler's statement that lanes wait at the target's start.
        for &(from, to) in &code.flow.lane_edges {
            let from = self.blocks[from].1;
            let to = self.blocks[to].0;
            self.skips.push(Skip { from, to, wait: self.waits.len() as u32, end: None });
            let pc = self.segment(to).start;
            let until = Until::Node(to);
            self.waits.push(Wait { pc, from, until, since: Vec::new() });
        }
        Ok(())
    }

    /// Returns the nodes that end the wait for a mask's lanes, if the wait does not end at the exit of the mask's
    /// region.
    fn ends(&self, reach: &mut Reach, node: u32, mask: usize, is_later: bool) -> Vec<u32> {
        let region = self.regions.mask_region(mask);
        let depth = |mask: usize| self.regions.masks[mask].depth;
        let is_end = |node: u32| match self.segment(node).write {
            // Masks that are open at the same time are nested, so that an outer restore ends the wait, too.
            Some(ExecWrite::Restore(MaskId(restored))) => depth(restored) <= depth(mask),
            Some(ExecWrite::Else(MaskId(other)) | ExecWrite::And(MaskId(other))) => is_later && other == mask,
            _ => false,
        };
        let Some((start, _)) = self.begins(region, node) else { return Vec::new() };
        let next = |node: u32| self.next(Some(region), node);
        reach.from(next, next(start), is_end).1
    }

    /// Returns the block that contains a pc.
    fn block(&self, pc: u32) -> Option<u32> {
        let after = self.segments.partition_point(|segment| segment.start <= pc);
        // The last segment that begins at or before the pc belongs to the same block as the pc.
        let block = self.segments[..after].last()?.block;
        let (_, last) = self.blocks[block as usize];
        (pc < self.segment(last).end).then_some(block)
    }

    /// Returns the node for assignments at a pc: before an EXEC write at this pc.
    pub(super) fn assignment_node(&self, pc: u32) -> Option<u32> {
        let (first, last) = self.blocks[self.block(pc)? as usize];
        let after =
            self.segments[first as usize - 1..last as usize].partition_point(|segment| segment.end < pc);
        let mut nodes = first + after as u32..=last;
        nodes.find(|&node| {
            let segment = self.segment(node);
            let ends = pc == segment.end && node != last;
            segment.write.is_none() && segment.start <= pc && (pc < segment.end || ends)
        })
    }

    /// Returns the node with the instruction at a pc.
    pub(super) fn instruction_node(&self, pc: u32) -> Option<u32> {
        let (first, last) = self.blocks[self.block(pc)? as usize];
        let after =
            self.segments[first as usize - 1..last as usize].partition_point(|segment| segment.end <= pc);
        let mut nodes = first + after as u32..=last;
        nodes.find(|&node| self.segment(node).start <= pc && pc < self.segment(node).end)
    }

    /// Whether a segment is the first in its block, so that nothing in the block runs before it.
    pub(super) fn is_first(&self, node: u32) -> bool {
        let segment = self.segment(node);
        segment.start == self.segment(self.blocks[segment.block as usize].0).start
    }
}

/// Divides blocks at EXEC writes, in pc order.
fn segments(code: &CodeEffects) -> (Vec<Segment>, Vec<(u32, u32)>) {
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
        let mut next_pc = pcs.start as u32;
        let block_number = block as u32;
        let plain = |start, end| Segment { block: block_number, start, end, write: None };
        let mut last: Option<&Range<u64>> = None;
        while let Some((write_pcs, write)) = writes.next_if(|(write_pcs, _)| write_pcs.start < pcs.end) {
            let start = write_pcs.start as u32;
            let end = write_pcs.end as u32;
            // Several writes at the same instruction, such as save and narrow, get empty segments after the first.
            let is_further = last == Some(write_pcs);
            let start = if is_further { end } else { start };
            if !is_further {
                segments.push(plain(next_pc, start));
            }
            segments.push(Segment { block: block as u32, start, end, write: Some(*write) });
            (next_pc, last) = (end, Some(write_pcs));
        }
        segments.push(plain(next_pc, pcs.end as u32));
        blocks[block] = (first, segments.len() as u32);
    }
    (segments, blocks)
}

/// Returns a block's name for an error.
pub(super) fn block_text(code: &CodeEffects, BlockId(block): BlockId) -> String {
    match code.flow.blocks.get(block) {
        Some(pcs) => format!("block {:#x}..{:#x}", pcs.start, pcs.end),
        None => format!("block {block} in this control flow"),
    }
}

/// Returns the edges in the wave's graph, and the edges in the lane's graph without skips.
#[allow(clippy::type_complexity, reason = "two lists of edges")]
fn edges(
    code: &CodeEffects,
    segments: &[Segment],
    blocks: &[(u32, u32)],
) -> (Vec<(u32, u32)>, Vec<(u32, u32)>) {
    let flow = &code.flow;
    let mut wave = Vec::new();
    let mut lanes = Vec::new();
    if let Some(&(first, _)) = blocks.first() {
        wave.push((0, first));
        lanes.push((0, first));
    }
    for (index, segment) in segments.iter().enumerate() {
        let node = index as u32 + 1;
        if blocks[segment.block as usize].1 != node {
            wave.push((node, node + 1));
            // A lane that runs before an `Else` write waits after it, and the other lanes run.
            if !matches!(segment.write, Some(ExecWrite::Else(_))) {
                lanes.push((node, node + 1));
            }
        }
    }
    let mut edges = flow.edges.clone();
    edges.sort_unstable();
    let mut waves = flow.wave_edges.clone();
    waves.sort_unstable();
    // An edge that was added as both kinds, such as a branch to the next instruction, belongs to both graphs.
    for same in edges.chunk_by(|a, b| a == b) {
        let (from, to) = same[0];
        let edge = (blocks[from].1, blocks[to].0);
        wave.push(edge);
        let start = waves.partition_point(|edge| *edge < (from, to));
        let end = waves.partition_point(|edge| *edge <= (from, to));
        if same.len() > end - start {
            lanes.push(edge);
        }
    }
    (wave, lanes)
}

/// Returns the regions, with the masks' nesting.
fn regions(
    code: &CodeEffects,
    order: &[usize],
    masks: usize,
    (segments, blocks): (&[Segment], &[(u32, u32)]),
    before: &Next,
) -> Regions {
    let none = Mask { around: None, depth: 0, saved: 0, restored: None, is_region: false, is_passed: false };
    let mut masks = vec![none; masks];
    let mut saved = Vec::new();
    // The innermost open mask at each block's start, and before each node.
    let mut entered = vec![None; blocks.len()];
    let mut tops = vec![None; segments.len() + 1];
    let edges = code.flow.edges.iter().map(|&(from, to)| (from as u32, to as u32));
    let next = Next::new(blocks.len(), edges);
    for &block in order {
        let mut top: Option<usize> = entered[block];
        for node in blocks[block].0..=blocks[block].1 {
            tops[node as usize] = top;
            match segments[node as usize - 1].write {
                Some(ExecWrite::Save(MaskId(mask))) => {
                    let depth = top.map_or(0, |around| masks[around].depth + 1);
                    masks[mask] = Mask { around: top, depth, saved: node, ..masks[mask] };
                    saved.push(mask);
                    top = Some(mask);
                }
                Some(ExecWrite::Restore(MaskId(mask))) => {
                    masks[mask].restored = Some(node);
                    top = masks[mask].around;
                }
                _ => {}
            }
        }
        // All edges to a block have the same open masks, which the control flow check ensures.
        next.successors(block as u32).iter().for_each(|&to| entered[to as usize] = top);
    }
    Regions::new(segments, &tops, masks, saved, before)
}
