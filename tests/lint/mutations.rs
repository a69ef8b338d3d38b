//! One-bit changes of an object that is clean: what they are found as.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Val};
use eitri::op::{Dialect, Encoding, text};
use eitri::read::Object;
use eitri::target::{SpaceId, Target};

use super::bases::{codes_of_base, codes_of_frames};
use super::made::{AMD, object_of_ranges};

/// An object with two functions with frames, and variables in scalar and vector registers, in memory and in pieces.
pub fn clean() -> Vec<u8> {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let s4 = "s4";
    let s5 = "s5";
    let s32 = "s32";
    let v3 = "v3";
    let register = |name| target.register_named(name).expect("a register");
    let returned = [register("s30"), register("s31")];
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64).expect("a type");
    for name in ["f", "g"] {
        let function = m.function(unit, name).expect("a function").code(name, 0x20).id();
        let mut frame = m.frame(function).expect("a frame");
        let base = Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(register(s32)));
        frame.cfa(0..0x20, base).expect("a rule");
        frame.return_address(0..0x20, returned[0], returned[1]).expect("a rule");
        let mut x = m.variable(function, "x", int).expect("a variable");
        x.live(4..0x10, Loc::register(register(s4))).expect("a range");
        x.live(0x10..0x1c, Loc::per_lane(register(v3))).expect("a range");
        let mut y = m.variable(function, "y", long).expect("a variable");
        let parts = [(Loc::register(register(s4)), 32), (Loc::register(register(s5)), 32)];
        y.live(0..0x18, Loc::parts(parts)).expect("a range");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::llvm(), Policy::Strict).expect("it is lowered");
    let code =
        Text::text([0, 0, 0x80, 0xbf].repeat(16)).with_function("f", 0, 0x20).with_function("g", 0x20, 0x20);
    new_object(module.target(), &code, &written.sections).expect("an object")
}

#[test]
fn an_object_of_this_crate_is_clean() {
    let report = lint(&clean(), &LintOptions::default()).expect("it is read");
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!((report.functions, report.entries), (2, 6));
}

/// Each bit of the sections with units, lists and frames is changed alone.
#[test]
fn single_bit_changes_are_diagnosed() {
    let object = clean();
    let read = Object::read(&object).expect("it is read");
    let mut found = BTreeMap::<&'static str, usize>::new();
    for name in [".debug_info", ".debug_loclists", ".debug_frame"] {
        let data = &read.section(name).expect("the section").data;
        // Relocated fields are zero in the file: a window without relocated fields locates the section.
        let window = data.windows(12).enumerate().find_map(|(at, window)| {
            let mut places = object.windows(12).enumerate().filter(|(_, other)| *other == window);
            let first = places.next()?.0;
            places.next().is_none().then_some(first - at)
        });
        let start = window.expect("the section is in the file");
        for bit in 0..8 * data.len() {
            let mut changed = object.clone();
            changed[start + bit / 8] ^= 1 << (bit % 8);
            match lint(&changed, &LintOptions::default()) {
                Ok(report) if report.findings.is_empty() => *found.entry("nothing").or_default() += 1,
                Ok(report) => {
                    for finding in &report.findings {
                        *found.entry(finding.code.name()).or_default() += 1;
                    }
                }
                Err(_) => *found.entry("an error").or_default() += 1,
            }
        }
    }
    let codes = [
        "bad-frame-instruction",
        "bad-reference",
        "constant-as-address",
        "extent-not-code",
        "foreign-range",
        "ill-formed",
        "no-cfa",
        "no-frame-base",
        "one-name-two-types",
        "pieces-beyond-type",
        "range-outside-functions",
        "reversed-range",
        "unknown-register",
        "zero-size-type",
        "unreadable",
    ];
    for code in codes {
        assert!(found.contains_key(code), "{code}: {found:?}");
    }
}

/// Outcome of a change in one fact.
enum Expected {
    /// Finding.
    Found(LintCode),
    /// The object alone cannot show it, for this reason.
    Hidden(&'static str),
}
use Expected::{Found, Hidden};

/// Facts of the variable `x` of a function of 0x20 bytes for gfx1030: bits of the type, and entries.
type Facts = (u64, &'static [(u64, u64, &'static str)]);

const LANE: Facts = (32, &[(0, 0x10, "regx v3; push_lane; lit4; mul; offset")]);
const SCALAR: Facts = (32, &[(0, 0x10, "regx s4")]);
const PIECES: Facts = (64, &[(0, 0x10, "regx s4; piece 4; regx s5; piece 4")]);
const SLOT: Facts = (32, &[(0, 0x10, "bregx s33 8; lit6; form_aspace_address")]);
const SHARED: Facts = (32, &[(0, 0x10, "lit16; lit3; form_aspace_address")]);
const CONSTANT: Facts = (32, &[(0, 0x10, "consts 7; stack_value")]);
const TWO: Facts = (32, &[(0, 0x10, "consts 7; stack_value"), (0x10, 0x20, "consts 8; stack_value")]);

/// Changes of one fact: what changes, the right facts, the changed ones, and whether that is found.
const CHANGES: &[(&str, Facts, Facts, Expected)] = &[
    (
        "register: a number that is none",
        SCALAR,
        (32, &[(0, 0x10, "regx 600")]),
        Found(LintCode::UnknownRegister),
    ),
    ("register: a vector for a scalar one", SCALAR, (32, &[(0, 0x10, "regx v4")]), Found(LintCode::NoLane)),
    (
        "register: another scalar one",
        SCALAR,
        (32, &[(0, 0x10, "regx s6")]),
        Hidden("any scalar register can have the value"),
    ),
    (
        "register: another vector one",
        LANE,
        (32, &[(0, 0x10, "regx v9; push_lane; lit4; mul; offset")]),
        Hidden("any vector register can have the value"),
    ),
    (
        "register: its number in a piece",
        PIECES,
        (64, &[(0, 0x10, "regx s4; piece 4; regx 600; piece 4")]),
        Found(LintCode::UnknownRegister),
    ),
    ("lane: none", LANE, (32, &[(0, 0x10, "regx v3")]), Found(LintCode::NoLane)),
    (
        "lane: beyond the wave",
        LANE,
        (32, &[(0, 0x10, "regx v3; offset_uconst 160")]),
        Found(LintCode::LaneBeyondWave),
    ),
    (
        "lane: twice its size",
        LANE,
        (32, &[(0, 0x10, "regx v3; push_lane; lit8; mul; offset")]),
        Found(LintCode::LaneBeyondWave),
    ),
    (
        "lane: in bytes for bits",
        LANE,
        (32, &[(0, 0x10, "regx v3; push_lane; constu 32; mul; offset")]),
        Found(LintCode::LaneBeyondWave),
    ),
    (
        "lane: a fixed one",
        LANE,
        (32, &[(0, 0x10, "regx v3; offset_uconst 20")]),
        Hidden("a value of one lane can be meant"),
    ),
    (
        "lane: half its size",
        LANE,
        (32, &[(0, 0x10, "regx v3; push_lane; lit2; mul; offset")]),
        Hidden("values of 16 bits can be packed"),
    ),
    (
        "space: none that the target has",
        SHARED,
        (32, &[(0, 0x10, "lit16; lit9; form_aspace_address")]),
        Found(LintCode::UnknownSpace),
    ),
    ("space: none at all", SHARED, (32, &[(0, 0x10, "lit16")]), Found(LintCode::ConstantAsAddress)),
    ("space: lost for a slot", SLOT, (32, &[(0, 0x10, "bregx s33 8")]), Found(LintCode::SlotSpaceLost)),
    (
        "space: that of the lane for a slot of the wave",
        SLOT,
        (32, &[(0, 0x10, "bregx s33 8; lit5; form_aspace_address")]),
        Found(LintCode::SlotWaveScaled),
    ),
    (
        "space: an operand of xderef",
        SLOT,
        (32, &[(0, 0x10, "bregx s33 8; lit5; swap; xderef")]),
        Found(LintCode::SlotWaveScaled),
    ),
    (
        "space: scratch for local memory",
        SHARED,
        (32, &[(0, 0x10, "lit16; lit5; form_aspace_address")]),
        Hidden("both spaces have the address"),
    ),
    (
        "offset: another slot",
        SLOT,
        (32, &[(0, 0x10, "bregx s33 12; lit6; form_aspace_address")]),
        Hidden("any slot can be meant"),
    ),
    (
        "offset: in a register",
        SCALAR,
        (32, &[(0, 0x10, "regx s4; offset_uconst 4")]),
        Found(LintCode::LaneBeyondWave),
    ),
    ("range: reversed", SCALAR, (32, &[(0x10, 4, "regx s4")]), Found(LintCode::ReversedRange)),
    (
        "range: behind the function",
        SCALAR,
        (32, &[(0x40, 0x50, "regx s4")]),
        Found(LintCode::RangeOutsideFunctions),
    ),
    (
        "range: longer than the function",
        SCALAR,
        (32, &[(0, 0x60, "regx s4")]),
        Hidden("nobody asks for the variable outside of its scope"),
    ),
    (
        "range: later by an instruction",
        SCALAR,
        (32, &[(4, 0x14, "regx s4")]),
        Hidden("the register can have the value there"),
    ),
    (
        "range: overlapping",
        TWO,
        (32, &[(0, 0x14, "consts 7; stack_value"), (0x10, 0x20, "consts 8; stack_value")]),
        Found(LintCode::ContradictingOverlap),
    ),
    ("range: empty", SCALAR, (32, &[(8, 8, "regx s4")]), Hidden("location views are empty ranges")),
    ("range: empty, short location", SCALAR, (64, &[(8, 8, "regx s4")]), Hidden("an empty range has no pc")),
    (
        "type: larger than its pieces' place",
        SCALAR,
        (64, &[(0, 0x10, "regx s4")]),
        Found(LintCode::StorageTooShort),
    ),
    (
        "type: smaller than its pieces",
        PIECES,
        (32, &[(0, 0x10, "regx s4; piece 4; regx s5; piece 4")]),
        Found(LintCode::PiecesBeyondType),
    ),
    (
        "type: larger than its value",
        CONSTANT,
        (128, &[(0, 0x10, "consts 7; stack_value")]),
        Found(LintCode::StorageTooShort),
    ),
    (
        "type: larger than its bytes",
        (32, &[(0, 0x10, "implicit_value {01 02 03 04}")]),
        (64, &[(0, 0x10, "implicit_value {01 02 03 04}")]),
        Found(LintCode::StorageTooShort),
    ),
    (
        "type: smaller than its register",
        SCALAR,
        (16, &[(0, 0x10, "regx s4")]),
        Hidden("the low part is meant"),
    ),
    (
        "type: larger than all pieces",
        PIECES,
        (128, &[(0, 0x10, "regx s4; piece 4; regx s5; piece 4")]),
        Found(LintCode::PiecesShortOfType),
    ),
    ("value: no stack_value", CONSTANT, (32, &[(0, 0x10, "consts 7")]), Found(LintCode::ConstantAsAddress)),
    (
        "value: read from an address",
        CONSTANT,
        (32, &[(0, 0x10, "consts 7; lit1; swap; xderef; stack_value")]),
        Found(LintCode::ConstantDereferenced),
    ),
    (
        "value: another one",
        CONSTANT,
        (32, &[(0, 0x10, "consts 9; stack_value")]),
        Hidden("any constant can be the value"),
    ),
    (
        "place: memory at the value",
        SCALAR,
        (32, &[(0, 0x10, "bregx v3 0; lit1; swap; xderef")]),
        Found(LintCode::RegisterAsMemory),
    ),
    (
        "place: a removed symbol",
        SHARED,
        (32, &[(0, 0x10, "addr 0; lit3; swap; xderef")]),
        Found(LintCode::RemovedSymbol),
    ),
    ("base: none", SLOT, (32, &[(0, 0x10, "fbreg 8")]), Found(LintCode::NoFrameBase)),
    ("operation: without operands", SCALAR, (32, &[(0, 0x10, "swap")]), Found(LintCode::IllFormed)),
    (
        "operation: one too many",
        CONSTANT,
        (32, &[(0, 0x10, "consts 7; plus; stack_value")]),
        Found(LintCode::IllFormed),
    ),
    (
        "operation: a piece lost",
        PIECES,
        (64, &[(0, 0x10, "regx s4; piece 4")]),
        Found(LintCode::PiecesShortOfType),
    ),
];

/// Frame base of a function.
const BASE: &str = "bregx s33 0; lit6; form_aspace_address";

/// Changes of the frame base.
const FRAME_BASES: &[(&str, &str, Expected)] = &[
    ("base: a value", "bregx s33 0; stack_value", Found(LintCode::WrongKind)),
    ("base: pieces", "regx s33; piece 4; regx s34; piece 4", Found(LintCode::WrongKind)),
    ("base: a register that is none", "regx 127", Found(LintCode::UnknownRegister)),
    ("base: without operands", "swap", Found(LintCode::IllFormed)),
    (
        "base: another register",
        "bregx s34 0; lit6; form_aspace_address",
        Hidden("any scalar register can have the address"),
    ),
    (
        "base: another offset",
        "bregx s33 16; lit6; form_aspace_address",
        Hidden("slots can be counted from any place"),
    ),
];

/// DW_CFA_LLVM_def_aspace_cfa, register 64 (s32), offset 0, space 6.
const CFA: &[u8] = &[0x30, 0x40, 0, 6];
/// regx 62 (s30); piece 4; regx 63 (s31); piece 4: the rule of the return address.
const RETURN: &[u8] = &[0x90, 0x3e, 0x93, 4, 0x90, 0x3f, 0x93, 4];

/// Changes of rules in frames: their bytes.
const RULES: &[(&str, &[u8], &[u8], Expected)] = &[
    ("rule: a frame address in no register", CFA, &[0x30, 0x7f, 0, 6], Found(LintCode::UnknownRegister)),
    ("rule: no frame address", CFA, &[0, 0, 0, 0], Found(LintCode::NoCfa)),
    ("rule: an instruction without a state", CFA, &[0x0b, 0, 0, 0], Found(LintCode::BadFrameInstruction)),
    (
        "rule: a return address in no register",
        RETURN,
        &[0x90, 0x3e, 0x93, 4, 0x90, 0x7f, 0x93, 4],
        Found(LintCode::UnknownRegister),
    ),
    ("rule: without operands", RETURN, &[0x16; 8], Found(LintCode::IllFormed)),
    // lit0; div, and nop: the canonical frame address divided by 0.
    (
        "rule: an expression that fails",
        RETURN,
        &[0x30, 0x1b, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96],
        Found(LintCode::IllFormed),
    ),
    // call_frame_cfa, and nop: not in call frame information.
    (
        "rule: an operation of other places",
        RETURN,
        &[0x9c, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96, 0x96],
        Found(LintCode::IllFormed),
    ),
    (
        "rule: another register of the frame address",
        CFA,
        &[0x30, 0x41, 0, 6],
        Hidden("any scalar register can have the address"),
    ),
    ("rule: another offset of the frame address", CFA, &[0x30, 0x40, 4, 6], Hidden("frames have any size")),
    (
        "rule: other registers of the return address",
        RETURN,
        &[0x90, 0x3c, 0x93, 4, 0x90, 0x3d, 0x93, 4],
        Hidden("any scalar registers can have the address"),
    ),
    (
        "rule: halves of the return address swapped",
        RETURN,
        &[0x90, 0x3f, 0x93, 4, 0x90, 0x3e, 0x93, 4],
        Hidden("any scalar registers can have the address"),
    ),
];

#[test]
fn a_change_of_one_fact_is_found_or_cannot_be() {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let encoding = Encoding::new(8, Dialect::Llvm);
    let codes = |(bits, entries): &Facts| {
        let parsed: Vec<_> = entries
            .iter()
            .map(|(start, end, expr)| {
                let expr = text::parse(expr, encoding, Some(&target))
                    .unwrap_or_else(|error| panic!("{expr}: {error}"));
                (*start, *end, expr.bytes().to_vec())
            })
            .collect();
        let parsed: Vec<_> =
            parsed.iter().map(|(start, end, expr)| (*start, *end, expr.as_slice())).collect();
        super::made::codes(&object_of_ranges("amdgpu-gfx1030-wave32", *bits, &parsed))
    };
    let mut found = 0;
    for (what, right, changed, expected) in CHANGES {
        assert!(codes(right).is_empty(), "{what}: {:?} in the right object", codes(right));
        let codes = codes(changed);
        match expected {
            Found(code) => {
                assert_eq!(codes, [code.name()], "{what}");
                found += 1;
            }
            Hidden(why) => assert!(codes.is_empty() && !why.is_empty(), "{what}: {codes:?}"),
        }
    }
    let of_bases = FRAME_BASES.iter().map(|(what, changed, expected)| {
        (what, codes_of_base(AMD, BASE, BASE), codes_of_base(AMD, BASE, changed), expected)
    });
    let of_rules = RULES.iter().map(|(what, right, changed, expected)| {
        (what, codes_of_frames(right, right), codes_of_frames(right, changed), expected)
    });
    for (what, right, changed, expected) in of_bases.chain(of_rules) {
        assert!(right.is_empty(), "{what}: {right:?} in the right object");
        match expected {
            Found(code) => {
                assert_eq!(changed, [code.name()], "{what}");
                found += 1;
            }
            Hidden(why) => assert!(changed.is_empty() && !why.is_empty(), "{what}: {changed:?}"),
        }
    }
    let all = CHANGES.len() + FRAME_BASES.len() + RULES.len();
    assert!(found >= 38 && all >= 57, "{found} of {all}");
}
