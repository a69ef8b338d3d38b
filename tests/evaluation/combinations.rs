//! Combinations of operations that do not occur in the conformance vectors.

use eitri::eval::{OwnedBody, ResultKind};
use pretty_assertions::assert_eq;

use super::{LLVM, machine, outcome, shown, values};

#[test]
fn value_operations_combine() {
    values(
        &machine(),
        &[
            ("lit1; lit2; dup; plus; plus", "0x5"),
            // 1 2 3 becomes 3 1 2, and 3 - (1 - 2) is 4.
            ("lit1; lit2; lit3; rot; minus; minus", "0x4"),
            ("lit3; neg; lit2; mul", "0xfffffffffffffffa"),
            ("const1s -1; lit1; gt", "0x0"),
            ("const_type @0x1a {ff}; lit1; plus", "ill-formed"),
            ("const_type @0x15 {00 00 c0 3f}; neg; abs", "0x3fc00000 Float/32"),
            ("const_type @0x15 {00 00 c0 3f}; dup; and", "ill-formed"),
            ("const_type @0x15 {00 00 c0 7f}; convert @0x1a", "evaluation error"),
            ("constx 2", "evaluation error"),
            ("lit0; addr 0x1008; xderef", "0xf0e0d0c0b0a0908"),
            ("lit0; addr 0x1006; xderef_type 1 @0x1a", "0x6 Unsigned/8"),
            ("lit9; addr 0x1006; xderef", "ill-formed"),
            // Bits 4 to 7 of rax are a, bits 0 to 3 of rdx are 0, the byte in memory is 05.
            (
                "reg0; bit_piece 4 4; reg1; bit_piece 4 0; addr 0x1005; piece 1; piece_end; deref_size 2",
                "0x50a",
            ),
        ],
    );
}

#[test]
fn location_operations_combine() {
    let mut machine = machine();
    let expression = |expr: &[u8]| (OwnedBody::Expression(expr.to_vec()), 0);
    // At 0x40 plus_uconst 4, at 0x50 piece 4, at 0x60 reg0.
    machine.entries =
        [(0x40, expression(&[0x23, 4])), (0x50, expression(&[0x93, 4])), (0x60, expression(&[0x50]))].into();
    let both = "implicit_pointer @0x60 0; bit_piece 32 {first}; implicit_pointer @0x60 0; bit_piece 32 {second}; \
                piece_end; deref";
    let of = |first, second| both.replace("{first}", first).replace("{second}", second);
    let table = [
        ("addr 0x1000; call2 @0x40", "mem:0:0x1004"),
        ("addr 0x1000; call4 @0x40; call_ref @0x40", "mem:0:0x1008"),
        // The called expression continues the composite.
        ("reg0; call2 @0x50; reg1; call2 @0x50", "[reg:0/32, reg:1/32]"),
        ("const_type @0x1a {f9}; stack_value; lit0; offset", "implicit:f9"),
        // The last two bytes of memory, and one too many.
        ("const1s -2; piece 2", "[mem:0:0xfffffffffffffffe/16]"),
        ("const1s -2; piece 3", "ill-formed"),
        // The sum of 4 and 2^64 - 1 bytes exceeds memory.
        ("reg0; piece 4; lit0; piece 0xffffffffffffffff", "ill-formed"),
        ("reg0; piece 4; piece_end; drop; reg1", "reg:1"),
        ("reg0; piece 4; piece_end; lit4; offset", "evaluation error"),
        ("reg0; extend 1 0x7fffffff", "evaluation error"),
        // Only the selected parts must exist.
        ("implicit_value {07}; reg1; lit6; select_bit_piece 8 3", "[implicit:07/8, reg:1+8/8, reg:1+16/8]"),
        // An implicit pointer must be read completely and in order.
        (&of("0", "32"), "reg:0"),
        (&of("32", "0"), "evaluation error"),
    ];
    for (expr, expected) in table {
        let found = outcome(expr, ResultKind::Location, &machine, LLVM);
        let detail = found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        assert_eq!(shown(found), expected, "{expr}: {detail}");
    }
}
