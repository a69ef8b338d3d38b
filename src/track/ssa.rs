//! Names for each place's contents: static single assignment over all places at once, with congruent phis merged.
//!
//! A name belongs to a write or a phi. The invariant: two places with the same name have the same value. A place never has
//! a name on a path without the name's definition, so a name means the latest execution of its definition, in loops too.

use core::ops::Range;

use hashbrown::HashMap;

use super::origins::CONSTANT;
use super::program::{From, Group, Op, Program, To};
use crate::dominators::{Dominators, UNREACHED};

/// The name for no value. It equals nothing, not even itself.
pub(super) const NOTHING: u32 = 0;
const NONE: u32 = UNREACHED;
/// Flags a value part in the log.
const VALUE: u32 = 1 << 31;
/// Flags a choice among the phis' places.
const CHOICE: u32 = 1 << 31;

/// Nodes and edges, in compressed rows.
pub(super) struct Graph {
    first_next: Vec<u32>,
    /// Successors, each with the position of the edge among the successor's incoming edges.
    next: Vec<(u32, u32)>,
    first_before: Vec<u32>,
    before: Vec<u32>,
}

impl Graph {
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let rows = |key: fn(&(u32, u32)) -> u32| {
            let mut first = vec![0u32; nodes + 1];
            edges.iter().for_each(|edge| first[key(edge) as usize + 1] += 1);
            (0..nodes).for_each(|node| first[node + 1] += first[node]);
            first
        };
        let first_next = rows(|edge| edge.0);
        let first_before = rows(|edge| edge.1);
        let mut next = vec![(0, 0); edges.len()];
        let mut before = vec![0; edges.len()];
        let mut next_position = first_next.clone();
        let mut before_position = first_before.clone();
        for &(from, to) in edges {
            let out = &mut next_position[from as usize];
            let into = &mut before_position[to as usize];
            next[*out as usize] = (to, *into - first_before[to as usize]);
            before[*into as usize] = from;
            *out += 1;
            *into += 1;
        }
        Self { first_next, next, first_before, before }
    }

    fn nodes(&self) -> usize {
        self.first_next.len() - 1
    }

    pub(super) fn next(&self, node: u32) -> &[(u32, u32)] {
        &self.next[self.first_next[node as usize] as usize..self.first_next[node as usize + 1] as usize]
    }

    fn before(&self, node: u32) -> &[u32] {
        &self.before[self.first_before[node as usize] as usize..self.first_before[node as usize + 1] as usize]
    }
}

/// A step in a walk over all nodes in which each node comes after its immediate dominator.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) node: u32,
    /// Number of nodes on the path to this node that have a later sibling: the walk returns to their dominators.
    depth: u32,
    /// Whether the node is the last sibling.
    is_last: bool,
}

/// Names on a graph.
pub(super) struct Ssa<'p> {
    pub(super) program: &'p Program,
    graph: Graph,
    pub(super) order: Vec<Step>,
    /// Each phi's place, and [`CHOICE`] with each choice's number; sorted by node, phis first.
    phis: Vec<u32>,
    node_phis: Vec<Range<u32>>,
    /// Each choice's index among the phis.
    choices: Vec<u32>,
    /// Index of each phi's first operand.
    operands_of: Vec<u32>,
    operands: Vec<u32>,
    /// The name that represents each phi.
    same: Vec<u32>,
}

/// Callbacks for a walk in dominator order.
pub(super) trait Visit {
    /// Before a node, and before names are reset to the names at its dominator.
    fn enter(&mut self, _position: usize) {}
    /// After names are the names at the node's entry.
    fn entered(&mut self, _node: u32) {}
    /// Before a group.
    fn group(&mut self, _group: &Group, _names: &[u32]) {}
    /// A place changes its name.
    fn set(&mut self, _place: u32, _old: u32, _new: u32) {}
    /// A variable is assigned a value that some path does not define.
    fn unproven(&mut self, _group: &Group, _op: &Op) {}
    /// After all of a node's groups.
    fn left(&mut self, _node: u32, _names: &[u32]) {}
}

impl<'p> Ssa<'p> {
    /// Finds the names of places on a graph. `order` sorts the nodes below a dominator.
    pub(super) fn new(program: &'p Program, graph: Graph, order: impl Fn(u32) -> u64) -> Self {
        let Dominators { order: nodes, immediate: idom } = Dominators::new(
            graph.nodes(),
            |node, index| graph.next(node).get(index).map(|next| next.0),
            |node| graph.before(node).iter().copied(),
        );
        let mut ssa = Self {
            program,
            order: preorder(&idom, order),
            graph,
            phis: Vec::new(),
            node_phis: Vec::new(),
            choices: Vec::new(),
            operands_of: Vec::new(),
            operands: Vec::new(),
            same: Vec::new(),
        };
        let nodes = ssa.place_phis(&nodes, &idom);
        ssa.rename();
        ssa.merge(&nodes);
        ssa
    }

    pub(super) fn constant(&self, index: u32) -> u32 {
        1 + self.program.places + index
    }

    fn new_name(&self, number: u32) -> u32 {
        self.constant(self.program.constants.len() as u32) + number
    }

    fn phi(&self, index: u32) -> u32 {
        self.new_name(self.program.news) + index
    }

    /// Returns the number of names.
    pub(super) fn names(&self) -> usize {
        self.phi(self.phis.len() as u32) as usize
    }

    /// Places the phis, in the nodes' reverse postorder, and returns each phi's node.
    fn place_phis(&mut self, order: &[u32], idom: &[u32]) -> Vec<u32> {
        let nodes = self.graph.nodes();
        let frontiers = Frontiers::new(&self.graph, idom);
        let (first, writers) = self.writers();
        // Each node's phis, in place order.
        let mut phis: Vec<(u32, u32)> = Vec::new();
        let mut count = vec![0u32; nodes];
        let mut has_phi = vec![NONE; nodes];
        let mut is_open = vec![NONE; nodes];
        let mut open = Vec::new();
        for place in 0..self.program.places {
            for &node in &writers[first[place as usize] as usize..first[place as usize + 1] as usize] {
                is_open[node as usize] = place;
                open.push(node);
            }
            // A phi writes its place, so that it may need further phis in its own frontier.
            while let Some(node) = open.pop() {
                for &front in frontiers.frontier(node) {
                    if core::mem::replace(&mut has_phi[front as usize], place) != place {
                        phis.push((front, place));
                        count[front as usize] += 1;
                        if core::mem::replace(&mut is_open[front as usize], place) != place {
                            open.push(front);
                        }
                    }
                }
            }
        }
        // Free these before the operands are allocated, because both are large.
        drop((writers, first, frontiers));
        self.node_phis = vec![0..0; nodes];
        let mut start = 0;
        let mut operands = 0;
        let choices = &self.program.choices;
        let mut chosen: Vec<u32> = (0..choices.len() as u32).collect();
        chosen.sort_by_key(|&choice| choices[choice as usize].node);
        self.choices = vec![NONE; choices.len()];
        let mut phi_nodes = Vec::with_capacity(phis.len() + choices.len());
        self.operands_of.reserve_exact(phis.len() + choices.len() + 1);
        self.phis.reserve_exact(phis.len() + choices.len());
        // In reverse postorder, operands are usually known before they are read.
        for &node in order {
            let end = start + count[node as usize];
            self.node_phis[node as usize] = start..start;
            for _ in start..end {
                self.operands_of.push(operands);
                operands += self.graph.before(node).len() as u32;
                phi_nodes.push(node);
                self.phis.push(NONE);
            }
            start = end;
            let first = chosen.partition_point(|&choice| choices[choice as usize].node < node);
            let same = chosen[first..].iter().take_while(|&&choice| choices[choice as usize].node == node);
            for &choice in same {
                self.choices[choice as usize] = start;
                self.operands_of.push(operands);
                operands += choices[choice as usize].members.len() as u32;
                // Each choice is separate, because places that are chosen from the same places can differ.
                phi_nodes.push(nodes as u32 + choice);
                self.phis.push(CHOICE | choice);
                start += 1;
            }
        }
        self.operands_of.push(operands);
        // Edges from unreachable nodes never receive a name.
        self.operands = vec![NONE; operands as usize];
        for (node, place) in phis {
            let range = &mut self.node_phis[node as usize];
            self.phis[range.end as usize] = place;
            range.end += 1;
        }
        phi_nodes
    }

    /// Returns the nodes that write each place, and the index of each place's first writer.
    fn writers(&self) -> (Vec<u32>, Vec<u32>) {
        let places = self.program.places as usize;
        let mut last = vec![NONE; places];
        // The walk runs twice: to count, and to fill in.
        let mut each = |write: &mut dyn FnMut(u32, u32)| {
            last.fill(NONE);
            for &Step { node, .. } in &self.order {
                for op in self.program.groups_of(node).iter().flat_map(|group| self.program.ops_of(group)) {
                    if let To::Place(place) = op.to()
                        && core::mem::replace(&mut last[place as usize], node) != node
                    {
                        write(place, node);
                    }
                }
            }
        };
        let mut first = vec![0u32; places + 1];
        each(&mut |place, _| first[place as usize + 1] += 1);
        (0..places).for_each(|place| first[place + 1] += first[place]);
        let mut writers = vec![0; first[places] as usize];
        let mut next = first.clone();
        each(&mut |place, node| {
            writers[next[place as usize] as usize] = node;
            next[place as usize] += 1;
        });
        (first, writers)
    }

    /// Fills in the phis' operands.
    fn rename(&mut self) {
        struct Fill<'a> {
            program: &'a Program,
            graph: &'a Graph,
            phis: &'a [u32],
            node_phis: &'a [Range<u32>],
            operands_of: &'a [u32],
            operands: Vec<u32>,
        }
        impl Visit for Fill<'_> {
            fn left(&mut self, node: u32, names: &[u32]) {
                for &(to, edge) in self.graph.next(node) {
                    for phi in self.node_phis[to as usize].clone() {
                        let place = self.phis[phi as usize] as usize;
                        self.operands[(self.operands_of[phi as usize] + edge) as usize] = names[place];
                    }
                }
                // Choices at a node follow its phis.
                let first = self.node_phis[node as usize].end as usize;
                for (&phi, &operand) in self.phis[first..].iter().zip(&self.operands_of[first..]) {
                    let choice = self.program.choices.get((phi ^ CHOICE) as usize);
                    let Some(choice) = choice.filter(|choice| choice.node == node) else { break };
                    for (index, &from) in (operand as usize..).zip(&choice.members) {
                        self.operands[index] = match from & CONSTANT {
                            0 => names[from as usize],
                            _ => 1 + self.program.places + (from & !CONSTANT),
                        };
                    }
                }
            }
        }
        let mut fill = Fill {
            program: self.program,
            graph: &self.graph,
            phis: &self.phis,
            node_phis: &self.node_phis,
            operands_of: &self.operands_of,
            operands: core::mem::take(&mut self.operands),
        };
        self.walk(&mut fill);
        self.operands = fill.operands;
    }

    /// Finds the phis that equal another name: phis with one distinct operand, and phis at the same node with equal
    /// operands. The analysis is optimistic: at first, a phi without known operands is assumed to equal everything,
    /// because otherwise phis in a loop would never become equal.
    fn merge(&mut self, nodes: &[u32]) {
        /// Number of rounds after which a phi that still changes gets a separate name, which is always sound.
        const ROUNDS: usize = 32;
        let first = self.phi(0);
        self.same = vec![NONE; self.phis.len()];
        let mut is_fixed = vec![false; self.phis.len()];
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut tuple = Vec::new();
        let mut names = Vec::new();
        for round in 0.. {
            let mut is_changed = false;
            let mut start = 0;
            while let Some(&node) = nodes.get(start) {
                let end = start + nodes[start..].iter().take_while(|&&other| other == node).count();
                known.clear();
                names.clear();
                for (index, is_fixed) in (start..end).zip(&is_fixed[start..end]) {
                    let own = first + index as u32;
                    // The phi itself, or the phi at this node that represents it.
                    let same = self.same[index];
                    let is_here =
                        same.checked_sub(first).is_some_and(|phi| nodes.get(phi as usize) == Some(&node));
                    let itself = if is_here { same } else { own };
                    let range = self.operands_of[index] as usize..self.operands_of[index + 1] as usize;
                    tuple.clear();
                    tuple.extend(self.operands[range].iter().filter(|&&name| name != NONE).map(|&name| {
                        match name.checked_sub(first) {
                            Some(phi) => self.same[phi as usize],
                            None => name,
                        }
                    }));
                    let mut others = tuple.iter().copied().filter(|&name| name != NONE && name != itself);
                    let first_name = others.next();
                    let is_one = first_name.is_some_and(|first_name| others.all(|other| other == first_name));
                    names.push(match first_name {
                        _ if *is_fixed => own,
                        Some(first_name) if is_one => first_name,
                        None => NONE,
                        _ if tuple.contains(&NOTHING) || self.phis[index] & CHOICE != 0 => own,
                        _ => *known.entry_ref(&tuple).or_insert(own),
                    });
                }
                // All names change at once, so that equal phis at the node stay equal after each step.
                for (index, &name) in (start..end).zip(&names) {
                    if self.same[index] != name {
                        is_changed = true;
                        is_fixed[index] |= round >= ROUNDS;
                        self.same[index] = if is_fixed[index] { first + index as u32 } else { name };
                    }
                }
                start = end;
            }
            if !is_changed {
                break;
            }
        }
        // Later walks only read names.
        self.operands = Vec::new();
        self.operands_of = Vec::new();
        // A phi that no known name reaches is in code that never runs.
        for (index, same) in (0..).zip(&mut self.same) {
            if *same == NONE {
                *same = first + index;
            }
        }
    }

    /// Whether all of a choice's members have the same contents.
    pub(super) fn is_alike(&self, choice: u32) -> bool {
        let phi = self.choices[choice as usize];
        self.same.get(phi as usize).is_some_and(|&same| same != self.phi(phi) && same != NOTHING)
    }

    /// Returns the name that represents a name, after all phis are merged.
    fn represented(&self, name: u32) -> u32 {
        let phi = name.checked_sub(self.phi(0));
        phi.and_then(|phi| self.same.get(phi as usize)).copied().unwrap_or(name)
    }

    /// Walks over all reachable nodes.
    pub(super) fn walk(&self, visit: &mut impl Visit) {
        let entry = |place| if place < self.program.stored { 1 + place } else { NOTHING };
        let mut names: Vec<u32> = (0..self.program.places).map(entry).collect();
        let mut values = vec![NOTHING; self.program.values as usize];
        // Earlier names, and the log's length at each node to which the walk returns.
        let mut log: Vec<(u32, u32)> = Vec::new();
        let mut marks: Vec<u32> = Vec::new();
        let mut read: Vec<u32> = Vec::new();
        for (position, &Step { node, depth, is_last }) in self.order.iter().enumerate() {
            visit.enter(position);
            // Undo what was logged since the walk left the dominator.
            let back = marks.get(depth as usize).copied().unwrap_or(log.len() as u32);
            while log.len() as u32 > back {
                let (target, name) = log.pop().unwrap_or_default();
                if target & VALUE == 0 {
                    let old = core::mem::replace(&mut names[target as usize], name);
                    visit.set(target, old, name);
                } else {
                    values[(target & !VALUE) as usize] = name;
                }
            }
            marks.truncate(depth as usize);
            if !is_last {
                marks.push(log.len() as u32);
            } else if marks.is_empty() {
                log.clear();
            }
            for phi in self.node_phis[node as usize].clone() {
                let place = self.phis[phi as usize];
                let name = self.represented(self.phi(phi));
                let old = core::mem::replace(&mut names[place as usize], name);
                if old != name {
                    log.push((place, old));
                    visit.set(place, old, name);
                }
            }
            visit.entered(node);
            for group in self.program.groups_of(node) {
                visit.group(group, &names);
                read.clear();
                let ops = self.program.ops_of(group);
                // A group reads all sources before it writes.
                for op in ops {
                    let name = self.read(op.from(), &names, &values);
                    if let (From::Value(_), NOTHING) = (op.from(), name) {
                        visit.unproven(group, op);
                    }
                    read.push(name);
                }
                for (op, &name) in ops.iter().zip(&read) {
                    let value = match (op.to(), op.from()) {
                        (To::Value(part), _) => Some(part),
                        (_, From::New(part)) if part < self.program.values => Some(part),
                        _ => None,
                    };
                    if let Some(part) = value {
                        let old = core::mem::replace(&mut values[part as usize], name);
                        if old != name {
                            log.push((part | VALUE, old));
                        }
                    }
                    if let To::Place(place) = op.to() {
                        let old = core::mem::replace(&mut names[place as usize], name);
                        if old != name {
                            log.push((place, old));
                            visit.set(place, old, name);
                        }
                    }
                }
            }
            visit.left(node, &names);
        }
    }

    /// Returns the name that an operation writes.
    fn read(&self, from: From, names: &[u32], values: &[u32]) -> u32 {
        match from {
            From::Place(from) => names[from as usize],
            From::Value(part) => values[part as usize],
            From::Constant(constant) => self.constant(constant),
            From::New(number) => self.new_name(number),
            From::Choice(choice) => self.represented(self.phi(self.choices[choice as usize])),
            From::Nothing => NOTHING,
        }
    }
}

/// Each node's dominance frontier.
struct Frontiers {
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Frontiers {
    fn new(graph: &Graph, idom: &[u32]) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut first = vec![0u32; graph.nodes() + 1];
        // The last node for which each node was seen above a predecessor: the nodes above it were seen, too.
        let mut seen = vec![NONE; graph.nodes()];
        for node in 0..graph.nodes() as u32 {
            let before = graph.before(node).iter().copied().filter(|&from| idom[from as usize] != NONE);
            if idom[node as usize] == NONE {
                continue;
            }
            for from in before {
                let mut above = from;
                while above != idom[node as usize]
                    && core::mem::replace(&mut seen[above as usize], node) != node
                {
                    pairs.push((above, node));
                    first[above as usize + 1] += 1;
                    if above == idom[above as usize] {
                        break;
                    }
                    above = idom[above as usize];
                }
            }
        }
        (0..graph.nodes()).for_each(|node| first[node + 1] += first[node]);
        let mut nodes = vec![0; pairs.len()];
        let mut next = first.clone();
        for (node, front) in pairs {
            nodes[next[node as usize] as usize] = front;
            next[node as usize] += 1;
        }
        Self { first, nodes }
    }

    /// Returns a node's dominance frontier.
    fn frontier(&self, node: u32) -> &[u32] {
        &self.nodes[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// Returns the nodes in dominator tree preorder.
fn preorder(idom: &[u32], key: impl Fn(u32) -> u64) -> Vec<Step> {
    let mut children: Vec<u32> = (1..idom.len() as u32).filter(|&node| idom[node as usize] != NONE).collect();
    // The child that is visited first comes last, because children are taken from a stack.
    children.sort_by_key(|&node| (idom[node as usize], core::cmp::Reverse(key(node))));
    let below = |node: u32| {
        let start = children.partition_point(|&child| idom[child as usize] < node);
        let end = children.partition_point(|&child| idom[child as usize] <= node);
        &children[start..end]
    };
    let mut order = Vec::with_capacity(children.len() + 1);
    let mut open = vec![Step { node: 0, depth: 0, is_last: true }];
    while let Some(step) = open.pop() {
        order.push(step);
        let depth = step.depth + u32::from(!step.is_last);
        let children = below(step.node).iter().enumerate();
        open.extend(children.map(|(index, &node)| Step { node, depth, is_last: index == 0 }));
    }
    order
}
