//! What expressions mean, by the text of the specification. Every expectation is derived by hand.

use std::borrow::Cow;
use std::collections::BTreeMap;

use eitri::eval::{
    BaseType, Caller, Class, Context, Element, Evaluator, Fault, Kind, Limits, ListEntry, Location,
    OwnedBody, Snapshot, SpaceLayout, TypeEncoding, Value, Where, read_bits, read_pointer, same, spans,
    write_bits,
};
use eitri::op::{Dialect, Encoding, Name, Reg, text};
use eitri::target::{Per, SpaceId, Target};
use pretty_assertions::assert_eq;

const LLVM: Encoding = Encoding::new(8, Dialect::Llvm);

/// DWARF 6 with numbers for the operations that have none. The numbers are of no importance.
fn draft() -> Encoding {
    let mut encoding = Encoding::new(8, Dialect::Dwarf6);
    let names = [Name::Offset, Name::BitOffset, Name::Composite, Name::Undefined, Name::Mem, Name::Overlay];
    for (name, code) in names.into_iter().zip(0xb1..) {
        encoding.draft = encoding.draft.with(name, code);
    }
    encoding
}

/// An x86-64 program: rax is a0…a7, rdx d0…d7, rdi 0x1000, xmm0 e0…ef; memory at 0x1000 is 00…7f; at
/// 0x1100 is a pointer to 0x1018. One outer frame is known.
fn machine() -> Snapshot {
    let mut machine = Snapshot { pc: Some(0x4010), ..Snapshot::default() };
    machine.registers.insert(Reg(0), (0xa0..=0xa7).collect());
    machine.registers.insert(Reg(1), (0xd0..=0xd7).collect());
    machine.registers.insert(Reg(5), 0x1000u64.to_le_bytes().to_vec());
    machine.registers.insert(Reg(17), (0xe0..=0xef).collect());
    machine.store(SpaceId::DEFAULT, None, 0x1000, &(0..0x80).collect::<Vec<u8>>());
    machine.store(SpaceId::DEFAULT, None, 0x1100, &0x1018u64.to_le_bytes());
    let types = [
        (0x10, TypeEncoding::Signed, 32),
        (0x11, TypeEncoding::Unsigned, 8),
        (0x12, TypeEncoding::Signed, 8),
        (0x13, TypeEncoding::Unsigned, 64),
        (0x14, TypeEncoding::Float, 32),
        (0x15, TypeEncoding::Float, 64),
        (0x16, TypeEncoding::Unsigned, 128),
        (0x17, TypeEncoding::Unsigned, 4),
        (0x18, TypeEncoding::Boolean, 8),
        (0x19, TypeEncoding::Address, 64),
    ];
    machine.types =
        types.into_iter().map(|(at, encoding, bits)| ((0, at), BaseType::new(encoding, bits))).collect();
    machine.cfa = Some(Location::memory(SpaceId::DEFAULT, 64, 0x1040));
    machine.frame_base = Some((OwnedBody::Expression(vec![0x9c]), 0));
    machine.tls = Some(0x1060);
    machine.debug_addr = vec![0x9, 0x1010];
    let saved = [
        (Reg(0), Location::memory(SpaceId::DEFAULT, 64, 0x1038)),
        (Reg(1), Location::register(Reg(1), 64)),
        (Reg(5), Location::memory(SpaceId::DEFAULT, 64, 0x1100)),
    ];
    machine.callers = vec![Caller { pc: Some(0x5000), cfa: None, registers: saved.into() }];
    machine
}

/// A wave of 32 lanes with lane 3 in focus. Byte n of v0 is n, of v1 0x80 + n; s0 is 0x20.
fn wave() -> Snapshot {
    let mut wave = Snapshot { lane: Some(3), lanes: Some(32), ..Snapshot::default() };
    wave.registers.insert(Reg(1536), (0..128).collect());
    wave.registers.insert(Reg(1537), (128..=255).collect());
    wave.registers.insert(Reg(32), vec![0x20, 0, 0, 0]);
    wave.types.insert((0, 0x10), BaseType::new(TypeEncoding::Unsigned, 32));
    wave
}

fn gpu() -> Target {
    Target::named("amdgpu-gfx1030-wave32").unwrap()
}

fn bytes(expr: &str, encoding: Encoding, target: &Target) -> Vec<u8> {
    let expr = text::parse(expr, encoding, Some(target)).unwrap_or_else(|error| panic!("{expr}: {error}"));
    expr.bytes().to_vec()
}

fn result(
    expr: &str,
    kind: Kind,
    machine: &Snapshot,
    encoding: Encoding,
    target: &Target,
) -> Result<Element, Fault> {
    let context = Context { kind, ..Context::new(encoding, target) };
    Evaluator::new().evaluate(&bytes(expr, encoding, target), machine, &context)
}

fn shown<T: ToString>(result: Result<T, Fault>) -> String {
    result.map_or_else(|fault| fault.class.to_string(), |found| found.to_string())
}

/// Compares what expressions result in: a location or value as text, or the class of the fault.
fn check(kind: Kind, machine: &Snapshot, encoding: Encoding, target: &Target, table: &[(&str, &str)]) {
    for (expr, expected) in table {
        let found = result(expr, kind, machine, encoding, target);
        let detail = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(shown(found), *expected, "{expr}: {detail}");
    }
}

fn values(table: &[(&str, &str)]) {
    check(Kind::Value, &machine(), LLVM, &Target::x86_64(), table);
}

fn locations(table: &[(&str, &str)]) {
    check(Kind::Location, &machine(), LLVM, &Target::x86_64(), table);
}

fn lanes(table: &[(&str, &str)]) {
    check(Kind::Location, &wave(), LLVM, &gpu(), table);
}

fn location(expr: &str) -> Location {
    let target = Target::x86_64();
    let context = Context::new(LLVM, &target);
    Evaluator::new().location(&bytes(expr, LLVM, &target), &machine(), &context).unwrap()
}

fn entry(bounds: Option<(u64, u64)>, expr: &[u8]) -> ListEntry<'static> {
    ListEntry { bounds, expr: Cow::Owned(expr.to_vec()) }
}

#[test]
fn literals_have_the_generic_type() {
    values(&[
        ("lit5", "0x5"),
        ("const1s -1", "0xffffffffffffffff"),
        ("const2u 0xffff", "0xffff"),
        ("constu 0x123456789", "0x123456789"),
        ("consts -2", "0xfffffffffffffffe"),
        ("constx 1", "0x1010"),
        ("constx 2", "evaluation error"),
        ("const_type @0x10 {f9 ff ff ff}", "0xfffffff9 Signed/32"),
        ("const_type @0x17 {fa}", "0xa Unsigned/4"),
        ("const_type @0x10 {f9 ff}", "ill-formed"),
        ("const_type @0x77 {f9 ff}", "ill-formed"),
    ]);
    let target = Target::x86_64();
    let context = Context::new(Encoding::new(4, Dialect::Llvm), &target);
    let value = Evaluator::new().value(&[0x09, 0xff], &machine(), &context);
    assert_eq!(shown(value), "0xffffffff", "as many bits as an address has");
}

#[test]
fn arithmetic_of_the_generic_type() {
    values(&[
        ("lit7; lit5; plus", "0xc"),
        ("lit5; lit7; minus", "0xfffffffffffffffe"),
        ("const1s -7; lit2; div", "0xfffffffffffffffd"),
        // (2^64 - 7) mod 5: 2^64 is 1 mod 5, so 1 - 7 = -6, which is 4.
        ("const1s -7; lit5; mod", "0x4"),
        ("lit1; lit0; div", "evaluation error"),
        ("lit1; lit0; mod", "evaluation error"),
        ("const1s -3; abs", "0x3"),
        ("lit3; neg; lit2; mul", "0xfffffffffffffffa"),
        ("lit0; not", "0xffffffffffffffff"),
        ("lit12; lit10; and", "0x8"),
        ("lit12; lit10; or", "0xe"),
        ("lit12; lit10; xor", "0x6"),
        ("lit1; const1u 63; shl", "0x8000000000000000"),
        ("lit1; const1u 64; shl", "0x0"),
        ("const1s -1; const1u 60; shr", "0xf"),
        ("const1s -16; lit2; shra", "0xfffffffffffffffc"),
        ("const1s -16; const1u 200; shra", "0xffffffffffffffff"),
        ("lit5; plus_uconst 300", "0x131"),
        ("const1s -1; plus_uconst 2", "0x1"),
    ]);
}

#[test]
fn comparisons_of_the_generic_type_are_signed() {
    values(&[
        ("const1s -1; lit1; lt", "0x1"),
        ("const1s -1; lit1; gt", "0x0"),
        ("lit4; lit4; ge", "0x1"),
        ("lit4; lit4; le", "0x1"),
        ("lit4; lit5; eq", "0x0"),
        ("lit4; lit5; ne", "0x1"),
        ("const_type @0x11 {ff}; const_type @0x11 {01}; lt", "0x0"),
        ("const_type @0x12 {ff}; const_type @0x12 {01}; lt", "0x1"),
        // Not a number is not equal to itself.
        ("const_type @0x14 {00 00 c0 7f}; dup; eq", "0x0"),
        ("const_type @0x14 {00 00 c0 7f}; dup; ne", "0x1"),
    ]);
}

#[test]
fn operands_have_one_type_and_mostly_an_integral_one() {
    values(&[
        ("const_type @0x10 {f9 ff ff ff}; const_type @0x10 {02 00 00 00}; div", "0xfffffffd Signed/32"),
        ("const_type @0x11 {f9}; const_type @0x11 {02}; div", "0x7c Unsigned/8"),
        ("const_type @0x10 {f9 ff ff ff}; const_type @0x10 {04 00 00 00}; mod", "0xfffffffd Signed/32"),
        ("const_type @0x11 {ff}; const_type @0x11 {02}; plus", "0x1 Unsigned/8"),
        ("const_type @0x11 {80}; lit1; shl", "ill-formed"),
        ("const_type @0x11 {ff}; lit1; plus", "ill-formed"),
        // 1.5 * 2.0 = 3.0
        ("const_type @0x14 {00 00 c0 3f}; const_type @0x14 {00 00 00 40}; mul", "0x40400000 Float/32"),
        ("const_type @0x14 {00 00 c0 3f}; neg; abs", "0x3fc00000 Float/32"),
        ("const_type @0x14 {00 00 c0 3f}; dup; and", "ill-formed"),
        ("const_type @0x14 {00 00 c0 3f}; plus_uconst 1", "ill-formed"),
        (
            "const_type @0x16 {ff ff ff ff ff ff ff ff 00 00 00 00 00 00 00 00}; plus_uconst 1",
            "0x00000000000000010000000000000000 Unsigned/128",
        ),
    ]);
}

#[test]
fn conversions() {
    values(&[
        ("const_type @0x12 {f9}; convert @0x10", "0xfffffff9 Signed/32"),
        ("const_type @0x11 {f9}; convert @0x10", "0xf9 Signed/32"),
        ("const_type @0x10 {f9 ff ff ff}; convert @0x11", "0xf9 Unsigned/8"),
        ("const_type @0x12 {ff}; convert @0", "0xffffffffffffffff"),
        ("lit3; convert @0x14", "0x40400000 Float/32"),
        ("const_type @0x12 {fd}; convert @0x15", "0xc008000000000000 Float/64"),
        ("const_type @0x14 {00 00 20 c0}; convert @0x12", "0xfe Signed/8"),
        ("const_type @0x14 {00 00 c0 7f}; convert @0x12", "evaluation error"),
        ("lit4; convert @0x18", "0x1 Boolean/8"),
        ("const_type @0x14 {00 00 80 3f}; reinterpret @0x10", "0x3f800000 Signed/32"),
        ("lit4; reinterpret @0x19; reinterpret @0", "0x4"),
        ("lit4; reinterpret @0x10", "ill-formed"),
    ]);
}

#[test]
fn the_stack() {
    values(&[
        ("lit1; lit2; dup; plus; plus", "0x5"),
        ("lit1; lit2; drop", "0x1"),
        ("lit1; lit2; over", "0x1"),
        ("lit1; lit2; lit3; pick 2", "0x1"),
        ("lit1; lit2; swap; minus", "0x1"),
        // 1 2 3 becomes 3 1 2, and 3 - (1 - 2) is 4.
        ("lit1; lit2; lit3; rot", "0x2"),
        ("lit1; lit2; lit3; rot; minus; minus", "0x4"),
        ("drop", "ill-formed"),
        ("lit1; swap", "ill-formed"),
        ("lit1; lit2; rot", "ill-formed"),
        ("lit1; pick 1", "ill-formed"),
        ("plus", "ill-formed"),
        ("", "ill-formed"),
    ]);
    locations(&[
        ("reg0; reg1; swap", "reg:0"),
        ("reg0; reg1; over", "reg:0"),
        ("reg0; piece 4; dup", "ill-formed"),
        ("reg0; piece 4; reg1; swap", "ill-formed"),
        ("reg0; piece 4; drop", "ill-formed"),
        ("reg0; piece 4; piece_end; drop; reg1", "reg:1"),
    ]);
}

#[test]
fn branches() {
    let target = Target::x86_64();
    let run = |expr: &[u8]| {
        let context = Context::new(LLVM, &target);
        shown(Evaluator::new().step_limit(1000).value(expr, &machine(), &context))
    };
    // lit1; skip 1; lit2
    assert_eq!(run(&[0x31, 0x2f, 1, 0, 0x32]), "0x1", "to the end");
    // lit1; bra 4; lit2; skip 1; lit3, and the same from lit0
    assert_eq!(run(&[0x31, 0x28, 4, 0, 0x32, 0x2f, 1, 0, 0x33]), "0x3");
    assert_eq!(run(&[0x30, 0x28, 4, 0, 0x32, 0x2f, 1, 0, 0x33]), "0x2");
    // lit0; lit4; dup; rot; plus; swap; lit1; minus; dup; bra -10; drop: stack s n, with s := s + n
    // until n is 0. After `rot` of s n n it is n s n.
    let sum = [0x30, 0x34, 0x12, 0x17, 0x22, 0x16, 0x31, 0x1c, 0x12, 0x28, 0xf6, 0xff, 0x13];
    assert_eq!(run(&sum), "0xa", "4 + 3 + 2 + 1");
    assert_eq!(run(&[0x2f, 1, 0, 0x08, 0x31]), "ill-formed", "into an operand");
    assert_eq!(run(&[0x2f, 0xfc, 0xff]), "ill-formed", "before the start");
    assert_eq!(run(&[0x2f, 1, 0]), "ill-formed", "behind the end");
    assert_eq!(run(&[0x2f, 0xfd, 0xff]), "evaluation error", "for ever");
}

#[test]
fn memory_and_its_conversion_to_values() {
    locations(&[
        ("addr 0x1004", "mem:0:0x1004"),
        ("addrx 1", "mem:0:0x1010"),
        ("constx 1", "mem:0:0x1010"),
        ("breg5 1", "mem:0:0x1001"),
        ("bregx rdi -1", "mem:0:0xfff"),
        ("lit8; form_tls_address", "mem:0:0x1068"),
        ("call_frame_cfa; lit16; minus", "mem:0:0x1030"),
        ("fbreg -16", "mem:0:0x1030"),
        ("push_object_address", "evaluation error"),
        ("const_type @0x13 {08 10 00 00 00 00 00 00}", "ill-formed"),
        ("bregx 77 0", "ill-formed"),
        ("breg2 0", "evaluation error"),
        ("reg0; lit1; plus", "ill-formed"),
        ("lit4; lit0; form_aspace_address", "mem:0:0x4"),
        ("lit4; lit9; form_aspace_address", "ill-formed"),
        ("lit0; aspace_bregx rdi 4", "mem:0:0x1004"),
    ]);
    values(&[
        ("addr 0x1004", "0x1004"),
        ("reg0", "ill-formed"),
        ("addr 0x1004; lit1; bit_offset", "ill-formed"),
        ("addr 0x1004; lit16; bit_offset", "0x1006"),
    ]);
}

#[test]
fn dereferences() {
    values(&[
        ("addr 0x1100; deref", "0x1018"),
        ("addr 0x1006; deref_size 2", "0x706"),
        ("addr 0x1006; deref_type 2 @0x10", "ill-formed"),
        ("addr 0x1006; deref_type 4 @0x10", "0x9080706 Signed/32"),
        ("reg0; deref_type 1 @0x12", "0xa0 Signed/8"),
        ("reg0; lit4; bit_offset; deref_type 1 @0x17", "0xa Unsigned/4"),
        ("regval_type rax @0x10", "0xa3a2a1a0 Signed/32"),
        ("regval_type rax @0x16", "evaluation error"),
        ("reg17; deref_type 16 @0x16", "0xefeeedecebeae9e8e7e6e5e4e3e2e1e0 Unsigned/128"),
        ("implicit_value {01 02 03 04}; deref", "evaluation error"),
        ("implicit_value {01 02 03 04}; deref_size 4", "0x4030201"),
        ("undefined; deref", "evaluation error"),
        ("addr 0x9000; deref", "evaluation error"),
        // The last byte is not mapped.
        ("addr 0x1079; deref", "evaluation error"),
        ("reg2; deref", "evaluation error"),
        ("lit0; addr 0x1100; xderef", "0x1018"),
        ("lit0; addr 0x1006; xderef_size 1", "0x6"),
        ("lit0; addr 0x1006; xderef_type 1 @0x11", "0x6 Unsigned/8"),
        ("lit9; addr 0x1006; xderef", "ill-formed"),
        // Bits 4 to 7 of rax are a, bits 0 to 3 of rdx are 0, the byte in memory is 05.
        ("reg0; bit_piece 4 4; reg1; bit_piece 4 0; addr 0x1005; piece 1; piece_end; deref_size 2", "0x50a"),
    ]);
}

#[test]
fn registers_and_offsets() {
    locations(&[
        ("reg0", "reg:0"),
        ("regx 17; lit2; offset", "reg:17+16"),
        ("regx 77", "ill-formed"),
        ("reg0; offset_uconst 7", "reg:0+56"),
        ("reg0; offset_uconst 8", "evaluation error"),
        ("reg0; lit4; offset; const1s -4; offset", "reg:0"),
        ("reg0; const1s -1; offset", "evaluation error"),
        ("reg0; const1u 63; bit_offset", "reg:0+63"),
        ("addr 0x1000; lit3; bit_offset", "mem:0:0x1000+3"),
        ("lit0; const1s -1; offset", "evaluation error"),
        ("undefined; const1s -1; offset", "undefined"),
        ("lit4; lit2; offset", "mem:0:0x6"),
        ("reg0; const_type @0x14 {00 00 80 3f}; offset", "ill-formed"),
    ]);
}

#[test]
fn implicit_locations() {
    locations(&[
        ("implicit_value {11 22}", "implicit:1122"),
        ("lit5; stack_value", "implicit:0500000000000000"),
        ("const_type @0x10 {f9 ff ff ff}; stack_value; lit1; offset", "implicit:f9ffffff+8"),
        ("addr 0x1004; stack_value", "implicit:0410000000000000"),
        ("reg0; stack_value", "ill-formed"),
        ("", "undefined"),
        ("undefined", "undefined"),
    ]);
}

#[test]
fn implicit_pointers() {
    let target = Target::x86_64();
    let mut machine = machine();
    machine.entries.insert(0x40, (OwnedBody::Expression(vec![0x50]), 0));
    machine.entries.insert(0x50, (OwnedBody::Constant(vec![1, 2, 3, 4]), 0));
    machine.entries.insert(0x60, (OwnedBody::Nothing, 0));
    // An implicit pointer to itself, dereferenced.
    machine.entries.insert(0x70, (OwnedBody::Expression(vec![0xa0, 0x70, 0, 0, 0, 0, 0x06]), 0));
    let table = [
        ("implicit_pointer @0x40 2", "implptr:0x40:2"),
        ("implicit_pointer @0x40 2; deref", "reg:0+16"),
        ("implicit_pointer @0x40 8; deref", "evaluation error"),
        ("implicit_pointer @0x50 1; deref", "implicit:01020304+8"),
        ("implicit_pointer @0x40 2; deref; stack_value", "implptr:0x40:2"),
        ("implicit_pointer @0x40 2; deref; lit0; form_aspace_address", "reg:0+16"),
        ("implicit_pointer @0x40 0; deref_size 4", "evaluation error"),
        ("implicit_pointer @0x40 0; deref; lit1; plus", "evaluation error"),
        ("implicit_pointer @0x60 0; deref", "evaluation error"),
        ("implicit_pointer @0x99 0; deref", "evaluation error"),
        ("implicit_pointer @0x70 0; deref", "evaluation error"),
        (
            "implicit_pointer @0x40 0; bit_piece 32 0; implicit_pointer @0x40 0; bit_piece 32 32; \
             piece_end; deref",
            "reg:0",
        ),
        (
            "implicit_pointer @0x40 0; bit_piece 32 32; implicit_pointer @0x40 0; bit_piece 32 0; \
             piece_end; deref",
            "evaluation error",
        ),
    ];
    check(Kind::Location, &machine, LLVM, &target, &table);
    let location = location("implicit_pointer @0x40 2");
    let pointer = read_pointer(&location, 64).unwrap().unwrap();
    assert_eq!((pointer.entry, pointer.by), (0x40, 2));
    assert_eq!(read_bits(&location, 64, &machine).unwrap_err().class, Class::Evaluation);
}

#[test]
fn pieces() {
    locations(&[
        ("reg0; piece 4; piece 2; breg5 16; piece 2", "[reg:0/32, undefined/16, mem:0:0x1010/16]"),
        ("piece 3", "[undefined/24]"),
        ("reg0; bit_piece 4 4; reg1; bit_piece 4 8", "[reg:0+4/4, reg:1+8/4]"),
        ("reg0; piece 9", "ill-formed"),
        ("reg0; bit_piece 4 62", "ill-formed"),
        ("reg0; bit_piece 4 64", "evaluation error"),
        ("const_type @0x13 {08 10 00 00 00 00 00 00}; piece 4", "ill-formed"),
        // The last two bytes of memory, and one too many.
        ("const1s -2; piece 2", "[mem:0:0xfffffffffffffffe/16]"),
        ("const1s -2; piece 3", "ill-formed"),
        // 4 bytes and 2^64 - 1 more are larger than memory.
        ("reg0; piece 4; lit0; piece 0xffffffffffffffff", "ill-formed"),
        // A complete composite is a location like any other.
        ("reg0; piece 4; piece_end; reg1; piece 1", "[reg:1/8]"),
        ("reg0; piece 4; piece_end; piece 2", "[[reg:0/32]/16]"),
        ("reg0; piece 4; reg1; piece 4; piece_end; lit2; offset", "[reg:0/32, reg:1/32]+16"),
        ("reg0; piece 4; lit2; offset", "ill-formed"),
        ("reg0; piece 4; piece_end; lit4; offset", "evaluation error"),
        ("piece_end", "ill-formed"),
        ("reg0; piece_end", "ill-formed"),
        ("reg0; piece 4; piece_end; piece_end", "ill-formed"),
    ]);
}

#[test]
fn extend_and_select() {
    locations(&[
        ("reg0; extend 8 4", "[reg:0/8, reg:0/8, reg:0/8, reg:0/8]"),
        ("lit4; extend 16 1", "[mem:0:0x4/16]"),
        ("reg0; extend 0 4", "ill-formed"),
        ("reg0; extend 8 0", "ill-formed"),
        ("reg0; extend 65 1", "ill-formed"),
        ("reg0; extend 1 0x7fffffff", "evaluation error"),
        ("reg0; reg1; lit5; select_bit_piece 8 4", "[reg:1/8, reg:0+8/8, reg:1+16/8, reg:0+24/8]"),
        ("reg0; reg1; lit0; select_bit_piece 8 0", "ill-formed"),
        ("reg0; reg1; const_type @0x11 {00}; select_bit_piece 4 9", "ill-formed"),
        // The part after the last starts at the end of the register.
        ("reg0; reg1; lit0; select_bit_piece 8 9", "evaluation error"),
        ("reg0; reg1; reg1; select_bit_piece 8 4", "ill-formed"),
        // Only what is chosen must be there.
        ("implicit_value {07}; reg1; lit6; select_bit_piece 8 3", "[implicit:07/8, reg:1+8/8, reg:1+16/8]"),
    ]);
}

#[test]
fn calls_share_the_stack() {
    let target = Target::x86_64();
    let mut machine = machine();
    machine.entries = BTreeMap::from([
        (0x40, (OwnedBody::Expression(vec![0x23, 4]), 0)),
        (0x50, (OwnedBody::Expression(vec![0x93, 4]), 0)),
        (0x60, (OwnedBody::Constant(vec![9, 8]), 0)),
        (0x70, (OwnedBody::Nothing, 0)),
        (0x80, (OwnedBody::List(vec![entry(Some((0x4000, 0x4020)), &[0x51])]), 0)),
        (0x90, (OwnedBody::Expression(vec![0x98, 0x90, 0]), 0)),
    ]);
    let table = [
        ("addr 0x1000; call2 @0x40", "mem:0:0x1004"),
        ("addr 0x1000; call4 @0x40; call_ref @0x40", "mem:0:0x1008"),
        // A composite goes on after the call.
        ("reg0; call2 @0x50; reg1; call2 @0x50", "[reg:0/32, reg:1/32]"),
        ("call2 @0x60", "implicit:0908"),
        ("reg0; call2 @0x70", "reg:0"),
        ("reg0; call2 @0x80; piece 8", "[reg:1/64]"),
        ("call2 @0x30", "ill-formed"),
        ("call2 @0x90", "evaluation error"),
    ];
    check(Kind::Location, &machine, LLVM, &target, &table);
    let fault = result("call2 @0x40", Kind::Any, &machine, LLVM, &target).unwrap_err();
    assert_eq!((fault.entry, fault.operation, fault.offset), (Some(0x40), Some(0), Some(0)));
}

#[test]
fn units_decide_what_offsets_mean() {
    let target = Target::x86_64();
    let mut machine = machine();
    // The entry at 0x140 is in a unit that starts at 0x100, and whose type at 0x20 has one byte.
    machine.types.insert((0x100, 0x20), BaseType::new(TypeEncoding::Unsigned, 8));
    machine.entries.insert(0x140, (OwnedBody::Expression(vec![0xa6, 1, 0x20]), 0x100));
    let run = |expr: &str, unit: u64| {
        let context = Context { unit, ..Context::new(LLVM, &target) };
        shown(Evaluator::new().value(&bytes(expr, LLVM, &target), &machine, &context))
    };
    assert_eq!(run("reg0; call_ref @0x140", 0), "0xa0 Unsigned/8");
    assert_eq!(run("reg0; call2 @0x40", 0x100), "0xa0 Unsigned/8");
    assert_eq!(run("reg0; call2 @0x40", 0), "ill-formed");
    assert_eq!(run("reg0; deref_type 1 @0x20", 0), "ill-formed");
}

#[test]
fn frames() {
    let target = Target::x86_64();
    let machine = machine();
    let outer = |expr: &str| {
        let context = Context { frame: 1, kind: Kind::Any, ..Context::new(LLVM, &target) };
        shown(Evaluator::new().evaluate(&bytes(expr, LLVM, &target), &machine, &context))
    };
    assert_eq!(outer("reg0"), "mem:0:0x1038");
    assert_eq!(outer("reg1"), "reg:1");
    assert_eq!(outer("reg3"), "undefined");
    assert_eq!(outer("breg5 2"), "mem:0:0x101a", "rdi is saved at 0x1100");
    assert_eq!(outer("breg3 2"), "evaluation error", "undefined");
    assert_eq!(outer("call_frame_cfa"), "evaluation error", "not known there");
    assert_eq!(outer("call_frame_entry_reg rax"), "evaluation error", "no further frame");

    locations(&[
        ("call_frame_entry_reg rax", "mem:0:0x1038"),
        ("call_frame_entry_reg rbx", "undefined"),
        ("call_frame_entry_reg 77", "ill-formed"),
    ]);
    values(&[
        ("entry_value (reg0)", "0x3f3e3d3c3b3a3938"),
        ("entry_value (lit4)", "0x4"),
        ("entry_value (breg5 0; deref)", "0x1f1e1d1c1b1a1918"),
        ("entry_value (undefined)", "ill-formed"),
        ("entry_value (addr 0x1000)", "ill-formed"),
        ("entry_value (entry_value (lit4))", "0x4"),
    ]);
}

#[test]
fn a_frame_base_in_a_register_is_what_the_register_holds() {
    let target = Target::x86_64();
    let mut machine = machine();
    machine.frame_base = Some((OwnedBody::Expression(vec![0x55]), 0));
    check(Kind::Location, &machine, LLVM, &target, &[("fbreg 8", "mem:0:0x1008")]);
    let context = Context { frame: 1, ..Context::new(LLVM, &target) };
    let outer = Evaluator::new().location(&bytes("fbreg 8", LLVM, &target), &machine, &context);
    assert_eq!(shown(outer), "mem:0:0x1020", "the caller's rdi, not where it is saved");
    // It cannot refer to itself, be a composite, or be undefined.
    for base in [&[0x91, 0][..], &[0x50, 0x93, 8], &[]] {
        machine.frame_base = Some((OwnedBody::Expression(base.to_vec()), 0));
        check(Kind::Location, &machine, LLVM, &target, &[("fbreg 8", "ill-formed")]);
    }
    machine.frame_base = None;
    check(Kind::Location, &machine, LLVM, &target, &[("fbreg 8", "evaluation error")]);
}

#[test]
fn location_lists() {
    let target = Target::x86_64();
    let mut machine = machine();
    let context = Context::new(LLVM, &target);
    let list = |machine: &Snapshot, entries: &[ListEntry<'static>]| {
        shown(Evaluator::new().list(entries, machine, &context))
    };
    let (first, second) = (entry(Some((0x4000, 0x4010)), &[0x50]), entry(Some((0x4010, 0x4020)), &[0x51]));
    let (default, wide) = (entry(None, &[0x52]), entry(Some((0, 0x8000)), &[0x53, 0x93, 4]));
    let all = [first.clone(), default.clone(), second.clone()];
    assert_eq!(list(&machine, &all), "reg:1", "ranges are half-open");
    assert_eq!(list(&machine, &[first.clone(), default.clone()]), "reg:2");
    assert_eq!(list(&machine, &[first]), "undefined");
    assert_eq!(list(&machine, &[]), "undefined");
    assert_eq!(list(&machine, &[second.clone(), wide]), "reg:1 | [reg:3/32]");
    assert_eq!(list(&machine, &[second, entry(Some((0, 0x8000)), &[0x22])]), "ill-formed");
    machine.object = Some(Location::undefined());
    assert_eq!(list(&machine, &[entry(None, &[0x97])]), "evaluation error", "a list has no object");
    machine.pc = None;
    assert_eq!(list(&machine, &[default]), "evaluation error");
}

#[test]
fn kinds_of_results() {
    let target = Target::x86_64();
    let machine = machine();
    let table = [
        ("lit5", Kind::Any, "0x5"),
        ("lit5", Kind::Location, "mem:0:0x5"),
        ("reg0", Kind::Value, "ill-formed"),
        ("", Kind::Any, "undefined"),
        ("", Kind::Value, "ill-formed"),
        ("reg0; piece 4", Kind::Any, "[reg:0/32]"),
        ("reg0; piece 4", Kind::Value, "ill-formed"),
        ("reg0; lit5", Kind::Any, "0x5"),
    ];
    for (expr, kind, expected) in table {
        assert_eq!(shown(result(expr, kind, &machine, LLVM, &target)), expected, "{expr} as {kind:?}");
    }
    let initial = [Element::Location(Location::register(Reg(0), 64)), Element::Value(Value::generic(2, 8))];
    let context = Context { initial: &initial, ..Context::new(LLVM, &target) };
    let moved = Evaluator::new().location(&bytes("offset", LLVM, &target), &machine, &context);
    assert_eq!(shown(moved), "reg:0+16");
}

#[test]
fn call_frame_information_does_not_allow_everything() {
    let target = Target::x86_64();
    let machine = Snapshot { lane: Some(0), object: Some(Location::undefined()), ..machine() };
    let run = |expr: &str, place| {
        let context = Context { place, kind: Kind::Any, ..Context::new(LLVM, &target) };
        shown(Evaluator::new().evaluate(&bytes(expr, LLVM, &target), &machine, &context))
    };
    let refused = [
        "addrx 1",
        "constx 1",
        "const_type @0x11 {01}",
        "regval_type rax @0x13",
        "reg0; deref_type 1 @0x11",
        "lit4; convert @0",
        "lit4; reinterpret @0",
        "implicit_pointer @0x40 0",
        "fbreg 0",
        "push_object_address",
        "push_lane",
        "call_frame_cfa",
        "entry_value (lit4)",
    ];
    for expr in refused {
        assert_eq!(run(expr, Where::Cfi), "ill-formed", "{expr}");
        assert!(!["ill-formed", "evaluation error"].contains(&run(expr, Where::Location).as_str()), "{expr}");
    }
    assert_eq!(run("breg5 8", Where::Cfi), "mem:0:0x1008");
}

#[test]
fn what_cannot_be_decoded_is_ill_formed() {
    let target = Target::x86_64();
    for expr in [&[0x10, 0x80][..], &[0x03, 1, 2], &[0x31, 0x01], &[0xe9, 0x7f], &[0x9e, 5, 1], &[0xe3]] {
        let fault = Evaluator::new().location(expr, &machine(), &Context::new(LLVM, &target)).unwrap_err();
        assert_eq!(fault.class, Class::IllFormed, "{expr:x?}");
        assert!(fault.offset.is_some());
    }
}

#[test]
fn limits_end_an_evaluation() {
    let target = Target::x86_64();
    let limits = Limits { steps: 100, depth: 3, stack: 5, parts: 4 };
    let run = |expr: &str| {
        let mut evaluator = Evaluator::new().with_limits(limits);
        shown(evaluator.location(&bytes(expr, LLVM, &target), &machine(), &Context::new(LLVM, &target)))
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
    // On a composite that is complete, `piece` starts another, of which it is a part.
    let deep = location(&nested(99));
    assert_eq!(spans(&deep, 32).unwrap().len(), 1);
    assert_eq!(read_bits(&deep, 32, &machine()).unwrap().bytes, [0xa0, 0xa1, 0xa2, 0xa3]);
    locations(&[(&nested(100), "evaluation error")]);
}

#[test]
fn lanes_and_spaces() {
    lanes(&[
        ("regx v0; push_lane; lit4; mul; offset", "reg:1536+96"),
        ("lit16; lit5; form_aspace_address", "mem:5:0x10@3"),
        ("lit16; lit6; form_aspace_address", "mem:6:0x10"),
        ("lit5; aspace_bregx s0 4", "mem:5:0x24@3"),
        // Of an address in a space of 32 bits the low 32 count.
        ("constu 0x100000010; lit3; form_aspace_address", "mem:3:0x10"),
        ("const1s -4; lit3; form_aspace_address", "mem:3:0xfffffffc"),
        ("lit5; aspace_bregx s0 -33", "mem:5:0xffffffff@3"),
        ("lit16; lit4; form_aspace_address", "ill-formed"),
        // s0 is narrower than an address of the default space.
        ("bregx s0 0", "evaluation error"),
        // Only memory of the default space converts to a value.
        ("lit16; lit3; form_aspace_address; plus_uconst 1", "ill-formed"),
        ("lit16; lit3; form_aspace_address; offset_uconst 1", "mem:3:0x11"),
    ]);
    let without = Snapshot { lane: None, ..wave() };
    let outside = Snapshot { lane: Some(32), ..wave() };
    for expr in ["regx v0; push_lane; lit4; mul; offset", "lit16; lit5; form_aspace_address"] {
        check(Kind::Location, &without, LLVM, &gpu(), &[(expr, "evaluation error")]);
        check(Kind::Location, &outside, LLVM, &gpu(), &[(expr, "ill-formed")]);
    }
}

/// The examples of section 3.2, with what their figures show.
#[test]
fn examples_of_values_and_locations() {
    let target = Target::x86_64();
    let mut machine = machine();
    // 3.2.1: a dynamic array size.
    let size = [("regval_type rdi @0x13; reinterpret @0; deref", "0x706050403020100")];
    check(Kind::Value, &machine, LLVM, &target, &size);
    locations(&[
        // 3.2.2, 3.2.3, 3.2.4.
        ("regx rbx", "reg:3"),
        ("breg5 0; plus_uconst 0x10", "mem:0:0x1010"),
        ("regx rbx; piece 4; piece 2; bregx rdi 16; piece 2", "[reg:3/32, undefined/16, mem:0:0x1010/16]"),
        // 3.2.5: a composite cannot be moved with `plus`, but with `offset`.
        ("regx rbx; piece 4; piece 2; bregx rdi 16; piece 2; plus_uconst 5", "ill-formed"),
        (
            "regx rbx; piece 4; piece 2; bregx rdi 16; piece 2; piece_end; offset_uconst 5",
            "[reg:3/32, undefined/16, mem:0:0x1010/16]+40",
        ),
    ]);
    // 3.2.6: a pointer to member, of an object that is in a register.
    let initial = [Element::Value(Value::generic(4, 8)), Location::register(Reg(3), 64).into()];
    let context = Context { initial: &initial, ..Context::new(LLVM, &target) };
    let member = Evaluator::new().location(&bytes("swap; offset", LLVM, &target), &machine, &context);
    assert_eq!(shown(member), "reg:3+32");
    // 3.2.7: a virtual base class. The table is at 0x1100, the offset of the base 24 bytes before it is 8.
    machine.store(SpaceId::DEFAULT, None, 0x1100 - 24, &8u64.to_le_bytes());
    machine.registers.insert(Reg(17), [0x1100u64.to_le_bytes(), [42, 0, 0, 0, 0, 0, 0, 0]].concat());
    let initial = [Element::Location(Location::register(Reg(17), 128))];
    let context = Context { initial: &initial, ..Context::new(LLVM, &target) };
    let expr = bytes("dup; deref; lit24; minus; deref; offset", LLVM, &target);
    let base = Evaluator::new().location(&expr, &machine, &context).unwrap();
    assert_eq!(base.to_string(), "reg:17+64");
    assert_eq!(read_bits(&base, 8, &machine).unwrap().bytes, [42]);
}

/// The examples of section 4.3.
#[test]
fn examples_of_locations_on_the_stack() {
    lanes(&[
        // 4.3.1: a scalar spilled to lane 5.
        ("regx v0; offset_uconst 20", "reg:1536+160"),
        // 4.3.2: two registers, lane 3.
        (
            "regx v0; push_lane; constu 4; mul; offset; piece 4; \
             regx v1; push_lane; constu 4; mul; offset; piece 4",
            "[reg:1536+96/32, reg:1537+96/32]",
        ),
        // 4.3.3: a register, memory and a constant.
        (
            "regx v0; push_lane; constu 4; mul; offset; piece 4; addr 0xbeef; piece 2; \
             constu 0xf00d; stack_value; piece 2; piece_end",
            "[reg:1536+96/32, mem:0:0xbeef/16, implicit:0df0000000000000/16]",
        ),
        // 4.3.4: the stack frame in a memory that each lane has of its own.
        ("regval_type s0 @0x10; constu 5; form_aspace_address; constu 0x10; offset", "mem:5:0x30@3"),
        // 4.3.5: bits of a register.
        ("regx v0; constu 20; bit_offset", "reg:1536+20"),
    ]);
}

#[test]
fn spans_resolve_composites_and_keep_places() {
    let shown = |location: &Location, bits| {
        let mut out = Vec::new();
        for span in spans(location, bits).unwrap() {
            let places: Vec<_> = span.places.iter().map(ToString::to_string).collect();
            out.push(format!("{}/{}", places.join("|"), span.bits));
        }
        out.join(" ")
    };
    assert_eq!(shown(&location("reg0"), 32), "reg:0/32");
    // Neighbours that go on in the same register are one.
    assert_eq!(shown(&location("reg0; piece 2; reg0; bit_piece 16 16"), 32), "reg:0/32");
    let holes = location("reg0; piece 2; piece 1; piece 1; reg1; piece 1");
    assert_eq!(shown(&holes, 40), "reg:0/16 undefined/16 reg:1/8");
    // A composite in a composite, from its third byte on.
    let nested =
        location("reg0; piece 4; reg1; piece 4; piece_end; offset_uconst 2; piece 4; regx xmm0; piece 2");
    assert_eq!(shown(&nested, 48), "reg:0+16/16 reg:1/16 reg:17/16");
    // Two places are cut where either of them is.
    let pieces = location("reg0; piece 2; reg1; piece 2");
    let both = location("addr 0x1000").and(pieces.clone());
    assert_eq!(shown(&both, 32), "mem:0:0x1000|reg:0/16 mem:0:0x1002|reg:1/16");
    let swapped = pieces.and(location("addr 0x1000"));
    assert!(same(&spans(&both, 32).unwrap(), &spans(&swapped, 32).unwrap()));
    assert!(!same(&spans(&both, 32).unwrap(), &spans(&location("addr 0x1000"), 32).unwrap()));
    // Known bits are the same if they are equal, however they are cut.
    let one = location("implicit_value {11 22 33}");
    let two = location("implicit_value {99 11}; bit_piece 8 8; implicit_value {22 33}; piece 2");
    assert!(same(&spans(&one, 24).unwrap(), &spans(&two, 24).unwrap()));
    assert!(!same(&spans(&one, 24).unwrap(), &spans(&one, 16).unwrap()));
    assert_eq!(spans(&location("reg0; lit4; offset"), 33).unwrap_err().class, Class::Evaluation);
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
    // The other place is read where one is undefined, or not there.
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
fn big_endian_numbers() {
    let machine = Snapshot { big_endian: true, ..machine() };
    let encoding = Encoding { big_endian: true, ..LLVM };
    let target = Target::x86_64();
    let table = [("addr 0x1001; deref_size 2", "0x102"), ("reg0; deref", "0xa7a6a5a4a3a2a1a0")];
    check(Kind::Value, &machine, encoding, &target, &table);
    let table = [("lit5; stack_value", "implicit:0000000000000005")];
    check(Kind::Location, &machine, encoding, &target, &table);
    let register = Location::register(Reg(0), 64);
    assert_eq!(read_bits(&register, 16, &machine).unwrap().bytes, [0xa1, 0xa0]);
    // Bits 0 to 11 of the register are 1a0: the object starts with the most significant.
    assert_eq!(read_bits(&register, 12, &machine).unwrap().bytes, [0x1a, 0x00]);
}

#[test]
fn the_draft_of_dwarf_6() {
    let target = Target::x86_64();
    let table = [
        // The address is on top, other than with `form_aspace_address`.
        ("lit0; lit4; mem", "mem:0:0x4"),
        ("lit9; lit4; mem", "ill-formed"),
        ("composite; reg0; piece 4; reg1; piece 2", "[reg:0/32, reg:1/16]"),
        ("reg0; piece 4; piece 2", "[reg:0/32, undefined/16]"),
        ("piece 2", "[undefined/16]"),
        // Other elements can be below a composite that was started as such.
        ("reg1; composite; reg0; piece 4", "[reg:0/32]"),
        ("reg1; reg0; piece 4", "ill-formed"),
        // There is no incomplete composite.
        ("reg0; piece 4; dup; lit2; offset", "[reg:0/32]+16"),
        ("addr 0x1000; deref_size 9", "ill-formed"),
        // An overlay keeps the whole storage of its base, and makes it longer.
        ("reg0; reg1; lit2; lit1; overlay", "[reg:0/16, reg:1/8, reg:0+24/40]"),
        ("reg0; reg1; lit8; lit8; overlay", "[reg:0/64, reg:1/64]"),
        ("reg0; reg1; lit9; lit1; overlay", "[reg:0/64, undefined/8, reg:1/8]"),
        ("reg0; lit4; offset; reg1; const1s -2; lit1; overlay", "[reg:0/16, reg:1/8, reg:0+24/40]+32"),
        ("reg0; reg1; const1s -1; lit1; overlay", "ill-formed"),
        ("reg0; reg1; lit0; lit9; overlay", "ill-formed"),
        ("reg0; reg1; lit0; lit0; overlay", "reg:0"),
        ("composite; reg1; lit0; lit2; overlay", "[reg:1/16]"),
    ];
    check(Kind::Location, &machine(), draft(), &target, &table);
    let table = [
        ("const1s -7; lit5; mod_floor", "0x3"),
        ("lit7; const1s -5; mod_floor", "0xfffffffffffffffd"),
        ("lit7; lit0; mod_floor", "evaluation error"),
    ];
    check(Kind::Value, &machine(), draft(), &target, &table);
}

#[test]
fn an_architecture_can_be_plain_data() {
    let layout = eitri::eval::Layout {
        registers: BTreeMap::from([(Reg(7), 16)]),
        spaces: BTreeMap::from([(SpaceId::DEFAULT, SpaceLayout { address_bits: 16, per: Per::Process })]),
    };
    let mut machine = Snapshot::default();
    machine.registers.insert(Reg(7), vec![0xfe, 0xff]);
    let context = Context::new(Encoding::new(2, Dialect::Dwarf5), &layout);
    // breg7 4: 0xfffe + 4 in 16 bits.
    let location = Evaluator::new().location(&[0x77, 0x04], &machine, &context);
    assert_eq!(shown(location), "mem:0:0x2");
    // No composite is larger than the memory: piece 0xffff; piece 2.
    let location = Evaluator::new().location(&[0x93, 0xff, 0xff, 0x03, 0x93, 0x02], &machine, &context);
    assert_eq!(shown(location), "ill-formed");
}

#[test]
fn a_trace_tells_every_step() {
    let target = Target::x86_64();
    let mut machine = machine();
    machine.entries.insert(0x40, (OwnedBody::Expression(vec![0x32, 0x22]), 0));
    let mut steps = Vec::new();
    let expr = bytes("lit1; call2 @0x40; stack_value", LLVM, &target);
    let mut trace = |step: eitri::eval::Step<'_>| {
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
    let fault = result("const2u 5; lit0; div", Kind::Value, &machine(), LLVM, &Target::x86_64()).unwrap_err();
    assert_eq!(fault.to_string(), "operation 2, offset 0x4: evaluation error: division by zero");
    // The operation is one of the expression that was given, also where it refers to another.
    let mut machine = machine();
    machine.frame_base = Some((OwnedBody::Expression(vec![0x31, 0x30, 0x1b]), 0));
    let target = Target::x86_64();
    let told = |expr| result(expr, Kind::Value, &machine, LLVM, &target).unwrap_err().to_string();
    let inner = "operation 2, offset 0x2: division by zero";
    let expected = format!("operation 1, offset 0x1: evaluation error: in the frame base, {inner}");
    assert_eq!(told("lit1; fbreg 0"), expected);
    let expected = format!("operation 1, offset 0x1: evaluation error: in the calling frame, {inner}");
    assert_eq!(told("lit1; entry_value (lit1; lit0; div)"), expected);
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
    let failed = evaluator.location(&bytes("reg0; reg1; plus", LLVM, &target), &machine, &context);
    assert_eq!(shown(failed), "ill-formed");
    let fine = evaluator.location(&bytes("piece 2", LLVM, &target), &machine, &context);
    assert_eq!(shown(fine), "[undefined/16]");
}
