//! Debug operations, computed by hand: section 3.6.

use crate::common::with;
use eitri::eval::{Element, Layout, Location, Snapshot, SpaceLayout, Value};
use eitri::spirv::DebugOperation::{self, *};
use eitri::spirv::{Evaluated, Initial, evaluate};
use eitri::target::{Per, SpaceId, Target};

const LOCAL: SpaceId = SpaceId(3);

/// Memory: in the default space the 8 bytes at 0x1000 are 0x2000, and those at 0x2000 are 77; in space 3, those at
/// 0x10 are 5, and those at 0x1000 are 0x30.
fn machine() -> Snapshot {
    let mut machine = Snapshot::default();
    for (space, address, value) in [
        (SpaceId::DEFAULT, 0x1000, 0x2000_u64),
        (SpaceId::DEFAULT, 0x2000, 77),
        (LOCAL, 0x10, 5),
        (LOCAL, 0x1000, 0x30),
    ] {
        machine.store(space, None, address, &value.to_le_bytes());
    }
    machine
}

fn target() -> Layout {
    let space = |bits| SpaceLayout { address_bits: bits, per: Per::Process };
    Layout { spaces: [(SpaceId::DEFAULT, space(64)), (LOCAL, space(32))].into(), ..Layout::default() }
}

fn number(number: u64) -> Element {
    Element::Value(Value::generic(number, 8))
}

fn declared(address: u64, operations: &[DebugOperation]) -> eitri::Result<Evaluated> {
    evaluate(operations, &Initial::Address(number(address)), &machine(), &target())
}

fn valued(value: u64, operations: &[DebugOperation]) -> eitri::Result<Evaluated> {
    evaluate(operations, &Initial::Value(number(value)), &machine(), &target())
}

/// Text of the location, if it is that of the whole variable.
fn place(found: eitri::Result<Evaluated>) -> String {
    let found = found.expect("it has a meaning");
    assert_eq!(found.bits, None);
    found.location.to_string()
}

/// Text of eight bytes, lowest first.
fn bytes(value: u64) -> String {
    value.to_le_bytes().iter().fold("implicit:".into(), |text, byte| format!("{text}{byte:02x}"))
}

#[test]
fn empty_expression_is_the_stack_top() {
    assert_eq!(place(declared(0x1000, &[])), "mem:0:0x1000");
    assert_eq!(place(valued(0x1000, &[])), bytes(0x1000));
    // Bits that are not a number, and addresses in another space.
    let bits = Initial::Value(Element::Location(Location::implicit(&[1; 16])));
    let found = evaluate(&[], &bits, &machine(), &target()).unwrap();
    assert_eq!(found.location, Location::implicit(&[1; 16]));
    let local = Initial::Address(Element::Location(Location::memory(LOCAL, 32, 0x10)));
    assert_eq!(evaluate(&[], &local, &machine(), &target()).unwrap().location.to_string(), "mem:3:0x10");
}

#[test]
fn deref_reads_an_address() {
    // The variable contains the address.
    assert_eq!(place(declared(0x1000, &[Deref])), "mem:0:0x2000");
    assert_eq!(place(declared(0x1000, &[Deref, Deref])), "mem:0:0x4d");
    // The value is the address.
    assert_eq!(place(valued(0x1000, &[Deref])), "mem:0:0x1000");
    assert_eq!(place(valued(0x1000, &[Deref, Deref])), "mem:0:0x2000");
    // The value that was read is processed further.
    assert_eq!(place(valued(0x2000, &[Deref, PlusUconst(1), StackValue])), bytes(78));
    assert_eq!(place(valued(0x2000, &[Deref, StackValue])), bytes(77));
}

#[test]
fn plus_minus_and_swap() {
    assert_eq!(place(valued(30, &[Constu(12), Plus, StackValue])), bytes(42));
    // The former top is subtracted from the former second.
    assert_eq!(place(valued(30, &[Constu(12), Minus, StackValue])), bytes(18));
    assert_eq!(place(valued(30, &[Constu(12), Swap, Minus, StackValue])), bytes(18_u64.wrapping_neg()));
    assert_eq!(place(declared(0x1000, &[PlusUconst(16)])), "mem:0:0x1010");
    assert_eq!(place(declared(0x1000, &[Constu(16), Minus])), "mem:0:0xff0");
    // The value is computed even without StackValue.
    assert_eq!(place(valued(30, &[PlusUconst(12)])), bytes(42));
}

#[test]
fn negative_numbers_are_those_of_the_size_of_an_address() {
    let minus_four = 4_u64.wrapping_neg();
    assert_eq!(place(valued(minus_four, &[PlusUconst(3), StackValue])), bytes(u64::MAX));
    assert_eq!(place(valued(minus_four, &[PlusUconst(6), StackValue])), bytes(2));
    assert_eq!(place(valued(3, &[Constu(4), Minus, StackValue])), bytes(u64::MAX));
    // Operands are unsigned.
    let largest = u64::from(u32::MAX);
    assert_eq!(place(valued(1, &[PlusUconst(u32::MAX), StackValue])), bytes(largest + 1));
    assert_eq!(place(valued(0, &[Constu(u32::MAX), StackValue])), bytes(largest));
}

#[test]
fn constu_covers_what_was_there() {
    assert_eq!(place(valued(5, &[Constu(9), StackValue])), bytes(9));
    assert_eq!(place(declared(0x1000, &[Constu(9), StackValue])), bytes(9));
}

#[test]
fn xderef_has_the_address_on_top_and_the_space_below() {
    let in_local = [Constu(3), Swap, Xderef];
    assert_eq!(place(valued(0x10, &in_local)), "mem:3:0x10");
    assert_eq!(place(valued(0x10, &[Constu(3), Swap, Xderef, StackValue])), bytes(5));
    assert_eq!(place(declared(0x1000, &in_local)), "mem:0:0x30");
    // Swapped, it is address 3 of space 0x10, which does not exist.
    let error = valued(0x10, &[Constu(3), Xderef]).unwrap_err();
    assert_eq!(error.at().operation, Some(1));
    assert!(error.to_string().contains("Xderef: ill-formed"), "{error}");
}

#[test]
fn pieces_are_of_what_was_said_before() {
    let text = place(valued(0x1234, &[StackValue, BitPiece { offset: 4, size: 8 }]));
    assert_eq!(text, "[implicit:3412000000000000+4/8]");
    assert_eq!(place(valued(0x1234, &[BitPiece { offset: 4, size: 8 }])), text);
    // At an address.
    let text = place(valued(0x1000, &[Deref, BitPiece { offset: 32, size: 16 }]));
    assert_eq!(text, "[mem:0:0x1004/16]");
    let text = place(declared(0x1000, &[BitPiece { offset: 3, size: 5 }]));
    assert_eq!(text, "[mem:0:0x1000+3/5]");
    // Several pieces form one variable.
    let two = [
        StackValue,
        BitPiece { offset: 0, size: 8 },
        Constu(7),
        StackValue,
        BitPiece { offset: 0, size: 24 },
    ];
    let text = place(valued(0xff, &two));
    assert_eq!(text, "[implicit:ff00000000000000/8, implicit:0700000000000000/24]");
    // Bits between the pieces are undefined.
    let text = place(valued(1, &[BitPiece { offset: 0, size: 8 }, BitPiece { offset: 0, size: 8 }]));
    assert_eq!(text, "[implicit:0100000000000000/8, undefined/8]");
}

#[test]
fn a_fragment_is_of_the_variable() {
    let found = valued(7, &[StackValue, Fragment { offset: 32, size: 16 }]).unwrap();
    assert_eq!((found.location.to_string(), found.bits), (bytes(7), Some(32..48)));
    let found = valued(7, &[Fragment { offset: 0, size: 64 }]).unwrap();
    assert_eq!((found.location.to_string(), found.bits), (bytes(7), Some(0..64)));
    let found = valued(0x1000, &[PlusUconst(8), Deref, Fragment { offset: 8, size: 8 }]).unwrap();
    assert_eq!((found.location.to_string(), found.bits), ("mem:0:0x1008".into(), Some(8..16)));
    // These bits of the value provide those of the variable.
    let both = [BitPiece { offset: 8, size: 8 }, Fragment { offset: 40, size: 8 }];
    let found = valued(0x1234, &both).unwrap();
    assert_eq!(
        (found.location.to_string(), found.bits),
        ("[implicit:3412000000000000+8/8]".into(), Some(40..48))
    );
}

#[test]
fn mistakes_are_of_an_operation() {
    let cases: [(&[DebugOperation], usize, &str); 9] = [
        (&[Plus], 0, "Plus: ill-formed"),
        (&[PlusUconst(1), Minus], 1, "Minus: ill-formed"),
        (&[Swap], 0, "Swap: ill-formed"),
        (&[Xderef, StackValue], 0, "Xderef: ill-formed"),
        (&[Constu(0), Constu(4), Plus, Plus, Plus], 4, "Plus: ill-formed"),
        (&[StackValue, Plus], 1, "Plus: ill-formed"),
        (&[Fragment { offset: 0, size: 8 }, StackValue], 0, "Fragment is not the last operation"),
        (
            &[BitPiece { offset: 0, size: 8 }, Fragment { offset: 0, size: 16 }],
            1,
            "Fragment has 16 bits; expected 8 bits, the size of the piece",
        ),
        (&[Fragment { offset: u32::MAX, size: 2 }], 0, "Fragment ends after bit 2^32"),
    ];
    for (operations, index, what) in cases {
        let error = valued(1, operations).expect_err("it has no meaning");
        assert_eq!(error.at().operation, Some(index), "{operations:?}: {error}");
        assert!(error.to_string().contains(what), "{operations:?}: {error}");
    }
    // Unmapped memory cannot be read.
    let error = valued(0x5000, &[Deref, PlusUconst(1)]).unwrap_err();
    assert_eq!(error.at().operation, Some(0), "{error}");
}

#[test]
fn the_size_of_an_address_is_the_targets() {
    let gpu = Target::named("amdgpu-gfx1030-wave32").unwrap();
    let lane = gpu.space_named("private_lane").unwrap().id;
    let initial = Initial::Value(number(0x40));
    let machine = with::<Snapshot>(|machine| {
        machine.lane = Some(2);
        machine.lanes = Some(32);
    });
    let found = evaluate(&[Constu(lane.0), Swap, Xderef], &initial, &machine, &gpu).unwrap();
    assert_eq!(found.location.to_string(), format!("mem:{}:0x40@2", lane.0));
}
