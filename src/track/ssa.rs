//! Names of the contents of each place: static single assignment over all places at once, and congruence of its phis.
//!
//! A name is that of a write or of a phi. Two places with one name have the same value. No place has a name on a path
//! that has not met the name's definition, so that a name means the latest execution of its definition, in loops too.

use core::ops::Range;

use hashbrown::HashMap;

use super::program::{From, Group, Op, Program, To};

/// The name of no value, which equals nothing.
pub(super) const NOTHING: u32 = 0;
const NONE: u32 = u32::MAX;
/// Flag of a part of a value in the log.
const VALUE: u32 = 1 << 31;

/// Nodes and edges, in the form of compressed rows.
pub(super) struct Graph {
    first_next: Vec<u32>,
    /// Successors, and the position of the edge among those of the successor.
    next: Vec<(u32, u32)>,
    first_before: Vec<u32>,
    before: Vec<u32>,
}

impl Graph {
    pub(super) fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let rows = |key: fn(&(u32, u32)) -> u32| {
            let mut first = vec![0u32; nodes + 1];
            edges.iter().for_each(|edge| first[key(edge) as usize + 1] += 1);
            (0..nodes).for_each(|at| first[at + 1] += first[at]);
            first
        };
        let (first_next, first_before) = (rows(|edge| edge.0), rows(|edge| edge.1));
        let mut next = vec![(0, 0); edges.len()];
        let mut before = vec![0; edges.len()];
        let (mut at_next, mut at_before) = (first_next.clone(), first_before.clone());
        for &(from, to) in edges {
            let (out, into) = (&mut at_next[from as usize], &mut at_before[to as usize]);
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

/// Step of the walk over all nodes, in which each follows its immediate dominator.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) node: u32,
    /// Number of nodes with a later sibling around this one: the walk goes back to their dominators.
    depth: u32,
    /// Whether no sibling follows.
    is_last: bool,
}

/// The names of a graph.
pub(super) struct Ssa<'p> {
    pub(super) program: &'p Program,
    graph: Graph,
    pub(super) order: Vec<Step>,
    /// Place of each phi, sorted by node.
    phis: Vec<u32>,
    of_node: Vec<Range<u32>>,
    /// First operand of each phi.
    operands_of: Vec<u32>,
    operands: Vec<u32>,
    /// The representative of each phi.
    same: Vec<u32>,
}

/// Is called on a walk in the order of dominators.
pub(super) trait Visit {
    /// A node follows: before names become those of its dominator.
    fn enter(&mut self, _position: usize, _node: u32, _names: &[u32]) {}
    /// Names are those on entry of the node, after this.
    fn entered(&mut self, _node: u32, _names: &[u32]) {}
    /// A group follows.
    fn group(&mut self, _group: &Group, _names: &[u32]) {}
    /// A place changes its name.
    fn set(&mut self, _place: u32, _old: u32, _new: u32) {}
    /// A variable is assigned a value that no instruction on some path defines.
    fn unproven(&mut self, _group: &Group, _op: &Op) {}
    /// All groups of the node are done.
    fn left(&mut self, _node: u32, _names: &[u32]) {}
}

impl<'p> Ssa<'p> {
    /// Finds the names of places on a graph. `order` sorts the nodes below one dominator.
    pub(super) fn new(program: &'p Program, graph: Graph, order: impl Fn(u32) -> u64) -> Self {
        let (number, idom) = dominators(&graph);
        let mut ssa = Self {
            program,
            order: preorder(&idom, order),
            graph,
            phis: Vec::new(),
            of_node: Vec::new(),
            operands_of: Vec::new(),
            operands: Vec::new(),
            same: Vec::new(),
        };
        let nodes = ssa.place_phis(&number, &idom);
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

    /// Number of names.
    pub(super) fn names(&self) -> usize {
        self.phi(self.phis.len() as u32) as usize
    }

    /// Finds the phis, and returns the node of each.
    fn place_phis(&mut self, number: &[u32], idom: &[u32]) -> Vec<u32> {
        let nodes = self.graph.nodes();
        let frontiers = Frontiers::new(&self.graph, idom);
        // Nodes that write each place.
        let mut written: Vec<(u32, u32)> = Vec::new();
        for &Step { node, .. } in &self.order {
            let start = written.len();
            for group in self.program.groups_of(node) {
                for op in self.program.ops_of(group) {
                    if let To::Place(place) = op.to() {
                        written.push((place, node));
                    }
                }
            }
            written[start..].sort_unstable();
            let mut kept = start;
            for at in start..written.len() {
                if at == start || written[at] != written[kept - 1] {
                    written[kept] = written[at];
                    kept += 1;
                }
            }
            written.truncate(kept);
        }
        written.sort_unstable();
        let mut phis: Vec<(u32, u32)> = Vec::new();
        let (mut has_phi, mut is_open) = (vec![NONE; nodes], vec![NONE; nodes]);
        let mut open = Vec::new();
        let mut at = 0;
        while at < written.len() {
            let place = written[at].0;
            while at < written.len() && written[at].0 == place {
                is_open[written[at].1 as usize] = place;
                open.push(written[at].1);
                at += 1;
            }
            while let Some(node) = open.pop() {
                for &front in frontiers.of(node) {
                    if core::mem::replace(&mut has_phi[front as usize], place) != place {
                        phis.push((front, place));
                        if core::mem::replace(&mut is_open[front as usize], place) != place {
                            open.push(front);
                        }
                    }
                }
            }
        }
        drop(written);
        phis.sort_unstable_by_key(|&(node, place)| (number[node as usize], place));
        self.of_node = vec![0..0; nodes];
        let mut count = 0;
        for (index, &(node, _)) in (0..).zip(&phis) {
            let range = &mut self.of_node[node as usize];
            let start = if range.start == range.end { index } else { range.start };
            *range = start..index + 1;
            self.operands_of.push(count);
            count += self.graph.before(node).len() as u32;
        }
        self.operands_of.push(count);
        // Edges from unreachable nodes stay without a name.
        self.operands = vec![NONE; count as usize];
        self.phis = phis.iter().map(|phi| phi.1).collect();
        phis.into_iter().map(|phi| phi.0).collect()
    }

    /// Fills in the operands of phis.
    fn rename(&mut self) {
        struct Fill<'a> {
            graph: &'a Graph,
            phis: &'a [u32],
            of_node: &'a [Range<u32>],
            operands_of: &'a [u32],
            operands: Vec<u32>,
        }
        impl Visit for Fill<'_> {
            fn left(&mut self, node: u32, names: &[u32]) {
                for &(to, edge) in self.graph.next(node) {
                    for phi in self.of_node[to as usize].clone() {
                        let place = self.phis[phi as usize] as usize;
                        self.operands[(self.operands_of[phi as usize] + edge) as usize] = names[place];
                    }
                }
            }
        }
        let mut fill = Fill {
            graph: &self.graph,
            phis: &self.phis,
            of_node: &self.of_node,
            operands_of: &self.operands_of,
            operands: core::mem::take(&mut self.operands),
        };
        self.walk(&mut fill);
        self.operands = fill.operands;
    }

    /// Finds the phis that are equal to another name: those with one operand, and those of one node with the same
    /// operands. It begins with the assumption that a phi without known operands is equal to everything.
    fn merge(&mut self, nodes: &[u32]) {
        /// Rounds after which a phi that still changes is taken to be a name of its own.
        const ROUNDS: usize = 32;
        let first = self.phi(0);
        self.same = vec![NONE; self.phis.len()];
        let mut is_fixed = vec![false; self.phis.len()];
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut tuple = Vec::new();
        for round in 0.. {
            let mut is_changed = false;
            let mut node = NONE;
            for (index, is_fixed) in is_fixed.iter_mut().enumerate() {
                if nodes[index] != node {
                    node = nodes[index];
                    known.clear();
                }
                let own = first + index as u32;
                let range = self.operands_of[index] as usize..self.operands_of[index + 1] as usize;
                tuple.clear();
                tuple.extend(self.operands[range].iter().filter(|&&name| name != NONE).map(|&name| {
                    match name.checked_sub(first) {
                        Some(phi) => self.same[phi as usize],
                        None => name,
                    }
                }));
                let mut others = tuple.iter().copied().filter(|&name| name != NONE && name != own);
                let one = others.next();
                let is_one = one.is_some_and(|one| others.all(|other| other == one));
                let found = match one {
                    _ if *is_fixed => own,
                    Some(one) if is_one => one,
                    None => NONE,
                    _ if tuple.contains(&NOTHING) => own,
                    _ => match known.get(&tuple) {
                        Some(&other) => other,
                        None => {
                            known.insert(tuple.clone(), own);
                            own
                        }
                    },
                };
                if self.same[index] != found {
                    is_changed = true;
                    *is_fixed |= round >= ROUNDS;
                    self.same[index] = if *is_fixed { own } else { found };
                }
            }
            if !is_changed {
                break;
            }
        }
        // The walks that follow read names alone.
        (self.operands, self.operands_of) = (Vec::new(), Vec::new());
        // A phi that no known name reaches is in no code that runs.
        for (index, same) in (0..).zip(&mut self.same) {
            if *same == NONE {
                *same = first + index;
            }
        }
    }

    /// The name that represents one, after all phis are merged.
    fn represented(&self, name: u32) -> u32 {
        let phi = name.checked_sub(self.phi(0));
        phi.and_then(|phi| self.same.get(phi as usize)).copied().unwrap_or(name)
    }

    /// Walks over all nodes that are reached, and returns the last names.
    pub(super) fn walk(&self, visit: &mut impl Visit) -> Vec<u32> {
        let entry = |place| if place < self.program.stored { 1 + place } else { NOTHING };
        let mut names: Vec<u32> = (0..self.program.places).map(entry).collect();
        let mut values = vec![NOTHING; self.program.values as usize];
        // Earlier names, and their number at each node to which the walk goes back.
        let mut log: Vec<(u32, u32)> = Vec::new();
        let mut marks: Vec<u32> = Vec::new();
        let mut read: Vec<u32> = Vec::new();
        for (position, &Step { node, depth, is_last }) in self.order.iter().enumerate() {
            visit.enter(position, node, &names);
            let back = marks.get(depth as usize).copied().unwrap_or(log.len() as u32);
            while log.len() as u32 > back {
                let (what, name) = log.pop().unwrap_or_default();
                match what & VALUE {
                    0 => {
                        let old = core::mem::replace(&mut names[what as usize], name);
                        visit.set(what, old, name);
                    }
                    _ => values[(what & !VALUE) as usize] = name,
                }
            }
            marks.truncate(depth as usize);
            match is_last {
                false => marks.push(log.len() as u32),
                true if marks.is_empty() => log.clear(),
                true => {}
            }
            for phi in self.of_node[node as usize].clone() {
                let place = self.phis[phi as usize];
                let name = self.represented(self.phi(phi));
                let old = core::mem::replace(&mut names[place as usize], name);
                if old != name {
                    log.push((place, old));
                    visit.set(place, old, name);
                }
            }
            visit.entered(node, &names);
            for group in self.program.groups_of(node) {
                visit.group(group, &names);
                read.clear();
                let ops = self.program.ops_of(group);
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
        names
    }

    /// Returns the name that an operation writes.
    fn read(&self, from: From, names: &[u32], values: &[u32]) -> u32 {
        match from {
            From::Place(from) => names[from as usize],
            From::Value(part) => values[part as usize],
            From::Constant(constant) => self.constant(constant),
            From::New(number) => self.new_name(number),
            From::Nothing => NOTHING,
        }
    }
}

/// The dominance frontier of each node.
struct Frontiers {
    first: Vec<u32>,
    of: Vec<u32>,
}

impl Frontiers {
    fn new(graph: &Graph, idom: &[u32]) -> Self {
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for node in 0..graph.nodes() as u32 {
            let before = graph.before(node).iter().copied().filter(|&from| idom[from as usize] != NONE);
            if idom[node as usize] == NONE {
                continue;
            }
            for from in before {
                let mut at = from;
                while at != idom[node as usize] {
                    pairs.push((at, node));
                    if at == idom[at as usize] {
                        break;
                    }
                    at = idom[at as usize];
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0u32; graph.nodes() + 1];
        pairs.iter().for_each(|&(node, _)| first[node as usize + 1] += 1);
        (0..graph.nodes()).for_each(|at| first[at + 1] += first[at]);
        Self { first, of: pairs.into_iter().map(|(_, front)| front).collect() }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.of[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// Returns the number of each node in reverse postorder, and its immediate dominator, which is [`NONE`] for nodes that
/// are not reached. Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
fn dominators(graph: &Graph) -> (Vec<u32>, Vec<u32>) {
    let nodes = graph.nodes();
    let mut order: Vec<u32> = Vec::with_capacity(nodes);
    let mut is_seen = vec![false; nodes];
    let mut open = vec![(0u32, 0usize)];
    is_seen[0] = true;
    while let Some((node, at)) = open.last_mut() {
        match graph.next(*node).get(*at) {
            Some(&(to, _)) => {
                *at += 1;
                if !core::mem::replace(&mut is_seen[to as usize], true) {
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
    let mut number = vec![NONE; nodes];
    (0..).zip(&order).for_each(|(at, &node)| number[node as usize] = at);
    let mut idom = vec![NONE; nodes];
    idom[0] = 0;
    let mut is_changed = true;
    while core::mem::take(&mut is_changed) {
        for &node in order.iter().skip(1) {
            let mut found = NONE;
            for &from in graph.before(node) {
                if idom[from as usize] == NONE {
                    continue;
                }
                let (mut a, mut b) = (from, if found == NONE { from } else { found });
                while a != b {
                    while number[a as usize] > number[b as usize] {
                        a = idom[a as usize];
                    }
                    while number[b as usize] > number[a as usize] {
                        b = idom[b as usize];
                    }
                }
                found = a;
            }
            is_changed |= core::mem::replace(&mut idom[node as usize], found) != found;
        }
    }
    (number, idom)
}

/// Returns the nodes in preorder of the dominator tree.
fn preorder(idom: &[u32], key: impl Fn(u32) -> u64) -> Vec<Step> {
    let mut children: Vec<u32> = (1..idom.len() as u32).filter(|&node| idom[node as usize] != NONE).collect();
    // The child to be visited first is the last, as they are taken from a stack.
    children.sort_by_key(|&node| (idom[node as usize], core::cmp::Reverse(key(node))));
    let of = |node: u32| {
        let start = children.partition_point(|&child| idom[child as usize] < node);
        let end = children.partition_point(|&child| idom[child as usize] <= node);
        &children[start..end]
    };
    let mut order = Vec::with_capacity(children.len() + 1);
    let mut open = vec![Step { node: 0, depth: 0, is_last: true }];
    while let Some(step) = open.pop() {
        order.push(step);
        let depth = step.depth + u32::from(!step.is_last);
        let children = of(step.node).iter().enumerate();
        open.extend(children.map(|(at, &node)| Step { node, depth, is_last: at == 0 }));
    }
    order
}
