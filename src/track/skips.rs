//! What a stretch does to waiting lanes' storage.
//!
//! A waiting lane runs nothing. A stretch changes the lane's storage by writes to places of the wave, and by writes to
//! per-lane places in all lanes. Each place's contents at the end are traced back to the start: to another place, a
//! constant, or something new. Stretches with the same end are traced together, and each inner region is one step, so that
//! the time does not grow with the number of stretches times their length.

use std::rc::Rc;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexMap;

use super::graph::{Graphs, Until, Wait};
use super::lower::Lower;
use super::origins::{At, CONSTANT, LOST, Origins, Write};
use super::program::{Choice, From, Kind, Op, Program, To};
use super::ssa::Ssa;
use crate::error::Result;

/// Places whose contents are unknown at pcs where lanes wait, by wait. The first wait at a pc has all places for that
/// pc.
pub(super) struct Unknown {
    places: Vec<Vec<u32>>,
    /// Waits and choices. The place is known only if all of the choice's members have equal contents.
    unless_alike: Vec<(u32, u32)>,
}

impl Unknown {
    /// Returns each wait's places, sorted. A place is known if it only receives the contents that it already has.
    pub(super) fn places(mut self, ssa: &Ssa<'_>) -> Vec<Vec<u32>> {
        for (wait, choice) in self.unless_alike {
            if !ssa.is_alike(choice) {
                self.places[wait as usize].push(ssa.program.choices[choice as usize].members[0]);
            }
        }
        for places in &mut self.places {
            places.sort_unstable();
            places.dedup();
        }
        self.places
    }
}

/// Adds each skip's operations to the skip's node; these nodes follow the segments. Returns all operations, and the
/// places that are unknown to waiting lanes.
pub(super) fn add(mut lower: Lower<'_>, graphs: &Graphs) -> Result<(Program, Unknown)> {
    let (ends, places, choices) = Stretches::new(&lower.program, graphs).follow();
    let chosen = choices.into_iter().map(|(wait, choice)| (wait, lower.program.choose(choice)));
    let unknown = Unknown { places, unless_alike: chosen.collect() };
    for (skip, end) in graphs.skips.iter().zip(ends) {
        let node = lower.program.node_groups.len() as u32;
        let [incoming, received] = lower.skipped(skip.from, skip.to);
        let program = &mut lower.program;
        let start = program.end();
        // A skip whose end the wave never reaches has no effect.
        let end = end.unwrap_or_default();
        for place in end.overwritten() {
            let from = program.new_source();
            program.push(To::Place(place), from);
        }
        for sources in end.moved() {
            let from = match *sources {
                [(_, from)] if from & CONSTANT != 0 => From::Constant(from & !CONSTANT),
                [(_, from)] => From::Place(from),
                _ => {
                    let members = sources.iter().map(|source| source.1).collect();
                    From::Choice(program.choose(Choice { node: skip.from, members }))
                }
            };
            program.push(To::Place(sources[0].0), from);
        }
        let written = start..program.end();
        let groups = program.groups.len() as u32;
        let kinds = [(Kind::Instruction, written), (Kind::Leave, incoming), (Kind::Merge, received)];
        for (kind, ops) in kinds {
            program.group(node, 0..0, kind, ops)?;
        }
        program.node_groups.push(groups..program.groups.len() as u32);
    }
    let mut program = lower.program;
    program.ops.shrink_to_fit();
    program.groups.shrink_to_fit();
    Ok((program, unknown))
}

/// What the wave's code does to a lane's storage, from a node on.
#[derive(Debug, Clone, Default)]
struct Traced {
    /// Origins at the end, if the wave gets there.
    end: Option<Rc<Origins>>,
    /// Origins at all pcs.
    all: Rc<Origins>,
}

impl Traced {
    /// Puts a first part of the path before this path.
    fn after(&self, first: &Self) -> Self {
        let mut joined = first.all.clone();
        let end = first.end.as_ref().and_then(|before| {
            Rc::make_mut(&mut joined).merge(&self.all.after(before, At::Any), At::Any);
            Some(Rc::new(self.end.as_ref()?.after(before, At::End)))
        });
        Self { end, all: joined }
    }
}

/// Nodes from which origins are traced, each after its successors, except along back edges.
struct Order {
    region: Option<u32>,
    nodes: Vec<u32>,
    has_loop: bool,
}

/// Known origins before each node in an order. Many nodes share their successor's origins.
type States = Vec<Option<Rc<Origins>>>;

struct Stretches<'a> {
    program: &'a Program,
    graphs: &'a Graphs,
    /// Writes in all lanes, and each node's first write.
    writes: Vec<Write>,
    first: Vec<u32>,
    /// Each node's position in the tracing order.
    position: Vec<u32>,
    /// Effects from each region's entry to its exit.
    passed: Vec<Traced>,
    /// Effects from each region's exit to the exit of the enclosing region.
    after: Vec<Traced>,
    /// Effects from a region's exit to an outer region's exit, kept because many waits need them.
    outwards: HashMap<(u32, u32), Traced>,
    /// Effects from each wait until the wave leaves the region in which the wait begins.
    left: Vec<Traced>,
}

const NONE: u32 = u32::MAX;
/// Position for a node whose successors are not all in the order yet.
const OPEN: u32 = NONE - 1;

impl<'a> Stretches<'a> {
    fn new(program: &'a Program, graphs: &'a Graphs) -> Self {
        let nodes = if graphs.waits.is_empty() { 0 } else { graphs.segments.len() + 1 };
        let mut writes = Vec::new();
        let mut first = Vec::with_capacity(nodes + 1);
        for node in 0..nodes as u32 {
            first.push(writes.len() as u32);
            for group in program.groups_of(node).iter().filter(|group| group.kind().is_instruction()) {
                let start = writes.len();
                writes.extend(program.ops_of(group).iter().filter_map(|&op| write(program, op)));
                if let Some(first) = writes.get_mut(start) {
                    first.is_first = true;
                }
            }
        }
        first.push(writes.len() as u32);
        let by_region = || vec![Traced::default(); graphs.regions.masks.len() + 1];
        Self {
            program,
            graphs,
            writes,
            first,
            position: vec![NONE; nodes],
            passed: by_region(),
            after: by_region(),
            outwards: HashMap::new(),
            left: vec![Traced::default(); graphs.waits.len()],
        }
    }

    /// Returns the origins at each skip's end, the unknown places by wait, and choices between a place's contents.
    fn follow(mut self) -> (States, Vec<Vec<u32>>, Vec<(u32, Choice)>) {
        let graphs = self.graphs;
        let mut ends = vec![None; graphs.skips.len()];
        if graphs.waits.is_empty() {
            return (ends, Vec::new(), Vec::new());
        }
        self.regions();
        let mut lost: Vec<(u32, Origins)> = Vec::new();
        let mut choices: Vec<(u32, Choice)> = Vec::new();
        let mut first: HashMap<u32, usize> = HashMap::new();
        let mut others: IndexMap<Until, Vec<u32>, DefaultHashBuilder> = IndexMap::default();
        let mut add = |wait: u32, all: &Origins| {
            let Wait { pc, from, .. } = graphs.waits[wait as usize];
            let index = *first.entry(pc).or_insert(lost.len());
            if index == lost.len() {
                lost.push((wait, Origins::default()));
            }
            let (first, lost) = &mut lost[index];
            lost.overwrite_all(all);
            for sources in all.moved() {
                let members = core::iter::once(sources[0].0).chain(sources.iter().map(|source| source.1));
                choices.push((*first, Choice { node: from, members: members.collect() }));
            }
        };
        for (index, wait) in (0..).zip(&graphs.waits) {
            match wait.until {
                Until::Exit(region) => {
                    let Traced { end, all } = self.until_exit(index, region);
                    add(index, &all);
                    // A wait until an exit has at most one skip.
                    ends[graphs.skips_of(index)].iter_mut().for_each(|slot| *slot = end.clone());
                }
                other => others.entry(other).or_default().push(index),
            }
        }
        for (until, waits) in others {
            for (wait, traced) in self.until(until, &waits) {
                ends[graphs.skips_of(wait)].iter_mut().zip(traced.0).for_each(|(slot, end)| *slot = end);
                add(wait, &traced.1);
            }
        }
        // All waits at the same pc look alike to a debugger, so that the first one collects for all.
        let mut unknown = vec![Vec::new(); graphs.waits.len()];
        for (wait, origins) in &lost {
            unknown[*wait as usize].extend(origins.overwritten());
        }
        for wait in &graphs.waits {
            let (first_wait, _) = lost[first[&wait.pc]];
            since(self.program, wait, &mut unknown[first_wait as usize]);
        }
        (ends, unknown, choices)
    }

    /// Traces origins from each region's exit, inner regions first.
    fn regions(&mut self) {
        let graphs = self.graphs;
        let mut inside: HashMap<u32, Vec<u32>> = HashMap::new();
        for (index, wait) in (0..).zip(&graphs.waits) {
            let is_left = match wait.until {
                Until::Exit(_) => true,
                Until::Ends { mask, .. } => {
                    graphs.regions.mask_region(mask) != graphs.regions.node_region(wait.from)
                }
                Until::Node(_) => false,
            };
            if is_left {
                inside.entry(graphs.regions.node_region(wait.from)).or_default().push(index);
            }
        }
        for (region, mask) in graphs.regions.iter().rev() {
            let Some(exit) = mask.restored else { continue };
            let waits = inside.remove(&region).unwrap_or_default();
            let order = self.order(Some(region), &[mask.saved], &[exit]);
            let end = self.trace(&order, At::End, |node| {
                (node == exit).then(|| Some(self.before(node, Rc::default(), At::End)))
            });
            let traced = self.trace(&order, At::Any, |node| {
                (node == exit).then(|| Some(self.before(node, Rc::default(), At::Any)))
            });
            let traced = |from: u32| Traced {
                end: self.after(&order, from, &end, At::End),
                all: self.after(&order, from, &traced, At::Any).unwrap_or_default(),
            };
            let passed = traced(mask.saved);
            let left: Vec<Traced> =
                waits.iter().map(|&wait| traced(graphs.waits[wait as usize].from)).collect();
            let inner =
                order.nodes.iter().copied().filter(|&node| graphs.regions.node_region(node) != region);
            let exits: Vec<(u32, Traced)> =
                inner.map(|exit| (graphs.regions.node_region(exit), traced(exit))).collect();
            self.passed[region as usize] = passed;
            exits.into_iter().for_each(|(inner, traced)| self.after[inner as usize] = traced);
            waits.into_iter().zip(left).for_each(|(wait, traced)| self.left[wait as usize] = traced);
            self.forget(&order);
        }
    }

    /// Returns the wave's effect from a wait's start to an enclosing region's exit.
    fn until_exit(&mut self, wait: u32, region: u32) -> Traced {
        let regions = &self.graphs.regions;
        let own = regions.node_region(self.graphs.waits[wait as usize].from);
        let left = core::mem::take(&mut self.left[wait as usize]);
        if own == region {
            return left;
        }
        let mut open: Vec<u32> = Vec::new();
        for inner in regions.outwards(own, region) {
            if self.outwards.contains_key(&(inner, region)) {
                break;
            }
            open.push(inner);
        }
        // From the outermost region inward, each result extends the one before.
        for inner in open.into_iter().rev() {
            let next = &self.after[inner as usize];
            let traced = match self.outwards.get(&(regions.around(inner), region)) {
                Some(rest) => rest.after(next),
                None => next.clone(),
            };
            self.outwards.insert((inner, region), traced);
        }
        self.outwards[&(own, region)].after(&left)
    }

    /// Returns the origins at each skip's end, for waits with the same ends, and the origins at all pcs.
    fn until(&mut self, until: Until, waits: &[u32]) -> Vec<(u32, (States, Rc<Origins>))> {
        let graphs = self.graphs;
        let (region, is_later) = match until {
            Until::Ends { mask, is_later } => (Some(graphs.regions.mask_region(mask)), is_later),
            Until::Exit(region) => (Some(region), false),
            Until::Node(_) => (None, false),
        };
        let skips_of = |wait: u32| &graphs.skips[graphs.skips_of(wait)];
        let mut last: Vec<(u32, bool)> = Vec::new();
        for &wait in waits {
            last.extend(skips_of(wait).iter().map(|skip| (skip.last(), skip.end.is_some())));
        }
        last.sort_unstable();
        last.dedup();
        let ends: Vec<u32> = last.iter().map(|end| end.0).collect();
        let is_end = |node: u32| ends.binary_search(&node).ok();
        // The node after which each wait begins, and what the wave does before it gets there.
        let mut starts: Vec<(u32, Option<u32>, Option<Traced>)> = Vec::new();
        for &wait in waits {
            let from = graphs.waits[wait as usize].from;
            let own = graphs.regions.node_region(from);
            let begins = region.map_or(Some((from, None)), |region| graphs.begins(region, from));
            starts.push(match (begins, region) {
                (Some((start, None)), _) => (wait, Some(start), None),
                (Some((start, Some(inner))), _) => (wait, Some(start), Some(self.until_exit(wait, inner))),
                // The wave does not get there.
                (None, Some(region)) => {
                    (wait, None, Some(self.until_exit(wait, graphs.regions.within(own, region))))
                }
                (None, None) => (wait, None, None),
            });
        }
        let from: Vec<u32> = starts.iter().filter_map(|start| start.1).collect();
        let order = self.order(region, &from, &ends);
        // Lanes that wait at their mask's save wait elsewhere, or run, when the last instruction runs.
        let run = |node: u32, is_run: bool, at: At| {
            if is_run { self.before(node, Rc::default(), at) } else { Rc::default() }
        };
        let traced = self.trace(&order, At::Any, |node| {
            is_end(node).map(|index| Some(run(node, last[index].1 && !is_later, At::Any)))
        });
        let each: Vec<States> = last
            .iter()
            .map(|&(end, is_run)| {
                self.trace(&order, At::End, |node| {
                    is_end(node).map(|_| (node == end).then(|| run(node, is_run, At::End)))
                })
            })
            .collect();
        let traced_waits = starts.into_iter().map(|(wait, start, first)| {
            let trace = |states: &States| match start {
                Some(start) => Traced {
                    end: self.after(&order, start, states, At::End),
                    all: self.after(&order, start, &traced, At::Any).unwrap_or_default(),
                },
                None => Traced::default(),
            };
            let whole = |traced: Traced| first.as_ref().map_or(traced.clone(), |first| traced.after(first));
            let skips = skips_of(wait).iter().filter_map(|skip| is_end(skip.last()));
            let ends: States = skips.map(|index| whole(trace(&each[index])).end).collect();
            let any = whole(trace(&Vec::new())).all;
            (wait, (ends, any))
        });
        let traced_waits = traced_waits.collect();
        self.forget(&order);
        traced_waits
    }

    /// Returns the nodes that the wave runs after `starts`, up to and including `ends`.
    fn order(&mut self, region: Option<u32>, starts: &[u32], ends: &[u32]) -> Order {
        let graphs = self.graphs;
        let next = |node: u32| match ends.binary_search(&node) {
            Ok(_) => &[],
            Err(_) => graphs.next(region, node),
        };
        let mut nodes = Vec::new();
        let mut has_loop = false;
        let mut open = Vec::new();
        for &start in starts {
            open.push((None, graphs.next(region, start)));
            while let Some((node, rest)) = open.last_mut() {
                match rest.split_first() {
                    Some((&to, others)) => {
                        *rest = others;
                        match self.position[to as usize] {
                            NONE => {
                                self.position[to as usize] = OPEN;
                                open.push((Some(to), next(to)));
                            }
                            position => has_loop |= position == OPEN,
                        }
                    }
                    None => {
                        if let Some(node) = *node {
                            self.position[node as usize] = nodes.len() as u32;
                            nodes.push(node);
                        }
                        open.pop();
                    }
                }
            }
        }
        Order { region, nodes, has_loop }
    }

    fn forget(&mut self, order: &Order) {
        order.nodes.iter().for_each(|&node| self.position[node as usize] = NONE);
    }

    /// Returns the origins before each node. `at_end` returns the origins before an end.
    fn trace(&self, order: &Order, at: At, at_end: impl Fn(u32) -> Option<Option<Rc<Origins>>>) -> States {
        let mut states: States = vec![None; order.nodes.len()];
        // Without loops, one pass in this order is enough; otherwise the passes repeat until nothing changes.
        loop {
            let mut is_changed = false;
            for (index, &node) in order.nodes.iter().enumerate() {
                let state = at_end(node).unwrap_or_else(|| {
                    let state = self.after(order, node, &states, at)?;
                    // An exit belongs to its inner region's code.
                    let is_run =
                        order.region.is_none_or(|region| self.graphs.regions.node_region(node) == region);
                    Some(if is_run { self.before(node, state, at) } else { state })
                });
                is_changed |= order.has_loop && states[index] != state;
                states[index] = state;
            }
            if !is_changed {
                return states;
            }
        }
    }

    /// Returns the origins after a node.
    fn after(&self, order: &Order, node: u32, states: &States, at: At) -> Option<Rc<Origins>> {
        let state = |node: u32| states.get(self.position[node as usize] as usize)?.as_ref();
        if let Some(inner) = self.graphs.inner(order.region, node) {
            let passed = &self.passed[inner as usize];
            let rest = self.graphs.next(order.region, node).first().and_then(|&exit| state(exit));
            let rest = passed.end.as_ref().zip(rest).map(|(first, rest)| rest.after(first, at));
            return match at {
                At::End => rest.map(Rc::new),
                At::Any => {
                    let mut origins = passed.all.clone();
                    rest.iter().for_each(|rest| Rc::make_mut(&mut origins).merge(rest, at));
                    Some(origins)
                }
            };
        }
        let mut origins: Option<Rc<Origins>> = None;
        for next in self.graphs.next(order.region, node).iter().filter_map(|&node| state(node)) {
            match &mut origins {
                Some(origins) if Rc::ptr_eq(origins, next) => {}
                Some(origins) => Rc::make_mut(origins).merge(next, at),
                None => origins = Some(next.clone()),
            }
        }
        origins.or_else(|| (at == At::Any).then(Rc::default))
    }

    /// Puts a node's writes before origins.
    fn before(&self, node: u32, mut origins: Rc<Origins>, at: At) -> Rc<Origins> {
        let range = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
        let mut writes = &self.writes[range];
        // Groups are put in front one by one, the last group first.
        while let Some(start) = writes.iter().rposition(|write| write.is_first) {
            Rc::make_mut(&mut origins).precede(&writes[start..], at);
            writes = &writes[..start];
        }
        origins
    }
}

/// Returns an operation's write, if waiting lanes see it.
fn write(program: &Program, op: Op) -> Option<Write> {
    let (To::Place(to), false) = (op.to(), op.is_masked()) else { return None };
    let is_row = |place: u32| program.is_row[place as usize];
    let from = match op.from() {
        // Block parameters are not traced, and a lane's part of a row is not what other lanes read.
        From::Place(from) if from >= program.stored || is_row(from) && !is_row(to) => LOST,
        From::Place(from) => from,
        From::Constant(constant) => CONSTANT | constant,
        // Values are running lanes' values.
        From::Value(_) | From::New(_) | From::Choice(_) | From::Nothing => LOST,
    };
    Some(Write { to, from, is_first: false })
}

/// Adds what lanes wrote since the mask was saved, for lanes that wait at the save.
fn since(program: &Program, wait: &Wait, unknown: &mut Vec<u32>) {
    for &node in &wait.since {
        let is_own = |kind: Kind| kind.is_instruction() || kind == Kind::Assign;
        for group in program.groups_of(node).iter().filter(|group| is_own(group.kind())) {
            unknown.extend(program.ops_of(group).iter().filter_map(|op| match op.to() {
                To::Place(place) => Some(place),
                To::Value(_) => None,
            }));
        }
    }
}
