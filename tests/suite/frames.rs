//! Vectors of call frame information.

use eitri::conform::{File, Verdict};

/// A CIE: CFA r7+8, register 16 at CFA-8. An FDE of 0x1000..0x1010: after 4 bytes the CFA is r7+16 and register 3 is
/// saved at CFA-16.
const SECTION: &str = "14000000 ffffffff 04 00 08 00 01 78 10 0c0708 9001 000000 000000
    24000000 00000000 0010000000000000 1000000000000000 44 0e10 8302 00000000 000000000000";

#[test]
#[should_panic(expected = "unknown field `cfi`")]
fn call_frame_information_has_vectors() {
    let bytes = SECTION.replace('\n', " ");
    let text = format!(
        r#"{{"format": "eitri-vectors-1", "target": {{"name": "x86_64"}},
        "machine": {{"pc": "0x1004", "registers": {{"7": "00 70 00 00 00 00 00 00"}}}},
        "vectors": [{{"name": "row", "dialect": "dwarf5", "cfi": {{"bytes": "{bytes}"}},
            "expect": {{"cfa": "mem:0:0x7010"}}}}]}}"#
    );
    let file = File::from_json(text).unwrap_or_else(|error| panic!("{error}"));
    let outcome = file.vectors().next().expect("a vector").run();
    assert_eq!(outcome.verdict, Verdict::Passed, "{outcome}");
}
