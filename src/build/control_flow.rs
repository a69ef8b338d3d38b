//! Derives lane regions from a control-flow graph: blocks, edges, and the instructions that write EXEC.
//!
//! On each path the writes nest like brackets: a mask is saved, EXEC is narrowed, flipped, and restored. The masks open
//! at a pc are the regions that contain the pc. All paths to a block must have the same open masks, because a region is
//! a static pc range.

use core::ops::Range;

use hashbrown::HashSet;

use super::lanes::LanesBuilder;
use super::pcs;
use crate::dominators::{Dominators, UNREACHED};
use crate::error::{At, Error, ErrorKind, Ranges, Result};
use crate::model::{Loc, RegionId, RegionKind, Scope, ScopeId, ScopeKind};
use crate::target::Target;

/// A basic block in a [`ControlFlow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(crate) usize);

/// A saved mask in a [`ControlFlow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaskId(pub(crate) usize);

/// What an instruction does to EXEC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExecWrite {
    /// Saves EXEC to the mask. From there on, the mask's inactive lanes wait.
    Save(MaskId),
    /// Narrows EXEC to some of the mask's lanes. The remaining lanes run later: they wait where the mask was saved.
    And(MaskId),
    /// Removes finished lanes from EXEC. The lanes wait after the instruction that restores this mask. Code that also
    /// removes them from masks saved later, before or after, has this effect at the one instruction at which they leave
    /// EXEC.
    AndNot(MaskId),
    /// Switches EXEC to the mask's lanes that were not active: the other side begins. The lanes that were active wait
    /// after the instruction that restores the mask.
    Else(MaskId),
    /// Restores EXEC from the mask.
    Restore(MaskId),
}

impl ExecWrite {
    pub(crate) fn mask(self) -> MaskId {
        match self {
            Self::Save(mask)
            | Self::And(mask)
            | Self::AndNot(mask)
            | Self::Else(mask)
            | Self::Restore(mask) => mask,
        }
    }
}

/// The control flow in a function or inlined call. [`LanesBuilder::control_flow`] derives its regions.
///
/// ```
/// # use eitri::{build::{Builder, ControlFlow, ExecWrite}, model::{Loc, RegionKind}, target::{Gfx, Target, Wave}};
/// # let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
/// # let s6 = gpu.sgpr(6)?;
/// # let mut m = Builder::new(gpu);
/// # let unit = m.unit("a.cl");
/// # let kernel = m.function(unit, "k")?.code("k", 0x28).kernel().id();
/// let mut flow = ControlFlow::new();
/// let mask = flow.mask(&[(0x0c..0x28, Loc::register(s6))]);
/// // 08 s_mov_b32 s6, exec    0c s_and_b32 exec, s6, vcc    10 s_cbranch_execz 18
/// let start = flow.block(0x00..0x14);
/// let then = flow.block(0x14..0x18);
/// // 18 s_mov_b32 exec, s6
/// let end = flow.block(0x18..0x28);
/// flow.edge(start, then).edge(start, end).edge(then, end);
/// flow.write(0x08..0x0c, ExecWrite::Save(mask));
/// flow.write(0x0c..0x10, ExecWrite::And(mask));
/// flow.write(0x18..0x1c, ExecWrite::Restore(mask));
/// let regions = m.lanes(kernel)?.control_flow(&flow)?;
/// let module = m.finish()?;
/// let region = module.region(regions[0]);
/// assert_eq!(region.kind, RegionKind::Then);
/// assert_eq!((region.pcs(), region.waits_at()), (0x0c..0x1c, 0x08));
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ControlFlow {
    pub(crate) blocks: Vec<Range<u64>>,
    /// Wave edges.
    pub(crate) edges: Vec<(usize, usize)>,
    /// Wave edges that no lane takes.
    pub(crate) wave_edges: Vec<(usize, usize)>,
    /// Lane edges that the wave does not take.
    pub(crate) lane_edges: Vec<(usize, usize)>,
    masks: Vec<Vec<(Range<u64>, Loc)>>,
    pub(crate) writes: Vec<(Range<u64>, ExecWrite)>,
}

impl ControlFlow {
    /// Returns a graph without blocks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a basic block: half-open pcs in bytes from the function start. The first block is the entry.
    pub fn block(&mut self, pcs: Range<u64>) -> BlockId {
        self.blocks.push(pcs);
        BlockId(self.blocks.len() - 1)
    }

    /// Adds an edge from one block to another.
    pub fn edge(&mut self, from: BlockId, to: BlockId) -> &mut Self {
        self.edges.push((from.0, to.0));
        self
    }

    /// Adds an edge that the wave takes only while no lane is active: a branch taken if EXEC is zero, or the way past a
    /// branch that is taken if EXEC is not zero. No lane runs along the edge.
    pub fn wave_edge(&mut self, from: BlockId, to: BlockId) -> &mut Self {
        self.wave_edges.push((from.0, to.0));
        self.edge(from, to)
    }

    /// Adds an edge that lanes take and the wave does not: it runs other blocks in between, while these lanes wait at
    /// the start of `to`. A compiler that has a lane graph in addition to the wave's graph adds the edges in which they
    /// differ.
    ///
    /// [`LanesBuilder::control_flow`] needs none of these edges: regions follow from writes of EXEC.
    pub fn lane_edge(&mut self, from: BlockId, to: BlockId) -> &mut Self {
        self.lane_edges.push((from.0, to.0));
        self
    }

    /// Adds a mask that one instruction saves, with its locations afterwards, in the form of [`LanesBuilder::region`].
    pub fn mask(&mut self, places: &[(Range<u64>, Loc)]) -> MaskId {
        self.masks.push(places.to_vec());
        MaskId(self.masks.len() - 1)
    }

    /// Adds an instruction that writes EXEC, by its pcs.
    pub fn write(&mut self, instruction: Range<u64>, write: ExecWrite) -> &mut Self {
        self.writes.push((instruction, write));
        self
    }
}

/// Writes found for one mask.
#[derive(Debug, Clone, Default)]
struct Known {
    saved: Option<Range<u64>>,
    restored: Option<Range<u64>>,
    /// Whether some lanes in the mask are still to run (`and`), and whether some are done (`and_not`).
    and: bool,
    and_not: bool,
}

impl LanesBuilder<'_> {
    /// Adds a control-flow graph's regions, sorted by pc, with outer regions before inner regions. Whole-wave code is
    /// not part of the graph: see [`whole_wave`](Self::whole_wave).
    ///
    /// A saved mask's lanes wait from the end of the instruction that saves it to the end of the instruction that
    /// restores it. Code in several pieces gives a region for each piece. A region belongs to the innermost inlined
    /// call that contains both the whole region and the instruction that saves its mask.
    ///
    /// # Errors
    /// [`ErrorKind::EmptyRange`] and [`ErrorKind::OutsideFunction`], for a block's or write's pcs;
    /// [`ErrorKind::UnknownId`] where a block or mask does not belong to the graph; the same errors as
    /// [`region`](Self::region); [`ErrorKind::Misaligned`] where pcs are not at instruction boundaries;
    /// [`ErrorKind::OverlappingRanges`] for two blocks; [`ErrorKind::Irreducible`], [`ErrorKind::UnreachableBlock`];
    /// and [`ErrorKind::BadArgument`] where
    ///
    /// * a write is in no block;
    /// * two paths to a block disagree about the open masks (the error names the edge);
    /// * a mask is used where it is not open, is flipped where it is not the innermost, or is saved or restored by two
    ///   instructions;
    /// * a mask is not restored though lanes wait at its end, or has both lanes that are to run and lanes that are
    ///   done.
    pub fn control_flow(&mut self, flow: &ControlFlow) -> Result<Vec<RegionId>> {
        let pieces = flow.pieces(&self.builder.module.target, self.size()).map_err(|error| {
            let module = &self.builder.module;
            error.or_at(module.at_scope(self.scope))
        })?;
        let scope = self.scope;
        let around = self.around;
        let inlined = self.inlined_calls();
        let mut made: Vec<(Range<u64>, RegionId)> = Vec::new();
        let mut ids = Vec::new();
        for RegionPiece { pcs, kind, waits_at, saved, mask } in pieces {
            // The pieces are sorted: an enclosing piece precedes the pieces in it.
            while made.last().is_some_and(|(last, _)| last.end <= pcs.start) {
                made.pop();
            }
            // Lanes can wait where the mask was saved, so that the call must contain the save as well as the piece.
            let is_here = |range: &Range<u64>| range.start <= saved.min(pcs.start) && pcs.end <= range.end;
            let is_in = |&&inlined: &&ScopeId| self.builder.module.ranges(inlined).iter().any(is_here);
            // Inner calls come later in the list.
            let owner = inlined.iter().rfind(is_in).copied();
            (self.scope, self.around) = (owner.unwrap_or(scope), made.last().map(|(_, id)| *id).or(around));
            let region = self.region(kind, pcs.clone(), waits_at, &flow.masks[mask]);
            (self.scope, self.around) = (scope, around);
            made.push((pcs, region.clone()?));
            ids.push(region?);
        }
        Ok(ids)
    }

    /// Returns the inlined calls within the described scope.
    fn inlined_calls(&self) -> Vec<ScopeId> {
        let module = &self.builder.module;
        let is_inlined = |&(_, scope): &(ScopeId, &Scope)| matches!(scope.kind, ScopeKind::Inlined { .. });
        let calls = module.scopes.iter().filter(is_inlined).map(|(id, _)| id);
        calls.filter(|&id| id != self.scope && module.is_in(id, self.scope)).collect()
    }
}

/// A region, or a piece of it.
pub(crate) struct RegionPiece {
    pub(crate) pcs: Range<u64>,
    /// Pc of the instruction that saves its mask.
    saved: u64,
    kind: RegionKind,
    pub(crate) waits_at: u64,
    pub(crate) mask: usize,
}

/// The instructions that save and restore a mask.
pub(crate) type Ends = (Option<Range<u64>>, Option<Range<u64>>);

impl ControlFlow {
    /// Checks the graph, and returns its blocks in reverse postorder, and each mask's ends.
    pub(crate) fn checked(&self, target: &Target) -> Result<(Vec<usize>, Vec<Ends>)> {
        let size = self.blocks.iter().map(|pcs| pcs.end).max().unwrap_or(0);
        if size > u32::MAX.into() {
            let error = ErrorKind::OutsideFunction { size: u32::MAX.into() };
            return Err(at_pcs(error.into(), self.blocks.iter().find(|pcs| pcs.end == size).cloned()));
        }
        self.check(target, size)?;
        let order = self.reverse_postorder()?;
        let known = self.known()?;
        self.stretches(&order)?;
        Ok((order, known.into_iter().map(|known| (known.saved, known.restored)).collect()))
    }

    /// Returns a mask's locations, each with its pcs.
    #[cfg(feature = "track")]
    pub(crate) fn places(&self, mask: usize) -> &[(Range<u64>, Loc)] {
        &self.masks[mask]
    }

    /// Returns the regions, sorted by pc, an enclosing region before those in it.
    pub(crate) fn pieces(&self, target: &Target, size: u64) -> Result<Vec<RegionPiece>> {
        self.check(target, size)?;
        let order = self.reverse_postorder()?;
        let known = self.known()?;
        let mut stretches = self.stretches(&order)?;
        let mut pieces: Vec<(RegionPiece, usize)> = Vec::new();
        // Stretches with equal open masks, by pc. Adjacent stretches' open masks are joined.
        let mut sorted = core::mem::take(&mut stretches.all);
        sorted.sort_by_key(|(pcs, _)| pcs.start);
        let mut last: Vec<usize> = Vec::new();
        let mut last_end = 0;
        for (pcs, open) in sorted.into_iter().filter(|(pcs, _)| pcs.start < pcs.end) {
            let levels = stretches
                .outwards(open)
                .map(|level| (stretches.levels[level].mask, stretches.levels[level].is_other));
            let mut open: Vec<(usize, bool)> = levels.collect();
            open.reverse();
            // A piece continues only in adjacent code, with the same mask and side at the same depth.
            let goes_on = |level: usize, piece: usize| {
                let (before, of) = &pieces[piece];
                let (mask, is_other) = open[level];
                let same = before.mask == mask && matches!(before.kind, RegionKind::Else) == is_other;
                pcs.start == last_end && same && *of == level
            };
            let same =
                (0..open.len()).zip(&last).take_while(|&(level, &piece)| goes_on(level, piece)).count();
            last.truncate(same);
            // All pieces that continue end with this stretch; the remaining open masks begin new pieces.
            for &piece in &last {
                pieces[piece].0.pcs.end = pcs.end;
            }
            for (level, &(mask, is_other)) in open.iter().enumerate().skip(same) {
                let (kind, waits_at) = self.kind(mask, is_other, &known[mask], &stretches.loops)?;
                last.push(pieces.len());
                // Code can reach a mask only after its save, which `stretches` has checked.
                let saved = known[mask].saved.as_ref().map_or(pcs.start, |saved| saved.start);
                pieces.push((RegionPiece { pcs: pcs.clone(), saved, kind, waits_at, mask }, level));
            }
            last_end = pcs.end;
        }
        Ok(pieces.into_iter().map(|(piece, _)| piece).collect())
    }

    /// Returns the region kind for a mask's side, and the pc at which its lanes wait.
    fn kind(
        &self,
        mask: usize,
        is_other: bool,
        known: &Known,
        loops: &HashSet<(usize, bool)>,
    ) -> Result<(RegionKind, u64)> {
        let saved = known.saved.clone();
        // Lanes that wait where the mask was saved do not need its end.
        let end = || match &known.restored {
            Some(restored) => Ok(restored.end),
            None => {
                let what = "mask is saved and not restored; expected a restore, where its lanes wait";
                Err(at_pcs(Error::bad_argument(what), saved.clone()))
            }
        };
        let is_loop = loops.contains(&(mask, false));
        Ok(match (is_other, known.and, known.and_not) {
            (true, ..) => (RegionKind::Else, end()?),
            // The remaining lanes run later, from where the mask was saved.
            (false, true, false) => (RegionKind::Then, saved.map_or(0, |saved| saved.start)),
            (false, false, _) if is_loop => (RegionKind::Loop, end()?),
            (false, false, _) => (RegionKind::Other, end()?),
            (false, true, true) => {
                let what =
                    "one mask is saved for lanes that have run and lanes yet to run; expected separate masks";
                return Err(at_pcs(Error::bad_argument(what), saved));
            }
        })
    }

    /// Rejects blocks, edges and writes that do not form a graph inside the function.
    fn check(&self, target: &Target, size: u64) -> Result<()> {
        let mut sorted: Vec<&Range<u64>> = self.blocks.iter().collect();
        sorted.sort_by_key(|pcs| pcs.start);
        for pcs in sorted.iter().copied().chain(self.writes.iter().map(|(pcs, _)| pcs)) {
            pcs::range(target, size, pcs).map_err(|error| at_pcs(error, Some(pcs.clone())))?;
        }
        for pair in sorted.windows(2) {
            if pair[1].start < pair[0].end {
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::Block, other: pair[0].clone() };
                return Err(at_pcs(kind.into(), Some(pair[1].clone())));
            }
        }
        let ends = self.edges.iter().chain(&self.lane_edges).flat_map(|&(from, to)| [from, to]);
        if let Some(block) = ends.into_iter().find(|&block| block >= self.blocks.len()) {
            return Err(ErrorKind::UnknownId(format!("block {block} in this control flow")).into());
        }
        for (pcs, write) in &self.writes {
            let MaskId(mask) = write.mask();
            if mask >= self.masks.len() {
                let error = ErrorKind::UnknownId(format!("mask {mask} in this control flow"));
                return Err(at_pcs(error.into(), Some(pcs.clone())));
            }
            // Blocks do not overlap: the last one that begins before the instruction is around it, or none is.
            let after = sorted.partition_point(|block| block.start <= pcs.start);
            if sorted[..after].last().is_none_or(|block| pcs.end > block.end) {
                let what = "instruction that writes EXEC is outside all blocks";
                return Err(at_pcs(Error::bad_argument(what), Some(pcs.clone())));
            }
        }
        Ok(())
    }

    /// Returns the blocks in reverse postorder: each before its successors, except along back edges. Refuses
    /// unreachable blocks, and loops with more than one entry block.
    fn reverse_postorder(&self) -> Result<Vec<usize>> {
        let count = self.blocks.len();
        let mut next = vec![Vec::new(); count];
        let mut before = vec![Vec::new(); count];
        for &(from, to) in &self.edges {
            next[from].push(to as u32);
            before[to].push(from as u32);
        }
        let Dominators { order, immediate: dominators } = Dominators::new(
            count,
            |block, index| next[block as usize].get(index).copied(),
            |block| before[block as usize].iter().copied(),
        );
        let order: Vec<usize> = order.into_iter().map(|block| block as usize).collect();
        if let Some(block) = dominators.iter().position(|&dominator| dominator == UNREACHED) {
            return Err(at_pcs(ErrorKind::UnreachableBlock.into(), Some(self.blocks[block].clone())));
        }
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(index, &block)| place[block] = index);
        for &(from, to) in &self.edges {
            // A back edge.
            let is_dominated = || {
                core::iter::successors(Some(from), |&block| (block != 0).then(|| dominators[block] as usize))
                    .any(|block| block == to)
            };
            if place[to] <= place[from] && !is_dominated() {
                let from = self.blocks[from].clone();
                let to = self.blocks[to].clone();
                let kind = ErrorKind::Irreducible { from: from.clone(), to };
                return Err(at_pcs(kind.into(), Some(from)));
            }
        }
        Ok(order)
    }

    /// Collects the instructions that save and restore each mask, and the kinds of writes between them.
    fn known(&self) -> Result<Vec<Known>> {
        let mut known = vec![Known::default(); self.masks.len()];
        for (pcs, write) in &self.writes {
            let mask = &mut known[write.mask().0];
            let place = match write {
                ExecWrite::And(_) => {
                    mask.and = true;
                    continue;
                }
                ExecWrite::AndNot(_) => {
                    mask.and_not = true;
                    continue;
                }
                ExecWrite::Else(_) => continue,
                ExecWrite::Save(_) => &mut mask.saved,
                ExecWrite::Restore(_) => &mut mask.restored,
            };
            if let Some(other) = place.replace(pcs.clone()) {
                let what = format!(
                    "mask is also saved or restored at {:#x}; expected one save and one restore",
                    other.start
                );
                return Err(at_pcs(Error::bad_argument(what), Some(pcs.clone())));
            }
        }
        Ok(known)
    }

    /// Returns each code stretch's open masks, and the innermost open mask at each loop's entry.
    fn stretches(&self, order: &[usize]) -> Result<Stretches> {
        let mut writes: Vec<&(Range<u64>, ExecWrite)> = self.writes.iter().collect();
        writes.sort_by_key(|(pcs, _)| pcs.start);
        let mut stretches = Stretches::default();
        let mut entered: Vec<Option<Open>> = vec![None; self.blocks.len()];
        let mut left: Vec<Open> = vec![None; self.blocks.len()];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.blocks.len()];
        self.edges.iter().for_each(|&(from, to)| next[from].push(to));
        for &block in order {
            // In reverse postorder a predecessor comes first, except along back edges: their masks are compared below.
            let mut open = *entered[block].get_or_insert_default();
            let mut start = self.blocks[block].start;
            let inside = writes.partition_point(|(pcs, _)| pcs.start < start);
            let end = self.blocks[block].end;
            for (pcs, write) in writes[inside..].iter().take_while(|(pcs, _)| pcs.start < end) {
                let before = open;
                open = stretches.apply(open, *write).map_err(|error| at_pcs(error, Some(pcs.clone())))?;
                // The write's effect begins after the instruction.
                if open != before {
                    stretches.all.push((start..pcs.end, before));
                    start = pcs.end;
                }
            }
            stretches.all.push((start..end, open));
            for &to in &next[block] {
                // The first edge decides what is open; every other edge must agree, which is checked below.
                entered[to].get_or_insert(open);
            }
            left[block] = open;
        }
        let mut place = vec![0; self.blocks.len()];
        order.iter().enumerate().for_each(|(index, &block)| place[block] = index);
        for &(from, to) in &self.edges {
            let expected = entered[to].unwrap_or_default();
            if !stretches.is_same(left[from], expected) {
                let what = format!(
                    "edge {} has other saved masks than the block's other edges",
                    self.edge_text(from, to)
                );
                return Err(at_pcs(Error::bad_argument(what), Some(self.blocks[to].clone())));
            }
            // An edge back in the order: in a reducible graph it closes a loop.
            if place[to] <= place[from] {
                stretches.loops.extend(
                    expected.map(|level| (stretches.levels[level].mask, stretches.levels[level].is_other)),
                );
            }
        }
        Ok(stretches)
    }

    fn edge_text(&self, from: usize, to: usize) -> String {
        let text = |block: usize| format!("{:#x}..{:#x}", self.blocks[block].start, self.blocks[block].end);
        format!("{} -> {}", text(from), text(to))
    }
}

/// The innermost open mask, by its position in a list: deep masks are not copied for each block.
type Open = Option<usize>;

/// An open mask.
#[derive(Debug, Clone, Copy)]
struct Level {
    mask: usize,
    /// Whether its other side runs.
    is_other: bool,
    around: Open,
}

/// The code's open masks.
#[derive(Debug, Default)]
struct Stretches {
    levels: Vec<Level>,
    all: Vec<(Range<u64>, Open)>,
    /// The innermost open mask at each loop's entry, and whether its other side runs.
    loops: HashSet<(usize, bool)>,
}

impl Stretches {
    /// Returns open masks, the innermost one first.
    fn outwards(&self, open: Open) -> impl Iterator<Item = usize> {
        core::iter::successors(open, |&level| self.levels[level].around)
    }

    fn is_same(&self, mut a: Open, mut b: Open) -> bool {
        // Levels are shared, so that equal chains usually meet in one index.
        while a != b {
            let (Some(one), Some(two)) = (a.map(|a| self.levels[a]), b.map(|b| self.levels[b])) else {
                return false;
            };
            if (one.mask, one.is_other) != (two.mask, two.is_other) {
                return false;
            }
            (a, b) = (one.around, two.around);
        }
        true
    }

    fn push(&mut self, level: Level) -> Open {
        self.levels.push(level);
        Some(self.levels.len() - 1)
    }

    /// Returns the open masks after an instruction.
    fn apply(&mut self, open: Open, write: ExecWrite) -> Result<Open> {
        let MaskId(mask) = write.mask();
        let level = self.outwards(open).find(|&level| self.levels[level].mask == mask);
        let is_innermost = level.is_some() && level == open;
        Ok(match (write, level) {
            (ExecWrite::Save(_), None) => self.push(Level { mask, is_other: false, around: open }),
            (ExecWrite::Save(_), Some(_)) => {
                return Err(Error::bad_argument(format!("mask {mask} is saved again before it is restored")));
            }
            (_, None) => {
                return Err(Error::bad_argument(format!(
                    "mask {mask} is not saved on every path to its use"
                )));
            }
            (ExecWrite::And(_), Some(_)) if !is_innermost => {
                return Err(Error::bad_argument(format!(
                    "mask {mask} is not the innermost saved mask; expected EXEC to become lanes of the innermost"
                )));
            }
            (ExecWrite::And(_) | ExecWrite::AndNot(_), Some(_)) => open,
            (ExecWrite::Else(_), Some(level)) if is_innermost && !self.levels[level].is_other => {
                self.push(Level { is_other: true, ..self.levels[level] })
            }
            (ExecWrite::Else(_), Some(_)) => {
                return Err(Error::bad_argument(format!(
                    "other side of mask {mask} begins twice, or while the mask is not the innermost"
                )));
            }
            // All lanes in the mask run again, including lanes in masks saved later.
            (ExecWrite::Restore(_), Some(level)) => self.levels[level].around,
        })
    }
}

fn at_pcs(error: Error, pcs: Option<Range<u64>>) -> Error {
    error.or_at(At::new(|context| context.pcs = pcs))
}
