//! Random locations and numbers.

use eitri::build::Builder;
use eitri::model::{ExprId, Loc, ProcedureId, Symbol, Val, VariableId};
use eitri::op::Reg;
use eitri::target::{SpaceId, Target};

use crate::agreement::choices::Choices;

/// Entities that locations can reference.
pub struct Names {
    pub target: Target,
    pub symbols: Vec<Symbol>,
    /// Variables with an entry, which pointers can reference.
    pub variables: Vec<VariableId>,
    /// Procedures of the unit with their sizes in bits.
    pub procedures: Vec<(ProcedureId, u64)>,
    pub exprs: Vec<ExprId>,
}

/// A general register of a target without lanes.
pub fn plain_register(target: &Target) -> Reg {
    target.registers().nth(6).unwrap().reg
}

impl Names {
    pub fn new(m: &mut Builder) -> Self {
        let target = m.target().clone();
        let mut symbols = vec![m.symbol("data"), m.symbol("elsewhere")];
        if target.lanes() > 1 {
            symbols.push(m.symbol("lds"));
        }
        Self { target, symbols, variables: Vec::new(), procedures: Vec::new(), exprs: Vec::new() }
    }

    fn scalar(&self, c: &mut Choices<'_>) -> Reg {
        if self.target.lanes() == 1 {
            let all: Vec<Reg> = self.target.registers().map(|register| register.reg).collect();
            return match c.below(5) {
                4 => all[c.below(16)],
                _ => plain_register(&self.target),
            };
        }
        match c.below(6) {
            0 => self.target.register_named(c.of(&["exec", "vcc", "pc", "status"])).unwrap(),
            _ => self.target.sgpr(c.of(&[0, 1, 4, 31, 32, 63, 64, 101])).unwrap(),
        }
    }

    fn widest(&self) -> Reg {
        self.target.registers().max_by_key(|register| register.bits).unwrap().reg
    }

    pub fn vector(&self, c: &mut Choices<'_>) -> Reg {
        let number = c.of(&[0, 1, 3, 40, 255]);
        match self.target.agpr(number) {
            Ok(accumulation) if c.is(4) => accumulation,
            _ => self.target.vgpr(number).unwrap(),
        }
    }

    /// A location of at least `bits` bits in most cases; the builder refuses the others.
    pub fn loc(&self, c: &mut Choices<'_>, bits: u64, depth: u32) -> Loc {
        let is_gpu = self.target.lanes() > 1;
        if depth == 0 || c.is(3) {
            return self.leaf(c, bits, depth);
        }
        let deeper = depth - 1;
        match c.below(11) {
            0 => {
                let bytes = c.between(1, 20);
                self.loc(c, bits + 8 * bytes, deeper).offset(bytes as i64)
            }
            1 => {
                let by = c.between(1, 40);
                self.loc(c, bits + by, deeper).bit_offset(by as i64)
            }
            2 => {
                let forth = c.between(4, 16);
                let back = c.between(0, 4);
                self.loc(c, bits + 8 * (forth - back), deeper).offset(forth as i64).offset(-(back as i64))
            }
            3 => {
                let by = self.small(c);
                let loc = if is_gpu { Loc::whole(self.vector(c)) } else { self.loc(c, bits + 64, 0) };
                if c.is(2) { loc.offset_by(by) } else { loc.bit_offset_by(by) }
            }
            4 | 5 => self.parts(c, bits, deeper),
            6 => {
                let offset = c.between(0, bits);
                let size = c.between(1, 40);
                let above = self.loc(c, size, deeper);
                let offset = Val::constant(offset);
                let size = Val::constant(size);
                self.loc(c, bits.max(80), deeper).overlay(above, offset, size)
            }
            7 => {
                let size = c.of(&[8, 16, 32]);
                let above = self.loc(c, size, deeper);
                let below = self.loc(c, bits + 64, deeper);
                below.overlay(above, self.small(c), Val::constant(size))
            }
            8 => {
                // Limits the nesting, because the evaluator limits the number of parts.
                let size = match deeper {
                    0 => c.of(&[8, 1, 12, 32]),
                    _ => bits.div_ceil(c.of(&[4, 1, 2, 8])).max(1),
                };
                let count = bits.div_ceil(size).max(1);
                let zero = self.loc(c, size * count, deeper);
                let one = self.loc(c, size * count, deeper);
                let mask = if c.is(2) { self.val(c, deeper) } else { Val::constant(c.bits()) };
                Loc::select(mask, zero, one, size, count)
            }
            9 => {
                let size = c.of(&[8, 16, 32, 5]);
                self.loc(c, size, deeper).extend(size, bits.div_ceil(size).max(1))
            }
            _ => Loc::memory(self.space(c), self.val(c, deeper)),
        }
    }

    fn leaf(&self, c: &mut Choices<'_>, bits: u64, depth: u32) -> Loc {
        let is_gpu = self.target.lanes() > 1;
        let words = bits.div_ceil(32).max(1);
        match c.below(14) {
            0 if bits <= 32 => Loc::register(self.scalar(c)),
            0 if is_gpu => Loc::over((0..words).map(|_| self.scalar(c))),
            0 | 1 if !is_gpu => Loc::register(self.widest()),
            1 if bits <= 32 => Loc::per_lane(self.vector(c)),
            1 => Loc::per_lane_over((0..words).map(|_| self.vector(c))),
            2 if is_gpu => {
                let lane = |c: &mut Choices<'_>| c.between(0, u64::from(self.target.lanes()) - 1) as u32;
                match words {
                    1 => Loc::lane(self.vector(c), lane(c)),
                    _ => Loc::lanes((0..words).map(|_| (self.vector(c), lane(c)))),
                }
            }
            3 if is_gpu => Loc::stack_slot(c.between(0, 2000) as i64 - 200),
            4 if is_gpu => Loc::local(c.between(0, 70000) as u32),
            5 if is_gpu => Loc::local_symbol(c.of(&self.symbols)),
            6 => Loc::global_symbol(c.of(&self.symbols)),
            7 if is_gpu => {
                let low = self.target.sgpr(4).unwrap();
                let high = self.target.sgpr(5).unwrap();
                Loc::kernel_argument(low, high, c.between(0, 100) as i64 - 8)
            }
            8 if bits <= 64 => Loc::value(self.val(c, depth.min(2))),
            9 if bits <= 64 && !self.variables.is_empty() => {
                Loc::pointer_to(c.of(&self.variables), c.between(0, 40) as i64 - 8)
            }
            10 => {
                let all: Vec<_> = self.procedures.iter().filter(|(_, has)| *has >= bits).collect();
                if all.is_empty() { Loc::undefined() } else { Loc::call(all[c.below(all.len())].0) }
            }
            11 => Loc::undefined(),
            12 if !self.exprs.is_empty() && c.is(4) => Loc::expr(c.of(&self.exprs)),
            13 => Loc::memory(self.space(c), self.val(c, depth.min(2))),
            _ => {
                let bytes: Vec<u8> = (0..bits.div_ceil(8).max(1)).map(|_| c.between(0, 255) as u8).collect();
                Loc::implicit(&bytes)
            }
        }
    }

    fn parts(&self, c: &mut Choices<'_>, bits: u64, depth: u32) -> Loc {
        let mut left = bits.max(1);
        let mut parts = Vec::new();
        while left > 0 {
            let size = match c.below(4) {
                0 => 32,
                1 => c.between(1, 16),
                2 => 8 * c.between(1, 8),
                _ => left,
            };
            let size = if parts.len() == 5 { left } else { size };
            parts.push((self.loc(c, size, depth), size));
            left = left.saturating_sub(size);
        }
        Loc::parts(parts)
    }

    fn space(&self, c: &mut Choices<'_>) -> SpaceId {
        let spaces = self.target.spaces();
        spaces[c.below(spaces.len())].id
    }

    /// A number below 32.
    fn small(&self, c: &mut Choices<'_>) -> Val {
        let any = match c.below(3) {
            0 => Val::register(self.scalar(c)),
            1 if self.target.lanes() > 1 => Val::lane_index(),
            _ => Val::constant(c.between(0, 31)),
        };
        any.and(Val::constant(c.of(&[1, 7, 8, 31])))
    }

    pub fn val(&self, c: &mut Choices<'_>, depth: u32) -> Val {
        if depth == 0 || c.is(3) {
            return match c.below(7) {
                6 => Val::entry_value(self.scalar(c)),
                0 => Val::constant(c.bits()),
                1 => Val::address(c.of(&self.symbols), c.between(0, 100) as i64 - 20),
                2 => Val::register(self.scalar(c)),
                3 if self.target.lanes() > 1 => Val::lane_index(),
                4 if self.target.lanes() > 1 => {
                    Val::pair(self.target.sgpr(8).unwrap(), self.target.sgpr(9).unwrap())
                }
                _ => Val::register(self.scalar(c)).plus(c.between(0, 1000) as i64 - 300),
            };
        }
        let depth = depth - 1;
        match c.below(13) {
            0 => {
                let by = match c.below(3) {
                    0 => c.bits() as i64,
                    _ => c.between(0, 1000) as i64 - 300,
                };
                self.val(c, depth).plus(by)
            }
            1 => self.val(c, depth).neg(),
            2 => self.val(c, depth).not(),
            3 => {
                let bits = c.of(&[32u64, 8, 16, 64, 1, 5, 13, 33]);
                self.loc(c, bits, depth).read(bits as u32)
            }
            4 => self.val(c, depth).add(self.val(c, depth)),
            5 => self.val(c, depth).sub(self.val(c, depth)),
            6 => self.val(c, depth).mul(self.val(c, depth)),
            7 => self.val(c, depth).and(self.val(c, depth)),
            8 => self.val(c, depth).or(self.val(c, depth)),
            9 => self.val(c, depth).xor(self.val(c, depth)),
            10 => self.val(c, depth).shl(self.shift(c, depth)),
            11 => self.val(c, depth).shr(self.shift(c, depth)),
            _ => self.val(c, depth).shra(self.shift(c, depth)),
        }
    }

    fn shift(&self, c: &mut Choices<'_>, depth: u32) -> Val {
        match c.below(3) {
            0 => Val::constant(c.of(&[0, 1, 5, 31, 32, 63, 64, 65, 1000])),
            1 => self.small(c),
            _ => self.val(c, depth),
        }
    }
}
