//! Random structured programs, and their execution by a single lane.

/// Id of a construct or statement.
pub type Id = usize;

pub type Block = Vec<Statement>;

pub enum Statement {
    Work(Id),
    If {
        id: Id,
        then: Block,
        other: Option<Block>,
    },
    Loop {
        id: Id,
        body: Block,
        has_continue: bool,
    },
    Switch {
        id: Id,
        cases: Vec<Block>,
    },
    /// Lanes leave if they satisfy a condition.
    Leave {
        id: Id,
        to: Leave,
    },
    /// Body of an inlined call.
    Inlined {
        id: Id,
        body: Block,
        has_return: bool,
    },
    /// Whole-wave code.
    WholeWave {
        id: Id,
    },
}

/// Target of leaving lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    Break(Id),
    Continue(Id),
    /// Returns from the function, or from an inlined call.
    Return(Id),
}

pub struct Program {
    pub seed: u64,
    pub body: Block,
    pub has_return: bool,
    /// Number of ids.
    pub ids: usize,
}

/// The construct of the whole function.
pub const FUNCTION: Id = 0;

/// A step on the path from the function to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Construct(Id),
    /// A side of an `if`, or a case of a `switch`.
    Side(Id, usize),
    /// The body of a loop in an iteration.
    Body(Id, usize),
    /// The loop condition after the body, in an iteration.
    Latch(Id, usize),
}

/// An action of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Executes a statement that works or evaluates a condition.
    Statement(Id),
    /// Skips an `if` without an `else`.
    NoOther(Id),
    /// Evaluates the loop condition.
    Exit(Id),
    /// Continues after a construct, together with the wave.
    After(Id),
}

/// An action of a lane, with its path in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub leaf: Leaf,
    pub path: Vec<Step>,
}

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.number() % count
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Pseudo-random data of a condition, which depends on the lane and on the number of previous evaluations.
pub fn data(seed: u64, id: Id, lane: usize, asked: u32) -> u64 {
    mix(seed ^ mix((id as u64) << 40 ^ (lane as u64) << 20 ^ u64::from(asked)))
}

/// Whether a lane leaves a loop at the end of an iteration: always after the third.
pub fn exits(seed: u64, id: Id, lane: usize, asked: u32, iteration: usize) -> bool {
    iteration >= 2 || data(seed, id, lane, asked).is_multiple_of(2)
}

/// Generates programs.
struct Maker {
    random: Random,
    ids: usize,
    /// Remaining number of statements.
    left: i64,
    most_levels: usize,
    /// Enclosing loops and inlined calls, innermost last, and whether lanes leave to them.
    around: Vec<(Leave, bool)>,
    /// Number of enclosing loops.
    loops: usize,
}

impl Program {
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        // Mostly small programs, so that many can be run.
        let (left, most_levels) = match seed % 16 {
            0 => (4 + random.below(12) as i64, 3 + random.below(6) as usize),
            _ => (1 + random.below(2) as i64, 1 + random.below(6) as usize),
        };
        let mut maker = Maker {
            random,
            ids: 1,
            left,
            most_levels,
            around: vec![(Leave::Return(FUNCTION), false)],
            loops: 0,
        };
        let body = maker.block(0);
        Self { seed, body, has_return: maker.around[0].1, ids: maker.ids }
    }
}

impl Maker {
    fn id(&mut self) -> Id {
        self.ids += 1;
        self.ids - 1
    }

    fn block(&mut self, level: usize) -> Block {
        let count = 1 + self.random.below(3);
        (0..count).map(|_| self.statement(level)).collect()
    }

    fn statement(&mut self, level: usize) -> Statement {
        self.left -= 1;
        let id = self.id();
        if level >= self.most_levels || self.left < 0 {
            return if self.random.below(3) == 0 { self.leave(id) } else { Statement::Work(id) };
        }
        match self.random.below(12) {
            0..=3 => {
                let then = self.block(level + 1);
                let other = (self.random.below(2) == 0).then(|| self.block(level + 1));
                Statement::If { id, then, other }
            }
            4 | 5 if self.loops < 2 => {
                self.loops += 1;
                self.around.push((Leave::Break(id), false));
                self.around.push((Leave::Continue(id), false));
                let body = self.block(level + 1);
                let has_continue = self.around.pop().is_some_and(|(_, has)| has);
                self.around.pop();
                self.loops -= 1;
                Statement::Loop { id, body, has_continue }
            }
            6 => {
                let count = 2 + self.random.below(3);
                Statement::Switch { id, cases: (0..count).map(|_| self.block(level + 1)).collect() }
            }
            7 | 8 => {
                // Lanes in an inlined call cannot leave to a loop around it.
                let around = std::mem::replace(&mut self.around, vec![(Leave::Return(id), false)]);
                let body = self.block(level + 1);
                let has_return = std::mem::replace(&mut self.around, around)[0].1;
                Statement::Inlined { id, body, has_return }
            }
            9 => self.leave(id),
            10 => Statement::WholeWave { id },
            _ => Statement::Work(id),
        }
    }

    fn leave(&mut self, id: Id) -> Statement {
        // Target: the innermost loops, or the function.
        let first = self.around.len().saturating_sub(2);
        let mut choices: Vec<usize> = (first..self.around.len()).collect();
        choices.push(0);
        let chosen = choices[self.random.below(choices.len() as u64) as usize];
        self.around[chosen].1 = true;
        Statement::Leave { id, to: self.around[chosen].0 }
    }
}

/// A single lane, which executes the source of the program independently of other lanes.
struct Thread<'p> {
    program: &'p Program,
    lane: usize,
    asked: Vec<u32>,
    path: Vec<Step>,
    events: Vec<Event>,
}

/// Actions of a lane in a program, in order.
pub fn events(program: &Program, lane: usize) -> Vec<Event> {
    let mut thread = Thread {
        program,
        lane,
        asked: vec![0; program.ids],
        path: vec![Step::Construct(FUNCTION)],
        events: Vec::new(),
    };
    thread.block(&program.body);
    thread.events
}

impl Thread<'_> {
    fn does(&mut self, leaf: Leaf) {
        self.events.push(Event { leaf, path: self.path.clone() });
    }

    fn asks(&mut self, id: Id) -> u64 {
        self.asked[id] += 1;
        data(self.program.seed, id, self.lane, self.asked[id] - 1)
    }

    fn within<T>(&mut self, step: Step, then: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = then(self);
        self.path.pop();
        result
    }

    /// Executes the contents of a construct, and continues after it unless the lane leaves.
    fn construct(&mut self, id: Id, then: impl FnOnce(&mut Self) -> Option<Leave>) -> Option<Leave> {
        let leaves = self.within(Step::Construct(id), then);
        if leaves.is_none() {
            self.does(Leaf::After(id));
        }
        leaves
    }

    /// Executes a block. Returns the target if the lane leaves.
    fn block(&mut self, block: &Block) -> Option<Leave> {
        block.iter().find_map(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Option<Leave> {
        match statement {
            Statement::Work(id) | Statement::WholeWave { id } => {
                self.does(Leaf::Statement(*id));
                None
            }
            Statement::Leave { id, to } => {
                self.does(Leaf::Statement(*id));
                self.asks(*id).is_multiple_of(3).then_some(*to)
            }
            Statement::If { id, then, other } => self.construct(*id, |lane| {
                lane.does(Leaf::Statement(*id));
                if lane.asks(*id).is_multiple_of(2) {
                    return lane.within(Step::Side(*id, 0), |lane| lane.block(then));
                }
                lane.within(Step::Side(*id, 1), |lane| match other {
                    Some(other) => lane.block(other),
                    None => {
                        lane.does(Leaf::NoOther(*id));
                        None
                    }
                })
            }),
            Statement::Switch { id, cases } => self.construct(*id, |lane| {
                lane.does(Leaf::Statement(*id));
                let case = lane.asks(*id) as usize % cases.len();
                lane.within(Step::Side(*id, case), |lane| lane.block(&cases[case]))
            }),
            Statement::Loop { id, body, .. } => self.construct(*id, |lane| {
                for iteration in 0.. {
                    match lane.within(Step::Body(*id, iteration), |lane| lane.block(body)) {
                        Some(Leave::Break(of)) if of == *id => break,
                        Some(Leave::Continue(of)) if of == *id => {}
                        None => {}
                        further => return further,
                    }
                    lane.within(Step::Latch(*id, iteration), |lane| lane.does(Leaf::Exit(*id)));
                    lane.asked[*id] += 1;
                    if exits(lane.program.seed, *id, lane.lane, lane.asked[*id] - 1, iteration) {
                        break;
                    }
                }
                None
            }),
            Statement::Inlined { id, body, .. } => self.construct(*id, |lane| {
                lane.does(Leaf::Statement(*id));
                match lane.block(body) {
                    Some(Leave::Return(of)) if of == *id => None,
                    further => further,
                }
            }),
        }
    }
}
