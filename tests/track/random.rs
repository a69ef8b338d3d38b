//! Random structured programs: sides, loops, `break`, early returns, whole-wave code, calls, spills.

use super::program::{At, BYTES, Op, Program, Source};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    pub fn is_one_of(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Lanes of a wave.
pub const LANES: u32 = 4;

struct Writer {
    random: Random,
    program: Program,
    /// Values that are defined on each path, and whether in a place of the wave.
    values: Vec<(String, bool)>,
    defined: usize,
    /// Masks of enclosing loops, and of the function.
    leaves: Vec<usize>,
    depth: usize,
    is_whole: bool,
}

/// Makes a program of about `size` statements.
pub fn program(seed: u64, size: usize) -> Program {
    let mut writer = Writer {
        random: Random(seed),
        program: Program { lanes: LANES, ..Program::default() },
        values: Vec::new(),
        defined: 0,
        leaves: Vec::new(),
        depth: 0,
        is_whole: false,
    };
    for at in [At::Scalar(4), At::Scalar(5), At::Row(3), At::Row(4)] {
        writer.define(at);
    }
    writer.assign();
    let returns = writer.random.is_one_of(3).then(|| writer.save());
    writer.leaves.extend(returns);
    writer.block(size);
    writer.program.code.extend(returns.map(|mask| (Op::Restore(mask), vec![])));
    writer.emit(Op::Other);
    writer.emit(Op::End);
    writer.program
}

impl Writer {
    fn emit(&mut self, op: Op) {
        self.program.code.push((op, vec![]));
    }

    fn pc(&self) -> u64 {
        self.program.pc()
    }

    fn save(&mut self) -> usize {
        self.program.masks += 1;
        let more = if self.random.is_one_of(4) { vec![self.scalar()] } else { vec![] };
        self.program.code.push((Op::Save(self.program.masks - 1), more));
        self.program.masks - 1
    }

    fn scalar(&mut self) -> At {
        At::Scalar(self.random.pick(&[4, 5, 6, 7]))
    }

    fn wave(&mut self) -> At {
        match self.random.below(3) {
            0 => At::Lane(self.random.pick(&[40, 40, 4]), self.random.below(LANES as usize) as u32),
            _ => self.scalar(),
        }
    }

    fn row(&mut self) -> At {
        match self.random.below(4) {
            0 => At::Slot(self.random.pick(&[0, 1])),
            _ => At::Row(self.random.pick(&[3, 4, 5])),
        }
    }

    fn place(&mut self) -> At {
        if self.random.is_one_of(2) { self.wave() } else { self.row() }
    }

    fn define(&mut self, at: At) {
        let name = format!("a{}", self.defined);
        self.defined += 1;
        self.emit(Op::Define(vec![at], name.clone()));
        self.values.push((name, !at.is_row()));
    }

    fn variable(&mut self) -> String {
        self.random.pick(&["x", "y", "i"]).to_string()
    }

    fn assign(&mut self) {
        let source = match self.random.below(12) {
            0 => Source::Contents(self.place()),
            1 => Source::Constant(self.random.below(2) as u32),
            2 => Source::Nothing,
            _ => {
                // Often one of the last values.
                let from = self.values.len() - self.random.below(self.values.len().min(4)) - 1;
                Source::Value(self.values[from].0.clone())
            }
        };
        let pc = self.pc();
        let variable = self.variable();
        self.program.assigns.push((pc, variable, source));
    }

    fn block(&mut self, size: usize) {
        let values = self.values.len();
        self.depth += 1;
        for _ in 0..=self.random.below(size.max(1)) {
            self.statement(size);
        }
        self.depth -= 1;
        self.values.truncate(values);
    }

    fn statement(&mut self, size: usize) {
        let is_deep = self.depth > 3 || self.is_whole;
        match self.random.below(if is_deep { 12 } else { 18 }) {
            0 | 1 => {
                let at = self.place();
                self.define(at);
                self.assign();
            }
            2 => {
                let at = self.place();
                self.define(at);
            }
            3..=6 => self.copy(),
            7 => self.assign(),
            8 => {
                let at = self.place();
                let constant = Source::Constant(self.random.below(2) as u32);
                self.emit(Op::Redefine(at, constant));
            }
            9 => {
                let waves: Vec<String> = self
                    .values
                    .iter()
                    .filter(|(_, is_wave)| *is_wave)
                    .map(|(name, _)| name.clone())
                    .collect();
                let at = self.place();
                let from = self.random.below(waves.len());
                self.emit(Op::Redefine(at, Source::Value(waves[from].clone())));
            }
            10 if !self.is_whole && !self.leaves.is_empty() => {
                let mask = self.random.pick(&self.leaves.clone());
                self.emit(Op::AndNot(mask));
            }
            10 => self.emit(Op::Other),
            11 => {
                let at = [self.place(), self.scalar()];
                self.emit(Op::Clobber(at.to_vec()));
            }
            12 | 13 => self.sides(size / 2),
            14 => self.repeat(size / 2),
            15 => self.uniform(size / 2),
            16 => self.borrow(size / 3),
            _ => {
                self.emit(Op::WholeBegin);
                self.is_whole = true;
                self.block(3);
                self.is_whole = false;
                self.emit(Op::WholeEnd);
            }
        }
    }

    fn copy(&mut self) {
        let op = match self.random.below(5) {
            0 => Op::Copy(self.row(), self.wave()),
            1 | 2 => Op::Copy(self.row(), self.row()),
            3 => Op::Copy(self.wave(), self.wave()),
            _ if self.is_whole => Op::Other,
            _ => Op::Copy(self.wave(), self.row()),
        };
        self.emit(op);
    }

    fn sides(&mut self, size: usize) {
        let mask = self.save();
        if self.random.is_one_of(3) {
            self.statement_between();
        }
        self.emit(Op::And(mask));
        let skip = self.random.is_one_of(2).then(|| self.branch());
        self.block(size);
        self.land(skip, Op::BranchIfNone);
        if self.random.is_one_of(2) {
            self.emit(Op::Else(mask));
            let skip = self.random.is_one_of(2).then(|| self.branch());
            self.block(size);
            self.land(skip, Op::BranchIfNone);
        }
        self.emit(Op::Restore(mask));
        if self.random.is_one_of(3) {
            self.assign();
        }
    }

    /// Adds work between a mask's save and the narrowing.
    fn statement_between(&mut self) {
        match self.random.below(3) {
            0 => self.assign(),
            1 => self.copy(),
            _ => {
                let at = self.place();
                self.define(at);
                self.values.pop();
            }
        }
    }

    fn branch(&mut self) -> usize {
        self.emit(Op::Other);
        self.program.code.len() - 1
    }

    fn land(&mut self, branch: Option<usize>, op: fn(u64) -> Op) {
        if let Some(branch) = branch {
            self.program.code[branch].0 = op(self.pc());
        }
    }

    fn repeat(&mut self, size: usize) {
        let mask = self.save();
        self.leaves.push(mask);
        let head = self.pc();
        self.block(size);
        self.leaves.pop();
        self.emit(Op::AndNot(mask));
        self.emit(Op::BranchIfAny(head));
        self.emit(Op::Restore(mask));
        if self.random.is_one_of(3) {
            self.assign();
        }
    }

    fn uniform(&mut self, size: usize) {
        if self.random.is_one_of(2) {
            let skip = self.branch();
            self.block(size);
            self.land(Some(skip), Op::BranchIf);
        } else {
            let head = self.pc();
            self.block(size);
            self.emit(Op::BranchIf(head));
        }
    }

    /// Spills a place, uses it, and restores it.
    fn borrow(&mut self, size: usize) {
        let lane = self.random.below(LANES as usize) as u32;
        let (from, to) = if self.random.is_one_of(2) {
            (self.scalar(), At::Lane(41, lane))
        } else {
            (At::Row(3), At::Slot(7))
        };
        self.emit(Op::Copy(to, from));
        self.define(from);
        self.values.pop();
        self.block(size);
        self.emit(Op::Copy(from, to));
    }
}

/// The end of the last instruction that can run.
pub fn limit(program: &Program) -> usize {
    40 * (program.pc() / BYTES) as usize
}
