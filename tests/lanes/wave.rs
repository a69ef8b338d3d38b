//! A simulated wave, with the actual positions of its lanes.
//!
//! Each lane is a thread that executes the source of the program (see [`events`]); the wave only schedules it. The
//! position of an inactive lane follows from the source: its next action and the current action of the wave are in
//! different parts of some construct, or inside and outside of it.

use super::compile::{BYTES, Code, Instruction, Op, Place, Words};
use super::program::{Event, Id, Leaf, Program, Step, data, events, exits};

pub struct Wave<'p> {
    program: &'p Program,
    code: &'p Code,
    pub lanes: u32,
    pub at: usize,
    pub exec: u64,
    vcc: u64,
    pub scalars: [u32; Wave::SCALARS],
    /// A vector register.
    pub vector: [u32; 64],
    /// Actions of each lane; `None` for a lane that was inactive on entry.
    threads: Vec<Option<Thread>>,
    asked: Vec<u32>,
    case: Vec<usize>,
    iterations: Vec<usize>,
    noise: u32,
}

struct Thread {
    events: Vec<Event>,
    next: usize,
}

/// Positions of lanes in bytes from the start of the function; `None` for lanes that did not enter.
pub type Standing = Vec<Option<u64>>;

impl Wave<'_> {
    /// Number of scalar registers.
    pub const SCALARS: usize = 102;
}

impl<'p> Wave<'p> {
    /// A wave whose lanes in `active` enter the function.
    pub fn new(program: &'p Program, code: &'p Code, lanes: u32, active: u64) -> Self {
        let thread = |lane: u32| {
            (active >> lane & 1 == 1).then(|| Thread { events: events(program, lane as usize), next: 0 })
        };
        let mut wave = Self {
            program,
            code,
            lanes,
            at: 0,
            exec: active,
            vcc: 0,
            scalars: [0; Self::SCALARS],
            vector: [0; 64],
            threads: (0..lanes).map(thread).collect(),
            asked: vec![0; program.ids * lanes as usize],
            case: vec![0; program.ids * lanes as usize],
            iterations: vec![0; program.ids],
            noise: program.seed as u32 | 1,
        };
        for register in 0..Self::SCALARS {
            wave.scalars[register] = wave.noise();
        }
        for lane in 0..wave.vector.len() {
            wave.vector[lane] = wave.noise();
        }
        wave
    }

    pub fn pc(&self) -> u64 {
        self.at as u64 * BYTES
    }

    fn noise(&mut self) -> u32 {
        self.noise = self.noise.wrapping_mul(0x915f_77f5).wrapping_add(0x3039_1fb7);
        self.noise ^ self.noise >> 13
    }

    fn word(&self, place: Place, word: u16) -> u32 {
        match place {
            Place::Scalar(first) => self.scalars[usize::from(first + word)],
            Place::Lanes(first) => self.vector[first as usize + usize::from(word)],
        }
    }

    fn set_word(&mut self, place: Place, word: u16, value: u32) {
        match place {
            Place::Scalar(first) => self.scalars[usize::from(first + word)] = value,
            Place::Lanes(first) => self.vector[first as usize + usize::from(word)] = value,
        }
    }

    fn words(&self) -> u16 {
        (self.lanes / 32) as u16
    }

    fn mask(&self, place: Place) -> u64 {
        (0..self.words()).fold(0, |mask, word| mask | u64::from(self.word(place, word)) << (32 * word))
    }

    /// The active lanes: those of EXEC, or of the mask that replaces it.
    pub fn active(&self) -> u64 {
        let instruction = &self.code.instructions[self.at];
        let Some(slot) = instruction.active else { return self.exec };
        let pc = self.pc();
        let places = self.code.places_of(slot);
        let (_, place) = places.iter().find(|(pcs, _)| pcs.contains(&pc)).expect("the mask is somewhere");
        self.mask(*place)
    }

    /// Path of the wave in the source.
    fn path(&self) -> Vec<Step> {
        let now = |step: &Step| match *step {
            Step::Body(id, _) => Step::Body(id, self.iterations[id]),
            Step::Latch(id, _) => Step::Latch(id, self.iterations[id]),
            step => step,
        };
        self.code.instructions[self.at].path.iter().map(now).collect()
    }

    /// Position of each lane in the function or in an inlined call.
    pub fn standing(&self, scope: Id) -> Standing {
        let path = self.path();
        let active = self.active();
        let scope = path.iter().position(|&step| step == Step::Construct(scope)).expect("the wave is in it");
        let standing = |(lane, thread): (usize, &Option<Thread>)| {
            if active >> lane & 1 == 1 {
                return Some(self.pc());
            }
            let thread = thread.as_ref()?;
            let next: &[Step] = thread.events.get(thread.next).map_or(&[], |event| &event.path);
            let same = path.iter().zip(next).take_while(|(one, other)| one == other).count();
            let Some(&step) = path.get(same) else {
                panic!("lane {lane} is where the wave is, at {:#x}, and does not run", self.pc());
            };
            let labels = |id: Id| self.code.labels[id];
            match step {
                // In an inlined call, lanes elsewhere in the caller have no position.
                _ if same < scope => None,
                // The lane has finished the construct.
                Step::Construct(id) => Some(labels(id).end),
                // The lane's side or case comes later.
                Step::Side(id, _) => Some(labels(id).start),
                // The lane waits for the next iteration.
                Step::Body(id, _) | Step::Latch(id, _) => Some(labels(id).latch),
            }
        };
        self.threads.iter().enumerate().map(standing).collect()
    }

    /// Executes an instruction. Returns false at the end.
    pub fn step(&mut self) -> bool {
        let path = self.path();
        let code = self.code;
        let Instruction { op, ends, .. } = &code.instructions[self.at];
        self.at += 1;
        match *op {
            Op::Work(id) => self.do_all(Leaf::Statement(id), &path),
            Op::Compare(id, one_in) => {
                self.do_all(Leaf::Statement(id), &path);
                self.vcc = self.of_active(|wave, lane| wave.data(id, lane).is_multiple_of(one_in));
            }
            Op::Cases(id, count) => {
                self.do_all(Leaf::Statement(id), &path);
                self.of_active(|wave, lane| {
                    let case = wave.data(id, lane) as usize % count;
                    wave.case[id * wave.lanes as usize + lane] = case;
                    true
                });
            }
            Op::Case(id, case) => {
                self.vcc = self.of_active(|wave, lane| wave.case[id * wave.lanes as usize + lane] == case);
            }
            Op::Exits(id) => {
                self.do_all(Leaf::Exit(id), &path);
                let seed = self.program.seed;
                let iteration = self.iterations[id];
                self.vcc = self.of_active(|wave, lane| {
                    let asked = wave.ask(id, lane);
                    exits(seed, id, lane, asked, iteration)
                });
            }
            Op::Save(place, of_loop) => {
                for word in 0..self.words() {
                    self.set_word(place, word, (self.exec >> (32 * word)) as u32);
                }
                of_loop.into_iter().for_each(|id| self.iterations[id] = 0);
            }
            Op::And(place) => self.exec = self.mask(place) & self.vcc,
            Op::AndNot(place) => self.exec = self.mask(place) & !self.exec,
            Op::Restore(place) => self.exec = self.mask(place),
            Op::TakeOut { from, words: Words { first, count }, is_vcc } => {
                let lanes = if is_vcc { self.vcc } else { self.exec };
                for word in first..first + count {
                    let rest = self.word(from, word) & !((lanes >> (32 * word)) as u32);
                    self.set_word(from, word, rest);
                }
            }
            Op::Leave => self.exec &= !self.vcc,
            Op::All => self.exec = u64::MAX >> (64 - self.lanes),
            Op::Copy { from, to, words: Words { first, count } } => {
                for word in first..first + count {
                    self.set_word(to, word, self.word(from, word));
                }
            }
            Op::Overwrite(place) => {
                for word in 0..self.words() {
                    let noise = self.noise();
                    self.set_word(place, word, noise);
                }
            }
            Op::Nothing => {}
            Op::SkipIfNone(target) if self.exec == 0 => self.at = target,
            Op::SkipIfNone(_) => {}
            Op::LoopIfAny(head, id) if self.exec != 0 => {
                self.at = head;
                self.iterations[id] += 1;
            }
            Op::LoopIfAny(..) => {}
            Op::End => return false,
        }
        ends.iter().for_each(|&id| self.end(id, &path));
        true
    }

    /// The active lanes perform their next action, which is the same; no other lane does.
    fn do_all(&mut self, leaf: Leaf, path: &[Step]) {
        for (lane, thread) in self.threads.iter_mut().enumerate() {
            let next = thread.as_ref().and_then(|thread| thread.events.get(thread.next));
            let is_here = next.is_some_and(|event| event.leaf == leaf && event.path == path);
            assert_eq!(
                is_here,
                self.exec >> lane & 1 == 1,
                "lane {lane}: {leaf:?} in {path:?}, next {next:?}"
            );
            if let Some(thread) = thread.as_mut().filter(|_| is_here) {
                thread.next += 1;
            }
        }
    }

    /// Lanes continue after a construct, including those that skipped an `if` without an `else`.
    fn end(&mut self, id: Id, path: &[Step]) {
        let at = path.iter().rposition(|&step| step == Step::Construct(id)).expect("the construct ends here");
        for thread in self.threads.iter_mut().flatten() {
            for leaf in [Leaf::NoOther(id), Leaf::After(id)] {
                let is_here = |event: &&Event| event.leaf == leaf && path.starts_with(&event.path[..at]);
                thread.next += usize::from(thread.events.get(thread.next).filter(is_here).is_some());
            }
        }
    }

    fn ask(&mut self, id: Id, lane: usize) -> u32 {
        let asked = &mut self.asked[id * self.lanes as usize + lane];
        *asked += 1;
        *asked - 1
    }

    fn data(&mut self, id: Id, lane: usize) -> u64 {
        let asked = self.ask(id, lane);
        data(self.program.seed, id, lane, asked)
    }

    /// The active lanes that satisfy a predicate.
    fn of_active(&mut self, mut is: impl FnMut(&mut Self, usize) -> bool) -> u64 {
        let active = (0..self.lanes as usize).filter(|&lane| self.exec >> lane & 1 == 1);
        let active: Vec<usize> = active.collect();
        active.into_iter().filter(|&lane| is(self, lane)).fold(0, |mask, lane| mask | 1 << lane)
    }

    /// Whether every lane has completed its program.
    pub fn is_done(&self) -> bool {
        self.threads.iter().flatten().all(|thread| thread.next == thread.events.len())
    }
}
