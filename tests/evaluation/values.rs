//! Values of all types (DWARF 5, 2.5.1.4 to 2.5.1.6).

use eitri::eval::{Context, Evaluator, ResultKind, Value};
use eitri::target::Target;

use super::{LLVM, bytes, machine, outcome, shown, values};

#[test]
fn integers_of_few_bits() {
    values(
        &machine(),
        &[
            // -64 - 1 is 63 in 7 bits.
            ("const_type @0x10 {40}; const_type @0x10 {01}; minus", "0x3f Signed/7"),
            ("const_type @0x10 {40}; const_type @0x10 {02}; div", "0x60 Signed/7"),
            ("const_type @0x10 {7f}; const_type @0x10 {01}; lt", "0x1"),
            ("const_type @0x10 {7f}; convert @0x11", "0xfff Unsigned/12"),
            ("const_type @0x11 {ff 0f}; convert @0x10", "0x7f Signed/7"),
            // An arithmetic right shift of an unsigned number shifts in zeros.
            ("const_type @0x11 {00 08}; const_type @0x11 {01 00}; shra", "0x400 Unsigned/12"),
            ("const_type @0x10 {40}; const_type @0x10 {01}; shra", "0x60 Signed/7"),
            ("const_type @0x10 {40}; const_type @0x10 {01}; shr", "0x20 Signed/7"),
            ("const_type @0x10 {40}; abs", "0x40 Signed/7"),
        ],
    );
}

/// A constant of 32 bytes: the lowest bytes are given, all others are `fill`.
fn wide(ty: &str, low: &str, fill: &str) -> String {
    let len = low.split(' ').count();
    format!("const_type {ty} {{{low}{}}}", format!(" {fill}").repeat(32 - len))
}

#[test]
fn integers_of_many_bits() {
    let (signed, unsigned) = (|low, fill| wide("@0x12", low, fill), |low, fill| wide("@0x13", low, fill));
    let f = |digits: &str, fill: char, ty: &str| {
        format!("0x{}{digits} {ty}/256", fill.to_string().repeat(64 - digits.len()))
    };
    let table = [
        // -1 * -1, -7 / 2, -7 mod 2, -7 shra 1, and the unsigned 2^256 - 7 shr 252.
        (format!("{}; dup; mul", signed("ff", "ff")), f("01", '0', "Signed")),
        (format!("{}; {}; div", signed("f9", "ff"), signed("02", "00")), f("fd", 'f', "Signed")),
        (format!("{}; {}; mod", signed("f9", "ff"), signed("02", "00")), f("ff", 'f', "Signed")),
        (format!("{}; {}; shra", signed("f9", "ff"), signed("01", "00")), f("fc", 'f', "Signed")),
        (format!("{}; {}; shr", unsigned("f9", "ff"), unsigned("fc", "00")), f("0f", '0', "Unsigned")),
        (
            format!("{}; {}; shl", unsigned("01", "00"), unsigned("ff", "00")),
            f("8", '0', "Unsigned").replacen("0x0", "0x8", 1).replacen("8 U", "0 U", 1),
        ),
        (format!("{}; {}; shl", unsigned("01", "00"), unsigned("00 01", "00")), f("00", '0', "Unsigned")),
        (format!("{}; {}; plus", unsigned("ff", "ff"), unsigned("02", "00")), f("01", '0', "Unsigned")),
        (format!("{}; plus_uconst 2", unsigned("ff", "ff")), f("01", '0', "Unsigned")),
        (format!("{}; not", unsigned("f0", "ff")), f("0f", '0', "Unsigned")),
        (format!("{}; neg", unsigned("01", "00")), f("ff", 'f', "Unsigned")),
        (format!("{}; abs", signed("f9", "ff")), f("07", '0', "Signed")),
        (format!("{}; {}; lt", signed("f9", "ff"), signed("02", "00")), "0x1".into()),
        (format!("{}; {}; lt", unsigned("f9", "ff"), unsigned("02", "00")), "0x0".into()),
        (format!("{}; {}; div", signed("f9", "ff"), signed("00", "00")), "evaluation error".into()),
        (format!("{}; convert @0x10", signed("f9", "ff")), "0x79 Signed/7".into()),
        ("const_type @0x10 {79}; convert @0x12".into(), f("f9", 'f', "Signed")),
        ("const_type @0x10 {79}; convert @0x13".into(), f("f9", 'f', "Unsigned")),
        // The number is a negative offset.
        (format!("addr 0x1010; {}; offset", signed("f0", "ff")), "0x1000".into()),
        // An address is truncated to its low bits.
        (
            format!("{}; lit0; form_aspace_address", unsigned("10 00 00 00 00 00 00 00 01", "00")),
            "0x10".into(),
        ),
        (format!("lit4; {}; form_aspace_address", unsigned("00", "01")), "ill-formed".into()),
        // 65 bits: the carry out of 64.
        (
            "const_type @0x1e {ff ff ff ff ff ff ff ff 00}; plus_uconst 1".into(),
            "0x010000000000000000 Unsigned/65".into(),
        ),
    ];
    let table: Vec<_> = table.iter().map(|(expr, expected)| (expr.as_str(), expected.as_str())).collect();
    values(&machine(), &table);
}

#[test]
fn floating_point() {
    values(
        &machine(),
        &[
            // binary16: 1.5 + 2^-10 rounds to 1.5009765625; 65504 is the largest.
            ("const_type @0x14 {00 3e}; const_type @0x14 {00 14}; plus", "0x3e01 Float/16"),
            ("const_type @0x14 {ff 7b}; dup; plus", "0x7c00 Float/16"),
            // 1 / 3 in binary16 is 0x3555.
            ("const_type @0x14 {00 3c}; const_type @0x14 {00 42}; div", "0x3555 Float/16"),
            // The smallest subnormal number, 2^-24, halved is a tie and goes to 0.
            ("const_type @0x14 {01 00}; const_type @0x14 {00 40}; div", "0x0 Float/16"),
            ("const_type @0x14 {01 00}; convert @0x15", "0x33800000 Float/32"),
            ("const_type @0x14 {00 bc}; neg", "0x3c00 Float/16"),
            ("const_type @0x14 {00 bc}; abs", "0x3c00 Float/16"),
            // 0 / 0 is the same on every host; a NaN keeps its payload and becomes quiet.
            ("const_type @0x15 {00 00 00 00}; dup; div", "0x7fc00000 Float/32"),
            ("const_type @0x15 {01 00 80 ff}; const_type @0x15 {00 00 80 3f}; plus", "0xffc00001 Float/32"),
            // 1 / 0 is infinite.
            ("const_type @0x15 {00 00 80 3f}; const_type @0x15 {00 00 00 00}; div", "0x7f800000 Float/32"),
            // -0 equals 0.
            ("const_type @0x15 {00 00 00 80}; const_type @0x15 {00 00 00 00}; eq", "0x1"),
            // 2^24 + 1 cannot be represented in binary32: the tie rounds to the even 2^24, and 2^24 + 3 to 2^24 + 4.
            ("constu 0x1000001; convert @0x15", "0x4b800000 Float/32"),
            ("constu 0x1000003; convert @0x15", "0x4b800002 Float/32"),
            // 2^64 - 1 rounds up to 2^64.
            ("const1s -1; convert @0x16", "0x43f0000000000000 Float/64"),
            ("constu 65519; convert @0x14", "0x7bff Float/16"),
            ("constu 65520; convert @0x14", "0x7c00 Float/16"),
            // 1e300 in binary64 exceeds the range of binary32.
            ("const_type @0x16 {9c 75 00 88 3c e4 37 7e}; convert @0x15", "0x7f800000 Float/32"),
            // -1.75 is truncated to -1, which fits the generic type, but not an unsigned type.
            ("const_type @0x15 {00 00 e0 bf}; convert @0x10", "0x7f Signed/7"),
            ("const_type @0x15 {00 00 e0 bf}; convert @0x11", "evaluation error"),
            ("const_type @0x15 {00 00 e0 bf}; convert @0", "0xffffffffffffffff"),
            ("const_type @0x15 {00 00 80 7f}; convert @0x13", "evaluation error"),
            // -64.5 is truncated to -64, which fits 7 bits; 64 does not.
            ("const_type @0x15 {00 00 81 c2}; convert @0x10", "0x40 Signed/7"),
            ("const_type @0x15 {00 00 80 42}; convert @0x10", "evaluation error"),
            ("const_type @0x15 {00 00 00 80}; convert @0x1b", "0x0 Boolean/8"),
            ("const_type @0x15 {00 00 00 3f}; convert @0x1b", "0x1 Boolean/8"),
        ],
    );
    // 2^200 is exact in binary64, and 2^200 + 1 rounds to it. The conversion back gives 2^200.
    let two = wide("@0x13", &format!("01{} 01", " 00".repeat(24)), "00");
    values(
        &machine(),
        &[
            (&format!("{two}; convert @0x16"), "0x4c70000000000000 Float/64"),
            (&format!("{two}; convert @0x16; convert @0x13; lit0; convert @0x13; gt"), "0x1"),
            (&format!("{two}; convert @0x15"), "0x7f800000 Float/32"),
        ],
    );
}

#[test]
fn vectors_are_calculated_with_by_element() {
    values(
        &machine(),
        &[
            (
                "const_type @0x17 {ff ff 02 00 03 00 04 00}; const_type @0x17 {01 00 01 00 01 00 01 00}; plus",
                "0x5000400030000 Unsigned/16",
            ),
            ("const_type @0x18 {f9 07 80 00}; const_type @0x18 {02 02 02 02}; div", "0xc003fd Signed/8"),
            ("const_type @0x18 {f9 07 80 00}; abs", "0x800707 Signed/8"),
            ("const_type @0x18 {01 02 03 04}; const_type @0x18 {01 00 01 01}; div", "evaluation error"),
            ("const_type @0x18 {01 02 03 04}; dup; eq", "0x1"),
            ("const_type @0x18 {01 02 03 04}; const_type @0x18 {01 02 03 05}; ne", "0x1"),
            ("const_type @0x18 {01 02 03 04}; dup; lt", "ill-formed"),
            ("const_type @0x18 {01 02 03 ff}; convert @0x17", "0xffff000300020001 Unsigned/16"),
            ("const_type @0x18 {01 02 03 04}; convert @0x10", "ill-formed"),
            ("const_type @0x18 {01 02 03 fc}; convert @0x19", "0xc080000040400000400000003f800000 Float/32"),
            ("const_type @0x18 {01 02 03 04}; plus_uconst 1", "ill-formed"),
            ("const_type @0x18 {01 02 03 04}; lit0; form_aspace_address", "ill-formed"),
            ("const_type @0x19 {00 00 80 3f 00 00 80 3f 00 00 80 3f 00 00 80 3f}; dup; and", "ill-formed"),
        ],
    );
}

#[test]
fn types_that_are_not_integral() {
    values(
        &machine(),
        &[
            // A character is not an integral type (A.2.5.2), but a number.
            ("const_type @0x1c {41}; const_type @0x1c {01}; plus", "0x42 Utf/8"),
            ("const_type @0x1c {41}; dup; and", "ill-formed"),
            ("const_type @0x1b {01}; dup; plus", "0x2 Boolean/8"),
            ("const_type @0x1b {01}; dup; xor", "0x0 Boolean/8"),
            // Packed decimal: addition is not defined, and logical operations are ill-formed.
            ("const_type @0x1d {12 34}; dup; plus", "unsupported"),
            ("const_type @0x1d {12 34}; dup; and", "ill-formed"),
            ("const_type @0x1d {12 34}; reinterpret @0x14", "0x3412 Float/16"),
        ],
    );
}

#[test]
fn nonzero_values_branch() {
    values(
        &machine(),
        &[
            ("lit1; const_type @0x15 {00 00 00 80}; bra 1; lit2", "0x2"),
            ("lit1; const_type @0x15 {01 00 00 80}; bra 1; lit2", "0x1"),
            ("lit1; const_type @0x18 {00 00 00 00}; bra 1; lit2", "0x2"),
            ("lit1; const_type @0x18 {00 00 01 00}; bra 1; lit2", "0x1"),
        ],
    );
}

/// A value above the size limit is refused without a crash.
#[test]
fn types_have_a_limit() {
    let mut machine = machine();
    let ty = |bits, elements| eitri::eval::BaseType {
        encoding: eitri::eval::TypeEncoding::Unsigned,
        bits,
        elements,
    };
    machine.types.insert((0, 0x40), ty(u32::MAX, u32::MAX));
    machine.types.insert((0, 0x41), ty(8, 0));
    for (expr, expected) in [
        ("lit1; convert @0x40", "evaluation error"),
        ("lit1; reinterpret @0x40", "evaluation error"),
        ("lit1; convert @0x41", "ill-formed"),
    ] {
        assert_eq!(shown(outcome(expr, ResultKind::Value, &machine, LLVM)), expected, "{expr}");
    }
}

/// 2048 bits: a vector register of a wave of 64 lanes.
#[test]
fn a_whole_vector_register() {
    let target = Target::named("amdgpu-gfx900-wave64").unwrap();
    let mut machine = machine();
    let contents: Vec<u8> = (0..64u8).flat_map(|lane| [lane, 0, 0, 0]).collect();
    machine.registers.insert(eitri::op::Reg(2560), contents);
    let ty = |bits, elements| eitri::eval::BaseType {
        encoding: eitri::eval::TypeEncoding::Unsigned,
        bits,
        elements,
    };
    machine.types.insert((0, 0x50), ty(32, 64));
    machine.types.insert((0, 0x51), ty(2048, 1));
    let run = |expr: &str| -> Value {
        let context = Context::new(LLVM, &target);
        Evaluator::new().value(&bytes(expr, LLVM), &machine, &context).unwrap()
    };
    // Twice the number in every lane.
    let doubled = run("regval_type 2560 @0x50; dup; plus");
    let expected: Vec<u8> = (0..64u8).flat_map(|lane| [lane * 2, 0, 0, 0]).collect();
    doubled.with_bytes(|bytes| assert_eq!(bytes, expected));
    // One number of all bytes, minus itself.
    assert!(run("regval_type 2560 @0x51; dup; minus").is_zero());
}
