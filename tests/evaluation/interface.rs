//! Properties of the evaluator that do not depend on operations: limits, reading and writing of bits, spans, traces,
//! and contents of faults.

use std::borrow::Cow;
use std::collections::BTreeMap;

use eitri::eval::{
    Class, Context, Evaluator, Layout, Limits, Location, LocationListEntry, OwnedBody, ResultKind, Snapshot,
    SpaceLayout, Step, are_equal, read_bits, spans, write_bits,
};
use eitri::op::{Dialect, Encoding, Reg};
use eitri::target::{ByteOrder, Per, SpaceId, Target};
use pretty_assertions::assert_eq;

use super::{LLVM, bytes, machine, outcome, shown};

fn location(expr: &str) -> Location {
    let target = Target::x86_64();
    Evaluator::new().location(&bytes(expr, LLVM), &machine(), &Context::new(LLVM, &target)).unwrap()
}

fn entry(bounds: Option<(u64, u64)>, expr: &[u8]) -> LocationListEntry<'static> {
    LocationListEntry { bounds, expr: Cow::Owned(expr.to_vec()) }
}

#[test]
fn limits_end_an_evaluation() {
    let target = Target::x86_64();
    let limits = {
        let mut limits = Limits::default();
        limits.steps = 100;
        limits.depth = 3;
        limits.stack = 5;
        limits.parts = 4;
        limits
    };
    let run = |expr: &str| {
        let mut evaluator = Evaluator::new().with_limits(limits);
        shown(evaluator.location(&bytes(expr, LLVM), &machine(), &Context::new(LLVM, &target)))
    };
    assert_eq!(run("lit1; lit1; lit1; lit1; lit1"), "mem:0:0x1");
    assert_eq!(run("lit1; lit1; lit1; lit1; lit1; lit1"), "evaluation error");
    assert_eq!(run("reg0; extend 8 4"), "[reg:0/8, reg:0/8, reg:0/8, reg:0/8]");
    assert_eq!(run("reg0; extend 8 5"), "evaluation error");
    assert_eq!(run("reg0; extend 8 2; extend 8 3"), "evaluation error", "6 parts on all levels");
}

#[test]
fn composites_in_composites_have_an_end() {
    let nested = |levels: usize| format!("reg0; piece 4{}", "; piece_end; piece 4".repeat(levels));
    // After a complete composite, `piece` starts another one that contains it.
    let deep = location(&nested(99));
    assert_eq!(spans(&deep, 32, ByteOrder::Little).unwrap().len(), 1);
    assert_eq!(read_bits(&deep, 32, &machine()).unwrap().bytes, [0xa0, 0xa1, 0xa2, 0xa3]);
    assert_eq!(shown(outcome(&nested(100), ResultKind::Location, &machine(), LLVM)), "evaluation error");
}

#[test]
fn spans_resolve_composites_and_keep_places() {
    let shown = |location: &Location, bits| {
        let mut out = Vec::new();
        for span in spans(location, bits, ByteOrder::Little).unwrap() {
            let places: Vec<_> = span.places.iter().map(ToString::to_string).collect();
            out.push(format!("{}/{}", places.join("|"), span.bits));
        }
        out.join(" ")
    };
    assert_eq!(shown(&location("reg0"), 32), "reg:0/32");
    // Adjacent spans of one register are merged.
    assert_eq!(shown(&location("reg0; piece 2; reg0; bit_piece 16 16"), 32), "reg:0/32");
    let holes = location("reg0; piece 2; piece 1; piece 1; reg1; piece 1");
    assert_eq!(shown(&holes, 40), "reg:0/16 undefined/16 reg:1/8");
    // A composite in a composite, from its third byte on.
    let nested =
        location("reg0; piece 4; reg1; piece 4; piece_end; offset_uconst 2; piece 4; regx xmm0; piece 2");
    assert_eq!(shown(&nested, 48), "reg:0+16/16 reg:1/16 reg:17/16");
    // Spans of two places end where either of them ends.
    let pieces = location("reg0; piece 2; reg1; piece 2");
    let both = location("addr 0x1000").and(pieces.clone());
    assert_eq!(shown(&both, 32), "mem:0:0x1000|reg:0/16 mem:0:0x1002|reg:1/16");
    let swapped = pieces.and(location("addr 0x1000"));
    assert!(are_equal(
        &spans(&both, 32, ByteOrder::Little).unwrap(),
        &spans(&swapped, 32, ByteOrder::Little).unwrap(),
        ByteOrder::Little
    ));
    assert!(!are_equal(
        &spans(&both, 32, ByteOrder::Little).unwrap(),
        &spans(&location("addr 0x1000"), 32, ByteOrder::Little).unwrap(),
        ByteOrder::Little
    ));
    // Known bits are equal if their values are, for any division.
    let one = location("implicit_value {11 22 33}");
    let two = location("implicit_value {99 11}; bit_piece 8 8; implicit_value {22 33}; piece 2");
    assert!(are_equal(
        &spans(&one, 24, ByteOrder::Little).unwrap(),
        &spans(&two, 24, ByteOrder::Little).unwrap(),
        ByteOrder::Little
    ));
    assert!(!are_equal(
        &spans(&one, 24, ByteOrder::Little).unwrap(),
        &spans(&one, 16, ByteOrder::Little).unwrap(),
        ByteOrder::Little
    ));
    assert_eq!(
        spans(&location("reg0; lit4; offset"), 33, ByteOrder::Little).unwrap_err().class,
        Class::Evaluation
    );
}

#[test]
fn reading_tells_what_is_undefined() {
    let machine = machine();
    let read =
        |expr: &str, bits| read_bits(&location(expr), bits, &machine).map(|read| (read.bytes, read.defined));
    assert_eq!(read("reg0; lit4; bit_offset", 12).unwrap(), (vec![0x1a, 0x0a], vec![0xff, 0x0f]));
    assert_eq!(
        read("reg0; piece 1; piece 1; addr 0x1003; piece 1", 24).unwrap(),
        (vec![0xa0, 0, 3], vec![0xff, 0, 0xff])
    );
    assert_eq!(read("undefined; bit_piece 4 0; reg0; bit_piece 4 4", 8).unwrap(), (vec![0xa0], vec![0xf0]));
    assert_eq!(read("addr 0x2000", 8).unwrap_err().class, Class::Unmapped);
    assert_eq!(read("reg2", 8).unwrap_err().class, Class::Unmapped);
    assert_eq!(read("reg0", 65).unwrap_err().class, Class::Evaluation);
    // The other place is read where one is undefined or unavailable.
    let two = Location::undefined().and(Location::register(Reg(2), 64)).and(Location::register(Reg(1), 64));
    assert_eq!(read_bits(&two, 8, &machine).unwrap().bytes, [0xd0]);
}

#[test]
fn writing_reaches_every_place() {
    let mut machine = machine();
    let both = Location::register(Reg(0), 64).and(Location::memory(SpaceId::DEFAULT, 64, 0x1010));
    write_bits(&both, 12, &[0x34, 0xf2], &mut machine).unwrap();
    assert_eq!(machine.registers[&Reg(0)][..3], [0x34, 0xa2, 0xa2], "half of the second byte stays");
    let memory = Location::memory(SpaceId::DEFAULT, 64, 0x1010);
    assert_eq!(read_bits(&memory, 16, &machine).unwrap().bytes, [0x34, 0x12]);
    let before = machine.clone();
    let partly = Location::composite([(both, 8), (Location::implicit(&[1]), 8)]).unwrap();
    assert_eq!(write_bits(&partly, 16, &[1, 2], &mut machine).unwrap_err().class, Class::Evaluation);
    assert_eq!(machine, before);
}

#[test]
fn an_architecture_can_be_plain_data() {
    let layout = Layout {
        registers: BTreeMap::from([(Reg(7), 16)]),
        spaces: BTreeMap::from([(SpaceId::DEFAULT, SpaceLayout { address_bits: 16, per: Per::Process })]),
    };
    let mut machine = Snapshot::default();
    machine.registers.insert(Reg(7), vec![0xfe, 0xff]);
    let context = Context::new(Encoding::new(2, Dialect::Dwarf5), &layout);
    // breg7 4: 0xfffe + 4 in 16 bits.
    let location = Evaluator::new().location(&[0x77, 0x04], &machine, &context);
    assert_eq!(shown(location), "mem:0:0x2");
    // A composite cannot exceed the memory: piece 0xffff; piece 2.
    let location = Evaluator::new().location(&[0x93, 0xff, 0xff, 0x03, 0x93, 0x02], &machine, &context);
    assert_eq!(shown(location), "ill-formed");
}

#[test]
fn a_trace_tells_every_step() {
    let target = Target::x86_64();
    let mut machine = machine();
    machine.entries.insert(0x40, (OwnedBody::Expression(vec![0x32, 0x22]), 0));
    let mut steps = Vec::new();
    let expr = bytes("lit1; call2 @0x40; stack_value", LLVM);
    let mut trace = |step: Step<'_>| {
        let stack: Vec<_> = step.stack.iter().map(ToString::to_string).collect();
        steps.push(format!("{} {} {}: {}", step.depth, step.offset, step.op.row().text, stack.join(", ")));
    };
    Evaluator::new().traced(&expr, &machine, &Context::new(LLVM, &target), &mut trace).unwrap();
    let expected = [
        "0 0 constu: 0x1",
        "1 0 constu: 0x1, 0x2",
        "1 1 plus: 0x3",
        "0 1 call2: 0x3",
        "0 4 stack_value: implicit:0300000000000000",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_fault_says_where_and_why() {
    let fault = outcome("const2u 5; lit0; div", ResultKind::Value, &machine(), LLVM).unwrap_err();
    assert_eq!(fault.to_string(), "operation 2, offset 0x4: evaluation error: division by zero");
    // The fault names the operation of the given expression, also if a referenced expression fails.
    let mut machine = machine();
    machine.frame_base = Some((OwnedBody::Expression(vec![0x31, 0x30, 0x1b]), 0));
    let target = Target::x86_64();
    let message = |expr| outcome(expr, ResultKind::Value, &machine, LLVM).unwrap_err().to_string();
    let inner = "operation 2, offset 0x2: division by zero";
    let expected = format!("operation 1, offset 0x1: evaluation error: in the frame base, {inner}");
    assert_eq!(message("lit1; fbreg 0"), expected);
    let expected = format!("operation 1, offset 0x1: evaluation error: in the calling frame, {inner}");
    assert_eq!(message("lit1; entry_value (lit1; lit0; div)"), expected);
    let list = [entry(Some((0, u64::MAX)), &[0x50]), entry(Some((0, u64::MAX)), &[0x31, 0x30, 0x1b])];
    let fault = Evaluator::new().list(&list, &machine, &Context::new(LLVM, &target)).unwrap_err();
    assert_eq!(fault.to_string(), format!("evaluation error: in entry 1 of the location list, {inner}"));
}

#[test]
fn an_evaluator_can_be_used_again() {
    let target = Target::x86_64();
    let mut evaluator = Evaluator::new();
    let context = Context::new(LLVM, &target);
    let machine = machine();
    let failed = evaluator.location(&bytes("reg0; reg1; plus", LLVM), &machine, &context);
    assert_eq!(shown(failed), "ill-formed");
    let fine = evaluator.location(&bytes("piece 2", LLVM), &machine, &context);
    assert_eq!(shown(fine), "[undefined/16]");
}

#[test]
fn a_branch_to_itself_ends_at_the_limit() {
    let target = Target::x86_64();
    let fault = Evaluator::new().step_limit(1000).value(
        &[0x2f, 0xfd, 0xff],
        &machine(),
        &Context::new(LLVM, &target),
    );
    assert_eq!(fault.unwrap_err().class, Class::Evaluation);
}
