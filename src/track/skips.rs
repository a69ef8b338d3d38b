//! Effects of a stretch of the wave's code on the storage of lanes that wait.
//!
//! A waiting lane runs nothing. The stretch changes the lane's storage by writes to places of the wave, and by writes
//! to rows in all lanes. Each place has a name at the start of the stretch, and copies carry names. At the end of the
//! stretch, a place with the name of another place has the contents that the other place had when the lane left.

use hashbrown::HashMap;

use super::graph::{Graphs, Skip, Wait};
use super::lower::Lower;
use super::program::{From, Kind, Op, Program, To};
use super::ssa::{Graph, NOTHING, Ssa, Visit};
use crate::error::Result;

/// Adds the operations of each skip to its node, which follows those of all segments. Returns, for each wait, the places
/// about which nothing is known for lanes that wait, sorted.
pub(super) fn add(lower: &mut Lower<'_>, graphs: &Graphs) -> Result<Vec<Vec<u32>>> {
    let mut stretches = Stretches::new(&lower.program, graphs);
    let (mut unknown, mut effects) = (Vec::new(), Vec::new());
    let mut skips = graphs.skips.as_slice();
    for (index, wait) in (0..).zip(&graphs.waits) {
        let (of_wait, rest) = skips.split_at(skips.partition_point(|skip| skip.wait <= index));
        let mut found = stretches.follow(wait, of_wait)?;
        since(&lower.program, wait, &mut found.changed);
        found.changed.sort_unstable();
        found.changed.dedup();
        unknown.push(found.changed);
        effects.append(&mut found.effects);
        skips = rest;
    }
    for (skip, effects) in graphs.skips.iter().zip(effects) {
        let node = lower.program.of_node.len() as u32;
        let [incoming, received] = lower.skipped(skip.from, skip.to);
        let program = &mut lower.program;
        let start = program.end();
        let mut new: HashMap<u32, From> = HashMap::new();
        for (place, effect) in effects {
            let from = match effect {
                Effect::Is(from) => from,
                Effect::New(name) => *new.entry(name).or_insert_with(|| program.new_source()),
            };
            program.push(To::Place(place), from);
        }
        let written = start..program.end();
        let groups = program.groups.len() as u32;
        let kinds = [(Kind::Instruction, written), (Kind::Leave, incoming), (Kind::Merge, received)];
        for (kind, ops) in kinds {
            program.group(node, 0..0, kind, ops)?;
        }
        program.of_node.push(groups..program.groups.len() as u32);
    }
    Ok(unknown)
}

/// Contents of a place for a lane that waited.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// The contents of another place when the lane left, or a constant.
    Is(From),
    /// Something that the lane has not seen, by its name.
    New(u32),
}

/// Effects of one stretch.
#[derive(Debug)]
struct Followed {
    /// Places that have other contents at some pc of the stretch.
    changed: Vec<u32>,
    /// Effects of each skip.
    effects: Vec<Vec<(u32, Effect)>>,
}

/// Stretches as programs of their own, in which numbers are those of the stretch.
struct Stretches<'a> {
    program: &'a Program,
    wave: Graph,
    stretches: &'a Graphs,
    /// The numbers of nodes in the stretch; 0 for others.
    numbers: Vec<u32>,
}

/// The program of one stretch.
struct Stretch<'a> {
    of: &'a Program,
    program: Program,
    /// The place or constant of each place.
    sources: Vec<From>,
    places: HashMap<(bool, u32), u32>,
    /// New things of the stretch, by their numbers in all code.
    new: HashMap<u32, From>,
    /// Places that are written.
    written: Vec<u32>,
}

impl<'a> Stretches<'a> {
    fn new(program: &'a Program, graphs: &'a Graphs) -> Self {
        let nodes = graphs.segments.len() + 1;
        Self { program, wave: Graph::new(nodes, &graphs.wave), stretches: graphs, numbers: vec![0; nodes] }
    }

    /// Follows the storage of lanes that wait.
    fn follow(&mut self, wait: &Wait, skips: &[Skip]) -> Result<Followed> {
        let inside = self.stretches.stretch(&wait.stretch);
        // The last node of a skip is run with the stretch, or only marks where it ends.
        let nodes: Vec<u32> =
            inside.iter().copied().chain(skips.iter().map(|skip| skip.end.unwrap_or(skip.to))).collect();
        let mut stretch = Stretch::new(self.program);
        for (at, &node) in nodes.iter().enumerate() {
            let is_run = inside.get(at).is_some() || skips[at - inside.len()].end.is_some();
            stretch.add(node, is_run)?;
        }
        if stretch.written.is_empty() {
            return Ok(Followed { changed: Vec::new(), effects: vec![Vec::new(); skips.len()] });
        }
        for (number, &node) in (1..).zip(&nodes) {
            self.numbers[node as usize] = number;
        }
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut add = |from: u32, node: u32| {
            let next = self.wave.next(node).iter().map(|&(to, _)| self.numbers[to as usize]);
            edges.extend(next.filter(|&to| to != 0).map(|to| (from, to)));
        };
        add(0, wait.from);
        for (number, &node) in (1..).zip(inside) {
            add(number, node);
        }
        nodes.iter().for_each(|&node| self.numbers[node as usize] = 0);
        let Stretch { program, sources, mut written, .. } = stretch;
        written.sort_unstable();
        written.dedup();
        let ssa = Ssa::new(&program, Graph::new(nodes.len() + 1, &edges), u64::from);
        let mut ends = Ends {
            inside: inside.len() as u32,
            // Lanes that wait where their mask was saved wait elsewhere, or run, when the last instruction runs.
            is_and: !wait.since.is_empty(),
            counts: true,
            sources: &sources,
            written: &written,
            is_changed: vec![false; sources.len()],
            effects: vec![Vec::new(); skips.len()],
        };
        ssa.walk(&mut ends);
        let Ends { is_changed, effects, .. } = ends;
        let changed = written.iter().filter(|&&place| is_changed[place as usize]);
        let changed = changed.filter_map(|&place| stored(sources[place as usize])).collect();
        Ok(Followed { changed, effects })
    }
}

/// The place of a source.
fn stored(source: From) -> Option<u32> {
    if let From::Place(place) = source { Some(place) } else { None }
}

impl<'a> Stretch<'a> {
    fn new(of: &'a Program) -> Self {
        // Node 0 is that in which lanes begin to wait.
        let program = Program { of_node: vec![0..0], ..Program::default() };
        let (places, new) = (HashMap::new(), HashMap::new());
        Self { of, program, sources: Vec::new(), places, new, written: Vec::new() }
    }

    fn place(&mut self, is_constant: bool, index: u32) -> u32 {
        *self.places.entry((is_constant, index)).or_insert_with(|| {
            self.sources.push(if is_constant { From::Constant(index) } else { From::Place(index) });
            self.program.stored += 1;
            (self.program.first_variable, self.program.places) = (self.program.stored, self.program.stored);
            self.program.stored - 1
        })
    }

    /// Adds a node, with its operations if it is run.
    fn add(&mut self, node: u32, is_run: bool) -> Result<()> {
        let first = self.program.groups.len() as u32;
        let number = self.program.of_node.len() as u32;
        let groups = self.of.groups_of(node).iter();
        for group in groups.filter(|group| is_run && group.kind().is_instruction()) {
            let start = self.program.end();
            self.of.ops_of(group).iter().for_each(|&op| self.op(op));
            self.program.group(number, group.start..group.end, group.kind(), start..self.program.end())?;
        }
        self.program.of_node.push(first..self.program.groups.len() as u32);
        Ok(())
    }

    fn op(&mut self, op: Op) {
        let (To::Place(to), false) = (op.to(), op.is_masked()) else { return };
        let is_row = |place: u32| self.of.is_row[place as usize];
        let from = match op.from() {
            // Block parameters are not followed, and the lane's part of a row is not what other lanes read.
            From::Place(from) if from >= self.of.stored || is_row(from) && !is_row(to) => {
                self.program.new_source()
            }
            From::Place(from) => From::Place(self.place(false, from)),
            From::Constant(constant) => From::Place(self.place(true, constant)),
            // Values are those of lanes that run.
            From::Value(_) => self.program.new_source(),
            From::New(other) => *self.new.entry(other).or_insert_with(|| self.program.new_source()),
            From::Nothing => From::Nothing,
        };
        let to = self.place(false, to);
        self.written.push(to);
        self.program.push(To::Place(to), from);
    }
}

/// Collects the places that change, and what they have at the ends.
struct Ends<'s> {
    /// Number of nodes before the ends.
    inside: u32,
    is_and: bool,
    /// Whether changes are such for lanes that wait.
    counts: bool,
    sources: &'s [From],
    written: &'s [u32],
    is_changed: Vec<bool>,
    effects: Vec<Vec<(u32, Effect)>>,
}

impl Visit for Ends<'_> {
    fn enter(&mut self, _: usize, node: u32, _: &[u32]) {
        self.counts = node <= self.inside || !self.is_and;
    }

    fn set(&mut self, place: u32, _: u32, new: u32) {
        self.is_changed[place as usize] |= self.counts && new != 1 + place;
    }

    fn left(&mut self, node: u32, names: &[u32]) {
        let Some(end) = node.checked_sub(self.inside + 1) else { return };
        let effect = |&place: &u32| {
            let name = names[place as usize];
            let effect = match self.sources.get((name as usize).wrapping_sub(1)) {
                Some(&source) => Effect::Is(source),
                None if name == NOTHING => Effect::Is(From::Nothing),
                None => Effect::New(name),
            };
            Some((stored(self.sources[place as usize])?, effect)).filter(|_| name != 1 + place)
        };
        self.effects[end as usize] = self.written.iter().filter_map(effect).collect();
    }
}

/// Adds what lanes that wait where their mask was saved have run since.
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
