//! An ill-formed expression fails on every machine: none that some machine can evaluate, whatever its contents, is one.

use std::collections::BTreeSet;

use eitri::eval::{
    BaseType, Body, CallValue, Context, DebugInfo, Evaluator, Location, Machine, ReferencedEntry, Unavailable,
};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::op::{
    COMPACT, Compact, Decoder, Dialect, Encoding, Form, LLVM_USER, OperandKind, OperationName, Reg, text,
    write_uleb,
};
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

/// rdx contains -1 on a machine, and then the address space is 0. A location is at a byte if r14 contains 2.
#[test]
fn operand_with_contents_of_register_is_well_formed() {
    for (expr, code) in [
        ("lit2; breg1 1; form_aspace_address", None),
        ("breg1 1; lit8; xderef; stack_value", None),
        ("breg1 1; breg14 30; bit_offset; offset_uconst 17; stack_value", None),
        ("breg1 1; lit9; form_aspace_address", Some("unknown-space")),
        ("breg1 1; form_aspace_address", Some("ill-formed")),
    ] {
        let object = described(&Target::x86_64(), &[bytes("x86_64", expr)]);
        let report = lint(&object, &LintOptions::default()).expect("it is read");
        let found = report.findings.iter().filter(|one| one.variable.as_deref() == Some("0"));
        assert!(found.map(|one| one.code.name()).eq(code), "{expr}");
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
    let report = lint(&object, &LintOptions::default()).expect("it is read");
    assert!(
        report.findings.iter().all(|one| one.code != LintCode::ConstantAsAddress),
        "{:?}",
        report.findings
    );
}

/// Bytes of registers and memory: one word, or noise.
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

/// A machine that is stopped in a function with a caller, and that knows the entries of the object.
struct Stopped<'a> {
    contents: Contents,
    info: &'a DebugInfo<'a, 'a>,
}

/// `const4u 0x40000040`.
const FRAME_BASE: [u8; 5] = [0x0c, 0x40, 0x00, 0x00, 0x40];

fn memory(address: u64) -> Location {
    Location::memory(SpaceId::DEFAULT, 64, address)
}

impl Machine for Stopped<'_> {
    fn register(&self, reg: Reg, _: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        (0..)
            .zip(into)
            .for_each(|(index, byte)| *byte = self.contents.byte(reg.0 + 1, u64::from(at) + index));
        Ok(())
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, address: u64, into: &mut [u8]) -> Result<(), Unavailable> {
        (0..).zip(into).for_each(|(index, byte)| *byte = self.contents.byte(0, address.wrapping_add(index)));
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        Some(0)
    }

    fn lanes(&self) -> u64 {
        32
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame < 2).then_some(4)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        (frame < 2).then(|| memory(0x7000 + u64::from(frame)))
    }

    fn frame_base(&self, _: u32) -> Option<ReferencedEntry<'_>> {
        Some(ReferencedEntry::new(Body::Expression(&FRAME_BASE), 0, None))
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        (frame == 1).then(|| memory(0x8000 + 8 * reg.0))
    }

    fn tls(&self) -> Option<u64> {
        Some(0x6000)
    }

    fn object(&self) -> Option<Location> {
        Some(memory(0x5000))
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.info.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.info.base_type(unit, offset)
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        self.info.variable_type(offset)
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.info.entry(offset)
    }

    fn call_value(&self, _: u64, frame: u32) -> Option<CallValue<'_>> {
        let value = ReferencedEntry::new(Body::Expression(&FRAME_BASE), 0, None);
        (frame == 0).then_some(CallValue { value, target: None })
    }
}

/// Opcodes, with the sub-operation after `DW_OP_LLVM_user`. The operands of three operations depend on a number that
/// nothing specifies, and the rest have no number yet.
fn opcodes() -> Vec<(OperationName, Vec<u8>)> {
    let mut all: Vec<_> = COMPACT.iter().map(|family| (family.name, vec![family.first])).collect();
    for name in OperationName::ALL {
        if matches!(name, OperationName::NvidiaMux | OperationName::Extended | OperationName::UserExtended) {
            continue;
        }
        let row = name.row();
        all.extend([row.std, row.gnu].into_iter().filter_map(|code| Some((*name, vec![code.get()?]))));
        all.extend(row.user.get().map(|code| (*name, vec![LLVM_USER, code])));
    }
    all
}

/// Offsets of entries that expressions refer to: base types, and a variable without a name.
struct Referenced {
    types: Vec<u64>,
    entries: Vec<u64>,
}

/// An object whose variables have these expressions, named by number.
fn described(target: &Target, all: &[Vec<u8>]) -> Vec<u8> {
    let mut unit = Unit::new();
    let location = |expr: &[u8]| AttributeValue::Exprloc(Expression::raw(expr.to_vec()));
    let (f, int) = (unit.f, AttributeValue::UnitRef(unit.int));
    let attributes = vec![(dw::DW_AT_type, int), (dw::DW_AT_location, location(&[0x31]))];
    entry(&mut unit.dwarf, f, dw::DW_TAG_variable, attributes);
    for (index, expr) in all.iter().enumerate() {
        let name = AttributeValue::String(index.to_string().into());
        let attributes = vec![(dw::DW_AT_name, name), (dw::DW_AT_location, location(expr))];
        entry(&mut unit.dwarf, f, dw::DW_TAG_variable, attributes);
    }
    unit.object_for(target)
}

impl Referenced {
    fn new(target: &Target) -> Self {
        let object = described(target, &[]);
        let read = Object::read(&object).expect("an object");
        let dwarf = Dwarf::read(&read).expect("units");
        let offsets = |tags: &[gimli::DwTag]| -> Vec<u64> {
            dwarf.entries().filter(|entry| tags.contains(&entry.tag())).map(|entry| entry.offset()).collect()
        };
        let types = offsets(&[dw::DW_TAG_base_type]);
        let entries = offsets(&[dw::DW_TAG_base_type, dw::DW_TAG_variable]);
        Self { types, entries }
    }

    /// Appends a small operand, which is often a useful one.
    fn append(&self, kind: OperandKind, is_gpu: bool, below: &mut impl FnMut(u64) -> u64, out: &mut Vec<u8>) {
        let entry = self.entries[below(self.entries.len() as u64) as usize];
        match kind {
            OperandKind::U8 => out.push([1, 4, 8, below(10) as u8][below(4) as usize]),
            OperandKind::Uleb | OperandKind::Sleb => {
                out.push(below(40) as u8 + 0x40 * u8::from(below(8) == 0))
            }
            // Scalar registers begin at 32, and vector registers at 1536 with waves of 32 lanes.
            OperandKind::Register if is_gpu => write_uleb(out, [32, 1536][below(2) as usize] + below(40)),
            OperandKind::Register => out.push(below(16) as u8),
            OperandKind::Address => out.extend((8 * below(8)).to_le_bytes()),
            OperandKind::Branch => out.extend((below(6) as i16).to_le_bytes()),
            OperandKind::Entry2 => out.extend((entry as u16).to_le_bytes()),
            OperandKind::Entry4 | OperandKind::EntrySection => out.extend((entry as u32).to_le_bytes()),
            OperandKind::TypeEntry => {
                let ty = self.types[below(self.types.len() as u64) as usize];
                write_uleb(out, [ty, 0][usize::from(below(8) == 0)]);
            }
            OperandKind::Block | OperandKind::Block1 => {
                let len = [4, 8, below(9)][below(3) as usize];
                out.push(len as u8);
                out.extend((0..len).map(|byte| byte as u8));
            }
            OperandKind::Expression => out.extend([1, 0x50 + below(16) as u8]),
            OperandKind::Encoded => out.extend([0x03, below(64) as u8, 0, 0, 0]),
            kind => panic!("no operand of kind {kind:?} is drawn"),
        }
    }

    /// A random expression. Usually the stack has what an operation pops, and the last operation leaves a location.
    fn expression(
        &self,
        opcodes: &[(OperationName, Vec<u8>)],
        is_gpu: bool,
        below: &mut impl FnMut(u64) -> u64,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut depth = 0_u8;
        for _ in 0..1 + below(5) {
            let (name, opcode) = &opcodes[below(opcodes.len() as u64) as usize];
            let (pops, pushes) = name.row().stack;
            while depth < pops.unwrap_or(2) && below(8) != 0 {
                let largest = [4, 32][below(2) as usize];
                let small = below(largest) as u8;
                match below(4) {
                    0 => out.extend([0x70 + small % 16, small]),
                    1 => out.push(0x50 + small % 16),
                    _ => out.push(0x30 + small),
                }
                depth += 1;
            }
            if *name == OperationName::PieceEnd && below(2) == 0 {
                out.extend([0x93, 4]);
            }
            let first = opcode[0];
            out.extend(opcode);
            match COMPACT.iter().find(|family| opcode.len() == 1 && family.first == first) {
                Some(Compact { form: Form::Unsigned(bytes) | Form::Signed(bytes), .. }) => {
                    let number = [below(40), u64::MAX - below(40)][below(2) as usize].to_le_bytes();
                    out.extend(&number[..usize::from(*bytes)]);
                }
                // An offset follows the register.
                Some(Compact { name: OperationName::BregX, .. }) => out.push(below(40) as u8),
                Some(_) => {}
                None => {
                    for (_, kind) in name.row().operands {
                        self.append(*kind, is_gpu, below, &mut out);
                    }
                }
            }
            depth = depth.saturating_sub(pops.unwrap_or(0)) + pushes.unwrap_or(1);
        }
        if depth > 0 && below(4) == 0 {
            out.push(0x9f);
        }
        out
    }
}

/// The shape that lint computes of an expression, and the evaluations that confirm it, are held to the evaluator on other
/// machines. Every operation of the table with a number is part of an expression that is evaluated, except those with
/// an index of an address: the file has no `.debug_addr`.
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
    let contents: Vec<_> = words.into_iter().chain((1..6).map(Contents::Noise)).collect();
    let opcodes = opcodes();
    let mut used = BTreeSet::new();
    for name in [AMD, "x86_64"] {
        let target = Target::named(name).expect("a target");
        let referenced = Referenced::new(&target);
        let mut evaluated = 0;
        let mut ill_formed = 0;
        for _ in 0..8 {
            let expression = |_| referenced.expression(&opcodes, name == AMD, &mut below);
            let all: Vec<Vec<u8>> = (0..600).map(expression).collect();
            let object = described(&target, &all);
            let report = lint(&object, &LintOptions::default()).expect("it is read");
            let found = report.findings.iter().filter(|one| one.code == LintCode::IllFormed);
            let found: BTreeSet<usize> =
                found.filter_map(|one| one.variable.as_deref()?.parse().ok()).collect();
            let read = Object::read(&object).expect("an object");
            let dwarf = Dwarf::read(&read).expect("units");
            let info = DebugInfo::new(&dwarf);
            let encoding = dwarf.units()[0].encoding;
            let context = Context::new(encoding, &target);
            let mut evaluator = Evaluator::new();
            for (index, expr) in all.iter().enumerate() {
                let mut machines = contents.iter().map(|&contents| Stopped { contents, info: &info });
                let is_evaluated = machines.any(|on| evaluator.evaluate(expr, &on, &context).is_ok());
                let text = || text::print(expr, encoding, Some(&target));
                assert!(!(is_evaluated && found.contains(&index)), "{name}: {}", text());
                if is_evaluated {
                    evaluated += 1;
                    used.extend(Decoder::new(expr, encoding).flatten().map(|one| one.op.name()));
                }
            }
            ill_formed += found.len();
        }
        assert!(evaluated > 300 && ill_formed > 300, "{name}: {evaluated} and {ill_formed}");
    }
    used.extend([OperationName::Addrx, OperationName::Constx]);
    let drawn: BTreeSet<_> = opcodes.iter().map(|opcode| opcode.0).collect();
    let unused: Vec<_> = drawn.difference(&used).collect();
    assert!(unused.is_empty(), "operations in no expression that is evaluated: {unused:?}");
}
