//! Effects of a stretch of the wave's code on the storage of lanes that wait.

use hashbrown::HashMap;

use super::graph::{Graphs, Skip, Wait};
use super::lower::{From, Group, Kind, Lower, Op, Program, To};
use super::ssa::{Graph, NOTHING, Of, Ssa, Visit};

/// Adds the operations of each skip to its node, which follows those of all segments.
pub(super) fn add(lower: &mut Lower<'_>, graphs: &Graphs) {
    let all = effects(&lower.program, graphs);
    let first = graphs.segments.len() as u32 + 1;
    for ((node, skip), effects) in (first..).zip(&graphs.skips).zip(all) {
        let [incoming, received] = lower.skipped(skip.from, skip.to);
        let program = &mut lower.program;
        let start = program.ops.len() as u32;
        let mut new: HashMap<u32, u32> = HashMap::new();
        for (place, effect) in effects {
            let from = match effect {
                Effect::Is(from) => from,
                Effect::New(name) => From::New(*new.entry(name).or_insert(program.ops.len() as u32)),
            };
            program.ops.push(Op { to: To::Place(place), from, is_masked: false });
        }
        let written = start..program.ops.len() as u32;
        let groups = program.groups.len() as u32;
        let kinds = [(Kind::Instruction, written), (Kind::Leave, incoming), (Kind::Merge, received)];
        for (kind, ops) in kinds.into_iter().filter(|(_, ops)| !ops.is_empty()) {
            program.groups.push(Group { node, start: 0, end: 0, kind, ops });
        }
        program.of_node.push(groups..program.groups.len() as u32);
    }
}

/// Contents of a place for a lane that waited.
#[derive(Debug, Clone, Copy)]
enum Effect {
    /// The contents of another place when the lane left, or a constant.
    Is(From),
    /// Something that the lane has not seen, by the wave's name.
    New(u32),
}

/// The nodes that change names within a stretch.
fn is_within(graphs: &Graphs, skip: &Skip, node: u32) -> bool {
    let last = skip.end.unwrap_or(skip.to);
    node == last || graphs.stretch(&skip.stretch).binary_search(&node).is_ok()
}

fn effects(program: &Program, graphs: &Graphs) -> Vec<Vec<(u32, Effect)>> {
    if graphs.skips.is_empty() {
        return Vec::new();
    }
    let graph = Graph::new(graphs.segments.len() + 1, &graphs.wave);
    let ssa = Ssa::new(program, Of::Wave, graph, u64::from);
    let mut last = Last { graphs, at_end: HashMap::new(), at_start: HashMap::new(), names: Vec::new() };
    let mut is_listed = vec![u32::MAX; program.stored as usize];
    for (index, skip) in (0..).zip(&graphs.skips) {
        let mut places = Vec::new();
        let nodes = graphs.stretch(&skip.stretch).iter().copied().chain(skip.end);
        each_write(program, nodes, |place, is_masked| {
            let is_new = !is_masked && core::mem::replace(&mut is_listed[place as usize], index) != index;
            places.extend(is_new.then_some((place, NOTHING)));
        });
        last.names.push(places);
        let at = if skip.end.is_some() { &mut last.at_end } else { &mut last.at_start };
        at.entry(skip.end.unwrap_or(skip.to)).or_default().push(index);
    }
    ssa.walk(&mut last);
    let mut op_node = vec![0; program.ops.len()];
    for group in program.groups.iter().filter(|group| group.kind != Kind::Wait) {
        group.ops.clone().for_each(|op| op_node[op as usize] = group.node);
    }
    let mut leaving: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, skip) in (0..).zip(&graphs.skips) {
        leaving.entry(skip.from).or_default().push(index);
    }
    let found = vec![Vec::new(); graphs.skips.len()];
    let mut first = First { graphs, ssa: &ssa, op_node: &op_node, leaving, names: &last.names, found };
    ssa.walk(&mut first);
    first.found
}

/// Calls `each` with the places that instructions of some nodes write.
fn each_write(program: &Program, nodes: impl Iterator<Item = u32>, mut each: impl FnMut(u32, bool)) {
    for node in nodes {
        let groups = program.of_node[node as usize].clone();
        for group in &program.groups[groups.start as usize..groups.end as usize] {
            if group.kind != Kind::Instruction {
                continue;
            }
            for op in &program.ops[group.ops.start as usize..group.ops.end as usize] {
                if let To::Place(place) = op.to {
                    each(place, op.is_masked);
                }
            }
        }
    }
}

/// Collects the wave's names at the end of each stretch.
struct Last<'g> {
    graphs: &'g Graphs,
    /// Skips by the last node, and by the node before which they end.
    at_end: HashMap<u32, Vec<u32>>,
    at_start: HashMap<u32, Vec<u32>>,
    names: Vec<Vec<(u32, u32)>>,
}

impl Visit for Last<'_> {
    fn entered(&mut self, node: u32, names: &[u32]) {
        for &skip in self.at_start.get(&node).into_iter().flatten() {
            self.names[skip as usize].iter_mut().for_each(|(place, name)| *name = names[*place as usize]);
        }
    }
    fn left(&mut self, node: u32, names: &[u32]) {
        for &skip in self.at_end.get(&node).into_iter().flatten() {
            debug_assert!(self.graphs.skips[skip as usize].end == Some(node), "it ends there");
            self.names[skip as usize].iter_mut().for_each(|(place, name)| *name = names[*place as usize]);
        }
    }
}

/// Finds the places that have these names where lanes leave.
struct First<'g, 'p> {
    graphs: &'g Graphs,
    ssa: &'g Ssa<'p>,
    op_node: &'g [u32],
    leaving: HashMap<u32, Vec<u32>>,
    names: &'g [Vec<(u32, u32)>],
    found: Vec<Vec<(u32, Effect)>>,
}

impl Visit for First<'_, '_> {
    fn left(&mut self, node: u32, names: &[u32]) {
        for &index in self.leaving.get(&node).into_iter().flatten() {
            let skip = &self.graphs.skips[index as usize];
            // Places by name, if a name is not where it was.
            let mut places: Option<HashMap<u32, u32>> = None;
            let effect = |&(place, name): &(u32, u32)| {
                let kept = if let Some(constant) = self.ssa.as_constant(name) {
                    Some(From::Constant(constant))
                } else if is_within(self.graphs, skip, self.ssa.defined_in(name, self.op_node)) {
                    None
                } else if names[place as usize] == name {
                    Some(From::Place(place))
                } else {
                    let places = places.get_or_insert_with(|| {
                        // The first place of each name.
                        (0..names.len()).rev().map(|place| (names[place], place as u32)).collect()
                    });
                    places.get(&name).map(|&place| From::Place(place))
                };
                (place, kept.map_or(Effect::New(name), Effect::Is))
            };
            self.found[index as usize] = self.names[index as usize].iter().map(effect).collect();
        }
    }
}

/// Places and variables about which nothing is known for lanes that wait.
pub(super) fn unknown(program: &Program, graphs: &Graphs, wait: &Wait) -> Vec<u32> {
    let mut unknown = Vec::new();
    let is_and = !wait.since.is_empty();
    // The last instruction runs when the lanes no longer wait where they were before; where they wait behind it, it
    // decides what they will find there.
    let ends = graphs.stretch(&wait.ends).iter().copied().filter(|_| !is_and);
    let nodes = graphs.stretch(&wait.stretch).iter().copied().chain(ends);
    each_write(program, nodes, |place, is_masked| unknown.extend((!is_masked).then_some(place)));
    each_write(program, wait.since.iter().copied(), |place, _| unknown.push(place));
    for &node in &wait.since {
        let groups = program.of_node[node as usize].clone();
        for group in &program.groups[groups.start as usize..groups.end as usize] {
            if group.kind == Kind::Assign {
                let ops = &program.ops[group.ops.start as usize..group.ops.end as usize];
                unknown.extend(ops.iter().filter_map(|op| match op.to {
                    To::Place(place) => Some(place),
                    To::Value(_) => None,
                }));
            }
        }
    }
    unknown.sort_unstable();
    unknown.dedup();
    unknown
}
