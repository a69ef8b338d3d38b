//! Reads and overlays at the bounds of a storage: no bits, and more bits than available.

use eitri::eval::{
    Caller, Class, Context, Element, Evaluator, Location, OwnedBody, ResultKind, Snapshot, read_bits,
};
use eitri::op::{Dialect, Encoding, OperationName, Reg, text};
use eitri::target::Target;
use pretty_assertions::assert_eq;

use super::{LLVM, machine, outcome, shown};
use crate::common::with;

/// DWARF 6, with arbitrary codes.
fn draft() -> Encoding {
    let mut encoding = Encoding::new(8, Dialect::Dwarf6);
    let names = [
        OperationName::Offset,
        OperationName::Undefined,
        OperationName::Overlay,
        OperationName::BitOverlay,
        OperationName::Composite,
        OperationName::BitOffset,
    ];
    for (name, code) in names.into_iter().zip(0xb1..) {
        encoding.draft = encoding.draft.with(name, code);
    }
    encoding
}

fn location(expr: &str, machine: &Snapshot) -> Location {
    match outcome(expr, ResultKind::Location, machine, draft()) {
        Ok(Element::Location(found)) => found,
        found => panic!("{expr}: {found:?}"),
    }
}

/// The bytes at a location; `--` is a byte without defined bits.
fn read(location: &Location, bits: u64, machine: &Snapshot) -> String {
    let read = read_bits(location, bits, machine).unwrap_or_else(|fault| panic!("{location}: {fault}"));
    let byte = |(byte, defined): (&u8, &u8)| match defined {
        0 => "--".to_string(),
        0xff => format!("{byte:02x}"),
        _ => format!("{byte:02x}/{defined:02x}"),
    };
    read.bytes.iter().zip(&read.defined).map(byte).collect::<Vec<_>>().join(" ")
}

/// "It is an evaluation error if any bit of the value is retrieved from the undefined location storage" (A.2.5.4.3.4):
/// reading no bits is not an error.
#[test]
fn reads_without_bits_succeed() {
    let machine = machine();
    let of = |expr: &str| shown(outcome(expr, ResultKind::Value, &machine, LLVM));
    for place in ["undefined", "implicit_pointer @0x40 0", "regx 2", "addr 0x9000", "implicit_value {}"] {
        assert_eq!(of(&format!("{place}; deref_size 0")), "0x0", "{place}");
    }
    assert_eq!(of("lit0; const2u 0x9000; xderef_size 0"), "0x0");
    assert_eq!(of("undefined; deref_size 1"), "evaluation error");
    assert_eq!(of("regx 2; deref_size 1"), "evaluation error");
    // "Attempting to dereference an undefined location is an error" (DWARF 6, 3.13, 230524.1), of any size.
    let draft = |expr: &str| shown(outcome(expr, ResultKind::Value, &machine, draft()));
    assert_eq!(draft("undefined; deref_size 0"), "evaluation error");
    assert_eq!(draft("regx 2; deref_size 0"), "0x0");
    assert_eq!(draft("composite; undefined; piece 1; deref_size 0"), "0x0");
}

/// "If the composite storage is smaller than the object, the remaining bits of the object are treated as undefined"
/// (DWARF 6, 3.12, 251120.1).
#[test]
fn an_object_is_larger_than_its_composite() {
    for big_endian in [false, true] {
        let machine = {
            let mut changed = machine();
            changed.big_endian = big_endian;
            changed
        };
        let of = |expr: &str, bits| read(&location(expr, &machine), bits, &machine);
        assert_eq!(of("addr 0x1000; piece 2; addr 0x1080; piece 1", 40), "00 01 80 -- --");
        assert_eq!(of("composite", 16), "-- --");
        assert_eq!(of("addr 0x1000; piece 4; lit2; offset", 32), "02 03 -- --");
    }
    // A read within an expression requires storage.
    let of = |expr: &str| outcome(expr, ResultKind::Value, &machine(), draft());
    assert_eq!(shown(of("reg0; piece 2; deref_size 2")), "0xa1a0");
    assert_eq!(of("reg0; piece 2; deref_size 4").unwrap_err().class, Class::Evaluation);
    // Other storages have fixed ends.
    let wide = location("reg0", &machine());
    assert_eq!(read_bits(&wide, 72, &machine()).unwrap_err().class, Class::Evaluation);
}

/// DWARF 5 does not say what the bits after the last piece are, and LLVM omits pieces at the end. Of a structure of two
/// `long` at `reg3; piece 8`, gdb 13 and lldb 19 show the first one; the second one is a synthetic pointer in gdb, and 0 in
/// lldb. Of one at `reg3` alone, lldb shows nothing.
#[test]
fn an_object_is_larger_than_its_pieces() {
    for big_endian in [false, true] {
        let machine = {
            let mut changed = machine();
            changed.big_endian = big_endian;
            changed
        };
        let of = |expr: &str| match outcome(expr, ResultKind::Location, &machine, LLVM) {
            Ok(Element::Location(found)) => read_bits(&found, 40, &machine),
            found => panic!("{expr}: {found:?}"),
        };
        let read = of("addr 0x1000; piece 2; addr 0x1080; piece 1").expect("three bytes");
        assert_eq!((read.bytes, read.defined), (vec![0, 1, 0x80, 0, 0], vec![0xff, 0xff, 0xff, 0, 0]));
        assert_eq!(of("implicit_value {01 02}").unwrap_err().class, Class::Evaluation);
        // A read within an expression requires storage.
        let value = outcome("reg0; piece 2; piece_end; deref_size 4", ResultKind::Value, &machine, LLVM);
        assert_eq!(value.unwrap_err().class, Class::Evaluation);
    }
}

/// "If the overlay base extends beyond the bounds of the storage of base location, the storage of the resulting
/// location is first extended by adding undefined storage sufficient to cover the overlay base" (251120.1).
#[test]
fn an_overlay_of_no_width_beyond_the_base_extends_it() {
    let machine = machine();
    let of = |expr: &str| shown(outcome(expr, ResultKind::Location, &machine, draft()));
    assert_eq!(of("reg0; reg1; const1u 12; lit0; overlay"), "[reg:0/64, undefined/32]");
    assert_eq!(of("reg0; reg1; const1u 67; lit0; bit_overlay"), "[reg:0/64, undefined/3]");
    assert_eq!(of("composite; reg1; lit2; lit0; overlay"), "[undefined/16]");
    // "if the overlay width is zero and offset is within the bounds of the base location's storage, then the consumer
    // may leave the base location".
    for offset in [0, 4, 8] {
        assert_eq!(of(&format!("reg0; reg1; lit{offset}; lit0; overlay")), "reg:0");
    }
    assert_eq!(of("reg0; reg1; const1s -1; lit0; overlay"), "ill-formed");
}

/// "The frame base location, offset by B bytes, is pushed onto the stack" (DWARF 6, 3.7, 230524.1).
#[test]
fn a_frame_base_of_dwarf_6_is_any_location() {
    let cpu = Target::x86_64();
    let of = |base: &str, expr: &str, encoding: Encoding| {
        let bytes = |expr: &str| text::parse(expr, encoding, Some(&cpu)).unwrap().bytes().to_vec();
        let machine = {
            let mut changed = machine();
            changed.frame_base = Some((OwnedBody::Expression(bytes(base)), 0));
            changed
        };
        let context = Context::new(encoding, &cpu);
        shown(Evaluator::new().location(&bytes(expr), &machine, &context))
    };
    let implicit = "implicit_value {01 02 03 04 05 06 07 08}";
    assert_eq!(of(implicit, "fbreg 2", draft()), "implicit:0102030405060708+16");
    assert_eq!(of("reg0; piece 8; reg1; piece 8", "fbreg 6", draft()), "[reg:0/64, reg:1/64]+48");
    assert_eq!(of("composite; reg1; piece 8; lit4; offset", "fbreg -1", draft()), "[reg:1/64]+24");
    assert_eq!(of("implicit_value {01 02}", "fbreg 2", draft()), "evaluation error");
    assert_eq!(of("undefined", "fbreg 8", draft()), "undefined");
    // A register alone contains the address of the frame base; bits in the middle of one are the frame base.
    assert_eq!(of("reg5", "fbreg 2", draft()), "mem:0:0x1002");
    assert_eq!(of("reg5; lit4; offset", "fbreg 2", draft()), "reg:5+48");
    for base in [implicit, "reg0; piece 8; reg1; piece 8", "undefined"] {
        assert_eq!(of(base, "fbreg 0", LLVM), "ill-formed", "A.3.3.5: {base}");
    }
}

/// The first fault decides the class, in the order of the elements from the top down, the operation's numbers, and the
/// parts from the first on (`crates/eitri-dwarf/src/eval/decisions.md`).
#[test]
fn the_first_fault_of_a_selection_decides() {
    let of = |expr: &str| shown(outcome(expr, ResultKind::Location, &machine(), LLVM));
    // Converting an implicit pointer value to a location without an entry is an evaluation error.
    const NO_ENTRY: &str = "implicit_pointer @0x99 0; deref";
    assert_eq!(of(&format!("reg0; {NO_ENTRY}; lit0; select_bit_piece 8 2")), "evaluation error");
    assert_eq!(
        of(&format!("reg0; {NO_ENTRY}; reg1; select_bit_piece 8 2")),
        "ill-formed",
        "the mask is no value"
    );
    assert_eq!(
        of("reg0; reg1; implicit_pointer @0x99 0; deref; select_bit_piece 0 2"),
        "evaluation error",
        "the mask"
    );
    assert_eq!(
        of(&format!("reg0; {NO_ENTRY}; lit0; select_bit_piece 0 2")),
        "evaluation error",
        "before the numbers"
    );
    // Part 1, of two bytes, exceeds the third byte; part 2 is beyond the storage.
    assert_eq!(of("implicit_value {01 02 03}; reg0; lit0; select_bit_piece 16 3"), "ill-formed");
    // Part 1 is beyond two bytes; part 2 has too few bits.
    let expr = "implicit_value {01 02}; implicit_value {01 02 03 04 05}; lit4; select_bit_piece 16 3";
    assert_eq!(of(expr), "evaluation error");
}

/// The type has the size of the register, as `deref_type` reads as many bits as its type has (A.2.5.4.3.4); it is the
/// generic type if that has this size.
#[test]
fn the_type_of_an_entry_value_is_as_large_as_the_register() {
    let gpu = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let s4 = gpu.sgpr(4).unwrap();
    let pc = gpu.pc().unwrap();
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(0x4010));
    machine.registers.insert(s4, vec![4, 3, 2, 1]);
    machine.registers.insert(pc, 0x1234u64.to_le_bytes().to_vec());
    let same = |reg: Reg| (reg, Location::register(reg, gpu.register(reg).unwrap().bits));
    let registers = [s4, pc].map(same).into_iter().collect();
    machine.callers = vec![with::<Caller>(|caller| {
        caller.pc = Some(0x5000);
        caller.registers = registers;
    })];
    let of = |expr: &str| {
        let expr = text::parse(expr, LLVM, Some(&gpu)).unwrap();
        let context = Context::new(LLVM, &gpu).with_kind(ResultKind::Any);
        match Evaluator::new().evaluate(expr.bytes(), &machine, &context) {
            Ok(Element::Value(value)) => {
                format!("{:#x} {} {}", value.as_u64().unwrap(), value.ty().bits, value.ty().is_generic())
            }
            other => shown(other),
        }
    };
    let scalar = format!("entry_value (regx {})", s4.0);
    assert_eq!(of(&scalar), "0x1020304 32 false");
    assert_eq!(of(&format!("{scalar}; plus_uconst 1")), "0x1020305 32 false");
    assert_eq!(of(&format!("{scalar}; lit1; plus")), "ill-formed", "of two types");
    assert_eq!(of(&format!("{scalar}; convert @0x0; lit1; plus")), "0x1020305 64 true");
    assert_eq!(of(&format!("entry_value (regx {}); lit1; plus", pc.0)), "0x1235 64 true");
}
