//! The analysis of the design in its plainest form: at each pc a partition of all places, variables, values and
//! constants into classes of equal contents, and iteration until nothing changes. The analysis shares nothing with the
//! library.

use std::collections::{BTreeMap, BTreeSet};

use super::program::{At, BYTES, Op, Program, Source};
use super::random;
use crate::common::cases::cases;

/// Equal numbers are equal contents. Values that each path has defined are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    class: Vec<u32>,
    is_defined: Vec<bool>,
}

/// An item of a state, by its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Place(usize),
    /// Contents of a place when lanes left.
    Ghost(usize),
    Constant(u32),
    Variable(usize),
    Value(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Runs,
    /// Runs nothing; what others write for all lanes changes its storage.
    Waits,
}

struct Skip {
    /// Index of the instruction at which lanes leave, and of the last one that they miss.
    from: usize,
    end: usize,
    stretch: BTreeSet<usize>,
    /// The pc at which they wait, and whether they wait there when the last instruction runs.
    pc: u64,
    is_and: bool,
}

pub struct Dense<'p> {
    program: &'p Program,
    places: Vec<At>,
    names: Vec<String>,
    values: Vec<String>,
    is_whole: Vec<bool>,
    /// The states before each instruction runs, in lanes.
    lanes: Vec<Option<State>>,
    /// Places and variables about which nothing is known at a pc.
    unknown: BTreeMap<u64, (BTreeSet<usize>, BTreeSet<usize>)>,
}

const CONSTANTS: u32 = 2;

impl State {
    fn fresh(&self) -> u32 {
        self.class.iter().max().map_or(0, |last| last + 1)
    }

    fn normal(mut self) -> Self {
        let mut known = BTreeMap::new();
        for class in &mut self.class {
            let next = known.len() as u32;
            *class = *known.entry(*class).or_insert(next);
        }
        self
    }

    /// Returns the equalities of both states.
    fn meet(&self, other: &Self) -> Self {
        let mut known = BTreeMap::new();
        let mut class = Vec::new();
        for pair in self.class.iter().zip(&other.class) {
            let next = known.len() as u32;
            class.push(*known.entry(pair).or_insert(next));
        }
        let is_defined = self.is_defined.iter().zip(&other.is_defined).map(|(a, b)| *a && *b).collect();
        Self { class, is_defined }
    }
}

/// Adds a state to another; returns whether the other changes.
fn join(to: &mut Option<State>, from: State) -> bool {
    let met = match to {
        Some(known) => known.meet(&from),
        None => from.normal(),
    };
    let is_new = to.as_ref() != Some(&met);
    *to = Some(met);
    is_new
}

impl<'p> Dense<'p> {
    pub fn new(program: &'p Program) -> Self {
        let places = program.places();
        let mut values: Vec<String> = Vec::new();
        for (op, _) in &program.code {
            if let Op::Define(_, name) = op {
                assert!(!values.contains(name), "a value has one definition");
                values.push(name.clone());
            }
        }
        let mut dense = Self {
            program,
            places,
            names: program.variables(),
            values,
            is_whole: program.is_whole(),
            lanes: Vec::new(),
            unknown: BTreeMap::new(),
        };
        dense.find();
        dense
    }

    fn index(&self, item: Item) -> usize {
        let places = self.places.len();
        match item {
            Item::Place(at) => at,
            Item::Ghost(at) => places + at,
            Item::Constant(value) => 2 * places + value as usize,
            Item::Variable(at) => 2 * places + CONSTANTS as usize + at,
            Item::Value(at) => 2 * places + CONSTANTS as usize + self.names.len() + at,
        }
    }

    fn place(&self, at: At) -> usize {
        self.places.iter().position(|known| *known == at).expect("the program names it")
    }

    fn value(&self, name: &str) -> usize {
        self.values.iter().position(|known| known == name).expect("the program defines it")
    }

    fn of(&self, state: &State, item: Item) -> u32 {
        state.class[self.index(item)]
    }

    fn set(&self, state: &mut State, item: Item, class: u32) {
        let index = self.index(item);
        state.class[index] = class;
    }

    fn entry(&self) -> State {
        let items = self.index(Item::Value(self.values.len()));
        State { class: (0..items as u32).collect(), is_defined: vec![false; self.values.len()] }
    }

    /// Other places with the same storage.
    fn overlaps(&self, at: At) -> Vec<usize> {
        let is_over = |other: &At| match (at, *other) {
            (At::Row(n), At::Lane(of, _)) | (At::Lane(n, _), At::Row(of)) => n == of,
            _ => false,
        };
        (0..self.places.len()).filter(|&other| is_over(&self.places[other])).collect()
    }

    /// Writes a class, or something new; `is_uniform` if all lanes receive one value of the wave. `is_kept` if the lane
    /// that is followed keeps its part of the place.
    fn write(
        &self,
        state: &mut State,
        at: At,
        class: Option<u32>,
        [is_whole, is_uniform, is_kept]: [bool; 3],
    ) {
        let class = class.unwrap_or(state.fresh());
        if !is_kept {
            self.set(state, Item::Place(self.place(at)), class);
        }
        for other in self.overlaps(at) {
            let is_same = matches!(at, At::Row(_)) && is_whole && is_uniform;
            let class = if is_same { class } else { state.fresh() };
            self.set(state, Item::Place(other), class);
        }
    }

    /// Runs an instruction, as a lane finds its effects.
    fn run(&self, at: usize, state: &mut State, lane: Lane) {
        let (op, more) = &self.program.code[at];
        let is_whole = self.is_whole[at];
        let waits = lane == Lane::Waits;
        let how = |at: At, is_uniform: bool| [is_whole, is_uniform, waits && at.is_row() && !is_whole];
        for &at in more {
            self.write(state, at, None, how(at, false));
        }
        match op {
            Op::Define(to, name) => {
                let value = self.value(name);
                let class = state.fresh();
                if !waits {
                    self.set(state, Item::Value(value), class);
                    state.is_defined[value] = true;
                }
                for &at in to {
                    self.write(state, at, Some(class), how(at, false));
                }
            }
            Op::Redefine(to, Source::Constant(value)) => {
                let class = Some(self.of(state, Item::Constant(*value)));
                self.write(state, *to, class, how(*to, true));
            }
            Op::Redefine(to, Source::Value(name)) => {
                let value = self.value(name);
                // The latest value of lanes that run can be another one.
                let is_known = state.is_defined[value] && !waits;
                let class = is_known.then(|| self.of(state, Item::Value(value)));
                self.write(state, *to, class, how(*to, false));
            }
            Op::Redefine(..) => panic!("a value or a constant"),
            Op::Copy(to, from) => {
                // A waiting lane reads the row of another lane.
                let is_other = waits && from.is_row() && !to.is_row();
                let class = (!is_other).then(|| self.of(state, Item::Place(self.place(*from))));
                self.write(state, *to, class, how(*to, !from.is_row()));
            }
            Op::Clobber(to) => to.iter().for_each(|&at| self.write(state, at, None, how(at, false))),
            _ => {}
        }
        *state = state.clone().normal();
    }

    fn assign(&self, pc: u64, state: &mut State) {
        for (_, name, source) in self.program.assigns.iter().filter(|assign| assign.0 == pc) {
            let class = match source {
                Source::Value(value) => {
                    let value = self.value(value);
                    state.is_defined[value].then(|| self.of(state, Item::Value(value)))
                }
                Source::Constant(value) => Some(self.of(state, Item::Constant(*value))),
                Source::Contents(at) => Some(self.of(state, Item::Place(self.place(*at)))),
                Source::Nothing => None,
            };
            let class = class.unwrap_or(state.fresh());
            let variable = self.names.iter().position(|known| known == name).expect("a variable");
            self.set(state, Item::Variable(variable), class);
        }
    }

    /// The places that an instruction writes, and whether in the active lanes only.
    fn writes(&self, at: usize) -> Vec<(usize, bool)> {
        let (op, more) = &self.program.code[at];
        let to: Vec<At> = match op {
            Op::Define(to, _) | Op::Clobber(to) => to.clone(),
            Op::Redefine(to, _) | Op::Copy(to, _) => vec![*to],
            _ => Vec::new(),
        };
        let mut found = Vec::new();
        for &to in to.iter().chain(more) {
            found.push((self.place(to), to.is_row() && !self.is_whole[at]));
            found.extend(self.overlaps(to).into_iter().map(|other| (other, false)));
        }
        found
    }

    fn next(&self, at: usize) -> Vec<usize> {
        let next = self.program.next(at as u64 * BYTES);
        next.into_iter().map(|(pc, _)| (pc / BYTES) as usize).collect()
    }

    /// The instructions that the wave runs from some on, up to others.
    fn reach(&self, start: Vec<usize>, is_end: impl Fn(usize) -> bool) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let mut open = start;
        let mut stretch = BTreeSet::new();
        let mut ends = BTreeSet::new();
        while let Some(at) = open.pop() {
            if is_end(at) {
                ends.insert(at);
            } else if stretch.insert(at) {
                open.extend(self.next(at));
            }
        }
        (stretch, ends)
    }

    fn find(&mut self) {
        let count = self.program.code.len();
        let ops = || self.program.code.iter().map(|(op, _)| op).enumerate();
        // Structured code: the masks around a mask are those that are open where it is saved.
        let mut around: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut open: Vec<usize> = Vec::new();
        let mut saved = BTreeMap::new();
        let mut restored = BTreeMap::new();
        for (at, op) in ops() {
            match op {
                Op::Save(mask) => {
                    open.push(*mask);
                    around.insert(*mask, open.clone());
                    saved.insert(*mask, at);
                }
                Op::Restore(mask) => {
                    open.retain(|known| known != mask);
                    restored.insert(*mask, at);
                }
                _ => {}
            }
        }
        let mut skips = Vec::new();
        let mut unknown: BTreeMap<u64, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
        for (at, op) in ops() {
            let (mask, is_and) = match *op {
                Op::And(mask) => (mask, true),
                Op::AndNot(mask) | Op::Else(mask) => (mask, false),
                _ => continue,
            };
            let is_end = |at: usize| match self.program.code[at].0 {
                Op::Restore(other) => around[&mask].contains(&other),
                Op::Else(other) => is_and && other == mask,
                _ => false,
            };
            let (stretch, ends) = self.reach(self.next(at), is_end);
            let pc = BYTES * if is_and { saved[&mask] as u64 } else { restored[&mask] as u64 + 1 };
            skips.extend(ends.iter().map(|&end| Skip {
                from: at,
                end,
                stretch: stretch.clone(),
                pc,
                is_and,
            }));
            // Places and variables that are unknown to waiting lanes.
            let (places, variables) = unknown.entry(pc).or_default();
            if is_and {
                let from = saved[&mask];
                for since in from..=at {
                    places.extend(self.writes(since).into_iter().map(|(place, _)| place));
                    for (pc, name, _) in &self.program.assigns {
                        if since > from && *pc == since as u64 * BYTES {
                            variables.extend(self.names.iter().position(|known| known == name));
                        }
                    }
                }
            }
        }
        let lanes = self.iterate(&skips);
        assert_eq!(lanes.len(), count);
        for skip in &skips {
            let Some(mut state) = lanes[skip.from].clone() else { continue };
            self.run(skip.from, &mut state, Lane::Runs);
            let (places, _) = unknown.entry(skip.pc).or_default();
            self.wait(skip, state, places);
        }
        for (&pc, (places, variables)) in &mut unknown {
            for (_, name, source) in self.program.assigns.iter().filter(|assign| assign.0 == pc) {
                if let Source::Contents(at) = source
                    && places.contains(&self.place(*at))
                {
                    variables.extend(self.names.iter().position(|known| known == name));
                }
            }
        }
        (self.lanes, self.unknown) = (lanes, unknown);
    }

    /// Returns what lanes have that were in a state when they left: the stretch runs, beside a copy of all places. Adds
    /// the places that have something else behind one of its instructions.
    fn wait(&self, skip: &Skip, mut start: State, changed: &mut BTreeSet<usize>) -> State {
        for place in 0..self.places.len() {
            let class = self.of(&start, Item::Place(place));
            self.set(&mut start, Item::Ghost(place), class);
        }
        let mut states: BTreeMap<usize, Option<State>> = BTreeMap::new();
        let mut open: BTreeSet<usize> = BTreeSet::new();
        for next in self.next(skip.from) {
            join(states.entry(next).or_default(), start.clone().normal());
            open.insert(next);
        }
        let mut last = None;
        while let Some(at) = open.pop_first() {
            let mut state = states[&at].clone().expect("it is reached");
            self.run(at, &mut state, Lane::Waits);
            // Lanes that wait where their mask was saved do not wait there when the last instruction runs.
            if skip.stretch.contains(&at) || at == skip.end && !skip.is_and {
                let is_other = |&place: &usize| {
                    self.of(&state, Item::Place(place)) != self.of(&state, Item::Ghost(place))
                };
                changed.extend((0..self.places.len()).filter(is_other));
            }
            if at == skip.end {
                last = Some(state);
            } else if skip.stretch.contains(&at) {
                for next in self.next(at) {
                    if join(states.entry(next).or_default(), state.clone()) {
                        open.insert(next);
                    }
                }
            }
        }
        last.expect("the stretch ends there")
    }

    /// Returns the states before each instruction, behind the assignments there.
    fn iterate(&self, skips: &[Skip]) -> Vec<Option<State>> {
        let count = self.program.code.len();
        let mut states: Vec<Option<State>> = vec![None; count];
        // Before assignments.
        let mut into: Vec<Option<State>> = vec![None; count];
        let mut open: BTreeSet<usize> = [0].into();
        into[0] = Some(self.entry());
        while let Some(at) = open.pop_first() {
            let mut state = into[at].clone().expect("it is reached");
            self.assign(at as u64 * BYTES, &mut state);
            states[at] = Some(state.clone().normal());
            self.run(at, &mut state, Lane::Runs);
            let mut go = |next: usize, state: State| {
                if next < count && join(&mut into[next], state) {
                    open.insert(next);
                }
            };
            let is_else = matches!(self.program.code[at].0, Op::Else(_));
            for (pc, is_empty) in self.program.next(at as u64 * BYTES) {
                if !(is_empty || is_else) {
                    go((pc / BYTES) as usize, state.clone());
                }
            }
            for skip in skips.iter().filter(|skip| skip.from == at) {
                go(skip.end + 1, self.wait(skip, state.clone(), &mut BTreeSet::new()));
            }
        }
        states
    }

    /// Returns the places of a variable at a pc, if a lane comes there.
    pub fn places_at(&self, name: &str, pc: u64) -> Option<BTreeSet<At>> {
        let state = self.lanes[(pc / BYTES) as usize].as_ref()?;
        let variable = self.names.iter().position(|known| known == name)?;
        let class = self.of(state, Item::Variable(variable));
        let nothing = Default::default();
        let (places, variables) = self.unknown.get(&pc).unwrap_or(&nothing);
        if variables.contains(&variable) {
            return Some(BTreeSet::new());
        }
        let held = (0..self.places.len())
            .filter(|&place| self.of(state, Item::Place(place)) == class && !places.contains(&place));
        let mut found: BTreeSet<At> = held.map(|place| self.places[place]).collect();
        let constants = (0..CONSTANTS).filter(|&value| self.of(state, Item::Constant(value)) == class);
        found.extend(constants.map(At::Constant));
        Some(found)
    }
}

/// Compares the library with this on random programs: it claims nothing that this refutes, and nearly all that this
/// claims. The library bounds the sources of a place that it follows through a stretch; this one does not.
#[test]
fn sparse_and_dense_agree() {
    let count = cases(1500) as u64;
    let mut both = 0u64;
    let mut fewer = 0u64;
    let mut differing = Vec::new();
    for seed in 0..count {
        let program = random::program(seed ^ 0x5eed_0000_0000, 2 + (seed % 6) as usize);
        let dense = Dense::new(&program);
        let stated = super::program::Stated::new(&program);
        let tracked = stated.code.track().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for (name, &id) in &stated.variables {
            for pc in (0..program.pc()).step_by(BYTES as usize) {
                let locs = tracked.places_at(id, pc).expect("known");
                let Some(expected) = dense.places_at(name, pc) else {
                    assert_eq!(locs, [], "seed {seed}: {name} at {pc:#x}: no lane comes there");
                    continue;
                };
                let known: Vec<_> = expected.iter().map(|at| at.loc(&stated.gpu)).collect();
                for loc in &locs {
                    assert!(known.contains(loc), "seed {seed}: {name} at {pc:#x} in {loc:?}: {expected:?}");
                }
                both += locs.len() as u64;
                let lost = known.iter().filter(|loc| !locs.contains(loc)).count() as u64;
                fewer += lost;
                if lost > 0 && differing.len() < 10 {
                    differing.push(format!("seed {seed}: {name} at {pc:#x}: {expected:?}, and {locs:?}"));
                }
            }
        }
    }
    println!("{both} places of both, {fewer} of the dense one alone: {differing:#?}");
    assert!(both > 10_000 && fewer * 10_000 <= both, "{fewer} of {both}: {differing:#?}");
}
