//! A wave that runs programs, lane by lane. Storage has tags. A tag is an execution of a definition, as each lane sees
//! it.

use std::collections::BTreeMap;

use super::program::{At, BYTES, Op, Program, Source};
use super::random::{LANES, Random};

const COUNT: usize = LANES as usize;

/// Tag of no value.
const NONE: u64 = 0;
/// Tags of constants.
const CONSTANT: u64 = 1 << 63;

/// Tags of storage of the wave, as each lane sees them.
type View = [u64; COUNT];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Active,
    /// Takes part in the other side of a mask; stands where the mask was saved.
    Later {
        mask: usize,
        is_touched: [bool; 3],
    },
    /// Lane that has run its side, and waits behind the restore of the mask.
    Done {
        mask: usize,
    },
    /// Was not active when the wave began.
    Never,
}

pub const VARIABLES: [&str; 3] = ["x", "y", "i"];

/// Whether a place had the variable for every lane that stood at a pc, by place; none if no lane stood there.
pub type Seen = Vec<[Option<Vec<bool>>; 3]>;

struct Machine<'p> {
    program: &'p Program,
    random: Random,
    next: u64,
    scalars: BTreeMap<u16, View>,
    /// The cells of vector registers and scratch.
    cells: BTreeMap<(bool, u16), [View; COUNT]>,
    values: BTreeMap<String, View>,
    wave_values: BTreeMap<String, u64>,
    variables: [View; 3],
    lanes: [Lane; COUNT],
    saved: Vec<[bool; COUNT]>,
    save_pcs: Vec<u64>,
    restore_pcs: Vec<u64>,
    /// Variables that a lane assigned since a mask was saved.
    assigned_since: Vec<[[bool; 3]; COUNT]>,
}

/// Runs a program once, and adds what lanes saw.
pub fn run(program: &Program, places: &[At], seed: u64, seen: &mut Seen) {
    let end_of = |wanted: fn(&Op) -> Option<usize>, behind: u64| {
        let mut pcs = vec![0; program.masks];
        for (pc, (op, _)) in (0..).step_by(BYTES as usize).zip(&program.code) {
            if let Some(mask) = wanted(op) {
                pcs[mask] = pc + behind;
            }
        }
        pcs
    };
    let save_pcs = end_of(|op| if let Op::Save(mask) = op { Some(*mask) } else { None }, 0);
    let restore_pcs = end_of(|op| if let Op::Restore(mask) = op { Some(*mask) } else { None }, BYTES);
    let mut machine = Machine {
        program,
        random: Random(seed),
        next: 1,
        scalars: BTreeMap::new(),
        cells: BTreeMap::new(),
        values: BTreeMap::new(),
        wave_values: BTreeMap::new(),
        variables: [[NONE; COUNT]; 3],
        lanes: [Lane::Active; COUNT],
        saved: vec![[false; COUNT]; program.masks],
        save_pcs,
        restore_pcs,
        assigned_since: vec![[[false; 3]; COUNT]; program.masks],
    };
    for lane in 0..COUNT {
        if machine.random.is_one_of(6) {
            machine.lanes[lane] = Lane::Never;
        }
    }
    let is_whole = program.is_whole();
    let mut pc = 0;
    let mut steps = 0;
    loop {
        machine.arrive(pc);
        machine.look(pc, places, seen);
        steps += 1;
        let at = (pc / BYTES) as usize;
        match machine.step(pc, is_whole[at], steps > 20 * program.code.len()) {
            Some(next) if steps < super::random::limit(program) => pc = next,
            _ => break,
        }
    }
}

impl Machine<'_> {
    fn is_active(&self, lane: usize) -> bool {
        self.lanes[lane] == Lane::Active
    }

    fn fresh(&mut self) -> u64 {
        self.next += 1;
        // Below it is a tag for each lane.
        self.next << 4
    }

    fn fresh_view(&mut self) -> View {
        let tag = self.fresh();
        core::array::from_fn(|lane| tag + 1 + lane as u64)
    }

    fn cell(&mut self, at: (bool, u16), lane: usize) -> View {
        if !self.cells.contains_key(&at) {
            let cells = core::array::from_fn(|_| self.fresh_view());
            self.cells.insert(at, cells);
        }
        self.cells[&at][lane]
    }

    /// Returns the tags of a place of the wave, or of the cell of a lane.
    fn view(&mut self, at: At, lane: usize) -> View {
        match at {
            At::Scalar(n) => {
                if !self.scalars.contains_key(&n) {
                    let view = self.fresh_view();
                    self.scalars.insert(n, view);
                }
                self.scalars[&n]
            }
            At::Lane(n, lane) => self.cell((false, n), lane as usize),
            At::Row(n) => self.cell((false, n), lane),
            At::Slot(n) => self.cell((true, n), lane),
            At::Constant(value) => [CONSTANT | u64::from(value); COUNT],
        }
    }

    fn put(&mut self, at: At, lane: usize, view: View) {
        // All cells exist.
        self.view(at, lane);
        match at {
            At::Scalar(n) => drop(self.scalars.insert(n, view)),
            At::Lane(n, lane) => self.cells.get_mut(&(false, n)).expect("exists")[lane as usize] = view,
            At::Row(n) => self.cells.get_mut(&(false, n)).expect("exists")[lane] = view,
            At::Slot(n) => self.cells.get_mut(&(true, n)).expect("exists")[lane] = view,
            At::Constant(_) => panic!("a constant is not written"),
        }
    }

    /// The values that assignments at a pc give to a lane. The search finds contents that others still write as they
    /// are now.
    fn assigned(&mut self, pc: u64, lane: usize) -> [u64; 3] {
        let mut now = [0, 1, 2].map(|at: usize| self.variables[at][lane]);
        for (_, name, source) in self.program.assigns.iter().filter(|assign| assign.0 == pc) {
            let at = VARIABLES.iter().position(|known| known == name).expect("a variable");
            now[at] = match source {
                Source::Value(name) => self.values.get(name).map_or(NONE, |value| value[lane]),
                Source::Constant(value) => CONSTANT | u64::from(*value),
                Source::Contents(at) => self.view(*at, lane)[lane],
                Source::Nothing => NONE,
            };
        }
        now
    }

    fn arrive(&mut self, pc: u64) {
        let names: Vec<usize> = self
            .program
            .assigns
            .iter()
            .filter(|assign| assign.0 == pc)
            .map(|assign| VARIABLES.iter().position(|known| *known == assign.1).expect("a variable"))
            .collect();
        for lane in 0..COUNT {
            if !self.is_active(lane) {
                continue;
            }
            let now = self.assigned(pc, lane);
            (0..3).for_each(|at| self.variables[at][lane] = now[at]);
            for since in &mut self.assigned_since {
                names.iter().for_each(|&at| since[lane][at] = true);
            }
        }
    }

    fn look(&mut self, wave_pc: u64, places: &[At], seen: &mut Seen) {
        for lane in 0..COUNT {
            let (pc, variables) = match self.lanes[lane] {
                Lane::Never => continue,
                Lane::Active => (wave_pc, [0, 1, 2].map(|at: usize| self.variables[at][lane])),
                Lane::Later { mask, is_touched } => {
                    let of = |at: usize| if is_touched[at] { NONE } else { self.variables[at][lane] };
                    (self.save_pcs[mask], [0, 1, 2].map(of))
                }
                Lane::Done { mask } => {
                    let pc = self.restore_pcs[mask];
                    (pc, self.assigned(pc, lane))
                }
            };
            for (at, tag) in variables.into_iter().enumerate() {
                let has: Vec<bool> =
                    places.iter().map(|&place| tag != NONE && self.view(place, lane)[lane] == tag).collect();
                let known = &mut seen[(pc / BYTES) as usize][at];
                match known {
                    Some(known) => known.iter_mut().zip(has).for_each(|(known, has)| *known &= has),
                    None => *known = Some(has),
                }
            }
        }
    }

    /// Runs an instruction, and returns the next pc.
    fn step(&mut self, pc: u64, is_whole: bool, is_late: bool) -> Option<u64> {
        let program = self.program;
        let (op, more) = &program.code[(pc / BYTES) as usize];
        let next = Some(pc + BYTES);
        for &at in more {
            let view = self.fresh_view();
            self.put(at, 0, view);
        }
        let writes = |machine: &Self, at: At| -> Vec<usize> {
            if at.is_row() {
                (0..COUNT).filter(|&lane| is_whole || machine.is_active(lane)).collect()
            } else {
                vec![0]
            }
        };
        match op {
            Op::Define(to, name) => {
                let tag = self.fresh();
                let is_row = to.iter().all(|at| at.is_row());
                let own = |lane: usize| if is_row { tag + 1 + lane as u64 } else { tag };
                for &at in to {
                    for lane in writes(self, at) {
                        self.put(at, lane, [own(lane); COUNT]);
                    }
                }
                let value = self.values.entry(name.clone()).or_insert([NONE; COUNT]);
                (0..COUNT)
                    .filter(|&lane| self.lanes[lane] == Lane::Active)
                    .for_each(|lane| value[lane] = own(lane));
                self.wave_values.insert(name.clone(), tag);
            }
            Op::Redefine(to, source) => {
                let view = match source {
                    Source::Constant(value) => [CONSTANT | u64::from(*value); COUNT],
                    Source::Value(name) => [self.wave_values.get(name).copied().unwrap_or(NONE); COUNT],
                    _ => panic!("a value"),
                };
                for lane in writes(self, *to) {
                    self.put(*to, lane, view);
                }
            }
            Op::Copy(to, from) if from.is_row() && !to.is_row() => {
                let mut view = self.fresh_view();
                for (lane, tag) in view.iter_mut().enumerate() {
                    if self.is_active(lane) {
                        *tag = self.view(*from, lane)[lane];
                    }
                }
                self.put(*to, 0, view);
            }
            Op::Copy(to, from) => {
                let all: Vec<(usize, View)> =
                    writes(self, *to).into_iter().map(|lane| (lane, self.view(*from, lane))).collect();
                all.into_iter().for_each(|(lane, view)| self.put(*to, lane, view));
            }
            Op::Clobber(to) => {
                for &at in to {
                    for lane in writes(self, at) {
                        let view = self.fresh_view();
                        self.put(at, lane, view);
                    }
                }
            }
            Op::Save(mask) => {
                self.saved[*mask] = core::array::from_fn(|lane| self.is_active(lane));
                self.assigned_since[*mask] = [[false; 3]; COUNT];
            }
            Op::And(mask) => {
                let kind = self.random.below(8);
                for lane in 0..COUNT {
                    let stays = match kind {
                        0 => true,
                        1 => false,
                        _ => self.random.is_one_of(2),
                    };
                    if self.is_active(lane) && !stays {
                        let is_touched = self.assigned_since[*mask][lane];
                        self.lanes[lane] = Lane::Later { mask: *mask, is_touched };
                    }
                }
            }
            Op::AndNot(mask) => {
                let kind = self.random.below(6);
                for lane in 0..COUNT {
                    let leaves = is_late || kind == 0 || (kind > 1 && self.random.is_one_of(2));
                    if self.is_active(lane) && leaves {
                        self.lanes[lane] = Lane::Done { mask: *mask };
                    }
                }
            }
            Op::Else(mask) => {
                for lane in &mut self.lanes {
                    *lane = match *lane {
                        Lane::Active => Lane::Done { mask: *mask },
                        Lane::Later { mask: of, .. } if of == *mask => Lane::Active,
                        other => other,
                    };
                }
            }
            Op::Restore(mask) => {
                let saved = self.saved[*mask];
                for (lane, saved) in self.lanes.iter_mut().zip(saved) {
                    // Lanes that left for an outer mask wait on.
                    let is_here = match *lane {
                        Lane::Active => true,
                        Lane::Later { mask: of, .. } | Lane::Done { mask: of } => of >= *mask,
                        Lane::Never => false,
                    };
                    if saved && is_here {
                        *lane = Lane::Active;
                    }
                }
            }
            Op::Branch(to) => return Some(*to),
            Op::BranchIf(to) => {
                let is_taken = if is_late { *to > pc } else { self.random.is_one_of(2) };
                return if is_taken { Some(*to) } else { next };
            }
            Op::BranchIfAny(to) => {
                return if (0..COUNT).any(|lane| self.is_active(lane)) { Some(*to) } else { next };
            }
            Op::BranchIfNone(to) => {
                return if (0..COUNT).any(|lane| self.is_active(lane)) { next } else { Some(*to) };
            }
            Op::WholeBegin | Op::WholeEnd | Op::Other => {}
            Op::End => return None,
        }
        next
    }
}
