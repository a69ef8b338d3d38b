//! Bits on a big-endian machine: memory counts from the most significant bit, registers and values from the least
//! significant; an object, and each of its parts, starts with the most significant bit of its number.

use eitri::eval::{Context, Evaluator, Location, ResultKind, Snapshot, read_bits, write_bits};
use eitri::op::{Encoding, Reg};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use super::{LLVM, bytes, outcome, shown};

const BIG: Encoding = LLVM.with_big_endian(true);

fn machine() -> Snapshot {
    {
        let mut changed = super::machine();
        changed.big_endian = true;
        changed
    }
}

fn values(table: &[(&str, &str)]) {
    for (expr, expected) in table {
        let found = outcome(expr, ResultKind::Value, &machine(), BIG);
        let detail = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(shown(found), *expected, "{expr}: {detail}");
    }
}

fn location(expr: &str) -> Location {
    let target = Target::x86_64();
    Evaluator::new().location(&bytes(expr, BIG), &machine(), &Context::new(BIG, &target)).unwrap()
}

#[test]
fn values_in_bits_of_memory_and_registers() {
    values(&[
        // Memory at 0x1012 is 12 13: 12 bits from the first and from the fifth bit on.
        ("addr 0x1012; deref_type 2 @0x11", "0x121 Unsigned/12"),
        ("addr 0x1012; lit4; bit_offset; deref_type 2 @0x11", "0x213 Unsigned/12"),
        // The number in rax is a7a6a5a4a3a2a1a0.
        ("reg0; deref_type 2 @0x11", "0x1a0 Unsigned/12"),
        ("reg0; lit4; bit_offset; deref_type 2 @0x11", "0xa1a Unsigned/12"),
        ("reg0; deref", "0xa7a6a5a4a3a2a1a0"),
        // The low bits of a block are the value.
        ("const_type @0x11 {fa bc}", "0xabc Unsigned/12"),
        // Storing a value in a location and reading it gives the value.
        ("const_type @0x11 {0a bc}; stack_value; deref_type 2 @0x11", "0xabc Unsigned/12"),
        ("const_type @0x10 {05}; stack_value; deref_type 1 @0x10", "0x5 Signed/7"),
        ("const_type @0x10 {05}; stack_value; piece 1", "ill-formed"),
        // Elements of a vector are in order of addresses.
        ("addr 0x1000; deref_type 8 @0x17; const_type @0x17 {00 01 02 03 04 05 06 07}; eq", "0x1"),
        ("const_type @0x17 {00 01 00 02 00 03 00 04}; stack_value; deref_size 2", "0x1"),
        // Parts follow each other from the most significant bit on: 4 bits of rax, 8 of memory.
        (
            "reg0; bit_piece 4 4; addr 0x1012; bit_piece 8 0; piece_end; deref_type 2 @0x11",
            "0xa12 Unsigned/12",
        ),
        // Each part follows the part before it, also where both are in one register: 0, then 1a.
        ("reg0; bit_piece 4 0; reg0; bit_piece 8 4; piece_end; deref_type 2 @0x11", "0x1a Unsigned/12"),
        ("reg0; bit_piece 8 4; reg0; bit_piece 4 0; piece_end; deref_type 2 @0x11", "0x1a0 Unsigned/12"),
        // An object smaller than its part has the part's most significant bits.
        ("const2u 0xabcd; stack_value; bit_piece 16 0; piece_end; deref_type 2 @0x11", "0xabc Unsigned/12"),
        // A value is numbered from its least significant bit, as a register is.
        ("const2u 0xabcd; stack_value; deref_size 1", "0xcd"),
        ("const2u 0xabcd; stack_value; lit4; bit_offset; deref_size 1", "0xbc"),
        ("const2u 0xabcd; stack_value; bit_piece 8 4; piece_end; deref_size 1", "0xbc"),
        // Bytes of a vector are in order of addresses.
        (
            "const_type @0x17 {00 01 00 02 00 03 00 04}; stack_value; bit_piece 16 16; piece_end; deref_size 2",
            "0x2",
        ),
    ]);
}

#[test]
fn undefined_bits_and_padding_are_at_the_low_end() {
    let machine = machine();
    let read = |expr, bits| read_bits(&location(expr), bits, &machine).map(|read| (read.bytes, read.defined));
    assert_eq!(read("addr 0x1012", 12).unwrap(), (vec![0x12, 0x10], vec![0xff, 0xf0]));
    let expr = "undefined; bit_piece 4 0; addr 0x10ff; bit_piece 4 0";
    assert_eq!(read(expr, 8).unwrap(), (vec![0x0f], vec![0x0f]));
}

#[test]
fn writing_keeps_the_bits_around() {
    let mut machine = machine();
    write_bits(&location("addr 0x1012; lit4; bit_offset"), 8, &[0xab], &mut machine).unwrap();
    let memory = Location::memory(SpaceId::DEFAULT, 64, 0x1012);
    assert_eq!(read_bits(&memory, 16, &machine).unwrap().bytes, [0x1a, 0xb3]);
    write_bits(&location("reg0; lit4; bit_offset"), 12, &[0x12, 0x30], &mut machine).unwrap();
    // a1a0 becomes 1230: bits 4 to 15 are 123.
    assert_eq!(machine.registers[&Reg(0)][..2], [0x30, 0x12]);
}
