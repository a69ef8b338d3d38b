//! Objects made for one mistake each, beside a neighbour without it.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::{Dialect, Encoding, Expr, text};
use eitri::target::Target;

/// An object with one function, and a variable of `bits` bits with these expressions in ranges.
pub fn object(target: &str, bits: u64, ranges: &[(u64, u64, &[u8])]) -> Vec<u8> {
    // `s_nop 0` everywhere.
    object_with(target, bits, ranges, &[0, 0, 0x80, 0xbf].repeat(8))
}

pub fn object_with(target: &str, bits: u64, ranges: &[(u64, u64, &[u8])], code: &[u8]) -> Vec<u8> {
    let target = Target::named(target).expect("a target");
    let consumer = if target.gfx().is_some() { Consumer::llvm() } else { Consumer::dwarf5() };
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let ty = m.base_type(unit, "t", BaseEncoding::Unsigned, bits).expect("a type");
    let function = m.function(unit, "f").expect("a function").code("f", 0x20).id();
    let locations: Vec<_> = ranges
        .iter()
        .map(|(start, end, expr)| (*start..*end, m.expr(Expr::raw(*expr), &[]).expect("an expression")))
        .collect();
    let mut variable = m.variable(function, "x", ty).expect("a variable");
    for (pcs, expr) in locations {
        variable.live(pcs, Loc::expr(expr)).expect("a range");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &consumer, Policy::Partial).expect("it is lowered");
    let code = Text::text(code.to_vec()).with_function("f", 0, 0x20);
    new_object(module.target(), &code, &written.sections).expect("an object")
}

/// Codes of findings about the variable.
pub fn codes(object: &[u8]) -> Vec<&'static str> {
    let report = lint(object, &LintOptions::default()).expect("it is read");
    report.findings.iter().filter(|one| one.variable.is_some()).map(|one| one.code.name()).collect()
}

/// An object whose entries have these ranges in its bytes, also those that no description has.
pub fn object_of_ranges(target: &str, bits: u64, ranges: &[(u64, u64, &[u8])]) -> Vec<u8> {
    let placed: Vec<_> = ranges.iter().zip(0..).map(|(one, at)| (4 * at, 4 * at + 4, one.2)).collect();
    let mut object = object(target, bits, &placed);
    for ((start, end, expr), (from, to, _)) in ranges.iter().zip(&placed) {
        // DW_LLE_offset_pair, start, end, length of the expression.
        let entry = |start: u64, end: u64| [&[4, start as u8, end as u8, expr.len() as u8], *expr].concat();
        if (start, end) != (from, to) {
            object = replaced(&object, &entry(*from, *to), &entry(*start, *end));
        }
    }
    object
}

pub const AMD: &str = "amdgpu-gfx1030-wave32";

/// Target, bits of the type, expression with the mistake, code, expression without it.
pub const EXPRESSIONS: &[(&str, u64, &str, LintCode, &str)] = &[
    (
        AMD,
        32,
        "bregx v3 0; lit1; swap; xderef",
        LintCode::RegisterAsMemory,
        "regx v3; push_lane; lit4; mul; offset",
    ),
    (
        AMD,
        32,
        "consts 7; lit1; swap; xderef; stack_value",
        LintCode::ConstantDereferenced,
        "consts 7; stack_value",
    ),
    (AMD, 32, "lit7", LintCode::ConstantAsAddress, "lit7; stack_value"),
    ("x86_64", 32, "lit7", LintCode::ConstantAsAddress, "lit7; stack_value"),
    (
        AMD,
        32,
        "bregx s33 8; lit1; swap; xderef",
        LintCode::SlotWaveScaled,
        "bregx s33 8; lit6; form_aspace_address",
    ),
    (
        "amdgpu-gfx1100-wave32",
        32,
        "bregx s33 8; lit1; swap; xderef",
        LintCode::XderefAsLocation,
        "bregx s33 8; lit5; form_aspace_address",
    ),
    (AMD, 32, "bregx s33 8", LintCode::SlotSpaceLost, "bregx s33 8; lit6; form_aspace_address"),
    (AMD, 32, "fbreg 8", LintCode::NoFrameBase, "call_frame_cfa"),
    ("x86_64", 32, "fbreg 8", LintCode::NoFrameBase, "call_frame_cfa"),
    (AMD, 32, "addr 0; lit2; swap; xderef", LintCode::RemovedSymbol, "lit0; lit3; form_aspace_address"),
    (AMD, 32, "regx v3", LintCode::NoLane, "regx v3; offset_uconst 28"),
    (AMD, 32, "bregx v3 0; stack_value", LintCode::NoLane, "bregx s3 0; stack_value"),
    (AMD, 32, "regx 600", LintCode::UnknownRegister, "regx s4"),
    (AMD, 32, "bregx 600 0; stack_value", LintCode::UnknownRegister, "bregx s4 0; stack_value"),
    ("x86_64", 32, "regx 600", LintCode::UnknownRegister, "regx rax"),
    (AMD, 32, "lit0; lit9; form_aspace_address", LintCode::UnknownSpace, "lit0; lit3; form_aspace_address"),
    (AMD, 32, "regx v3; offset_uconst 128", LintCode::LaneBeyondWave, "regx v3; offset_uconst 124"),
    (
        AMD,
        32,
        "regx v3; lit31; lit8; mul; offset",
        LintCode::LaneBeyondWave,
        "regx v3; lit31; lit4; mul; offset",
    ),
    (AMD, 32, "swap", LintCode::IllFormed, "lit1; lit2; swap; stack_value"),
    (AMD, 32, "lit1; plus; stack_value", LintCode::IllFormed, "lit1; lit2; plus; stack_value"),
    // Expressions that fail at every witness.
    (AMD, 32, "lit1; lit0; div; stack_value", LintCode::IllFormed, "lit1; lit2; div; stack_value"),
    ("x86_64", 32, "breg5 0; lit0; mod; stack_value", LintCode::IllFormed, "breg5 0; lit3; mod; stack_value"),
    (
        "x86_64",
        32,
        "regx rax; piece 4; regx rdx; piece 4",
        LintCode::PiecesBeyondType,
        "regx rax; piece 2; regx rdx; piece 2",
    ),
    ("x86_64", 128, "regx rax; piece 8", LintCode::PiecesShortOfType, "regx rax; piece 8; piece 8"),
    ("x86_64", 128, "regx rax", LintCode::StorageTooShort, "regx rax; piece 8; regx rdx; piece 8"),
    ("x86_64", 128, "call_frame_cfa; deref; stack_value", LintCode::StorageTooShort, "call_frame_cfa; deref"),
    ("x86_64", 512, "regx rax; piece 64", LintCode::StorageTooShort, "regx xmm0; piece 64"),
    // gdb shows 0 for the first piece, and lldb 5.
    (
        "x86_64",
        128,
        "lit5; stack_value; piece 16",
        LintCode::StorageTooShort,
        "lit5; stack_value; piece 8; lit0; stack_value; piece 8",
    ),
    // Readers of DWARF 5 extend 0 to any size; the text for AMD GPUs requires a storage of the size of the piece.
    (
        "x86_64",
        256,
        "regx rax; piece 16; piece 16",
        LintCode::StorageTooShort,
        "regx rax; piece 8; lit0; stack_value; piece 24",
    ),
    // The number is that of ymm1 and zmm1, too.
    ("x86_64", 256, "regx rax", LintCode::StorageTooShort, "regx xmm1"),
    (
        "x86_64",
        512,
        "regx rax; piece 32; piece 32",
        LintCode::StorageTooShort,
        "regx xmm0; piece 32; regx xmm1; piece 32",
    ),
    (
        AMD,
        128,
        "lit0; stack_value; piece 16",
        LintCode::StorageTooShort,
        "lit0; stack_value; piece 8; piece 8",
    ),
    (
        "x86_64",
        128,
        "breg5 0; breg4 0; plus; stack_value; piece 16",
        LintCode::StorageTooShort,
        "breg5 0; breg4 0; plus; stack_value; piece 8; piece 8",
    ),
    (
        "x86_64",
        64,
        "implicit_value {01 02 03 04}; piece 8",
        LintCode::StorageTooShort,
        "implicit_value {01 02 03 04}; piece 4; piece 4",
    ),
    (
        AMD,
        64,
        "bregx s4 0; stack_value; piece 4; regx v3; piece 4",
        LintCode::NoLane,
        "regx s4; piece 4; regx s5; piece 4",
    ),
];

#[test]
fn an_expression_with_a_mistake_is_found_and_its_neighbour_is_not() {
    for (name, bits, wrong, code, right) in EXPRESSIONS {
        let target = Target::named(name).expect("a target");
        let encoding = Encoding::new(8, Dialect::Llvm);
        let encoded =
            |expr| text::parse(expr, encoding, Some(&target)).expect("an expression").bytes().to_vec();
        let found = codes(&object(name, *bits, &[(0, 0x10, &encoded(wrong))]));
        assert_eq!(found, [code.name()], "{wrong}");
        let found = codes(&object(name, *bits, &[(0, 0x10, &encoded(right))]));
        assert!(found.is_empty(), "{right}: {found:?}");
    }
}

/// Replaces bytes that occur once.
pub fn replaced(object: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let places: Vec<_> = object
        .windows(old.len())
        .enumerate()
        .filter(|(_, window)| *window == old)
        .map(|(at, _)| at)
        .collect();
    let [at] = places[..] else { panic!("{old:x?} is at {places:x?}") };
    let mut changed = object.to_vec();
    changed[at..at + new.len()].copy_from_slice(new);
    changed
}

/// Replaces bytes wherever they occur.
pub fn replaced_everywhere(object: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let places = object.windows(old.len()).enumerate().filter(|one| one.1 == old).map(|one| one.0);
    let mut changed = object.to_vec();
    let mut count = 0;
    for at in places {
        changed[at..at + new.len()].copy_from_slice(new);
        count += 1;
    }
    assert!(count > 0, "{old:x?}");
    changed
}

/// Bytes that are not an expression: an unknown operation, and an address without its bytes.
#[test]
fn bytes_that_are_no_expression_are_found() {
    // lit17; lit1; plus; stack_value
    let right = [0x41, 0x31, 0x22, 0x9f];
    let object = object(AMD, 32, &[(0, 0x10, &right)]);
    assert!(codes(&object).is_empty());
    for wrong in [[0x41, 0x31, 0x22, 0x02], [0x41, 0x31, 0x22, 0x03], [0x41, 0x22, 0x22, 0x9f]] {
        assert_eq!(codes(&replaced(&object, &right, &wrong)), ["ill-formed"], "{wrong:x?}");
    }
}

/// The constant of an earlier time, and a constant up to the instruction that sets the register.
#[test]
fn a_constant_for_a_computed_value_is_found() {
    let target = Target::named(AMD).expect("a target");
    let encoding = Encoding::new(8, Dialect::Llvm);
    let bytes = |expr| text::parse(expr, encoding, Some(&target)).expect("an expression").bytes().to_vec();
    let (constant, register) =
        (bytes("consts 0; stack_value"), bytes("regx v3; push_lane; lit4; mul; offset"));
    let ranges: [(u64, u64, &[u8]); 2] = [(4, 0x10, &constant), (0x10, 0x20, &register)];
    // `v_add_nc_u32_e32 v3, v1, v2` at a pc among `s_nop 0`.
    let codes_with = |pc: usize, instruction: u32| {
        let mut code = [0, 0, 0x80, 0xbf].repeat(8);
        code[pc..pc + 4].copy_from_slice(&instruction.to_le_bytes());
        codes(&object_with(AMD, 32, &ranges, &code))
    };
    assert_eq!(codes_with(0, 0x4a06_0501), ["constant-for-computed"]);
    // The instruction sets the register where the constant ends.
    assert!(codes_with(8, 0x4a06_0501).is_empty());
    // `v_mov_b32_e32 v3, 0`: the register has the constant.
    assert!(codes_with(0, 0x7e06_0280).is_empty());
}

/// Bounds of two entries of a list, changed by hand: offsets from the start of the unit.
#[test]
fn wrong_bounds_of_entries_are_found() {
    let one = [0x41, 0x9f];
    let two = [0x42, 0x9f];
    let object = object(AMD, 32, &[(0, 8, &one), (8, 0x18, &two)]);
    assert!(codes(&object).is_empty());
    // DW_LLE_offset_pair, start, end, length of the expression.
    let first = [4, 0, 8, 2, 0x41, 0x9f];
    let second = [4, 8, 0x18, 2, 0x42, 0x9f];
    let overlapping = replaced(&object, &second, &[4, 4, 0x18, 2, 0x42, 0x9f]);
    assert_eq!(codes(&overlapping), ["contradicting-overlap"]);
    let equal = replaced(&overlapping, &[4, 4, 0x18, 2, 0x42, 0x9f], &[4, 4, 0x18, 2, 0x41, 0x9f]);
    assert!(codes(&equal).is_empty());
    assert_eq!(codes(&replaced(&object, &first, &[4, 8, 4, 2, 0x41, 0x9f])), ["reversed-range"]);
    assert_eq!(
        codes(&replaced(&object, &first, &[4, 0x40, 0x48, 2, 0x41, 0x9f])),
        ["range-outside-functions"]
    );
}

#[test]
fn a_truncated_object_is_an_error_and_not_a_panic() {
    let object = object(AMD, 32, &[(0, 0x10, &[0x31, 0x9f])]);
    for length in 0..object.len() {
        let _ = lint(&object[..length], &LintOptions::default());
    }
}

/// Each byte of an object with another value: a finding, an error or nothing, but no panic.
#[test]
fn a_changed_byte_causes_no_panic() {
    let object = object(AMD, 32, &[(0, 0x10, &[0x31, 0x9f])]);
    let mut changed = object.clone();
    for at in 0..object.len() {
        for by in [1, 0x80, 0xff] {
            changed[at] = object[at] ^ by;
            let _ = lint(&changed, &LintOptions::default());
        }
        changed[at] = object[at];
    }
}

/// The value that a compiler meant has the operations after the register, as those of `stack_value` show.
#[test]
fn meant_values_have_their_offset() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    let target = Target::named(AMD).expect("a target");
    let rows = [
        ("bregx v3 0; lit1; swap; xderef; stack_value", "the value in v3"),
        ("bregx v3 -1; lit1; swap; xderef; stack_value", "the value in v3 minus 1"),
        ("bregx v3 8; lit1; swap; xderef; stack_value", "the value in v3 plus 8"),
        // An address behind the register's value, or the value: the expression does not tell.
        ("bregx v3 8; lit1; swap; xderef", "the value in v3"),
    ];
    for (expr, meant) in rows {
        let bytes = text::parse(expr, encoding, Some(&target)).expect("an expression");
        let object = object(AMD, 32, &[(0, 0x20, bytes.bytes())]);
        let report = lint(&object, &LintOptions::default()).expect("it is read");
        let found =
            report.findings.iter().find(|one| one.code == LintCode::RegisterAsMemory).expect("a finding");
        assert_eq!(found.meant.as_deref(), Some(meant), "{expr}");
    }
}

/// The place of the code changes addresses in expressions, and other entries change the offsets of entries.
#[test]
fn fingerprints_do_not_depend_on_addresses() {
    let encoding = Encoding::new(8, Dialect::Llvm);
    let target = Target::named(AMD).expect("a target");
    let fingerprint = |expr: &str| {
        let bytes = text::parse(expr, encoding, Some(&target)).expect("an expression");
        let report = lint(&object(AMD, 32, &[(0, 0x20, bytes.bytes())]), &LintOptions::default());
        let report = report.expect("it is read");
        let found = report.findings.iter().find(|one| one.variable.is_some()).expect("a finding");
        assert_eq!(found.expression.as_ref().map(|one| one.text.as_str()), Some(expr));
        (found.code, found.fingerprint())
    };
    let own = fingerprint("addr 0x404010; lit2; swap; xderef");
    assert_eq!(own.0, LintCode::XderefAsLocation);
    assert_eq!(fingerprint("addr 0x1c; lit2; swap; xderef"), own);
    assert_ne!(fingerprint("addr 0x404010; lit3; swap; xderef"), own);
    let typed = |at: &str| fingerprint(&format!("regx v3; deref_type 4 @{at}; stack_value; lit1; plus"));
    assert_eq!(typed("0x2a"), typed("0x30"));
}
