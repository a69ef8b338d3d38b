//! Finds the pc ranges in which a variable part and a place have the same name, and therefore the same value.
//!
//! The walk over the dominator tree visits code in pc order where possible. A range stays open while the visited code
//! is contiguous, so that most ranges are pushed once.

use super::graph::Graphs;
use super::program::{From, Group, Kind, Op, Program, To};
use super::ssa::{NOTHING, Ssa, Visit};

const NONE: u32 = u32::MAX;

/// A half-open pc range in which a variable part has a place's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PlaceRange {
    /// The variable part's number.
    pub(super) part: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// A storage part, or a constant if the number is past all places.
    pub(super) place: u32,
}

/// The assignment of a value that some path does not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Undefined {
    pub(super) pc: u32,
    pub(super) part: u32,
}

pub(super) struct Ranges<'a, 'p> {
    program: &'p Program,
    graphs: &'a Graphs,
    ssa: &'a Ssa<'p>,
    /// Places that change while lanes wait, by wait.
    unknown: &'a [Vec<u32>],
    /// The first place, and the first variable part, in each name's list.
    heads: [Vec<u32>; 2],
    next: Vec<u32>,
    before: Vec<u32>,
    /// Names that a place and a variable share, and some that they no longer share.
    shared: Vec<u32>,
    /// Length of `shared` at which stale names are removed.
    most: usize,
    /// The pc at which a place received its name, and this event's number.
    since: Vec<(u32, u32)>,
    events: u32,
    /// Contiguous code that is visited in order: whether there is any, its first pc and its first event.
    is_on: bool,
    run: (u32, u32),
    /// Position of the segment that is visited next.
    ahead: usize,
    /// The pc up to which code was visited.
    at: u32,
    /// The pc at which a change ends old ranges, and the pc at which it begins new ranges.
    change: (u32, u32),
    /// The pc at which contents were last assigned, with their variables and places.
    contents: (u32, Vec<(u32, u32)>),
    pub(super) places: Vec<PlaceRange>,
    pub(super) undefined: Vec<Undefined>,
}

impl<'a, 'p> Ranges<'a, 'p> {
    /// Returns all ranges, sorted, and all undefined assignments.
    pub(super) fn find(
        program: &'p Program,
        graphs: &'a Graphs,
        ssa: &'a Ssa<'p>,
        unknown: &'a [Vec<u32>],
    ) -> (Vec<PlaceRange>, Vec<Undefined>) {
        let names = ssa.names();
        let count = program.places as usize + program.constants.len();
        let mut ranges = Self {
            program,
            graphs,
            ssa,
            unknown,
            heads: [vec![NONE; names], vec![NONE; names]],
            next: vec![NONE; count],
            before: vec![NONE; count],
            shared: Vec::new(),
            most: 64,
            since: vec![(0, 0); count],
            events: 0,
            is_on: false,
            run: (0, 0),
            ahead: 0,
            at: 0,
            change: (0, 0),
            contents: (0, Vec::new()),
            places: Vec::new(),
            undefined: Vec::new(),
        };
        // At the entry, each storage part has its own name.
        for place in 0..program.stored {
            ranges.link(place, 1 + place);
        }
        for constant in 0..program.constants.len() as u32 {
            ranges.link(program.places + constant, ssa.constant(constant));
        }
        ssa.walk(&mut ranges);
        if ranges.is_on {
            ranges.stop();
        }
        let Self { mut places, mut undefined, .. } = ranges;
        places.sort_unstable_by_key(|range| (range.part, range.place, range.start));
        // Adjacent ranges become one.
        places.dedup_by(|next, last| {
            let is_same = (next.part, next.place) == (last.part, last.place) && next.start <= last.end;
            if is_same {
                last.end = last.end.max(next.end);
            }
            is_same
        });
        places.sort_unstable();
        undefined.sort_unstable();
        undefined.dedup();
        (places, undefined)
    }

    fn is_variable(&self, place: u32) -> bool {
        (self.program.first_variable..self.program.places).contains(&place)
    }

    fn link(&mut self, place: u32, name: u32) {
        if name == NOTHING {
            return;
        }
        let side = usize::from(self.is_variable(place));
        let next = core::mem::replace(&mut self.heads[side][name as usize], place);
        // A name is worth remembering when it gets its first member on this side and already has one on the other.
        if next == NONE && self.heads[1 - side][name as usize] != NONE {
            if self.shared.len() == self.most {
                self.prune();
                self.most = 64.max(2 * self.shared.len());
            }
            self.shared.push(name);
        }
        self.next[place as usize] = next;
        self.before[place as usize] = NONE;
        if next != NONE {
            self.before[next as usize] = place;
        }
    }

    fn unlink(&mut self, place: u32, name: u32) {
        if name == NOTHING {
            return;
        }
        let before = self.before[place as usize];
        let next = self.next[place as usize];
        if next != NONE {
            self.before[next as usize] = before;
        }
        if before == NONE {
            self.heads[usize::from(self.is_variable(place))][name as usize] = next;
        } else {
            self.next[before as usize] = next;
        }
    }

    fn start(&self, place: u32) -> u32 {
        let (pc, event) = self.since[place as usize];
        // A name from before the current run holds since the run's start.
        if event < self.run.1 { self.run.0 } else { pc }
    }

    /// Ends all ranges in which a place or variable has a name.
    fn end(&mut self, place: u32, name: u32, pc: u32) {
        if name == NOTHING || !self.is_on {
            return;
        }
        let is_variable = self.is_variable(place);
        let mut other = self.heads[usize::from(!is_variable)][name as usize];
        while other != NONE {
            let start = self.start(place).max(self.start(other));
            if start < pc {
                let (variable, place) = if is_variable { (place, other) } else { (other, place) };
                let part = variable - self.program.first_variable;
                // Doubling the capacity would dominate the peak memory.
                if self.places.len() == self.places.capacity() {
                    self.places.reserve_exact(64 + self.places.len() / 8);
                }
                self.places.push(PlaceRange { part, start, end: pc, place });
            }
            other = self.next[other as usize];
        }
    }

    /// Removes names that no place or no variable has anymore.
    fn prune(&mut self) {
        self.shared.sort_unstable();
        self.shared.dedup();
        let heads = &self.heads;
        self.shared.retain(|&name| heads.iter().all(|heads| heads[name as usize] != NONE));
    }

    fn begin(&mut self, place: u32, pc: u32) {
        self.events += 1;
        self.since[place as usize] = (pc, self.events);
    }

    /// Ends all ranges where contiguous code ends.
    fn stop(&mut self) {
        self.prune();
        for index in 0..self.shared.len() {
            let name = self.shared[index];
            let mut variable = self.heads[1][name as usize];
            while variable != NONE {
                self.end(variable, name, self.at);
                variable = self.next[variable as usize];
            }
        }
        self.is_on = false;
    }

    fn is_segment(&self, node: u32) -> bool {
        node != 0 && node <= self.graphs.segments.len() as u32
    }
}

impl Visit for Ranges<'_, '_> {
    fn enter(&mut self, position: usize) {
        if self.is_on {
            self.ahead = self.ahead.max(position);
            while self.ssa.order.get(self.ahead).is_some_and(|step| !self.is_segment(step.node)) {
                self.ahead += 1;
            }
            // Where the next code does not follow directly, open ranges end.
            let next = self.ssa.order.get(self.ahead);
            if next.map(|step| self.graphs.segment(step.node).start) != Some(self.at) {
                self.stop();
            }
        }
        self.change = (self.at, self.at);
    }

    fn entered(&mut self, node: u32) {
        if self.is_segment(node) {
            let start = self.graphs.segment(node).start;
            if !self.is_on {
                self.events += 1;
                (self.is_on, self.run) = (true, (start, self.events));
            }
            self.at = start;
        }
    }

    fn group(&mut self, group: &Group, names: &[u32]) {
        let start = group.start;
        let end = group.end;
        self.change = match group.kind() {
            // Between the instructions in one step, the contents that they write are unknown.
            Kind::Instruction | Kind::Instructions if self.is_segment(group.node) => {
                (self.program.until(group), end)
            }
            _ if self.is_segment(group.node) => (start, start),
            _ => (self.at, self.at),
        };
        match group.kind() {
            Kind::Assign => {
                if self.contents.0 != start {
                    self.contents = (start, Vec::new());
                }
                for op in self.program.ops_of(group) {
                    if let (To::Place(to), From::Place(from)) = (op.to(), op.from()) {
                        self.contents.1.push((to, from));
                    }
                }
            }
            Kind::Wait => {
                let unknown = &self.unknown[group.first()];
                let contents = if self.contents.0 == start { self.contents.1.clone() } else { Vec::new() };
                let is_unknown = |place: u32| unknown.binary_search(&place).is_ok();
                // A variable that was assigned a place's contents at this pc is as unknown as the place.
                let variables =
                    contents.iter().filter(|&&(_, place)| is_unknown(place)).map(|&(variable, _)| variable);
                for place in variables.chain(unknown.iter().copied()).collect::<Vec<_>>() {
                    self.end(place, names[place as usize], start);
                    self.begin(place, end);
                }
            }
            _ => {}
        }
    }

    fn set(&mut self, place: u32, old: u32, new: u32) {
        // Incoming values and block parameters are not locations.
        if place >= self.program.stored && place < self.program.first_variable {
            return;
        }
        self.end(place, old, self.change.0);
        self.unlink(place, old);
        self.link(place, new);
        self.begin(place, self.change.1);
    }

    fn unproven(&mut self, group: &Group, op: &Op) {
        if let (Kind::Assign, To::Place(place)) = (group.kind(), op.to()) {
            self.undefined.push(Undefined { pc: group.start, part: place - self.program.first_variable });
        }
    }

    fn left(&mut self, node: u32, _: &[u32]) {
        if self.is_segment(node) {
            self.at = self.graphs.segment(node).end;
        }
    }
}
