//! Faults in arithmetic: every operation instead of every other one, with every other register or pair, in either order.
//!
//! The oracle is arithmetic on random numbers, of which some are numbers of bits: two formulas that differ for some of
//! them are different descriptions, and `check` must find the difference.

use eitri::build::Builder;
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, Loc, Module, Val};
use eitri::op::Reg;
use eitri::target::Target;

use crate::sabotage::{object, sections};

/// Number that a formula starts from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Leaf {
    Constant(u64),
    Register(&'static str, u32),
    Pair(&'static str, &'static str),
    /// A register of 64 bits and a constant that is added.
    Sum(&'static str, i64),
}

/// Constant of a [`Leaf::Sum`].
const OFFSET: i64 = 448;

/// Formula, as a tree.
#[derive(Debug, Clone, PartialEq)]
enum Formula {
    Leaf(Leaf),
    Of(usize, Box<[Formula; 2]>),
}

type Apply = (&'static str, fn(Val, Val) -> Val, fn(u64, u64) -> u64);

const OPERATIONS: &[Apply] = &[
    ("add", Val::add, u64::wrapping_add),
    ("sub", Val::sub, u64::wrapping_sub),
    ("mul", Val::mul, u64::wrapping_mul),
    ("and", Val::and, |a, b| a & b),
    ("or", Val::or, |a, b| a | b),
    ("xor", Val::xor, |a, b| a ^ b),
    ("shl", Val::shl, |a, b| if b < 64 { a << b } else { 0 }),
    ("shr", Val::shr, |a, b| if b < 64 { a >> b } else { 0 }),
    ("shra", Val::shra, |a, b| (a as i64 >> b.min(63)) as u64),
];

/// Numbers of registers of 64 bits: pseudo-random, as SplitMix64 makes them.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ bits >> 31
    }

    /// Returns a number of any size, a number of bits, or a constant without variety.
    fn mixed(&mut self) -> u64 {
        let bits = self.next();
        match self.next() % 8 {
            0..3 => bits,
            3..6 => bits % 64,
            6 => 0,
            _ => u64::MAX,
        }
    }
}

impl Formula {
    fn of(operation: usize, first: Leaf, second: Leaf) -> Self {
        Self::Of(operation, Box::new([Self::Leaf(first), Self::Leaf(second)]))
    }

    fn val(&self, target: &Target) -> Val {
        let named = |name| -> Reg { target.register_named(name).unwrap() };
        match self {
            Self::Leaf(Leaf::Constant(value)) => Val::constant(*value),
            Self::Leaf(Leaf::Register(name, _)) => Val::register(named(name)),
            Self::Leaf(Leaf::Pair(low, high)) => Val::pair(named(low), named(high)),
            Self::Leaf(Leaf::Sum(name, by)) => Val::register(named(name)).plus(*by),
            Self::Of(operation, operands) => {
                let [first, second] = operands.each_ref().map(|operand| operand.val(target));
                OPERATIONS[*operation].1(first, second)
            }
        }
    }

    /// Returns the number, given those of registers by name.
    fn number(&self, read: &mut dyn FnMut(&'static str) -> u64) -> u64 {
        match self {
            Self::Leaf(Leaf::Constant(value)) => *value,
            Self::Leaf(Leaf::Register(name, bits)) => read(name) & u64::MAX >> (64 - bits),
            Self::Leaf(Leaf::Sum(name, by)) => read(name).wrapping_add_signed(*by),
            Self::Leaf(Leaf::Pair(low, high)) => read(low) & 0xffff_ffff | read(high) << 32,
            Self::Of(operation, operands) => {
                let [first, second] = operands.each_ref().map(|operand| operand.number(read));
                OPERATIONS[*operation].2(first, second)
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Leaf(leaf) => format!("{leaf:?}"),
            Self::Of(operation, operands) => {
                let [first, second] = operands.each_ref().map(Self::text);
                format!("{}({first}, {second})", OPERATIONS[*operation].0)
            }
        }
    }

    /// Returns whether two formulas have different numbers in some registers, in the lowest bits.
    fn differs(&self, other: &Self, bits: u64) -> bool {
        let mut numbers = Numbers(7);
        (0..1000).any(|_| {
            let mut known: Vec<(&str, u64)> = Vec::new();
            let mut read = |name: &'static str| {
                if let Some((_, number)) = known.iter().find(|(one, _)| *one == name) {
                    return *number;
                }
                let is_before_sum = numbers.next().is_multiple_of(4);
                let number = numbers.mixed().wrapping_sub(if is_before_sum { OFFSET as u64 } else { 0 });
                known.push((name, number));
                number
            };
            let [one, other] = [self.number(&mut read), other.number(&mut read)];
            (one ^ other) << (64 - bits) != 0
        })
    }
}

/// Module in which each variable of `bits` bits has the number of a formula.
fn module<'f>(target: &Target, bits: u64, formulas: impl Iterator<Item = &'f Formula>) -> Module {
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, "number", BaseEncoding::Unsigned, bits).unwrap();
    let k = m.function(unit, "k").unwrap().code("k", 0x40).id();
    for (number, formula) in formulas.enumerate() {
        let value = Loc::value(formula.val(target));
        m.variable(k, &format!("x{number}"), ty).unwrap().live(0..0x40, value).unwrap();
    }
    m.finish().unwrap()
}

/// Asserts that `check` finds the faults, which are pairs of the described formula and that of the object.
fn assert_found(target: &str, bits: u64, consumer: &Consumer, faults: &[(Formula, Formula)]) {
    let target = Target::named(target).unwrap();
    let truth = module(&target, bits, faults.iter().map(|(truth, _)| truth));
    let wrong = module(&target, bits, faults.iter().map(|(_, wrong)| wrong));
    let report = eitri::check(&truth, consumer, &[], &object(&truth, &sections(&wrong, consumer))).unwrap();
    let found: Vec<_> = report.findings.iter().filter_map(|finding| finding.at.variable.as_deref()).collect();
    let mut is_found = vec![false; faults.len()];
    for name in found {
        is_found[name[1..].parse::<usize>().unwrap()] = true;
    }
    let missed = faults.iter().zip(is_found).filter(|(_, is_found)| !is_found);
    let missed: Vec<_> =
        missed.map(|((truth, wrong), _)| format!("{} as {}", truth.text(), wrong.text())).collect();
    let count = missed.len();
    assert!(missed.is_empty(), "{bits} bits: {count} of {} missed:\n{}", faults.len(), missed.join("\n"));
    assert!(report.unproven.is_empty(), "{report}");
}

/// Asserts that each operation on two of the operands is told from all operations on all operands.
fn assert_all_differ(target: &str, consumer: &Consumer, operands: &[Leaf]) {
    let mut others: Vec<Formula> = operands.iter().copied().map(Formula::Leaf).collect();
    others.extend([0, 1, u64::MAX].map(|constant| Formula::Leaf(Leaf::Constant(constant))));
    for operation in 0..OPERATIONS.len() {
        for &first in operands {
            others.extend(operands.iter().map(|&second| Formula::of(operation, first, second)));
        }
    }
    for bits in [32, 64] {
        let truths = (0..OPERATIONS.len()).map(|operation| Formula::of(operation, operands[0], operands[1]));
        let mut faults = Vec::new();
        for truth in truths {
            for other in others.iter().filter(|other| truth.differs(other, bits)) {
                faults.push((truth.clone(), other.clone()));
                // An operation where the description has none.
                if matches!(other, Formula::Leaf(_)) {
                    faults.push((other.clone(), truth.clone()));
                }
            }
        }
        assert!(faults.len() > 400, "{}", faults.len());
        assert_found(target, bits, consumer, &faults);
    }
}

#[test]
fn each_operation_on_cpu_registers_is_told_from_all_others() {
    let registers = ["rdx", "rax", "r9"].map(|name| Leaf::Register(name, 64));
    assert_all_differ("x86_64", &Consumer::dwarf5(), &registers);
}

#[test]
fn each_operation_on_scalar_registers_is_told_from_all_others() {
    let registers = ["s4", "s5", "s11"].map(|name| Leaf::Register(name, 32));
    assert_all_differ("amdgpu-gfx1030-wave32", &Consumer::llvm(), &registers);
}

#[test]
fn each_operation_on_register_pairs_is_told_from_all_others() {
    let pair = Leaf::Pair("s4", "s5");
    let other = Leaf::Pair("s6", "s7");
    let register = Leaf::Register("s6", 32);
    assert_all_differ("amdgpu-gfx1030-wave32", &Consumer::llvm(), &[pair, other, register]);
    assert_all_differ("amdgpu-gfx1030-wave32", &Consumer::llvm(), &[register, pair, other]);
}

/// A count is chosen for the sum, not for the register alone.
#[test]
fn each_operation_on_sums_of_a_register_and_a_constant_is_told_from_all_others() {
    let sums = [
        Leaf::Sum("rdx", 3),
        Leaf::Sum("rax", OFFSET),
        Leaf::Sum("rax", OFFSET + 8),
        Leaf::Sum("r9", OFFSET),
    ];
    assert_all_differ("x86_64", &Consumer::dwarf5(), &sums);
}

/// Constants that leave few bits of a register in the result.
const NARROW: [u64; 4] = [1, 0x80, 63, 1 << 63];

/// Returns all operations on a number and a [narrow](NARROW) constant.
fn with_constants(number: Leaf) -> impl Iterator<Item = Formula> {
    let with = move |operation| {
        NARROW.into_iter().map(move |constant| Formula::of(operation, number, Leaf::Constant(constant)))
    };
    (0..OPERATIONS.len()).flat_map(with)
}

/// Asserts that each operation on a number and a constant is told from the operation on each other number, and from
/// all operations on the same number.
fn assert_narrow_differ(target: &str, bits: u64, consumer: &Consumer, numbers: &[Leaf]) {
    let mut faults = Vec::new();
    for (index, &number) in numbers.iter().enumerate() {
        for &other in &numbers[index + 1..] {
            faults.push((Formula::Leaf(number), Formula::Leaf(other)));
            faults.extend(with_constants(number).zip(with_constants(other)));
        }
    }
    let same: Vec<Formula> = with_constants(numbers[0]).collect();
    faults.extend(same.iter().flat_map(|truth| same.iter().map(|other| (truth.clone(), other.clone()))));
    faults.retain(|(truth, other)| truth.differs(other, bits));
    assert!(faults.len() > 1000, "{}", faults.len());
    assert_found(target, bits, consumer, &faults);
}

#[test]
fn one_bit_of_a_cpu_register_is_told_from_that_of_each_other_register() {
    let names = [
        "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15",
    ];
    let registers = names.map(|name| Leaf::Register(name, 64));
    for bits in [8, 64] {
        assert_narrow_differ("x86_64", bits, &Consumer::dwarf5(), &registers);
    }
}

#[test]
fn one_bit_of_a_register_pair_is_told_from_that_of_each_other_pair() {
    let numbers = [
        Leaf::Pair("s4", "s5"),
        Leaf::Pair("s5", "s6"),
        Leaf::Pair("s6", "s7"),
        Leaf::Pair("s8", "s9"),
        Leaf::Pair("s10", "s11"),
        Leaf::Register("s4", 32),
        Leaf::Register("s5", 32),
        Leaf::Register("s30", 32),
    ];
    assert_narrow_differ("amdgpu-gfx1030-wave32", 64, &Consumer::llvm(), &numbers);
}
