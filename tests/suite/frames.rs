//! Vectors of call frame information.

use eitri::conform::{VectorFile, Verdict};

/// A CIE: CFA r7+8, register 16 at CFA-8. An FDE of 0x1000..0x1010: after 4 bytes the CFA is r7+16 and register 3 is
/// saved at CFA-16.
const SECTION: &str = "14000000 ffffffff 04 00 08 00 01 78 10 0c0708 9001 00000000
    24000000 00000000 0010000000000000 1000000000000000 44 0e10 8302 0000000000 000000000000";

#[test]
fn call_frame_information_has_vectors() {
    let bytes = SECTION.replace('\n', " ");
    let text = format!(
        r#"{{"format": "eitri-vectors-1", "target": {{"name": "x86_64"}},
        "machine": {{"pc": "0x1004", "registers": {{"7": "00 70 00 00 00 00 00 00"}}}},
        "vectors": [{{"name": "row", "dialect": "dwarf5", "cfi": {{"bytes": "{bytes}"}},
            "expect": {{"cfa": "mem:0:0x7010"}}}}]}}"#
    );
    let file = VectorFile::from_json(text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = file.vectors().next().expect("a vector").run();
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome}");
}

/// Expectations for the same section and machine, each right and wrong.
#[test]
fn every_kind_of_expectation_of_frames_can_fail() {
    let row =
        |end: &str, cfa: &str| format!(r#"{{"pcs": ["0x1004", "{end}"], "cfa": "{cfa}", "rules": RULES}}"#);
    let rows = |row: &str, rules: &str| {
        let first = r#"{"pcs": ["0x1000", "0x1004"], "cfa": "7+8", "rules": {"16": "offset(-8)"}}"#;
        format!(r#"{{"rows": [{first}, {}]}}"#, row.replace("RULES", rules))
    };
    let both = r#"{"16": "offset(-8)", "3": "offset(-16)"}"#;
    let caller = |inside: &str| format!(r#"{{"caller": {{{inside}}}}}"#);
    let cases = [
        (rows(&row("0x1010", "7+16"), both), rows(&row("0x1010", "7+8"), both)),
        (rows(&row("0x1010", "7+16"), both), rows(&row("0x1008", "7+16"), both)),
        (rows(&row("0x1010", "7+16"), both), rows(&row("0x1010", "7+16 space 1"), both)),
        (rows(&row("0x1010", "7+16"), both), rows(&row("0x1010", "7+16"), r#"{"16": "offset(-8)"}"#)),
        (rows(&row("0x1010", "7+16"), both), rows(&row("0x1010", "7+16"), &both.replace("-16", "-24"))),
        (r#"{"cfa": "mem:0:0x7010"}"#.into(), r#"{"cfa": "mem:0:0x7018"}"#.into()),
        (caller(r#""pc": "0x2005""#), caller(r#""pc": "0x2004""#)),
        (caller(r#""pc": "0x2005""#), r#"{"outermost": true}"#.into()),
        (caller(r#""registers": {"3": "mem:0:0x7000"}"#), caller(r#""registers": {"3": "reg:3"}"#)),
        // The stack pointer has no rule.
        (caller(r#""registers": {"7": "reg:7"}"#), caller(r#""registers": {"7": "undefined"}"#)),
        (caller(r#""contents": {"3": "22 11 00 00 00 00 00 00"}"#), caller(r#""contents": {"3": "22 11"}"#)),
        (caller(r#""pc": "0x2005""#), r#"{"error": "evaluation"}"#.into()),
    ];
    for (right, wrong) in cases {
        assert_eq!(run(SECTION, "0x1004", &right), Verdict::Passed, "{right}");
        assert_eq!(run(SECTION, "0x1004", &wrong), Verdict::Failed, "{wrong}");
    }
    // No FDE contains the pc; an unknown instruction; a truncated operand.
    assert_eq!(run(SECTION, "0x1010", r#"{"error": "evaluation"}"#), Verdict::Passed);
    assert_eq!(run(SECTION, "0x1010", r#"{"error": "ill-formed"}"#), Verdict::WrongErrorClass);
    let unknown = SECTION.replace("44 0e10", "44 3d10");
    assert_eq!(run(&unknown, "0x1004", r#"{"error": "ill-formed"}"#), Verdict::Passed);
    let cut_off = SECTION.replace("0000000000 000000000000", "0000000000 00000000000e");
    assert_eq!(run(&cut_off, "0x1004", r#"{"error": "ill-formed"}"#), Verdict::Passed);
    // Register 3 is saved in unmapped memory.
    let unmapped = SECTION.replace("8302", "8304");
    assert_eq!(run(&unmapped, "0x1004", r#"{"error": "unmapped"}"#), Verdict::Passed);
    // Registers 3 and 0 are saved in each other.
    let cyclic = SECTION.replace("8302 0000000000", "09 03 00 09 00 03 00");
    assert_eq!(run(&cyclic, "0x1004", r#"{"error": "ill-formed"}"#), Verdict::Passed);
}

fn run(section: &str, pc: &str, expect: &str) -> Verdict {
    let bytes = section.replace('\n', " ");
    let text = format!(
        r#"{{"format": "eitri-vectors-1", "target": {{"name": "x86_64"}},
        "machine": {{"pc": "{pc}", "registers": {{"7": "00 70 00 00 00 00 00 00"}},
            "memory": [{{"space": 0, "address": "0x7000", "bytes": "22 11 00 00 00 00 00 00 05 20 00 00 00 00 00 00"}}]}},
        "vectors": [{{"name": "row", "dialect": "dwarf5", "cfi": {{"bytes": "{bytes}"}}, "expect": {expect}}}]}}"#
    );
    let file = VectorFile::from_json(text).unwrap_or_else(|error| panic!("{expect}: {error}"));
    let outcome = file.vectors().next().expect("a vector").run();
    println!("{outcome}");
    outcome.verdict
}
