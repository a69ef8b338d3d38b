//! The promise: evaluating a wave gives each lane the result of its separate evaluation.

use crate::common;

use std::borrow::Cow;
use std::cell::Cell;

use crate::common::with;
use eitri::eval::{
    BaseType, Bits, Body, Caller, Context, Element, Evaluator, ExpressionSite, Fault, InLane, LaneBits,
    Limits, Location, LocationListEntry, Machine, OwnedBody, ResultKind, Snapshot, TypeEncoding, Unavailable,
    WaveOutcome, read_bits,
};
use eitri::op::{Dialect, DraftCodes, Encoding, Opcode, OperationName, Reg, text};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;
use proptest::prelude::*;

const LLVM: Encoding = Encoding::new(8, Dialect::Llvm);

/// DWARF 6, with arbitrary codes for all operations without one.
fn draft() -> Encoding {
    let unassigned = OperationName::ALL.iter().filter(|name| name.row().six == Opcode::Unassigned);
    let free = (0xac..=0xaf).chain(0xb1..=0xdd);
    let draft = unassigned.zip(free).fold(DraftCodes::NONE, |draft, (&name, code)| draft.with(name, code));
    Encoding::new(8, Dialect::Dwarf6).with_draft(draft)
}

fn target(wave: u32) -> Target {
    Target::named(&format!("amdgpu-gfx1030-wave{wave}")).unwrap()
}

fn bytes(expr: &str, encoding: Encoding, target: &Target) -> Vec<u8> {
    let expr = text::parse(expr, encoding, Some(target)).unwrap_or_else(|error| panic!("{expr}: {error}"));
    expr.bytes().to_vec()
}

/// A wave with different bytes in the vector registers v0 to v3, and with memory per lane. Entries that expressions
/// refer to depend on the lane.
fn machine(target: &Target, lanes: u64, frame_base: &str) -> Snapshot {
    let mut machine = with::<Snapshot>(|machine| {
        machine.lanes = Some(lanes);
        machine.pc = Some(0x1000);
    });
    let first = target.register_named("v0").unwrap();
    for reg in 0..4 {
        let bytes =
            (0..target.register(first).unwrap().bits / 8).map(|byte| (byte * 7 + reg * 31) as u8).collect();
        machine.registers.insert(Reg(first.0 + u64::from(reg)), bytes);
    }
    machine.registers.insert(Reg(32), vec![0x20, 0, 0, 0]);
    machine.registers.insert(Reg(33), vec![0xff, 0xff, 0xff, 0xff]);
    machine.registers.insert(Reg(16), 0x1000u64.to_le_bytes().to_vec());
    // Small numbers, which are also valid addresses and lanes.
    machine.store(SpaceId::DEFAULT, None, 0, &(0..0x200).map(|at| (at % 13) as u8).collect::<Vec<_>>());
    machine.store(SpaceId::DEFAULT, None, 0x1000, &(0..0x80).collect::<Vec<u8>>());
    for lane in 0..lanes as u32 {
        // Lanes have different amounts of memory.
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
    machine.frame_base = Some((expression(frame_base), 0));
    let list = [
        (Some((0x1000, 0x1010)), "regx v0; push_lane; lit4; mul; offset"),
        (Some((0x0ff0, 0x1004)), "lit8; lit5; form_aspace_address"),
        (None, "lit0"),
    ];
    let entry = |(bounds, expr)| LocationListEntry { bounds, expr: Cow::Owned(bytes(expr, LLVM, target)) };
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

/// Compares the wave's result for every lane with a separate evaluation.
fn assert_same(
    wave: &mut WaveOutcome,
    lanes: u64,
    mut alone: impl FnMut(u32) -> Result<Element, Fault>,
) -> Result<(), TestCaseError> {
    for lane in 0..64 {
        let asked = lanes >> lane & 1 == 1;
        let found = wave.lane(lane);
        prop_assert_eq!(found.is_some(), asked, "lane {}", lane);
        // Kept in the memory of the lane before.
        let kept = wave.locate(lane).map(|kept| kept.cloned().map_err(Clone::clone));
        prop_assert_eq!(&kept, &found, "lane {}", lane);
        if let Some(found) = found {
            prop_assert_eq!(found, alone(lane), "lane {}", lane);
        }
    }
    if let Some(same) = wave.uniform() {
        prop_assert_eq!(same.cloned().map_err(Clone::clone), alone(lanes.trailing_zeros()));
    }
    Ok(())
}

/// Compares the bits that are read in all lanes at once with those read at the location of each lane.
fn assert_read(wave: &WaveOutcome, lanes: u64, machine: &dyn Machine) -> Result<(), TestCaseError> {
    for bits in [0, 1, 8, 12, 32, 64, 100, 1024] {
        let read = wave.read_bits(bits, machine).expect("few bits");
        for lane in 0..64 {
            let found = read.lane(lane);
            prop_assert_eq!(found.is_some(), lanes >> lane & 1 == 1, "lane {}", lane);
            let alone = match (found, wave.lane(lane)) {
                (Some(_), Some(Ok(Element::Location(location)))) => read_bits(&location, bits, machine),
                (Some(found), Some(Ok(Element::Value(_)))) => {
                    prop_assert!(found.is_err(), "lane {}", lane);
                    continue;
                }
                (_, Some(Err(fault))) => Err(fault),
                _ => continue,
            };
            let found = found.map(|found| match found {
                Ok(LaneBits { bytes, defined }) => Ok(Bits { bytes: bytes.into(), defined: defined.into() }),
                Err(fault) => Err(fault.clone()),
            });
            prop_assert_eq!(found, Some(alone), "{} bits of lane {}", bits, lane);
        }
    }
    Ok(())
}

/// Operations with the stack elements that they pop and push: `v` is a value of the generic type, `t` of another, `l`
/// a location, `c` an incomplete composite. The last element is on top.
const OPS: [(&str, &str, &str); 126] = [
    ("lit0", "", "v"),
    ("lit1", "", "v"),
    ("lit8", "", "v"),
    ("const1s -1", "", "v"),
    ("const1u 200", "", "v"),
    ("const2u 0x1000", "", "v"),
    ("const4u 0x80000000", "", "v"),
    ("const8u 0x7fffffffffffffff", "", "v"),
    ("push_iteration", "", "v"),
    ("constx 1", "", "v"),
    ("push_lane", "", "v"),
    ("push_lane", "", "v"),
    ("push_lane; lit4; mul", "", "v"),
    ("push_lane; lit1; and", "", "v"),
    ("push_lane; lit8; minus", "", "v"),
    ("lit31; lit1; shl; push_lane; minus", "", "v"),
    ("push_lane; lit3; shl", "", "v"),
    ("push_lane; lit4; mul; const2u 0x1000; plus", "", "v"),
    ("const_type @0x10 {01 02 03 04}", "", "t"),
    ("regval_type reg32 @0x10", "", "t"),
    ("call_ref @0x40", "", "v"),
    ("entry_value (reg16)", "", "v"),
    ("entry_value (push_lane)", "", "v"),
    ("regx v0", "", "l"),
    ("regx v1", "", "l"),
    ("reg32", "", "l"),
    ("addr 0x1000", "", "l"),
    ("addrx 0", "", "l"),
    ("undefined", "", "l"),
    ("composite", "", "l"),
    ("implicit_value {01 02 03 04}", "", "l"),
    ("regx v0; push_lane; lit4; mul; offset", "", "l"),
    ("regx v1; push_lane; lit4; mul; offset", "", "l"),
    ("push_object_address", "", "l"),
    ("push_lane; lit4; mul; lit5; form_aspace_address", "", "l"),
    ("lit4; lit5; form_aspace_address", "", "l"),
    ("const8u 0x1ffffffffffffff0; push_lane; plus; lit0; form_aspace_address", "", "l"),
    ("lit5; push_lane; mem", "", "l"),
    ("push_lane; lit8; mul; bra L9; reg32; skip L8; L9: regx v1; L8: nop", "", "l"),
    ("push_lane; bra L7; lit2; skip L6; L7: reg32; L6: nop", "", "v"),
    ("call_frame_cfa", "", "l"),
    ("push_lane; stack_value", "", "l"),
    ("fbreg 8", "", "l"),
    ("fbreg -8", "", "l"),
    ("breg16 4", "", "l"),
    ("lit5; aspace_bregx reg32 -4", "", "l"),
    ("lit6; aspace_bregx reg32 4", "", "l"),
    ("implicit_pointer @0x45 1", "", "l"),
    ("implicit_pointer @0x45 0; deref; lit0; form_aspace_address", "", "l"),
    ("call_frame_entry_reg v0", "", "l"),
    ("call_ref @0x42", "", "l"),
    ("call_ref @0x43", "", "l"),
    ("call_ref @0x45", "", "l"),
    ("call_ref @0x46", "", ""),
    ("call_ref @0x47", "", "l"),
    ("nop", "", ""),
    ("call_ref @0x44", "v", "v"),
    ("plus_uconst 3", "v", "v"),
    ("abs", "v", "v"),
    ("neg", "v", "v"),
    ("not", "v", "v"),
    ("convert @0x10", "v", "t"),
    ("convert @0x11", "v", "t"),
    ("convert @0x12", "v", "t"),
    ("convert @0x13", "v", "t"),
    ("reinterpret @0x14", "v", "t"),
    ("convert @0x0", "t", "v"),
    ("neg", "t", "t"),
    ("dup; plus", "t", "t"),
    ("stack_value", "t", "l"),
    ("stack_value", "v", "l"),
    ("lit5; form_aspace_address", "v", "l"),
    ("lit3; and; lit5; form_aspace_address", "v", "l"),
    ("lit7; and; form_tls_address", "v", "l"),
    ("lit15; and; lit0; swap; xderef", "v", "v"),
    ("lit31; and; deref_size 1", "v", "v"),
    ("lit31; and; const2u 0x1000; plus; deref_size 1", "v", "v"),
    ("and", "vv", "v"),
    ("div", "vv", "v"),
    ("minus", "vv", "v"),
    ("mod", "vv", "v"),
    ("mod_floor", "vv", "v"),
    ("mul", "vv", "v"),
    ("or", "vv", "v"),
    ("plus", "vv", "v"),
    ("shl", "vv", "v"),
    ("shr", "vv", "v"),
    ("shra", "vv", "v"),
    ("xor", "vv", "v"),
    ("eq", "vv", "v"),
    ("ge", "vv", "v"),
    ("gt", "vv", "v"),
    ("le", "vv", "v"),
    ("lt", "vv", "v"),
    ("ne", "vv", "v"),
    ("swap", "vl", "lv"),
    ("swap", "lv", "vl"),
    ("rot", "lll", "lll"),
    ("drop", "v", ""),
    ("drop", "l", ""),
    ("dup", "v", "vv"),
    ("dup", "l", "ll"),
    ("over", "lv", "lvl"),
    ("pick 2", "vll", "vllv"),
    ("deref", "l", "v"),
    ("deref_size 4", "l", "v"),
    ("deref_size 1", "l", "v"),
    ("deref_type 4 @0x10", "l", "t"),
    ("lit7; and; offset", "lv", "l"),
    ("lit24; offset", "l", "l"),
    ("offset", "lv", "l"),
    ("bit_offset", "lv", "l"),
    ("offset_uconst 4", "l", "l"),
    ("lit4; neg; offset", "l", "l"),
    ("push_lane; bit_offset", "l", "l"),
    ("extend 32 4", "l", "l"),
    ("lit5; select_bit_piece 16 4", "ll", "l"),
    ("push_lane; select_bit_piece 8 2", "ll", "l"),
    ("lit1; lit2; overlay", "ll", "l"),
    ("lit0; push_lane; overlay", "ll", "l"),
    ("piece 4", "cl", "c"),
    ("bit_piece 4 2", "cl", "c"),
    ("piece 2", "c", "c"),
    ("piece 4", "cv", "c"),
    ("piece_end", "c", "l"),
    ("piece 4", "l", "c"),
];

/// An expression of operations that mostly fit the elements on the stack.
fn expression(choices: &[u16], encoding: Encoding, target: &Target) -> Vec<u8> {
    let known: Vec<_> =
        OPS.into_iter().filter(|(op, ..)| text::parse(op, encoding, Some(target)).is_ok()).collect();
    let mut all = Vec::new();
    let mut kinds = String::from("l");
    let mut label = 10;
    for &choice in choices {
        let any = choice % 64 == 0;
        let choice = usize::from(choice / 64);
        // Operations with and without operands are equally likely.
        let takes = choice % 3 != 0 && !kinds.is_empty();
        let fits =
            |(_, taken, _): &&(&str, &str, &str)| any || kinds.ends_with(taken) && takes != taken.is_empty();
        let fitting: Vec<_> = known.iter().filter(fits).collect();
        let Some((op, taken, left)) = fitting.get((choice / 3) % fitting.len().max(1)) else { continue };
        // Operations that push the same kinds as they pop can be skipped by some lanes, or repeated.
        let op = match (choice % 7, taken == left) {
            (0, true) => format!("push_lane; lit3; and; bra L{label}; {op}; L{label}: nop"),
            (1, true) if kinds.ends_with('v') => {
                format!("L{label}: nop; {op}; lit3; and; lit1; minus; dup; lit0; gt; bra L{label}")
            }
            _ => op.to_string(),
        };
        // Labels are unique.
        all.push(["L9", "L8", "L7", "L6"].iter().fold(op, |op, it| op.replace(it, &format!("{it}x{label}"))));
        label += 1;
        kinds.truncate(kinds.len().saturating_sub(taken.len()));
        kinds += left;
    }
    bytes(&all.join("; "), encoding, target)
}

fn limits() -> impl Strategy<Value = Limits> {
    let some = (1u64..60, 0u32..4, 1u32..12, 1u32..40).prop_map(|(steps, depth, stack, parts)| {
        let mut limits = Limits::default();
        limits.steps = steps;
        limits.depth = depth;
        limits.stack = stack;
        limits.parts = parts;
        limits
    });
    prop_oneof![4 => Just(with::<Limits>(|limits| limits.steps = 400)), 1 => some]
}

proptest! {
    #![proptest_config(crate::common::cases::config(500))]

    /// The same location, value or fault, with equal class, operation and reason.
    #[test]
    fn a_wave_answers_as_its_lanes_do(
        choices in prop::collection::vec(any::<u16>(), 1..20),
        is_draft in prop::bool::weighted(0.3),
        wave in prop::sample::select(&[32u32, 64][..]),
        lanes in prop_oneof![3 => Just(u64::MAX), 1 => any::<u64>(), 1 => Just(1 << 5)],
        kind in prop::sample::select(&[ResultKind::Location, ResultKind::Value, ResultKind::Any][..]),
        frame_base in prop::sample::select(&FRAME_BASES[..]),
        place in prop_oneof![9 => Just(ExpressionSite::Location), 1 => Just(ExpressionSite::Cfi)],
        big_endian in prop::bool::weighted(0.1),
        few_lanes in prop::bool::weighted(0.1),
        limits in limits(),
    ) {
        let target = target(wave);
        let encoding = if is_draft { draft() } else { LLVM };
        let expr = expression(&choices, encoding, &target);
        // Lanes beyond the wave can be requested.
        let lanes = if wave == 32 { lanes & 0x3_ffff_ffff } else { lanes };
        let mut machine = machine(&target, wave.into(), frame_base);
        machine.big_endian = big_endian;
        if few_lanes {
            machine.lanes = Some(20);
        }
        let initial = [Element::Location(Location::register(Reg(32), 32))];
        let context = Context::new(encoding, &target).with_kind(kind).with_place(place).with_initial(&initial);
        let mut evaluator = Evaluator::new().with_limits(limits);
        let mut wave = evaluator.wave(&expr, lanes, &machine, &context);
        prop_assert_eq!(wave.lanes(), lanes);
        assert_read(&wave, lanes, &machine)?;
        assert_same(&mut wave, lanes, |lane| {
            machine.lane = Some(lane.into());
            evaluator.evaluate(&expr, &machine, &context)
        })?;
    }
}

proptest! {
    #![proptest_config(crate::common::cases::config(100))]

    #[test]
    fn a_location_list_has_the_answers_of_its_lanes(
        lists in prop::collection::vec(
            (prop::option::of((0u64..3, 0u64..5)), prop::collection::vec(any::<u16>(), 1..8)), 0..4),
        pc in prop::option::weighted(0.9, 0u64..4),
        is_draft in prop::bool::weighted(0.3),
        depth in 0u32..4,
    ) {
        let target = target(32);
        let encoding = if is_draft { draft() } else { LLVM };
        let entry = |(bounds, choices): &(Option<_>, Vec<_>)| LocationListEntry {
            bounds: *bounds,
            expr: expression(choices, encoding, &target).into(),
        };
        let entries: Vec<LocationListEntry<'_>> = lists.iter().map(entry).collect();
        let mut machine = machine(&target, 32, FRAME_BASES[0]);
        machine.pc = pc;
        let initial = [Element::Location(Location::register(Reg(32), 32))];
        let context = Context::new(encoding, &target).with_initial(&initial);
        let mut evaluator = Evaluator::new().with_limits(with::<Limits>(|limits| limits.depth = depth));
        let mut wave = evaluator.wave_body(Body::List(&entries), u64::from(u32::MAX), &machine, &context);
        assert_same(&mut wave, u32::MAX.into(), |lane| {
            machine.lane = Some(lane.into());
            evaluator.list(&entries, &machine, &context).map(Element::Location)
        })?;
    }
}

#[test]
fn an_entry_without_an_expression_has_one_answer_in_each_lane() {
    let target = target(32);
    let machine = machine(&target, 32, FRAME_BASES[0]);
    let context = Context::new(LLVM, &target);
    let mut evaluator = Evaluator::new();
    let wave = evaluator.wave_body(Body::Constant(&[1, 2]), 0b110, &machine, &context);
    assert_eq!(wave.lane(0), None);
    assert_eq!(wave.lane(2), Some(Ok(Location::implicit(&[1, 2]).into())));
    let wave = evaluator.wave_body(Body::Nothing, 0b110, &machine, &context);
    // DWARF 5 section 4.1: such a variable is not in the program.
    assert_eq!(wave.lane(1), Some(Ok(Location::undefined().into())));
}

/// Conformance vectors in each of 64 lanes; most machines have fewer.
#[test]
fn vectors_in_all_lanes() {
    use eitri::conform::{self, VectorFile};

    let folder = std::fs::read_dir(common::golden("conformance")).expect("the folder");
    let mut count = 0;
    let mut uniform = 0;
    let paths = folder.map(|entry| entry.expect("a file").path());
    for path in paths.filter(|path| path.extension().is_some_and(|it| it == "json")) {
        let file = VectorFile::from_json(std::fs::read(&path).expect("is read")).expect("vectors");
        for vector in file.vectors() {
            let conform::VectorBody::Expression(expr) = &vector.body else { continue };
            let snapshot = &vector.machine.snapshot;
            let context = vector.context();
            let mut evaluator = Evaluator::new();
            let mut wave = evaluator.wave(expr, u64::MAX, snapshot, &context);
            let same = assert_read(&wave, u64::MAX, snapshot);
            same.unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), vector.name));
            let same = assert_same(&mut wave, u64::MAX, |lane| {
                evaluator.evaluate(expr, &InLane::new(snapshot, lane.into()), &context)
            });
            same.unwrap_or_else(|error| panic!("{}: {}: {error}", path.display(), vector.name));
            // The current lane of the vector.
            if let Some(lane) = snapshot.lane.filter(|lane| *lane < 64) {
                let alone = evaluator.evaluate(expr, snapshot, &context);
                assert_eq!(wave.lane(lane as u32), Some(alone), "{}", vector.name);
            }
            count += 1;
            uniform += usize::from(wave.uniform().is_some());
        }
    }
    println!("{count} vectors, {uniform} of which do not depend on the lane");
    assert!(count > 600 && uniform > 0 && uniform < count);
}

/// Counts queries for registers and memory.
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
fn lane_independent_steps_run_once() {
    const ALL: u64 = 0xffff_ffff;
    // The register, then two bytes of memory.
    let (count, wave) = reads("breg16 1; deref_size 1; deref_size 1; plus_uconst 7", ALL);
    assert_eq!(count, 3);
    assert!(wave.uniform().is_some());
    // Uniform operations before and after one that depends on the lane.
    let (count, wave) = reads("breg16 0; push_lane; lit4; mul; plus; breg16 8; deref_size 1; plus", ALL);
    assert_eq!(count, 3);
    assert!(wave.uniform().is_none());
    assert_eq!(wave.lane(3).unwrap().unwrap().to_string(), "mem:0:0x1014");
    // A byte per lane, and one for all.
    let (count, _) = reads("breg16 0; push_lane; plus; deref_size 1; breg16 8; deref_size 1; plus", ALL);
    assert_eq!(count, 1 + 32 + 2);
    // Lanes that are not requested are not evaluated.
    let (count, _) = reads("breg16 0; push_lane; plus; deref_size 1", 0b1110);
    assert_eq!(count, 1 + 3);
    // Half of the lanes branch: each path is evaluated once.
    let branches = "push_lane; lit1; and; bra L0; breg16 0; skip L1; L0: breg16 8; L1: deref_size 1";
    assert_eq!(reads(branches, ALL).0, 4);
}

#[test]
fn the_bits_of_all_lanes_are_read_at_once() {
    let target = target(32);
    let machine = Counting { machine: machine(&target, 32, "reg16"), reads: Cell::new(0) };
    let count = |expr: &str, bits| {
        let (_, wave) = reads(expr, 0xffff_ffff);
        let before = machine.reads.get();
        let bits = wave.read_bits(bits, &machine).unwrap();
        (machine.reads.get() - before, bits)
    };
    let lane_of = |reg| format!("regx v{reg}; push_lane; lit4; mul; offset");
    let (reads, bits) = count(&lane_of(1), 32);
    assert_eq!(reads, 1);
    // Byte n of v1 is 7 n + 31.
    assert_eq!(bits.lane(9).unwrap().unwrap().bytes, [27, 34, 41, 48]);
    assert_eq!(count(&format!("{}; piece 4; {}; piece 4", lane_of(0), lane_of(1)), 64).0, 2);
    // Memory of the wave, and memory that each lane has of its own.
    assert_eq!(count("breg16 0; push_lane; lit2; mul; plus", 16).0, 1);
    assert_eq!(count("lit8; lit5; form_aspace_address", 16).0, 32);
    // The last lanes are not mapped: each lane is read alone, and so is what precedes its fault.
    let (reads, bits) = count("breg16 0; push_lane; lit8; mul; plus", 64);
    assert_eq!(reads, 1 + 32);
    assert!(bits.lane(15).unwrap().is_ok() && bits.lane(16).unwrap().is_err() && bits.lane(32).is_none());
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
    assert!(wave.lane(4).is_none() && wave.lane(64).is_none() && wave.uniform().is_none());
    assert_eq!(reads("drop", 0xf).1.lane(2).unwrap().unwrap_err().offset, Some(0));
    assert!(reads("lit1", 0).1.uniform().is_none());
}

/// The representation of all lanes' places must not be taken for the place of one lane.
#[test]
fn places_that_lanes_have_of_their_own() {
    let target = target(32);
    let mut machine = machine(&target, 32, "reg16");
    let wraps = "const8u 0x1ffffffffffffff0; push_lane; plus; lit0; form_aspace_address";
    let parts = "regx v0; piece 4; regx v1; piece 4; piece_end; push_lane; lit3; and; offset";
    let far = "regx v0; push_lane; lit4; mul; offset";
    for expr in [
        // Past bit 2^64 of the memory.
        format!("{wraps}; const1u 100; offset"),
        // Parts selected by different bits in each lane.
        format!("{parts}; regx v2; lit1; select_bit_piece 8 2"),
        format!("{parts}; piece 2; {parts}; piece 1"),
        // Back to the start of the register, and before it.
        format!("{far}; push_lane; lit4; mul; neg; offset"),
        format!("{far}; const1s -8; offset"),
        // The bits of the last lane, and more.
        format!("{far}; piece 4"),
        format!("{far}; piece 8"),
        format!("{far}; deref_size 4; stack_value"),
    ] {
        let expr = bytes(&expr, LLVM, &target);
        let context = Context::new(LLVM, &target);
        for lanes in [0xff, 0xffff_ffff] {
            let mut evaluator = Evaluator::new();
            let mut wave = evaluator.wave(&expr, lanes, &machine, &context);
            let read = assert_read(&wave, lanes, &machine);
            read.unwrap_or_else(|error| panic!("{}: {error}", text::print(&expr, LLVM, Some(&target))));
            let same = assert_same(&mut wave, lanes, |lane| {
                machine.lane = Some(lane.into());
                evaluator.evaluate(&expr, &machine, &context)
            });
            same.unwrap_or_else(|error| panic!("{}: {error}", text::print(&expr, LLVM, Some(&target))));
        }
    }
}
