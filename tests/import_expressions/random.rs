//! Random expressions: what is imported means what the evaluator computes, what has no meaning fails on every machine,
//! and nothing panics.

use eitri::eval::{Context, Evaluator, ResultKind};
use eitri::model::Stack;
use eitri::op::{Dialect, Encoding, text};
use eitri::target::{Gfx, Sm, Target, Wave};

use super::compare::{Case, Failure, compare, imported};
use super::machine::Stopped;

/// A pseudo-random generator (xorshift64*), which is equal on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Numbers of random expressions, by outcome.
#[derive(Debug, Default)]
pub struct Outcomes {
    pub typed: usize,
    /// Typed, with a meaning on at least one machine.
    pub proven: usize,
    pub meaningless: usize,
    pub untyped: usize,
    pub refused: usize,
    pub differences: Vec<String>,
}

fn leb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a register number as unsigned LEB128.
fn register(r: &mut Random, out: &mut Vec<u8>, target: &Target) {
    let some: &[u64] = if target.lanes() > 1 {
        &[1, 16, 17, 36, 37, 64, 65, 2560, 2561, 1536, 1537, 768, 3072]
    } else {
        &[0, 1, 3, 6, 7, 8, 17, 18, 33]
    };
    let reg = if r.below(40) == 0 { r.next() % 5000 } else { r.of(some) };
    leb(out, reg);
}

fn operation(r: &mut Random, out: &mut Vec<u8>, target: &Target) {
    let pushes = |r: &mut Random, out: &mut Vec<u8>| match r.below(14) {
        0..=2 => out.push(0x30 + r.below(32) as u8),
        3 => out.extend([0x08, r.next() as u8]),
        4 => out.extend([0x09, r.next() as u8]),
        5 => {
            out.push(0x0e);
            out.extend((r.next() >> r.below(64)).to_le_bytes());
        }
        6 | 7 => {
            out.push(0x92);
            register(r, out, target);
            out.push(r.next() as u8 & 0x7f);
        }
        8 | 9 => {
            out.push(0x90);
            register(r, out, target);
        }
        10 => {
            out.push(0xa5);
            register(r, out, target);
            out.push(r.below(98) as u8);
        }
        11 => out.extend([0xa4, r.of(&[0u8, 1, 2, 3, 16, 17, 18, 19, 35]), 4, 1, 2, 0xf3, 0x84]),
        12 => out.push(0x9c),
        _ => out.extend([0x91, r.next() as u8 & 0x7f]),
    };
    match r.below(40) {
        0..=11 => pushes(r, out),
        // Arithmetic and comparisons.
        12..=19 => out.push(r.of(&[
            0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x29, 0x2a,
            0x2b, 0x2c, 0x2d, 0x2e,
        ])),
        20 => out.extend([0x23, r.next() as u8 & 0x7f]),
        21 => out.push(r.of(&[0x12, 0x14, 0x16, 0x17, 0x13])),
        22 => out.extend([0x15, r.below(4) as u8]),
        23 => out.push(0x06),
        24 => out.extend([0x94, r.of(&[1, 2, 4, 8, 3, 0, 16])]),
        25 => out.extend([0xa6, r.of(&[1, 2, 4, 8]), r.below(98) as u8]),
        26 => out.extend([0xa8, r.of(&[0u8, 1, 2, 3, 16, 17, 18, 19, 33, 35])]),
        27 => out.extend([0xa9, r.of(&[0u8, 1, 2, 3, 16, 17, 18, 19, 51])]),
        28..=30 => out.extend([0x93, r.of(&[1, 2, 4, 8, 3, 0, 16])]),
        31 => out.extend([0x9d, r.of(&[1, 8, 5, 32, 64, 0]), r.of(&[0, 0, 8, 3, 32, 64])]),
        32 => out.push(0x9f),
        33 => out.extend([0x9e, 4, 0xaa, 0xbb, 0xcc, 0xdd]),
        34 => out.extend([r.of(&[0x28, 0x28, 0x2f]), r.below(6) as u8, 0]),
        35 => out.extend([0xa3, 1, 0x50 + r.below(10) as u8]),
        36 => out.push(r.of(&[0x96, 0x18, 0x9b, 0xf0, 0x97])),
        _ if target.lanes() > 1 => {
            let sub = 2 + r.below(11) as u8;
            out.extend([0xe9, sub]);
            match sub {
                5 => out.push(r.of(&[0, 1, 4, 8, 64])),
                7 => register(r, out, target),
                9 => {
                    register(r, out, target);
                    out.push(r.next() as u8 & 0x7f);
                }
                0xb | 0xc => out.extend([r.of(&[32, 8, 64, 1, 0]), r.of(&[32, 2, 4, 64, 0])]),
                _ => {}
            }
        }
        _ => out.extend([0x0d, r.next() as u8, 0, 0, r.next() as u8]),
    }
}

/// Runs of operations that compilers write.
const RUNS: &[&[u8]] = &[
    &[0xe9, 0x03, 0x34, 0x1e, 0xe9, 0x04],
    &[0x94, 0x04, 0x35, 0x25, 0x23, 0x10, 0x35, 0xe9, 0x02],
    &[0x94, 0x04, 0x35, 0xe9, 0x02],
    &[0x28, 0x01, 0x00, 0x16, 0x13],
    &[0x16, 0x18],
    &[0x9f, 0x93, 0x04],
];

/// Appends an expression in which each operation finds its operands: mostly well-formed.
struct Formed<'r> {
    r: &'r mut Random,
    out: Vec<u8>,
    target: &'r Target,
}

impl Formed<'_> {
    fn is_gpu(&self) -> bool {
        self.target.gfx().is_some()
    }

    fn constant(&mut self) {
        match self.r.below(5) {
            0 => self.out.extend([0x09, self.r.next() as u8]),
            1 => {
                self.out.push(0x10);
                let value = self.r.next() >> self.r.below(64);
                leb(&mut self.out, value);
            }
            _ => self.out.push(0x30 + self.r.below(32) as u8),
        }
    }

    /// A general register, as large as an address.
    fn general(&mut self) -> u64 {
        match self.is_gpu() {
            true => self.r.of(&[16, 17, 768]),
            false => self.r.of(&[0, 1, 3, 6]),
        }
    }

    fn number(&mut self, depth: u32) {
        if depth == 0 {
            match self.r.below(6) {
                0 | 1 => self.constant(),
                2 if self.is_gpu() => self.out.extend([0xe9, 0x03]),
                3 if self.is_gpu() => {
                    self.out.push(0x90);
                    let reg = self.r.of(&[36, 37, 64, 65]);
                    leb(&mut self.out, reg);
                    self.out.extend([0x94, self.r.of(&[4, 4, 2, 1])]);
                }
                4 => {
                    let reg = self.general();
                    let mut inner = vec![0x90];
                    leb(&mut inner, reg);
                    self.out.extend([0xa3, inner.len() as u8]);
                    self.out.extend(inner);
                }
                5 if !self.is_gpu() => self.out.extend([0x9c, 0x23, self.r.next() as u8 & 0x7f]),
                _ => {
                    self.out.push(0x92);
                    let reg = self.general();
                    leb(&mut self.out, reg);
                    self.out.push(self.r.next() as u8 & 0x7f);
                }
            }
            return;
        }
        match self.r.below(13) {
            0..=3 => {
                self.number(depth - 1);
                self.number(depth - 1);
                let op = self.r.of(&[
                    0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x21, 0x22, 0x24, 0x25, 0x26, 0x27, 0x29, 0x2a, 0x2b, 0x2c,
                    0x2d, 0x2e,
                ]);
                self.out.push(op);
            }
            4 => {
                self.number(depth - 1);
                self.out.push(self.r.of(&[0x19, 0x1f, 0x20]));
            }
            5 => {
                self.number(depth - 1);
                self.out.extend([0x23, self.r.next() as u8 & 0x7f]);
            }
            6 | 7 => {
                self.place(depth - 1);
                match self.r.below(3) {
                    0 => self.out.push(0x06),
                    _ => self.out.extend([0x94, self.r.of(&[1, 2, 4, 8])]),
                }
            }
            8 => {
                self.number(depth - 1);
                self.out.extend([0x12, 0x22]);
            }
            9 => {
                self.number(depth - 1);
                self.number(depth - 1);
                let mixed: &[u8] =
                    self.r.of(&[&[0x16, 0x1c], &[0x14, 0x22, 0x22], &[0x12, 0x17, 0x22, 0x1c]]);
                self.out.extend(mixed);
            }
            10 => {
                // Numbers of a type, which is converted back.
                let ty = self.r.of(&[1_u8, 2, 3, 16, 17, 18, 19, 4, 20, 33]);
                self.number(depth - 1);
                self.out.extend([0xa8, ty]);
                match self.r.below(3) {
                    0 => self.out.push(self.r.of(&[0x1f, 0x20, 0x19])),
                    _ => {
                        self.number(depth - 1);
                        self.out.extend([0xa8, ty]);
                        self.out.push(self.r.of(&[0x1b, 0x1c, 0x1d, 0x1e, 0x22, 0x24, 0x25, 0x26]));
                    }
                }
                self.out.extend([0xa8, 0]);
            }
            11 => {
                // The first of two numbers, or the second.
                self.number(depth - 1);
                self.number(depth - 1);
                self.out.extend([0x14, 0x14, self.r.of(&[0x2c, 0x2d, 0x29]), 0x28, 1, 0, 0x16, 0x13]);
            }
            _ => {
                // Constants in two branches.
                self.number(depth - 1);
                self.number(depth - 1);
                self.out.extend([0x29, 0x28, 4, 0, 0x35, 0x2f, 1, 0, 0x38]);
            }
        }
    }

    fn vector(&mut self) {
        self.out.push(0x90);
        let wave32 = self.target.lanes() == 32;
        let reg = self.r.of(if wave32 { &[1536, 1537, 1540] } else { &[2560, 2561, 3072] });
        leb(&mut self.out, reg);
    }

    fn place(&mut self, depth: u32) {
        if depth == 0 {
            match self.r.below(7) {
                0 if self.is_gpu() => self.vector(),
                1 | 2 if self.is_gpu() => {
                    self.vector();
                    self.out.extend([0xe9, 0x03, 0x34, 0x1e]);
                    if self.r.below(3) == 0 {
                        self.out.extend([0x23, self.r.below(4) as u8]);
                    }
                    self.out.extend([0xe9, 0x04]);
                }
                3 => self.out.extend([0x9e, 8, 1, 2, 3, 4, 0xf5, 0xf6, 0xf7, 0xf8]),
                4 => self.number(0),
                5 => self.out.extend([0x03, 0x78, 0x56, 0x34, 0x12]),
                _ => {
                    self.out.push(0x90);
                    let reg = self.general();
                    leb(&mut self.out, reg);
                }
            }
            if self.out.ends_with(&[0x03, 0x78, 0x56, 0x34, 0x12]) && self.target.address_bytes() == 8 {
                self.out.extend([0; 4]);
            }
            return;
        }
        match self.r.below(10) {
            0 | 1 => self.number(depth),
            2 => {
                self.number(depth);
                self.out.push(0x9f);
            }
            3 => {
                self.number(depth);
                self.out.push(0x9b);
            }
            4 if self.is_gpu() => {
                self.number(depth);
                self.out.extend([0x30 + self.r.of(&[1u8, 3, 5, 6]), 0xe9, 0x02]);
            }
            5 if self.is_gpu() => {
                self.place(depth - 1);
                match self.r.below(4) {
                    0 => self.out.extend([0xe9, 0x05, self.r.below(8) as u8]),
                    1 => self.out.extend([0x30 + self.r.below(20) as u8, 0xe9, 0x06]),
                    2 => {
                        self.number(depth - 1);
                        self.out.extend([0x33, 0x1a, 0xe9, 0x04]);
                    }
                    _ => self.out.extend([0x31, 0x1f, 0xe9, 0x04]),
                }
            }
            6 if self.is_gpu() => {
                self.vector();
                self.vector();
                self.number(depth - 1);
                self.out.extend([0xe9, 0x0c, 32, self.r.of(&[32, 8, 1])]);
            }
            7 if self.is_gpu() => {
                self.place(depth - 1);
                self.out.extend([0xe9, 0x0b, self.r.of(&[8, 32]), self.r.of(&[1, 4, 32])]);
            }
            8 if self.is_gpu() => {
                self.pieces(depth - 1);
                self.out.extend([0xe9, 0x0a]);
            }
            _ => self.place(0),
        }
    }

    /// Pieces, as the last operations or before `piece_end`.
    fn pieces(&mut self, depth: u32) {
        for _ in 0..1 + self.r.below(4) {
            if self.r.below(6) > 0 {
                self.place(depth);
            }
            match self.r.below(4) {
                0 => self.out.extend([0x9d, self.r.of(&[8, 5, 32]), self.r.of(&[0, 8, 3])]),
                _ => self.out.extend([0x93, self.r.of(&[4, 4, 1, 2, 8])]),
            }
        }
    }
}

fn expression(r: &mut Random, target: &Target) -> Vec<u8> {
    let mut expr = Vec::new();
    if r.below(4) > 0 {
        let depth = r.below(4) as u32;
        let is_composite = r.below(4) == 0;
        let mut formed = Formed { r, out: Vec::new(), target };
        if is_composite {
            formed.pieces(depth)
        } else {
            formed.place(depth)
        }
        expr = formed.out;
    } else {
        for _ in 0..1 + r.below(12) {
            if r.below(8) == 0 { expr.extend(r.of(RUNS)) } else { operation(r, &mut expr, target) }
        }
    }
    // A damaged byte.
    if r.below(10) == 0 && !expr.is_empty() {
        let at = r.below(expr.len());
        expr[at] ^= 1 << r.below(8);
    }
    if r.below(60) == 0 {
        expr = (0..r.below(40)).map(|_| r.next() as u8).collect();
    }
    expr
}

/// Compares `count` random expressions.
pub fn compared(seed: u64, count: usize) -> Outcomes {
    let gpus = [(Gfx::GFX1030, Wave::W32), (Gfx::GFX90A, Wave::W64)];
    let mut targets: Vec<Target> = gpus.map(|(gfx, wave)| Target::amdgpu(gfx, wave).unwrap()).into();
    targets.extend(["x86_64", "aarch64", "s390x"].map(|name| Target::named(name).unwrap()));
    targets.push(Target::nvptx(Sm::named("sm_80").unwrap()));
    let mut r = Random(seed);
    let mut outcomes = Outcomes::default();
    for number in 0..count {
        let target = &targets[number % targets.len()];
        let dialect = if target.lanes() > 1 { Dialect::Llvm } else { Dialect::Dwarf5 };
        let encoding = Encoding::new(target.address_bytes(), dialect).with_big_endian(target.is_big_endian());
        let expr = expression(&mut r, target);
        let mut case = Case::new(&expr, encoding, target);
        case.bits = r.of(&[None, Some(8), Some(32), Some(64), Some(64), Some(128), Some(5), Some(1024)]);
        case.frame_base =
            r.of(&[None, Some(&[0x9c][..]), Some(&[0x56]), Some(&[0x90, 0x10]), Some(&[0x76, 0x08])]);
        if r.below(4) == 0 {
            case.kind = ResultKind::Value;
        }
        if target.gfx().is_some() && r.below(2) == 0 {
            let base = target.sgpr(33).unwrap();
            case.stack = Stack { base: Some(base), scaling: target.scaling() };
        }
        one(&case, &mut outcomes);
    }
    outcomes
}

fn one(case: &Case<'_>, outcomes: &mut Outcomes) {
    let about = || {
        let text = text::print(case.expr, case.encoding, Some(case.target));
        format!(
            "{}: {text} ({:?} bits, {:?}, base {:?})",
            case.target.name(),
            case.bits,
            case.kind,
            case.frame_base
        )
    };
    match imported(case) {
        Ok(imported) => {
            outcomes.typed += 1;
            match compare(case, &imported) {
                Ok(meanings) => outcomes.proven += usize::from(meanings > 0),
                Err(why) => {
                    outcomes.differences.push(format!("{}: {:?}\n  {why}", about(), imported.nodes()))
                }
            }
        }
        Err(Failure::Untyped(untyped)) if untyped.reason.is_meaningless() => {
            outcomes.meaningless += 1;
            if let Some(found) = evaluated(case) {
                outcomes.differences.push(format!("{}: {untyped}, but it is {found}", about()));
            }
        }
        Err(Failure::Untyped(_)) => outcomes.untyped += 1,
        Err(Failure::Refused(why)) => {
            outcomes.refused += 1;
            // The builder requires that a value in a vector register has all lanes or names its lane.
            if !why.contains("all lanes of")
                && let Some(found) = evaluated(case)
            {
                outcomes.differences.push(format!("{}: refused: {why}, but it is {found}", about()));
            }
        }
    }
}

/// Returns a result of the evaluation, with the object's bits inside their storage, on some machine.
fn evaluated(case: &Case<'_>) -> Option<String> {
    [0, 1, 2, 3, 77].into_iter().find_map(|seed| {
        let machine = Stopped { seed, ..Stopped::new(case) };
        let context = Context::new(case.encoding, case.target);
        let mut evaluator = Evaluator::new();
        if case.kind == ResultKind::Value {
            return evaluator.value(case.expr, &machine, &context).ok().map(|value| value.to_string());
        }
        let location = evaluator.location(case.expr, &machine, &context).ok()?;
        eitri::eval::spans(&location, case.bits.unwrap_or(1).into(), case.target.byte_order()).ok()?;
        Some(location.to_string())
    })
}
