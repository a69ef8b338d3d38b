//! An ill-formed expression fails on every machine: none that some machine can evaluate, whatever its contents, is one.

use std::collections::BTreeSet;

use eitri::eval::{Context, Evaluator, Location, Machine, Unavailable};
use eitri::lint::{Code, Options, lint};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::{Dwarf, Object};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;
use gimli::write::{AttributeValue, Expression};

use super::compiled;
use super::kinds::{Unit, entry};
use super::made::{AMD, codes, object};
use super::tools::Tool;

fn bytes(target: &str, expr: &str) -> Vec<u8> {
    let target = Target::named(target).expect("a target");
    let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(&target));
    expr.expect("an expression").bytes().to_vec()
}

/// Codes of findings about a variable with this expression.
fn codes_of(target: &str, bits: u64, expr: &[u8]) -> Vec<&'static str> {
    codes(&object(target, bits, &[(0, 0x10, expr)]))
}

/// AMD's compiler writes every value of 64 bits so.
#[test]
fn composite_with_piece_end_is_well_formed() {
    for expr in [
        "regx s2; piece 4; regx s3; piece 4; piece_end",
        "regx v1; push_lane; lit4; mul; offset; piece 4; regx v3; push_lane; lit4; mul; offset; piece 4; piece_end",
    ] {
        assert!(codes_of(AMD, 64, &bytes(AMD, expr)).is_empty(), "{expr}");
    }
    assert_eq!(codes_of(AMD, 64, &bytes(AMD, "regx s2; piece_end")), ["ill-formed"]);
    // A piece of the composite is judged as without `piece_end`.
    let no_lane = bytes(AMD, "regx v1; piece 4; regx s3; piece 4; piece_end");
    assert_eq!(codes_of(AMD, 64, &no_lane), ["no-lane"]);
}

/// gcc describes `16 / x` for an `x` in memory so. No fault that depends on contents is one of the expression.
#[test]
fn division_by_contents_is_well_formed() {
    for (expr, code) in [
        ("lit16; breg7 -20; deref_size 4; div; stack_value", None),
        ("lit16; breg7 -20; deref_size 4; mod; stack_value", None),
        ("lit16; breg7 -17; deref_size 1; div; stack_value", None),
        ("lit16; breg7 -18; deref_size 2; div; stack_value", None),
        // One machine in 2 to the power of 64 has this number in rdi.
        ("lit16; breg5 0; const8u 0x123456789abcdef; eq; div; stack_value", None),
        ("breg5 0; const8u 0x123456789abcdef; eq; bra +1; swap; lit3; stack_value", None),
        ("breg5 0; lit0; div; stack_value", Some("ill-formed")),
        ("breg5 0; lit4; lit4; minus; mod; stack_value", Some("ill-formed")),
        ("breg5 0; deref; plus; stack_value", Some("ill-formed")),
    ] {
        let found = codes_of("x86_64", 64, &bytes("x86_64", expr));
        assert_eq!(found, Vec::from_iter(code), "{expr}");
    }
}

/// Debian's debug build of python has an expression of 12,389 operations.
#[test]
fn limit_of_evaluator_is_not_a_fault_of_expression() {
    let sum = |count: usize| [&[0x75, 0][..], &[0x31, 0x22].repeat(count), &[0x9f]].concat();
    for count in [6_194, 60_000] {
        assert!(codes_of("x86_64", 64, &sum(count)).is_empty(), "{count} additions");
    }
    // lit0, and a loop that adds 1 until the sum is 40,000.
    let looped = "lit0; plus_uconst 1; dup; const2u 40000; ne; bra -10; stack_value";
    assert!(codes_of("x86_64", 64, &bytes("x86_64", looped)).is_empty());
    // More parts than the evaluator allows.
    let parts = bytes(AMD, "regx v0; extend 8 200000; deref_size 1; stack_value");
    assert!(!codes_of(AMD, 64, &parts).contains(&"ill-formed"));
}

/// A lambda that is called through a null pointer: gcc has its captures in memory at 0 and at 4, where the code reads.
#[test]
fn captures_of_null_closure_are_at_addresses() {
    const SOURCE: &str = "\
extern void use(int);
int invoke(int a, int b, bool none) {
  auto lam = [a, b](int k) { use(a); use(b + k); return a; };
  decltype(lam) *p = none ? nullptr : &lam;
  if (!p) return (*p)(1);
  return (*p)(2);
}
";
    let gcc = Tool::new("g++", "g++");
    let Some(object) = compiled::object_of(gcc, "a.cpp", SOURCE, &["-O2", "-g"]) else { return };
    let read = Object::read(&object).expect("an object");
    let dwarf = Dwarf::read(&read).expect("units");
    let is_constant = |expr: &[u8]| matches!(expr, [0x30] | [0x30, 0x23, 4]);
    let variables = dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_variable);
    let lists = variables.filter_map(|entry| entry.locations(dw::DW_AT_location).expect("a list"));
    assert!(lists.flatten().any(|one| is_constant(one.expr)), "gcc does not describe the null object");
    let report = lint(&object, &Options::default()).expect("it is read");
    assert!(report.findings.iter().all(|one| one.code != Code::ConstantAsAddress), "{:?}", report.findings);
}

/// A machine whose bytes are one word, or noise.
#[derive(Clone, Copy)]
enum Contents {
    Word(u64),
    Noise(u64),
}

impl Contents {
    fn byte(self, of: u64, at: u64) -> u8 {
        match self {
            Self::Word(word) => word.to_le_bytes()[at as usize % 8],
            Self::Noise(seed) => {
                let mixed = (seed ^ of << 40 ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
            }
        }
    }
}

impl Machine for Contents {
    fn register(&self, reg: Reg, _: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        (0..).zip(into).for_each(|(index, byte)| *byte = self.byte(reg.0 + 1, u64::from(at) + index));
        Ok(())
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, address: u64, into: &mut [u8]) -> Result<(), Unavailable> {
        (0..).zip(into).for_each(|(index, byte)| *byte = self.byte(0, address.wrapping_add(index)));
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        Some(0)
    }

    fn lanes(&self) -> u64 {
        32
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(4)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        (frame == 0).then(|| Location::memory(SpaceId::DEFAULT, 64, 0x7000))
    }

    fn tls(&self) -> Option<u64> {
        Some(0x6000)
    }

    fn object(&self) -> Option<Location> {
        Some(Location::memory(SpaceId::DEFAULT, 64, 0x5000))
    }
}

/// A random expression. Each operation is drawn from all that refer to no other entry, with small operands.
fn random(below: &mut impl FnMut(u64) -> u64, target: &str) -> Vec<u8> {
    let mut expr = Vec::new();
    for _ in 0..1 + below(5) {
        let small = below(40) as u8;
        match below(if target == AMD { 26 } else { 20 }) {
            0..4 => expr.push(0x30 + small % 32),
            4 | 5 => expr.extend([0x70 + small % 16, small]),
            6 => expr.push(0x50 + small % 16),
            7 => expr.extend([0x93, small % 9]),
            8 => expr.extend([0x94, small % 10]),
            9 => expr.extend([0x9d, small, small / 4]),
            10 => expr.extend([0x9e, 2, small, small]),
            11 => expr.extend([[0x28, 0x2f][usize::from(small % 2)], small % 3, 0]),
            12 => expr.extend([0x95, small % 9]),
            13 => expr.extend([0x23, small]),
            14 => expr.push([0x96, 0x97, 0x9b, 0x9c, 0x9f][usize::from(small % 5)]),
            15 => expr.push(0x06),
            // Operations on the stack, and arithmetic.
            16..20 => match 0x12 + small % 28 {
                0x15 => expr.extend([0x15, small % 3]),
                0x23 => expr.extend([0x23, small]),
                0x28 => expr.push(0x29),
                other => expr.push(other),
            },
            20 => expr.extend([0x90, 0x80 | small, 0x14]),
            // `regx v3; push_lane; lit4; mul; offset`: vector registers begin at 1536, with waves of 32 lanes.
            21 => expr.extend([0x90, 0x83, 0x0c, 0xe9, 3, 0x34, 0x1e, 0xe9, 4]),
            22 => expr.extend([0xe9, 5, small]),
            23 => expr.extend([0xe9, 9, 32 + small % 32, small]),
            24 => expr.extend([0xe9, [11, 12][usize::from(small % 2)], small, small % 5]),
            _ => expr.extend([0xe9, [2, 3, 4, 6, 8, 10][usize::from(small % 6)]]),
        }
    }
    expr
}

#[test]
fn expression_that_some_machine_evaluates_is_not_ill_formed() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |count: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % count
    };
    let words = [0, 1, 4, 8, u64::MAX].map(Contents::Word);
    let machines: Vec<_> = words.into_iter().chain((1..6).map(Contents::Noise)).collect();
    for name in [AMD, "x86_64"] {
        let target = Target::named(name).expect("a target");
        let mut evaluated = 0;
        let mut ill_formed = 0;
        for _ in 0..8 {
            let all: Vec<Vec<u8>> = (0..400).map(|_| random(&mut below, name)).collect();
            let mut unit = Unit::new();
            for (index, expr) in all.iter().enumerate() {
                let expr = AttributeValue::Exprloc(Expression::raw(expr.clone()));
                let name = AttributeValue::String(index.to_string().into());
                let f = unit.f;
                let attributes = vec![(dw::DW_AT_name, name), (dw::DW_AT_location, expr)];
                entry(&mut unit.dwarf, f, dw::DW_TAG_variable, attributes);
            }
            let object = unit.object_for(&target);
            let report = lint(&object, &Options::default()).expect("it is read");
            let found = report.findings.iter().filter(|one| one.code == Code::IllFormed);
            let found: BTreeSet<usize> =
                found.filter_map(|one| one.variable.as_deref()?.parse().ok()).collect();
            let read = Object::read(&object).expect("an object");
            let encoding = Dwarf::read(&read).expect("units").units()[0].encoding;
            let context = Context::new(encoding, &target);
            let mut evaluator = Evaluator::new();
            for (index, expr) in all.iter().enumerate() {
                let is_evaluated = machines.iter().any(|on| evaluator.evaluate(expr, on, &context).is_ok());
                let text = || text::print(expr, encoding, Some(&target));
                assert!(!(is_evaluated && found.contains(&index)), "{name}: {}", text());
                evaluated += usize::from(is_evaluated);
            }
            ill_formed += found.len();
        }
        assert!(evaluated > 300 && ill_formed > 300, "{name}: {evaluated} and {ill_formed}");
    }
}
