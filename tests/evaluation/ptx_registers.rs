//! Registers of PTX on a stopped processor of NVIDIA, by the homes that the map of a cubin has for them.

use eitri::eval::{Caller, Class, Context, Evaluator, Location, Machine, PtxRegisters, Snapshot, read_bits};
use eitri::op::{Dialect, Encoding, Reg, text};
use eitri::read::nvidia::{Home, MappedFunction, RegisterHome};
use eitri::target::{Sm, SpaceId, Target};

use crate::common::with;
use pretty_assertions::assert_eq;

fn target() -> Target {
    Target::nvptx(Sm::named("sm_80").expect("a processor"))
}

/// Class times 2²⁴ plus number, as ptxas writes homes: 5 is R, 4 a half of R, 7 a spill, 2 a predicate, 11 UR.
fn home(register: &'static str, word: u32, home: u32, start: u32, end: u32) -> RegisterHome<'static> {
    RegisterHome { register: register.as_bytes(), word, home: Home(home), start, end }
}

fn function() -> MappedFunction<'static> {
    let homes = vec![
        home("%rd1", 0, 0x0500_0004, 0x10, 0x40),
        home("%rd1", 1, 0x0500_0007, 0x20, 0x40),
        home("%r1", 0, 0x0500_0005, 0x10, 0x30),
        // Two homes at 0x30.
        home("%r1", 0, 0x0500_0006, 0x30, 0x50),
        home("%rs1", 0, 0x0400_000b, 0x10, 0x40),
        home("%r2", 0, 0x0701_00b0, 0x10, 0x40),
        home("%r3", 0, 0x0b00_0004, 0x10, 0x40),
        home("%p1", 0, 0x0200_0001, 0x10, 0x40),
        // A word above 1, and a class that is not storage.
        home("%r4", 2, 0x0500_0004, 0x10, 0x40),
        home("%r5", 0, 0x0100_0000, 0x10, 0x40),
    ];
    MappedFunction::new(b"k", Some(0x10000), homes)
}

/// Lane 3 of each register R*n* has the bytes `n0 n1 n2 n3` in hexadecimal digits; other lanes have 0.
fn stopped() -> Snapshot {
    let target = target();
    let mut machine = with::<Snapshot>(|machine| {
        machine.lane = Some(3);
        machine.lanes = Some(32);
    });
    for number in 1..8u8 {
        let mut bytes = vec![0; 128];
        for index in 0..4u8 {
            bytes[12 + usize::from(index)] = 16 * number + index;
        }
        let reg = target.register_named(&format!("R{number}")).expect("a register");
        machine.registers.insert(reg, bytes);
    }
    machine.registers.insert(target.register_named("UR4").expect("a register"), vec![1, 2, 3, 4]);
    machine.registers.insert(target.register_named("P1").expect("a register"), vec![0b1000, 0, 0, 0]);
    // R1 of the lane is 0x13121110: the spilled word is 0xb0 further on.
    machine.store(SpaceId::PRIVATE_LANE, Some(3), 0x1312_11c0, &[0xa, 0xb, 0xc, 0xd]);
    machine
}

/// Reads `bits` bits of an expression at a pc.
fn read(expression: &str, pc: u64, bits: u64) -> Result<Vec<u8>, (Class, String)> {
    let target = target();
    let function = function();
    let stopped = stopped();
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let expr = text::parse(expression, encoding, Some(&target)).expect("an expression");
    let machine = PtxRegisters::new(&stopped, &target, Some(&function), pc);
    let context = Context::new(encoding, &target);
    let of = |fault: eitri::eval::Fault| (fault.class, fault.rule.to_string());
    let location = Evaluator::new().location(expr.bytes(), &machine, &context).map_err(of)?;
    read_bits(&location, bits, &machine).map(|bits| bits.bytes).map_err(of)
}

#[test]
fn words_are_put_together_from_their_homes() {
    assert_eq!(read("regx %rd1", 0x20, 64), Ok(vec![0x40, 0x41, 0x42, 0x43, 0x70, 0x71, 0x72, 0x73]));
    assert_eq!(read("regx %r1", 0x10, 32), Ok(vec![0x50, 0x51, 0x52, 0x53]));
    // A range includes both ends.
    assert_eq!(read("regx %r1", 0x50, 32), Ok(vec![0x60, 0x61, 0x62, 0x63]));
    // R5, upper half.
    assert_eq!(read("regx %rs1", 0x10, 16), Ok(vec![0x52, 0x53]));
    assert_eq!(read("regx %r2", 0x10, 32), Ok(vec![0xa, 0xb, 0xc, 0xd]));
    assert_eq!(read("regx %r3", 0x10, 32), Ok(vec![1, 2, 3, 4]));
    assert_eq!(read("regx %p1", 0x10, 8), Ok(vec![1]));
    // Registers of the processor have their own lanes: R4 is number 4.
    assert_eq!(read("regx R4", 0, 32), Ok(vec![0x40, 0x41, 0x42, 0x43]));
    // An address in R1 of the lane is 0x13121110, and does not continue in the next lane. The frames of cubins have
    // another number for R1: class 5, number 1.
    assert_eq!(read("bregx R1 1; stack_value", 0, 64), Ok(vec![0x11, 0x11, 0x12, 0x13, 0, 0, 0, 0]));
    assert_eq!(read("bregx 0x5000001 1; stack_value", 0, 64), Ok(vec![0x11, 0x11, 0x12, 0x13, 0, 0, 0, 0]));
    assert_eq!(read("regx 0x5000004", 0, 32), Ok(vec![0x40, 0x41, 0x42, 0x43]));
    // A register without an upper word has 32 bits.
    assert_eq!(read("bregx %r1 1; stack_value", 0x10, 64), Ok(vec![0x51, 0x51, 0x52, 0x53, 0, 0, 0, 0]));
}

#[test]
fn words_without_one_home_have_no_value() {
    let cases = [
        ("regx %rd1", 0x41, "register %rd1 has no home at this pc: word 0"),
        ("regx %rd1", 0x10, "register %rd1 has no home at this pc: word 1"),
        ("regx %r1", 0x30, "register %r1 has two homes at this pc: word 0"),
        ("regx %r9", 0x30, "register %r9 has no home at this pc: word 0"),
        ("regx %r4", 0x10, "register %r4 has no home at this pc: word 0"),
        ("regx %r5", 0x10, "register %r5 is in CC0, which is unknown"),
    ];
    for (expression, pc, expected) in cases {
        let bits = if expression.contains("rd") { 64 } else { 32 };
        assert_eq!(
            read(expression, pc, bits),
            Err((Class::Unmapped, expected.into())),
            "{expression} at {pc:#x}"
        );
    }
    let target = target();
    let stopped = stopped();
    let machine = PtxRegisters::new(&stopped, &target, None, 0);
    let reg = target.register_named("%r1").expect("a register");
    assert!(machine.register(reg, 0, 0, &mut [0]).is_err());
    let expected = "the cubin has no map of registers for this pc: register %r1";
    assert_eq!(machine.register_problem(reg, 0, 0).as_deref(), Some(expected));
}

/// A register of PTX has two words, and one of the processor has one. The next element of a vector register is another
/// thread's.
#[test]
fn words_above_the_second_are_refused() {
    for (expression, bits, rule) in [
        ("regx %rd1", 65, "register %rd1 has 8 bytes for each lane: byte 8"),
        ("regx %rd1", 128, "register %rd1 has 8 bytes for each lane: byte 8"),
        ("regx R4", 64, "register R4 has 4 bytes for each lane: byte 4"),
        ("regx R4; piece 8", 64, "register R4 has 4 bytes for each lane: byte 4"),
    ] {
        let error = read(expression, 0x20, bits).expect_err("more than the lane");
        assert_eq!(error, (Class::Unmapped, rule.into()), "{expression} {bits}");
    }
}

/// Rules of frames have the second numbers of registers. An outer frame is asked for the number of the expression, and
/// the machine for the first one.
#[test]
fn outer_frames_have_the_numbers_of_their_rules() {
    let target = target();
    let mut stopped = stopped();
    let reg = |name: &str| target.register_named(name).expect("a register");
    let r1 = Reg(0x500_0001);
    let r2 = Location::register(reg("R2"), 1024);
    stopped.callers.push(with::<Caller>(|caller| caller.registers = [(r1, r2)].into()));
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let context = Context::new(encoding, &target).with_frame(1);
    let expr = text::parse("regx 0x5000001", encoding, Some(&target)).expect("an expression");
    let location = Evaluator::new().location(expr.bytes(), &stopped, &context).expect("a location");
    // R1 of the caller is in R2, whose lane 3 has these bytes.
    let read = read_bits(&location, 32, &stopped).expect("bytes");
    assert_eq!(read.bytes, [0x20, 0x21, 0x22, 0x23]);
}
