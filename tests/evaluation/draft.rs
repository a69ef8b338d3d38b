//! Differences between DWARF 6 and the extension.

use eitri::eval::{Class, Context, Element, Evaluator, Location, ResultKind, Snapshot, read_bits};
use eitri::op::{Dialect, Encoding, OperationName, Reg, text};
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use super::{LLVM, machine, shown};
use crate::common::with;

/// Arbitrary codes.
fn draft() -> Encoding {
    let mut encoding = Encoding::new(8, Dialect::Dwarf6);
    let names = [
        OperationName::Offset,
        OperationName::Undefined,
        OperationName::Mem,
        OperationName::Overlay,
        OperationName::Composite,
        OperationName::ModFloor,
    ];
    for (name, code) in names.into_iter().zip(0xb1..) {
        encoding.draft = encoding.draft.with(name, code);
    }
    encoding
}

fn any(expr: &str, machine: &Snapshot, encoding: Encoding, target: &Target) -> String {
    let expr = text::parse(expr, encoding, Some(target)).unwrap_or_else(|error| panic!("{error}"));
    let context = Context::new(encoding, target).with_kind(ResultKind::Any);
    shown(Evaluator::new().evaluate(expr.bytes(), machine, &context))
}

#[test]
fn draft_differs_from_the_extension() {
    let cpu = Target::x86_64();
    let machine = machine();
    let both = [draft(), LLVM];
    let run = |expr: &str| both.map(|encoding| any(expr, &machine, encoding, &cpu));
    // The canonical frame address is a value; in the extension it is a location.
    assert_eq!(run("call_frame_cfa"), ["0x1040", "mem:0:0x1040"]);
    // Lane 0 exists without lanes.
    assert_eq!(run("push_lane"), ["0x0", "evaluation error"]);
    // Undefined storage is as large as the largest address space.
    assert_eq!(run("undefined; const1s -1; offset"), ["evaluation error", "undefined"]);
    assert_eq!(run("undefined; lit4; offset; const1s -4; offset"), ["undefined", "undefined"]);
    assert_eq!(
        run("undefined; const8u 0x7fffffffffffffff; dup; rot; offset; swap; offset; lit2; offset"),
        ["evaluation error", "undefined"]
    );
}

#[test]
fn addresses_of_another_space_must_be_in_it() {
    let gpu = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let run = |expr: &str| any(expr, &Snapshot::default(), draft(), &gpu);
    assert_eq!(run("lit3; const4u 0xfffffffc; mem"), "mem:3:0xfffffffc");
    assert_eq!(run("lit3; const8u 0x100000000; mem"), "evaluation error");
    assert_eq!(run("lit4; lit0; mem"), "ill-formed");
}

/// Bits of implicit storage count from the least significant one, as in a register.
#[test]
fn bit_pieces_of_known_bits_on_a_big_endian_machine() {
    let cpu = Target::x86_64();
    let machine = {
        let mut changed = machine();
        changed.big_endian = true;
        changed
    };
    let read = |encoding: Encoding| {
        let encoding = encoding.with_big_endian(true);
        let expr = text::parse("implicit_value {12 34}; bit_piece 4 8", encoding, Some(&cpu)).unwrap();
        let found = Evaluator::new().location(expr.bytes(), &machine, &Context::new(encoding, &cpu)).unwrap();
        read_bits(&found, 4, &machine).unwrap().bytes
    };
    assert_eq!(read(draft()), [0x20]);
    assert_eq!(read(LLVM), [0x30]);
}

/// Every place must have the bits to read, even if they are read from another place (A.2.5.4.3.4).
#[test]
fn all_storages_return_the_bits() {
    let cpu = Target::x86_64();
    let two = Location::memory(SpaceId::DEFAULT, 64, 0x1000).and(Location::register(Reg(1), 16));
    let initial = [Element::Location(two)];
    let context = Context::new(LLVM, &cpu).with_initial(&initial);
    let read = |code: &[u8]| Evaluator::new().value(code, &machine(), &context);
    assert_eq!(shown(read(&[0x94, 2])), "0x100");
    assert_eq!(read(&[0x94, 3]).unwrap_err().class, Class::Evaluation);
}

/// Nested divergent regions: each selects from the vector of the enclosing region.
#[test]
fn regions_in_regions_do_not_multiply() {
    let gpu = Target::named("amdgpu-gfx900-wave64").unwrap();
    let mut machine = with::<Snapshot>(|machine| machine.lanes = Some(64));
    machine.registers.insert(Reg(17), 5u64.to_le_bytes().to_vec());
    let mut expr = "addr 0x10; stack_value; extend 64 64".to_owned();
    for region in 0..20 {
        expr += &format!("; addr {region}; stack_value; extend 64 64; const1u 5; select_bit_piece 64 64");
    }
    let expr = text::parse(&expr, LLVM, Some(&gpu)).unwrap();
    let found = Evaluator::new().location(expr.bytes(), &machine, &Context::new(LLVM, &gpu)).unwrap();
    let bytes = read_bits(&found, 4096, &machine).unwrap().bytes;
    // The last region has lanes 0 and 2; the other regions have no further lanes.
    let pcs: Vec<_> = bytes.chunks(8).map(|pc| pc[0]).collect();
    assert_eq!(pcs[..4], [19, 0x10, 19, 0x10]);
}

/// Combinations of operations that do not occur in the conformance vectors.
#[test]
fn combinations() {
    let table = [
        ("composite; reg0; piece 4; reg1; piece 2", "[reg:0/32, reg:1/16]"),
        // Elements can be below a composite that was started explicitly.
        ("reg1; composite; reg0; piece 4", "[reg:0/32]"),
        // Incomplete composites do not exist.
        ("reg0; piece 4; dup; lit2; offset", "[reg:0/32]+16"),
        ("composite; reg1; lit0; lit2; overlay", "[reg:1/16]"),
        ("reg0; reg1; const1s -1; lit1; overlay", "ill-formed"),
        ("addr 0x1000; deref_size 9", "ill-formed"),
        ("lit9; lit4; mem", "ill-formed"),
        ("const1s -7; lit5; mod_floor", "0x3"),
        ("lit7; const1s -5; mod_floor", "0xfffffffffffffffd"),
    ];
    for (expr, expected) in table {
        assert_eq!(any(expr, &machine(), draft(), &Target::x86_64()), expected, "{expr}");
    }
}
