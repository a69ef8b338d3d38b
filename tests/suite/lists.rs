//! Vectors of lists in their section, with a header.

use eitri::conform::{VectorFile, Verdict};

/// `.debug_loclists`: a header with an address size in bytes, and a default entry with `DW_OP_reg0`.
fn section(address_bytes: u8) -> String {
    format!("0c000000 0500 {address_bytes:02x} 00 00000000 05 01 50 00")
}

#[test]
fn the_header_of_a_list_has_the_address_size_of_the_unit() {
    for (address_bytes, expect) in [(8, r#"{"location": "reg:0"}"#), (4, r#"{"error": "ill-formed"}"#)] {
        let text = format!(
            r#"{{"format": "eitri-vectors-1", "target": {{"name": "x86_64"}},
            "machine": {{"pc": "0x10"}}, "vectors": [{{"name": "list", "dialect": "dwarf5",
                "loclist": {{"bytes": "{}"}}, "expect": {expect}}}]}}"#,
            section(address_bytes)
        );
        let file = VectorFile::from_json(text).unwrap_or_else(|error| panic!("{error}"));
        let outcome = file.vectors().next().expect("a vector").run();
        assert_eq!(outcome.verdict, Verdict::Passed, "{outcome}");
    }
}
