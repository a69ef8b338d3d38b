//! Storage history as a lane sees it: the nearest write or assignment along the lane's graph, and the first write in a
//! stretch while lanes wait. Only findings need it, so it is built on demand.

use core::ops::Range;
use std::collections::VecDeque;

use super::code::CodeEffects;
use super::extent;
use super::facts::{Effect, EffectKind};
use super::graph::Graphs;
use super::place::{Place, Storage};
use crate::error::Result;

/// The nearest write to storage, or assignment to a variable.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) pc: u64,
    pub(super) end: u64,
    /// The instruction's effect; `None` for an assignment.
    pub(super) with: Option<String>,
    /// Blocks between, in execution order.
    pub(super) path: Vec<Range<u64>>,
}

/// Storage, first bit, and number of bits.
pub(super) type Bits = (Storage, i64, i64);

/// The lane's graph with reversed edges.
pub(super) struct Paths<'c> {
    code: &'c CodeEffects,
    graphs: Graphs,
    /// Each node's predecessors, each with the skip between them.
    before: Vec<Vec<(u32, Option<u32>)>>,
}

impl<'c> Paths<'c> {
    pub(super) fn new(code: &'c CodeEffects) -> Result<Self> {
        let graphs = Graphs::new(code)?;
        let mut before = vec![Vec::new(); graphs.segments.len() + 1];
        graphs.lanes.iter().for_each(|&(from, to)| before[to as usize].push((from, None)));
        for (index, skip) in (0..).zip(&graphs.skips) {
            before[skip.to as usize].push((skip.from, Some(index)));
        }
        Ok(Self { code, graphs, before })
    }

    fn block(&self, node: u32) -> Option<usize> {
        let segment = self.graphs.segments.get((node as usize).checked_sub(1)?)?;
        Some(segment.block as usize)
    }

    /// Returns the pcs of the nodes' blocks. A block occurs once for consecutive nodes.
    fn blocks(&self, nodes: impl Iterator<Item = u32>) -> Vec<Range<u64>> {
        let mut blocks: Vec<usize> = nodes.filter_map(|node| self.block(node)).collect();
        blocks.dedup();
        blocks.into_iter().map(|block| self.code.flow.blocks[block].clone()).collect()
    }
}

/// Events that affect one storage and variable, sorted by node and end.
pub(super) struct History(Vec<Recorded>);

struct Recorded {
    node: u32,
    event: Event,
    /// Whether waiting lanes keep their contents.
    is_masked: bool,
}

impl History {
    /// Returns the history of claimed bits.
    pub(super) fn new(paths: &Paths<'_>, claimed: &[Bits], variable: Option<usize>) -> Self {
        let code = paths.code;
        let graphs = &paths.graphs;
        // A mask's bits are written for all lanes, so that waiting lanes see it.
        let is_masked = |storage: Storage| storage.is_row() && !matches!(storage, Storage::Bits(_));
        let mut recorded = Vec::new();
        for instruction in &code.instructions {
            let effects = &code.effects[instruction.effects.0 as usize..instruction.effects.1 as usize];
            let written = |effect: &Effect| {
                let to = &code.places[effect.to.0 as usize..effect.to.1 as usize];
                let is_claimed = |place: &&Place| claimed.iter().any(|bits| is_shared(bits, place));
                to.iter().find(is_claimed).map(|place| place.storage)
            };
            // If several effects write the storage, the last one counts.
            let last = effects.iter().rev().find_map(|effect| Some((effect, written(effect)?)));
            let Some(((effect, storage), node)) = last.zip(graphs.instruction_node(instruction.pcs.0)) else {
                continue;
            };
            let is_masked =
                is_masked(storage) && !instruction.all_lanes && claimed.iter().all(|bits| is_masked(bits.0));
            let pc = instruction.pcs.0.into();
            let end = instruction.pcs.1.into();
            let event = Event { pc, end, with: Some(text(code, effect)), path: Vec::new() };
            recorded.push(Recorded { node, event, is_masked });
        }
        // An assignment gives the variable a new value, so that the storage no longer has it.
        for assigned in code.assigned.iter().filter(|it| Some(it.variable as usize) == variable) {
            let Some(node) = graphs.assignment_node(assigned.pc) else { continue };
            let pc = assigned.pc.into();
            let event = Event { pc, end: pc, with: None, path: Vec::new() };
            recorded.push(Recorded { node, event, is_masked: true });
        }
        // An assignment after an instruction assigns the value that the instruction wrote.
        recorded
            .sort_by_key(|Recorded { node, event, .. }| (*node, event.end, event.with.is_some(), event.pc));
        Self(recorded)
    }

    /// Returns a node's events.
    fn events(&self, node: u32) -> &[Recorded] {
        let start = self.0.partition_point(|recorded| recorded.node < node);
        let end = self.0.partition_point(|recorded| recorded.node <= node);
        &self.0[start..end]
    }

    /// Returns the last event before a pc on a lane's path, by a breadth-first search backwards, so that the path is
    /// short.
    pub(super) fn before(&self, paths: &Paths<'_>, pc: u64) -> Option<Event> {
        let start = paths.graphs.instruction_node(u32::try_from(pc).ok()?)?;
        let mut to: Vec<Option<u32>> = vec![None; paths.before.len()];
        let event = |from: u32, recorded: &Recorded, to: &[Option<u32>]| {
            let next = |&node: &u32| if node == start { None } else { to[node as usize] };
            // Around a loop, the first node may also be the last.
            let nodes =
                [recorded.node, from].into_iter().chain(core::iter::successors(to[from as usize], next));
            Some(Event { path: paths.blocks(nodes), ..recorded.event.clone() })
        };
        if let Some(recorded) = self.events(start).iter().rfind(|recorded| recorded.event.end <= pc) {
            return event(start, recorded, &to);
        }
        let mut open: VecDeque<u32> = [start].into();
        while let Some(node) = open.pop_front() {
            for &(from, skip) in &paths.before[node as usize] {
                if to[from as usize].is_some() {
                    continue;
                }
                to[from as usize] = Some(node);
                let skipped = skip.map(|skip| &paths.graphs.skips[skip as usize]);
                // A waiting lane notices only writes that do not leave inactive lanes alone.
                let missed = skipped.and_then(|skip| {
                    let stretch = paths.graphs.stretch(skip.wait);
                    let nodes = skip.end.into_iter().chain(stretch.into_iter().rev());
                    nodes.flat_map(|node| self.events(node).iter().rev()).find(|recorded| !recorded.is_masked)
                });
                if let Some(recorded) = missed {
                    let mut event = event(from, recorded, &to)?;
                    event.with = event.with.map(|with| format!("{with}, while the lane waited"));
                    return Some(event);
                }
                if let Some(recorded) = self.events(from).last() {
                    return event(from, recorded, &to);
                }
                open.push_back(from);
            }
        }
        None
    }

    /// Returns the first write while lanes wait at a pc.
    pub(super) fn meanwhile(&self, paths: &Paths<'_>, pc: u64) -> Option<Event> {
        let mut waits = (0..).zip(&paths.graphs.waits).filter(|(_, wait)| u64::from(wait.pc) == pc);
        waits.find_map(|(index, wait)| {
            let stretch = paths.graphs.stretch(index);
            let nodes = wait.since.iter().chain(&stretch);
            let since = |node: &&u32| wait.since.contains(node);
            let at_node = |node: &u32| self.events(*node).iter();
            let mut events = nodes.flat_map(|node| at_node(node).map(move |recorded| (node, recorded)));
            let (node, recorded) = events.find(|(node, recorded)| {
                // These lanes run until the EXEC write that switches them off.
                !recorded.is_masked || since(node) && recorded.event.with.is_some()
            })?;
            Some(Event { path: paths.blocks([wait.from, *node].into_iter()), ..recorded.event.clone() })
        })
    }
}

/// Whether a write to a place changes a storage's bits.
fn is_shared(&(storage, from, bits): &Bits, place: &Place) -> bool {
    match (storage, place.storage) {
        (Storage::Row(a), Storage::Lane(b, _)) | (Storage::Lane(a, _), Storage::Row(b)) => a == b,
        (Storage::Bits(a), Storage::Register(b)) | (Storage::Register(a), Storage::Bits(b)) => a == b,
        (storage, other) => {
            let end = place.from.saturating_add(place.bits.unwrap_or(32).into());
            storage == other && from < end && place.from < from.saturating_add(bits)
        }
    }
}

fn text(code: &CodeEffects, effect: &Effect) -> String {
    match effect.kind {
        EffectKind::Copy | EffectKind::CopyUniform | EffectKind::Move(_) => {
            let from = &code.places[effect.from.0 as usize..effect.from.1 as usize];
            let names: Vec<String> = from.iter().map(|&place| extent::text(&code.target, place)).collect();
            format!("copied from {}", names.join(", "))
        }
        EffectKind::Define(value) => format!("defined as value {}", value.0),
        EffectKind::Redefine(value) => format!("computed again as value {}", value.0),
        EffectKind::Clobber => "with nothing known".into(),
    }
}
