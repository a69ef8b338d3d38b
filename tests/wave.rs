//! A wave that is evaluated at once gives each lane what it gets when it is evaluated alone.

mod common;

use std::borrow::Cow;
use std::cell::Cell;

use eitri::eval::{
    BaseType, Caller, Context, Element, Evaluator, Fault, InLane, Kind, Limits, ListEntry, Location, Machine,
    OwnedBody, Snapshot, TypeEncoding, Unavailable, WaveOutcome, Where,
};
use eitri::op::{Code, Dialect, DraftCodes, Encoding, Name, Reg, text};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const LLVM: Encoding = Encoding::new(8, Dialect::Llvm);

/// DWARF 6 with numbers for all operations that have none. The numbers are of no importance.
fn draft() -> Encoding {
    let unassigned = Name::ALL.iter().filter(|name| name.row().six == Code::Unassigned);
    let free = (0xac..=0xaf).chain(0xb1..=0xdd);
    let draft = unassigned.zip(free).fold(DraftCodes::NONE, |draft, (&name, code)| draft.with(name, code));
    Encoding { draft, ..Encoding::new(8, Dialect::Dwarf6) }
}

fn target(wave: u32) -> Target {
    Target::named(&format!("amdgpu-gfx1030-wave{wave}")).unwrap()
}

fn bytes(expr: &str, encoding: Encoding, target: &Target) -> Vec<u8> {
    let expr = text::parse(expr, encoding, Some(target)).unwrap_or_else(|error| panic!("{expr}: {error}"));
    expr.bytes().to_vec()
}

/// A wave in which each of the vector registers v0 to v3 holds other bytes, and lanes have memory of their own.
/// What expressions refer to depends on the lane.
fn machine(target: &Target, lanes: u64, frame_base: &str) -> Snapshot {
    let mut machine = Snapshot { lanes: Some(lanes), pc: Some(0x1000), ..Snapshot::default() };
    let first = target.register_named("v0").unwrap();
    for reg in 0..4 {
        let bytes =
            (0..target.register(first).unwrap().bits / 8).map(|byte| (byte * 7 + reg * 31) as u8).collect();
        machine.registers.insert(Reg(first.0 + u64::from(reg)), bytes);
    }
    machine.registers.insert(Reg(32), vec![0x20, 0, 0, 0]);
    machine.registers.insert(Reg(33), vec![0xff, 0xff, 0xff, 0xff]);
    machine.registers.insert(Reg(16), 0x1000u64.to_le_bytes().to_vec());
    // Small numbers, that are addresses and numbers of lanes, too.
    machine.store(SpaceId::DEFAULT, None, 0, &(0..0x200).map(|at| (at % 13) as u8).collect::<Vec<_>>());
    machine.store(SpaceId::DEFAULT, None, 0x1000, &(0..0x80).collect::<Vec<u8>>());
    for lane in 0..lanes as u32 {
        // Some lanes have less memory than others.
        let bytes: Vec<u8> = (0..0x40 + lane * 3).map(|at| (at + lane * 5) as u8).collect();
        machine.store(SpaceId(5), Some(lane), 0, &bytes);
    }
    let types = [
        (0x10, TypeEncoding::Unsigned, 32),
        (0x11, TypeEncoding::Signed, 8),
        (0x12, TypeEncoding::Float, 32),
        (0x13, TypeEncoding::Unsigned, 128),
        (0x14, TypeEncoding::Unsigned, 64),
    ];
    machine.types =
        types.into_iter().map(|(at, encoding, bits)| ((0, at), BaseType::new(encoding, bits))).collect();
    machine.cfa = Some(Location::memory(SpaceId(6), 32, 0x40));
    machine.object = Some(Location::register(Reg(first.0 + 3), 1024));
    machine.tls = Some(0x1010);
    machine.debug_addr = vec![0x1004, 9];
    machine.iteration = Some(2);
    machine.iterations = Some(4);
    let expression = |expr| OwnedBody::Expression(bytes(expr, LLVM, target));
    machine.frame_base = expression(frame_base);
    let list = [
        (Some((0x1000, 0x1010)), "regx v0; push_lane; lit4; mul; offset"),
        (Some((0x0ff0, 0x1004)), "lit8; lit5; form_aspace_address"),
        (None, "lit0"),
    ];
    let entry = |(bounds, expr)| ListEntry { bounds, expr: Cow::Owned(bytes(expr, LLVM, target)) };
    machine.entries = [
        (0x40, (expression("push_lane; lit4; mul"), 0)),
        (0x41, (expression("regx v1; push_lane; lit4; mul; offset; piece 4"), 0)),
        (0x42, (OwnedBody::List(list.into_iter().map(entry).collect()), 0)),
        (0x43, (OwnedBody::Constant(vec![1, 2, 3, 4, 5, 6, 7, 8]), 0)),
        (0x44, (expression("lit1; and; bra L0; lit3; skip L1; L0: push_lane; dup; L1: nop"), 0)),
        (0x45, (expression("regx v2; push_lane; lit4; mul; offset"), 0)),
        (0x46, (OwnedBody::Nothing, 0)),
        (0x47, (expression("regx v2"), 0)),
    ]
    .into();
    let registers = [
        (Reg(first.0), Location::memory(SpaceId(6), 32, 0x80)),
        (Reg(16), Location::memory(SpaceId::DEFAULT, 64, 0x1000)),
        (Reg(32), Location::register(Reg(33), 32)),
    ];
    let caller = Caller { pc: Some(0x2000), cfa: None, registers: registers.into() };
    machine.callers = vec![caller];
    machine
}

const FRAME_BASES: [&str; 5] = [
    "lit8; lit5; form_aspace_address",
    "push_lane; lit8; mul; plus_uconst 0x20",
    "const2u 0x1000",
    "reg16",
    "push_lane; lit3; and; bra L0; lit9; L0: lit8",
];

/// Every lane's answer from an evaluation of its own must be the wave's.
fn assert_same(
    wave: &WaveOutcome,
    lanes: u64,
    mut alone: impl FnMut(u32) -> Result<Element, Fault>,
) -> Result<(), TestCaseError> {
    for lane in 0..64 {
        let asked = lanes >> lane & 1 == 1;
        let found = wave.lane(lane);
        prop_assert_eq!(found.is_some(), asked, "lane {}", lane);
        if let Some(found) = found {
            prop_assert_eq!(found, alone(lane), "lane {}", lane);
        }
    }
    if let Some(same) = wave.same() {
        prop_assert_eq!(same.cloned().map_err(Clone::clone), alone(lanes.trailing_zeros()));
    }
    Ok(())
}

/// What an expression is made of.
#[derive(Debug, Clone)]
enum Piece {
    Op(String),
    /// Is skipped if the top is not 0.
    Unless(Vec<Piece>),
    /// Is done again while the top, less one, is above 0.
    Again(Vec<Piece>),
}

fn one_of(ops: &'static [&'static str]) -> impl Strategy<Value = Piece> {
    prop::sample::select(ops).prop_map(|op| Piece::Op(op.to_string()))
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let numbers = one_of(&[
        "lit0",
        "lit1",
        "lit2",
        "lit3",
        "lit4",
        "lit8",
        "const1s -1",
        "const1s -8",
        "const1u 200",
        "const2u 0x1000",
        "const8u 0x7fffffffffffffff",
        "const8u 0x1fffffffffffffff",
        "const1s -3; push_lane; plus",
        "const4u 0x80000000",
        "push_iteration",
        "constx 1",
        "push_lane",
        "push_lane; lit4; mul",
        "push_lane; lit1; and",
        "push_lane; lit8; minus",
        "const_type @0x10 {01 02 03 04}",
    ]);
    let places = one_of(&[
        "regx v0",
        "regx v1",
        "reg32",
        "addr 0x1000",
        "addrx 0",
        "undefined",
        "implicit_value {01 02 03 04}",
        "regx v0; push_lane; lit4; mul; offset",
        "regx v1; push_lane; lit4; mul; offset",
        "push_object_address",
        "push_lane; lit4; mul; lit5; form_aspace_address",
        "lit4; lit5; form_aspace_address",
        "call_frame_cfa",
        "const2u 0x1000; push_lane; plus",
        "push_lane; stack_value",
        "fbreg 8",
        "fbreg -8",
        "breg16 4",
        "lit5; aspace_bregx reg32 -4",
        "lit6; aspace_bregx reg32 4",
        "implicit_pointer @0x45 1",
        "call_frame_entry_reg v0",
        "composite",
        "lit5; push_lane; mem",
        "push_lane; form_tls_address",
    ]);
    let stack = one_of(&["dup", "over", "swap", "rot", "drop", "pick 2", "pick 3"]);
    let arithmetic = one_of(&[
        "and",
        "div",
        "minus",
        "mod",
        "mul",
        "or",
        "plus",
        "shl",
        "shr",
        "shra",
        "xor",
        "abs",
        "neg",
        "not",
        "plus_uconst 3",
        "eq",
        "ge",
        "gt",
        "le",
        "lt",
        "ne",
        "mod_floor",
        "convert @0x10",
        "convert @0x11",
        "convert @0x0",
        "convert @0x12",
        "reinterpret @0x14",
        "convert @0x13",
    ]);
    let locations = one_of(&[
        "offset",
        "bit_offset",
        "offset_uconst 4",
        "lit4; neg; offset",
        "push_lane; offset",
        "push_lane; bit_offset",
        "piece 4",
        "piece 4",
        "piece 1",
        "piece 8",
        "bit_piece 4 2",
        "piece 0",
        "piece_end",
        "piece_end",
        "extend 32 4",
        "extend 8 0",
        "lit5; select_bit_piece 16 4",
        "push_lane; select_bit_piece 32 8",
        "lit1; lit2; overlay",
        "lit3; lit5; bit_overlay",
        "lit0; push_lane; overlay",
        "stack_value",
        "uninit",
        "lit5; form_aspace_address",
        "push_lane; swap; form_aspace_address",
        "swap; lit0; xderef",
    ]);
    let reads = one_of(&[
        "deref",
        "deref_size 4",
        "deref_size 1",
        "deref_type 4 @0x10",
        "regval_type reg32 @0x10",
        "nop",
        "call_ref @0x40",
        "call_ref @0x41",
        "call_ref @0x42",
        "call_ref @0x43",
        "call_ref @0x44",
        "call_ref @0x45",
        "call_ref @0x46",
        "call_ref @0x47",
        "call_ref @0x99",
        "entry_value (reg16)",
        "entry_value (push_lane)",
        "implicit_pointer @0x45 0; deref",
    ]);
    let op = prop_oneof![4 => numbers, 4 => places, 2 => stack, 4 => arithmetic, 5 => locations, 2 => reads];
    let leaf = prop::collection::vec(op.clone(), 1..5);
    let block = prop_oneof![leaf.clone().prop_map(Piece::Unless), leaf.prop_map(Piece::Again)];
    prop::collection::vec(prop_oneof![8 => op, 1 => block], 1..16)
}

/// The pieces as text, without the operations that the dialect does not have.
fn text_of(pieces: &[Piece], encoding: Encoding, target: &Target, labels: &mut u32) -> Vec<String> {
    let mut all = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Op(op) => all.extend(text::parse(op, encoding, Some(target)).is_ok().then(|| op.clone())),
            Piece::Unless(inner) => {
                let label = core::mem::replace(labels, *labels + 1);
                all.push(format!("bra L{label}"));
                all.extend(text_of(inner, encoding, target, labels));
                all.push(format!("L{label}: nop"));
            }
            Piece::Again(inner) => {
                let label = core::mem::replace(labels, *labels + 1);
                all.push(format!("L{label}: nop"));
                all.extend(text_of(inner, encoding, target, labels));
                all.push(format!("lit1; minus; dup; lit0; gt; bra L{label}"));
            }
        }
    }
    all
}

fn limits() -> impl Strategy<Value = Limits> {
    let some = (1u64..60, 0u32..4, 1u32..12, 1u32..40).prop_map(|(steps, depth, stack, parts)| Limits {
        steps,
        depth,
        stack,
        parts,
    });
    prop_oneof![4 => Just(Limits { steps: 400, ..Limits::default() }), 1 => some]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same location, value or fault, of the same class at the same operation and for the same reason.
    #[test]
    fn a_wave_answers_as_its_lanes_do(
        pieces in pieces(),
        is_draft in prop::bool::weighted(0.3),
        wave in prop::sample::select(&[32u32, 64][..]),
        lanes in prop_oneof![3 => Just(u64::MAX), 1 => any::<u64>(), 1 => Just(1 << 5)],
        kind in prop::sample::select(&[Kind::Location, Kind::Value, Kind::Any][..]),
        frame_base in prop::sample::select(&FRAME_BASES[..]),
        place in prop_oneof![9 => Just(Where::Location), 1 => Just(Where::Cfi)],
        big_endian in prop::bool::weighted(0.1),
        few_lanes in prop::bool::weighted(0.1),
        limits in limits(),
    ) {
        let (target, encoding) = (target(wave), if is_draft { draft() } else { LLVM });
        let expr = text_of(&pieces, encoding, &target, &mut 0).join("; ");
        let expr = bytes(&expr, encoding, &target);
        // Lanes beyond those of the wave can be asked for, too.
        let lanes = if wave == 32 { lanes & 0x3_ffff_ffff } else { lanes };
        let mut machine = machine(&target, wave.into(), frame_base);
        machine.big_endian = big_endian;
        if few_lanes {
            machine.lanes = Some(20);
        }
        let initial = [Element::Location(Location::register(Reg(32), 32))];
        let context = Context { kind, place, initial: &initial, ..Context::new(encoding, &target) };
        let mut evaluator = Evaluator::new().with_limits(limits);
        let wave = evaluator.wave(&expr, lanes, &machine, &context);
        prop_assert_eq!(wave.lanes(), lanes);
        assert_same(&wave, lanes, |lane| {
            machine.lane = Some(lane.into());
            evaluator.evaluate(&expr, &machine, &context)
        })?;
    }
}

/// The conformance vectors, for each of 64 lanes, of which most machines have fewer.
#[cfg(feature = "json")]
#[test]
fn vectors_in_all_lanes() {
    use eitri::conform::{Body, File};

    let folder = std::fs::read_dir(common::golden("conformance")).expect("the folder");
    let (mut count, mut uniform) = (0, 0);
    for path in folder.map(|entry| entry.expect("a file").path()) {
        let file = File::from_json(std::fs::read(&path).expect("is read")).expect("vectors");
        for vector in file.vectors() {
            let Body::Expression(expr) = &vector.body else { continue };
            let (snapshot, context) = (&vector.machine.snapshot, vector.context());
            let mut evaluator = Evaluator::new();
            let wave = evaluator.wave(expr, u64::MAX, snapshot, &context);
            let same = assert_same(&wave, u64::MAX, |lane| {
                evaluator.evaluate(expr, &InLane::new(snapshot, lane.into()), &context)
            });
            same.unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), vector.name));
            // The lane that the vector is about.
            if let Some(lane) = snapshot.lane.filter(|lane| *lane < 64) {
                let alone = evaluator.evaluate(expr, snapshot, &context);
                assert_eq!(wave.lane(lane as u32), Some(alone), "{}", vector.name);
            }
            count += 1;
            uniform += usize::from(wave.same().is_some());
        }
    }
    println!("{count} vectors, {uniform} of which do not depend on the lane");
    assert!(count > 600 && uniform > 0 && uniform < count);
}

/// Counts how often it is asked for registers and memory.
struct Counting {
    machine: Snapshot,
    reads: Cell<u32>,
}

impl Machine for Counting {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        self.reads.set(self.reads.get() + 1);
        self.machine.register(reg, frame, at, into)
    }

    fn memory(&self, space: SpaceId, lane: Option<u32>, at: u64, into: &mut [u8]) -> Result<(), Unavailable> {
        self.reads.set(self.reads.get() + 1);
        self.machine.memory(space, lane, at, into)
    }

    fn lanes(&self) -> u64 {
        self.machine.lanes()
    }
}

fn reads(expr: &str, lanes: u64) -> (u32, WaveOutcome) {
    let target = target(32);
    let machine = Counting { machine: machine(&target, 32, "reg16"), reads: Cell::new(0) };
    let context = Context::new(LLVM, &target);
    let wave = Evaluator::new().wave(&bytes(expr, LLVM, &target), lanes, &machine, &context);
    (machine.reads.get(), wave)
}

#[test]
fn what_does_not_depend_on_the_lane_is_done_once() {
    const ALL: u64 = 0xffff_ffff;
    // The register, then two bytes of memory.
    let (count, wave) = reads("breg16 1; deref_size 1; deref_size 1; plus_uconst 7", ALL);
    assert_eq!(count, 3);
    assert!(wave.same().is_some());
    // The same before and after something that does.
    let (count, wave) = reads("breg16 0; push_lane; lit4; mul; plus; breg16 8; deref_size 1; plus", ALL);
    assert_eq!(count, 3);
    assert!(wave.same().is_none());
    assert_eq!(wave.lane(3).unwrap().unwrap().to_string(), "mem:0:0x1014");
    // A byte of each lane, and one of all.
    let (count, _) = reads("breg16 0; push_lane; plus; deref_size 1; breg16 8; deref_size 1; plus", ALL);
    assert_eq!(count, 1 + 32 + 2);
    // Lanes that are not asked for are not looked at.
    let (count, _) = reads("breg16 0; push_lane; plus; deref_size 1", 0b1110);
    assert_eq!(count, 1 + 3);
    // Half of the lanes go one way and half the other: each way is gone once.
    let branches = "push_lane; lit1; and; bra L0; breg16 0; skip L1; L0: breg16 8; L1: deref_size 1";
    assert_eq!(reads(branches, ALL).0, 4);
}

#[test]
fn a_fault_is_of_the_lane_that_has_it() {
    let (_, wave) = reads("const1u 100; push_lane; lit2; minus; div", 0xf);
    let shown = |lane: u32| match wave.lane(lane).unwrap() {
        Ok(element) => element.to_string(),
        Err(fault) => format!("{}, operation {:?}, offset {:?}", fault.class, fault.operation, fault.offset),
    };
    // 100 / -2, 100 / -1, 100 / 0 and 100 / 1, as addresses.
    assert_eq!(shown(0), "mem:0:0xffffffffffffffce");
    assert_eq!(shown(1), "mem:0:0xffffffffffffff9c");
    assert_eq!(shown(2), "evaluation error, operation Some(4), offset Some(6)");
    assert_eq!(shown(3), "mem:0:0x64");
    assert!(wave.lane(4).is_none() && wave.lane(64).is_none() && wave.same().is_none());
    assert_eq!(reads("drop", 0xf).1.lane(2).unwrap().unwrap_err().offset, Some(0));
    assert!(reads("lit1", 0).1.same().is_none());
}
