//! Generator of a [`Mix`], with a fixed seed.

use std::ops::Range;

use super::content::{
    At, BASES, Code, DEPTHS, Entry, Function, Kind, Machine, Member, Mix, Name, Place, Row, Scope, Shape,
    Structure, Type, Unit, Variable,
};

/// Number of variables of a function: a Zipf distribution from 1 to 200, with its exponent.
const VARIABLES: (u32, f64) = (200, 1.38);
/// Number of live ranges of a variable: a Zipf distribution from 1 to 30, with its exponent.
const RANGES: (u32, f64) = (30, 1.2);
/// Maximum depth of blocks and inlined calls below a function.
const DEPTH: usize = DEPTHS - 1;
/// Number of instructions per variable of a function.
const INSTRUCTIONS: u32 = 64;
/// Number of variables of an inlined function.
const INLINED_VARIABLES: Range<u32> = 6..13;
/// Maximum number of variables of a scope that is not at the maximum depth.
const SCOPE_VARIABLES: u32 = 6;

pub struct Generator {
    random: Random,
    mix: Mix,
    variables: Zipf,
    ranges: Zipf,
    /// First name of variables, functions, structures and members.
    names: [Name; 4],
    address: u64,
    /// First variable of each inlined function of the unit.
    origins: Vec<usize>,
    /// Number of inlined calls of the unit.
    calls: usize,
}

/// Number of different names of variables, and of members. All units share the names.
const NAMES: usize = 1000;

impl Generator {
    pub fn new(shape: Shape) -> Self {
        let syllables = ["i", "n", "idx", "tid", "acc", "len", "tmp", "row", "offset", "stride", "value"];
        let mut strings: Vec<String> = BASES.map(|(name, ..)| name.into()).into();
        strings.extend(["a compiler".into(), "/src".into()]);
        let mut names = |prefix: &str, count: usize| {
            let first = strings.len() as Name;
            let number = |n: usize| {
                let (one, two) = (syllables[n % syllables.len()], n / syllables.len());
                if two == 0 { format!("{prefix}{one}") } else { format!("{prefix}{one}_{two}") }
            };
            strings.extend((0..count).map(number));
            first
        };
        let functions = shape.units * (shape.functions + shape.inlined);
        let names = [
            names("", NAMES),
            names("function_", functions),
            names("struct_", shape.structures),
            names("m_", NAMES),
        ];
        let mix = Mix {
            shape,
            strings,
            units: Vec::new(),
            structures: Vec::new(),
            members: Vec::new(),
            functions: Vec::new(),
            scopes: Vec::new(),
            ranges: Vec::new(),
            variables: Vec::new(),
            entries: Vec::new(),
            rows: Vec::new(),
        };
        Self {
            random: Random(0x9e37_79b9_7f4a_7c15),
            mix,
            variables: Zipf::new(VARIABLES),
            ranges: Zipf::new(RANGES),
            names,
            address: 0x10_0000,
            origins: Vec::new(),
            calls: 0,
        }
    }

    pub fn finish(mut self) -> Mix {
        for unit in 0..self.mix.shape.units {
            self.unit(unit);
        }
        self.mix
    }

    fn unit(&mut self, unit: usize) {
        let Shape { functions, inlined, structures, .. } = self.mix.shape;
        let first = (self.mix.structures.len(), self.mix.functions.len());
        for index in 0..structures {
            self.structure(first.0, index);
        }
        self.mix.strings.extend([format!("kernels_{unit}.cl"), format!("inline_{unit}.h")]);
        let name = self.mix.strings.len() as Name - 2;
        let unit = Unit {
            name,
            header: name + 1,
            structures: first.0..self.mix.structures.len(),
            functions: first.1..first.1 + inlined + functions,
        };
        self.origins.clear();
        self.calls = 0;
        for _ in 0..inlined {
            self.inlined_function(&unit);
        }
        for _ in 0..functions {
            self.function(&unit);
        }
        self.mix.units.push(unit);
    }

    fn structure(&mut self, first: usize, index: usize) {
        let members = self.mix.members.len();
        let mut offset = 0;
        for _ in 0..2 + self.random.below(7) {
            let ty = match self.random.below(10) {
                0 if index > 0 => Type::Structure(self.random.below(index as u32) as u16),
                1..=3 => Type::Pointer(self.random.below(index as u32 + 1) as u16),
                _ => Type::Base(self.random.below(BASES.len() as u32) as u8),
            };
            let bytes = match ty {
                Type::Structure(inner) => self.mix.structures[first + usize::from(inner)].bytes,
                Type::Pointer(_) => 8,
                Type::Base(base) => BASES[usize::from(base)].2 / 8,
            };
            // Limit the size of nested structures.
            let (ty, bytes) = if bytes > 64 { (Type::Base(0), 4) } else { (ty, bytes) };
            offset = u32::next_multiple_of(offset, bytes.min(8));
            let (name, line) = (self.name(3, NAMES), self.line());
            self.mix.members.push(Member { name, line, ty, offset });
            offset += bytes;
        }
        let (name, line) = (self.names[2] + index as Name, self.line());
        // At least two words, for `Place::Split`.
        let bytes = offset.next_multiple_of(8).max(16);
        let members = members..self.mix.members.len();
        self.mix.structures.push(Structure { name, line, bytes, members });
    }

    fn name(&mut self, kind: usize, count: usize) -> Name {
        // Names with small numbers are more frequent.
        let (one, two) = (self.random.below(count as u32), self.random.below(count as u32));
        self.names[kind] + one.min(two)
    }

    fn line(&mut self) -> u32 {
        1 + self.random.below(2000)
    }

    fn ty(&mut self) -> Type {
        let structures = self.mix.shape.structures as u32;
        match self.random.below(100) {
            0..55 => Type::Base(self.random.below(BASES.len() as u32) as u8),
            55..85 => Type::Pointer(self.random.below(structures) as u16),
            _ => Type::Structure(self.random.below(structures) as u16),
        }
    }

    /// Adds a function with the scopes and rows that were added before.
    fn push_function(&mut self, code: Option<Code>, scopes: usize, rows: usize) {
        let name = self.names[1] + self.mix.functions.len() as Name;
        let returns = (self.random.below(3) > 0).then(|| self.ty());
        let function = Function {
            name,
            line: self.line(),
            returns,
            is_external: code.is_some() && self.random.below(2) == 0,
            code,
            scopes: scopes..self.mix.scopes.len(),
            rows: rows..self.mix.rows.len(),
        };
        self.mix.functions.push(function);
    }

    fn inlined_function(&mut self, unit: &Unit) {
        let (scopes, variables) = (self.mix.scopes.len(), self.mix.variables.len());
        self.origins.push(variables);
        let parameters = self.random.below(4);
        for index in 0..INLINED_VARIABLES.start + self.random.below(INLINED_VARIABLES.len() as u32) {
            self.variable(unit, index < parameters, None, None);
        }
        let ranges = self.mix.ranges.len();
        self.mix.scopes.push(Scope {
            kind: Kind::Function,
            depth: 0,
            ranges: ranges..ranges,
            variables: variables..self.mix.variables.len(),
        });
        let rows = self.mix.rows.len();
        self.push_function(None, scopes, rows);
    }

    fn function(&mut self, unit: &Unit) {
        let (scopes, rows) = (self.mix.scopes.len(), self.mix.rows.len());
        // The unit's first function has more variables than its own scope, so that it contains an inlined call.
        let least = if self.calls == 0 { SCOPE_VARIABLES + 1 } else { 1 };
        let count = self.variables.pick(&mut self.random).max(least);
        let instructions = INSTRUCTIONS * (count + 1);
        self.scope(unit, Kind::Function, 0, 0..instructions, count);
        let step = self.mix.shape.machine.step();
        let code = Code { address: self.address, bytes: step * instructions };
        self.address += u64::from(code.bytes.next_multiple_of(64));
        self.lines(instructions);
        self.push_function(Some(code), scopes, rows);
    }

    /// Adds a scope with nested scopes and `count` variables in total.
    fn scope(&mut self, unit: &Unit, kind: Kind, depth: usize, pcs: Range<u32>, count: u32) {
        let is_function = depth == 0;
        let pcs = if is_function { pcs } else { self.pcs(pcs) };
        let own = match depth {
            DEPTH => count,
            _ => count.min(1 + self.random.below(SCOPE_VARIABLES)),
        };
        let variables = self.mix.variables.len();
        let parameters = self.random.below(4);
        for index in 0..own as usize {
            match kind {
                Kind::Call { of, .. } => {
                    let origin = self.origins[of] + index;
                    let is_parameter = self.mix.variables[origin].is_parameter;
                    self.variable(unit, is_parameter, Some(origin), Some(&pcs));
                }
                _ => {
                    let is_parameter = is_function && (index as u32) < parameters;
                    self.variable(unit, is_parameter, None, Some(&pcs));
                }
            }
        }
        let scope = self.mix.scopes.len();
        let ranges = self.mix.ranges.len();
        self.mix.scopes.push(Scope {
            kind,
            depth,
            ranges: ranges..ranges,
            variables: variables..self.mix.variables.len(),
        });
        if !is_function {
            self.mix.ranges.push(self.bytes(pcs.clone()));
            // Instructions that the scheduler moved after the scope.
            let mut free = pcs.end;
            for _ in 0..self.random.below(5).saturating_sub(2) {
                let start = free + 1 + self.random.below(2);
                free = start + 1;
                self.mix.ranges.push(self.bytes(start..free));
            }
            self.mix.scopes[scope].ranges.end = self.mix.ranges.len();
        }
        self.scopes_in(unit, depth, pcs, count - own);
    }

    /// Adds nested scopes with `count` variables in total to a scope with the instructions `pcs`.
    fn scopes_in(&mut self, unit: &Unit, depth: usize, pcs: Range<u32>, count: u32) {
        let (mut left, mut start) = (count, pcs.start);
        while left > 0 {
            let most = if depth + 1 == DEPTH { left.min(SCOPE_VARIABLES) } else { left };
            let share = 1 + self.random.below(most);
            let end = start + (pcs.end - start) * share / left;
            let kind = match self.random.below(3) {
                0 if depth > 0 || left < count => Kind::Block,
                _ => {
                    let of = self.calls % self.mix.shape.inlined;
                    self.calls += 1;
                    Kind::Call { of, line: self.line(), column: 1 + self.random.below(60) }
                }
            };
            self.scope(unit, kind, depth + 1, start..end, share);
            (left, start) = (left - share, end);
        }
    }

    /// Main range of a scope, in instructions. The rest of the given range remains for other ranges of the scope.
    fn pcs(&mut self, Range { start, end }: Range<u32>) -> Range<u32> {
        start + self.random.below(3)..end - 8
    }

    fn bytes(&self, pcs: Range<u32>) -> Range<u32> {
        let step = self.mix.shape.machine.step();
        step * pcs.start..step * pcs.end
    }

    /// Adds a variable. `origin` is the index of the abstract variable.
    fn variable(&mut self, unit: &Unit, is_parameter: bool, origin: Option<usize>, pcs: Option<&Range<u32>>) {
        let ty = match origin {
            Some(at) => self.mix.variables[at].ty,
            None => self.ty(),
        };
        let (name, line) = (self.name(0, NAMES), self.line());
        let bits = self.mix.bits(unit, ty);
        let at = match pcs {
            None => At::Nowhere,
            Some(_) if bits == 32 && self.random.below(100) < 3 => At::Constant(self.random.number()),
            Some(_) if self.random.below(100) < self.mix.shape.at_one_place => At::Always(self.home()),
            // Not the whole function, which would need no list.
            Some(pcs) => self.entries(pcs.start..pcs.end - 1, bits),
        };
        let origin = origin.map(|at| at - self.origins[0]);
        self.mix.variables.push(Variable { name, is_parameter, line, ty, origin, at });
    }

    fn entries(&mut self, pcs: Range<u32>, bits: u32) -> At {
        let first = self.mix.entries.len();
        let room = pcs.end - pcs.start;
        let count = self.ranges.pick(&mut self.random).min(room / 2);
        let step = room / count;
        let (mut free, mut last) = (pcs.start, None);
        for index in 0..count {
            let from = pcs.start + index * step;
            // Half of the ranges are adjacent to the previous range.
            let start =
                if self.random.below(2) == 0 { free } else { free.max(from + self.random.below(step / 2)) };
            let end = (start + 1 + self.random.below(step)).min(from + step);
            if start >= end {
                continue;
            }
            let mut place = self.place(bits);
            while last == Some(place) {
                place = self.place(bits);
            }
            let other = (self.random.below(100) < 5).then(|| self.home()).filter(|&other| other != place);
            let Range { start, end: bytes_end } = self.bytes(start..end);
            self.mix.entries.push(Entry { start, end: bytes_end, place, other });
            (free, last) = (end, Some(place));
        }
        At::Entries(first..self.mix.entries.len())
    }

    /// A stack slot.
    fn home(&mut self) -> Place {
        Place::Slot(4 * self.random.below(256) as u16)
    }

    fn place(&mut self, bits: u32) -> Place {
        match self.mix.shape.machine {
            Machine::Gpu => self.gpu_place(bits),
            Machine::Cpu => self.cpu_place(bits),
        }
    }

    fn gpu_place(&mut self, bits: u32) -> Place {
        match (bits, self.random.below(100)) {
            (..=32, 0..35) => Place::PerLane(self.vector(1)),
            (..=32, 35..60) => Place::Register(self.scalar(1)),
            (..=32, 60..70) => Place::Lane(self.vector(1), self.random.below(32) as u8),
            (..=32, 70..88) => self.home(),
            (..=32, _) => Place::Constant(self.random.number()),
            (33..=64, 0..30) => Place::PerLanePair(self.vector(2)),
            (33..=64, 30..60) => Place::Pair(self.scalar(2)),
            (33..=64, 60..80) => self.home(),
            (33..=64, 80..90) => Place::Argument(self.scalar(2), 8 * self.random.below(16) as u8),
            (33..=64, _) => Place::Constant(self.random.number()),
            (_, 0..40) => Place::Split(self.vector(1), self.scalar(1)),
            (_, 40..80) => self.home(),
            _ => Place::Argument(self.scalar(2), 8 * self.random.below(16) as u8),
        }
    }

    /// First of `count` consecutive registers among `s0` to `s63`.
    fn scalar(&mut self, count: u32) -> u16 {
        32 + self.random.below(65 - count) as u16
    }

    /// First of `count` consecutive registers among `v0` to `v255`.
    fn vector(&mut self, count: u32) -> u16 {
        1536 + self.random.below(257 - count) as u16
    }

    fn cpu_place(&mut self, bits: u32) -> Place {
        let register = self.random.below(16) as u16;
        let offset = self.random.below(512) as i16 - 256;
        match (bits, self.random.below(100)) {
            (..=64, 0..55) => Place::Register(register),
            (..=64, 55..75) => self.home(),
            (..=64, 75..85) => Place::Constant(self.random.number()),
            (..=64, 85..93) => Place::Sum(register, offset),
            (..=64, _) => Place::Indirect(register, offset),
            (_, 0..40) => Place::Split(register, 15 - register + u16::from(register == 15 - register)),
            (_, 40..80) => self.home(),
            _ => Place::Pointer(register, offset, self.random.below(128) as u8),
        }
    }

    fn lines(&mut self, instructions: u32) {
        let step = self.mix.shape.machine.step();
        let (mut pc, mut line) = (0, self.line());
        let rows = self.mix.shape.rows as u32;
        for _ in 0..rows {
            self.mix.rows.push(Row {
                pc: step * pc,
                line,
                column: self.random.below(60),
                is_in_header: self.random.below(8) == 0,
                is_stmt: self.random.below(5) > 0,
            });
            pc = (pc + 1 + self.random.below(24)).min(instructions - 1);
            line = (line + self.random.below(16)).saturating_sub(6).max(1);
        }
    }
}

/// Zipf distribution: cumulative weights of the numbers from 1 on.
struct Zipf(Vec<u32>);

impl Zipf {
    fn new((most, exponent): (u32, f64)) -> Self {
        let weight = |n: u32| (1e6 / f64::from(n).powf(exponent)).round() as u32;
        let sums = (1..=most).scan(0, |sum, n| {
            *sum += weight(n);
            Some(*sum)
        });
        Self(sums.collect())
    }

    fn pick(&self, random: &mut Random) -> u32 {
        let at = random.below(self.0[self.0.len() - 1]);
        self.0.partition_point(|&sum| sum <= at) as u32 + 1
    }
}

/// Pseudo-random numbers: Knuth's MMIX generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A number of 1 to 24 bits; all sizes are equally frequent.
    fn number(&mut self) -> u32 {
        let more = self.below(24);
        (self.next() >> 40) as u32 >> more
    }
}
