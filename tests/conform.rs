//! Conformance vectors: those of the project pass, wrong expectations of every kind fail, and malformed files are
//! refused with the location of the error.

use crate::common;

use std::path::PathBuf;

use eitri::conform::{ConformReport, VectorFile, VectorOutcome, Verdict};
use serde_json::{Value, json};

/// All files of vectors in the project.
fn files() -> Vec<(String, String)> {
    let folder = std::fs::read_dir(common::golden("conformance")).expect("the folder");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let name = |path: &PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), std::fs::read_to_string(path).expect("is read"))).collect()
}

fn file(text: &str) -> VectorFile {
    VectorFile::from_json(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_vector_of_the_project_passes() {
    let mut report = ConformReport::default();
    let mut counts = String::new();
    for (name, text) in files() {
        let file = VectorFile::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!file.is_empty(), "{name}");
        counts += &format!("{:6} {name}\n", file.len());
        file.run("", Some(&name), &mut report);
    }
    println!("{counts}");
    assert!(report.count(Verdict::Passed) == report.outcomes.len(), "\n{report}");
}

/// A file with one vector on a small machine.
fn one(vector: Value) -> String {
    let machine = json!({
        "registers": {"0": "a0 a1 a2 a3 a4 a5 a6 a7", "1": "10 00 00 00 00 00 00 00"},
        "memory": [{"space": 0, "address": "0x10", "bytes": "01 02 03 04 05 06 07 08"}],
        "entries": {"0x40": {"expr": "50"}},
        "types": {"0x30": {"encoding": "signed", "bits": 16}},
        "pc": "0x4"
    });
    let mut whole = json!({
        "format": "eitri-vectors-1", "target": {"name": "x86_64"}, "machine": machine,
        "vectors": [{"name": "it", "dialect": "dwarf5", "expr": "50", "expect": {"bytes": ""}}]
    });
    let object = whole["vectors"][0].as_object_mut().expect("an object");
    object.extend(vector.as_object().expect("an object").clone());
    whole.to_string()
}

fn run(vector: Value) -> VectorOutcome {
    let file = file(&one(vector));
    let vector = file.vectors().next().expect("a vector");
    vector.run()
}

/// Vectors that pass, each with wrong expectations, their verdict and the result.
#[test]
fn every_kind_of_expectation_can_fail() {
    let pointer = |offset| json!({"entry": "0x40", "offset": offset});
    let whole = |byte: &str| format!("{byte} a1 a2 a3 a4 a5 a6 a7");
    let failed = Verdict::Failed;
    let wrong_class = Verdict::WrongErrorClass;
    let cases = [
        // Bytes, and their undefined bits.
        (
            json!({"read": 16}),
            json!({"bytes": "a0 a1"}),
            json!({"bytes": "a0 a2"}),
            failed,
            "location reg:0, bytes a0 a1",
        ),
        (
            json!({"read": 16}),
            json!({"bytes": "a0a1"}),
            json!({"bytes": "a0"}),
            failed,
            "location reg:0, bytes a0 a1",
        ),
        (
            json!({"read": 16}),
            json!({"bytes": "a0 a1"}),
            json!({"bytes": "a0 --"}),
            failed,
            "location reg:0, bytes a0 a1",
        ),
        (
            json!({"read": 12}),
            json!({"bytes": "a0 b:----0001"}),
            json!({"bytes": "a0 01"}),
            failed,
            "location reg:0, bytes a0 b:----0001",
        ),
        (
            json!({"expr": "", "read": 16}),
            json!({"bytes": "-- --"}),
            json!({"bytes": "-- 00"}),
            failed,
            "location undefined, bytes -- --",
        ),
        (
            json!({"expr": "9d 04 00 50 9d 04 04", "read": 8}),
            json!({"bytes": "b:1010----"}),
            json!({"bytes": "b:1011----"}),
            failed,
            "location [undefined/4, reg:0+4/4], bytes b:1010----",
        ),
        // Locations and their sizes.
        (
            json!({"read": 8}),
            json!({"location": "reg:0"}),
            json!({"location": "reg:1"}),
            failed,
            "location reg:0, bytes a0",
        ),
        (json!({}), json!({"location": "reg:0"}), json!({"location": "reg:0+1"}), failed, "location reg:0"),
        (
            json!({"expr": "50 93 01 50 93 01", "read": 16}),
            json!({"location": "[[reg:0/8, reg:0/8]/16]"}),
            json!({"location": "reg:0"}),
            failed,
            "location [reg:0/8, reg:0/8], bytes a0 a0",
        ),
        (
            json!({"expr": "9e 02 01 02", "read": 8}),
            json!({"location": "implicit:01"}),
            json!({"location": "implicit:0201"}),
            failed,
            "location implicit:0102, bytes 01",
        ),
        (
            json!({"read": 8}),
            json!({"location": "reg:0", "bytes": "a0"}),
            json!({"location": "reg:1", "bytes": "a0"}),
            failed,
            "location reg:0, bytes a0",
        ),
        // Values, their bits and types.
        (
            json!({"expr": "31", "result": "value"}),
            json!({"value": "0x1"}),
            json!({"value": "0x2"}),
            failed,
            "value 0x1",
        ),
        (
            json!({"expr": "31", "result": "any"}),
            json!({"value": 1}),
            json!({"value": "0x10000000000000001"}),
            failed,
            "value 0x1",
        ),
        (
            json!({"expr": "a4 30 02 fe ff", "result": "value"}),
            json!({"value": "0xfffe", "type": "signed/16"}),
            json!({"value": "0xfffe"}),
            failed,
            "value 0xfffe, type signed/16",
        ),
        (
            json!({"expr": "a4 30 02 fe ff", "result": "value"}),
            json!({"value": "0xfffe", "type": {"encoding": "signed", "bits": 16}}),
            json!({"value": "0xfffe", "type": {"encoding": "unsigned", "bits": 16}}),
            failed,
            "value 0xfffe, type signed/16",
        ),
        // Implicit pointers.
        (
            json!({"expr": "a0 40 00 00 00 7c", "read": 64}),
            json!({"pointer": pointer(-4), "location": "implptr:0x40:-4"}),
            json!({"pointer": pointer(4)}),
            failed,
            "location implptr:0x40:-4, pointer 0x40:-4",
        ),
        (
            json!({"expr": "a0 40 00 00 00 7c 06", "result": "any"}),
            json!({"pointer": pointer(-4)}),
            json!({"pointer": {"entry": "0x41", "offset": -4}}),
            failed,
            "pointer 0x40:-4",
        ),
        // Errors and their classes.
        (
            json!({"expr": "30 30 1b"}),
            json!({"error": "evaluation"}),
            json!({"error": "ill-formed"}),
            wrong_class,
            "error evaluation (division by zero; operation 2, offset 0x2)",
        ),
        (
            json!({"expr": "22"}),
            json!({"error": "ill-formed", "why": "nothing is there"}),
            json!({"bytes": ""}),
            failed,
            "error ill-formed",
        ),
        (
            json!({"expr": "52", "read": 8}),
            json!({"error": "unmapped", "location": "reg:2"}),
            json!({"error": "unmapped", "location": "reg:3"}),
            failed,
            "location reg:2, error unmapped",
        ),
        (
            json!({"expr": "52", "read": 8}),
            json!({"error": "unmapped"}),
            json!({"error": "evaluation"}),
            wrong_class,
            "location reg:2, error unmapped",
        ),
        (
            json!({"expr": "50", "read": 8}),
            json!({"bytes": "a0"}),
            json!({"error": "unmapped"}),
            failed,
            "location reg:0, bytes a0",
        ),
        // Contents after a store.
        (
            json!({"read": 8, "write": "01"}),
            json!({"bytes": "a0", "written": {"reg:0": whole("01")}}),
            json!({"bytes": "a0", "written": {"reg:0": whole("02")}}),
            failed,
            "location reg:0, bytes a0, written reg:0 = 01 a1 a2 a3 a4 a5 a6 a7",
        ),
        (
            json!({"read": 8, "write": "01"}),
            json!({"bytes": "a0", "written": {"reg:0": whole("01")}}),
            json!({"bytes": "a0", "written": {"reg:0": whole("01"), "mem:0:0x10": "00"}}),
            failed,
            "location reg:0, bytes a0, written reg:0 = 01 a1 a2 a3 a4 a5 a6 a7",
        ),
        (
            json!({"expr": "71 01", "read": 16, "write": "f1 f2"}),
            json!({"bytes": "02 03", "written": {"mem:0:0x11": "f1 f2"}}),
            json!({"bytes": "02 03", "written": {"mem:0:0x11": "f1"}}),
            failed,
            "location mem:0:0x11, bytes 02 03, written mem:0:0x11 = f1 f2",
        ),
        (
            json!({"expr": "9e 01 2a", "read": 8, "write": "01"}),
            json!({"bytes": "2a", "written": {"error": "evaluation"}}),
            json!({"bytes": "2a", "written": {}}),
            failed,
            "location implicit:2a, bytes 2a, written error evaluation",
        ),
        (
            json!({"read": 8, "write": "01"}),
            json!({"bytes": "a0", "written": {"reg:0": whole("01")}}),
            json!({"bytes": "a0", "written": {"error": "evaluation"}}),
            failed,
            "location reg:0, bytes a0, written reg:0 = 01 a1 a2 a3 a4 a5 a6 a7",
        ),
    ];
    for (vector, right, wrong, verdict, found) in cases {
        let with = |expect: &Value| {
            let mut vector = vector.clone();
            vector["expect"] = expect.clone();
            run(vector)
        };
        let passes = with(&right);
        assert_eq!(passes.verdict, Verdict::Passed, "{right}: {passes}");
        let fails = with(&wrong);
        assert_eq!(fails.verdict, verdict, "{wrong}: {fails}");
        assert!(fails.found.starts_with(found), "{wrong}: found {}", fails.found);
        assert!(fails.to_string().contains(&format!("expected {}; found {}", fails.expected, fails.found)));
    }
}

/// Equality of location texts over a number of bits.
#[test]
fn locations_are_equal_bit_for_bit() {
    let is_same = |expected: &str, found_parts: &str, read: u64| {
        let vector = json!({"expr": found_parts, "read": read, "expect": {"location": expected}});
        run(vector).verdict == Verdict::Passed
    };
    // reg0; piece 4; piece 2; reg1; piece 2
    let pieces = "50 93 04 93 02 51 93 02";
    assert!(is_same("[reg:0/32, undefined/16, reg:1/16]", pieces, 64));
    assert!(is_same("[[reg:0/8, reg:0+8/24]/32, [undefined/3]/3, undefined/13, reg:1/16]", pieces, 64));
    assert!(is_same("reg:0", pieces, 32));
    assert!(!is_same("reg:0", pieces, 33));
    assert!(is_same("[reg:0/32, undefined/16, reg:1/15, reg:0/1]", pieces, 63));
    assert!(!is_same("[reg:0/32, undefined/16, reg:1/15, reg:0/1]", pieces, 64));

    let list = |expected: &str| {
        let entry = |expr| json!({"kind": "start_length", "start": "0x4", "length": "0x1", "expr": expr});
        let list = json!([entry("50"), entry("71 00")]);
        let mut whole: Value =
            serde_json::from_str(&one(json!({"expect": {"location": expected}}))).expect("JSON");
        let vector = whole["vectors"][0].as_object_mut().expect("an object");
        vector.remove("expr");
        vector.extend([("loclist".to_owned(), list), ("read".to_owned(), json!(32))]);
        file(&whole.to_string()).vectors().next().expect("a vector").run().verdict == Verdict::Passed
    };
    assert!(list("reg:0 | mem:0:0x10"));
    assert!(list("mem:0:0x10 | reg:0"));
    assert!(list("[(mem:0:0x10 | reg:0)/8, (mem:0:0x11 | reg:0+8)/24]"));
    assert!(!list("reg:0"));
    assert!(!list("mem:0:0x10 | reg:0 | reg:1"));
}

/// The machine of a vector is merged into that of the file.
#[test]
fn a_vector_changes_the_machine_key_by_key() {
    let unmapped = |expr: &str, machine: Value| {
        run(json!({"expr": expr, "read": 8, "machine": machine, "expect": {"error": "unmapped"}})).verdict
    };
    let bytes = |expr: &str, machine: Value, bytes: &str| {
        let vector = json!({"expr": expr, "read": 16, "machine": machine, "expect": {"bytes": bytes}});
        run(vector).verdict
    };
    let passed = Verdict::Passed;
    assert_eq!(bytes("50", json!({"registers": {"1": "00"}}), "a0 a1"), passed);
    assert_eq!(bytes("50", json!({"registers": {"0": "07 08 00 00 00 00 00 00"}}), "07 08"), passed);
    assert_eq!(unmapped("50", json!({"registers": {"0": null}})), passed);
    assert_eq!(bytes("51", json!({"registers": {"0": null}}), "10 00"), passed);
    assert_eq!(unmapped("51", json!({"registers": null})), passed);
    let later = json!({"memory": [{"space": 0, "address": "0x11", "bytes": "ff"}]});
    assert_eq!(bytes("08 10", later, "01 ff"), passed);
    assert_eq!(unmapped("08 10", json!({"memory": null})), passed);
    // call_ref 0x40
    assert_eq!(bytes("9a 40 00 00 00", json!({"entries": {"0x50": {"expr": "51"}}}), "a0 a1"), passed);
    assert_eq!(bytes("9a 40 00 00 00", json!({"entries": {"0x0040": {"expr": "51"}}}), "10 00"), passed);
    let of = |machine: Value, expr: &str| {
        run(json!({"expr": expr, "machine": machine, "expect": {"error": "ill-formed"}})).verdict
    };
    assert_eq!(of(json!({"entries": {"0x40": null}}), "9a 40 00 00 00"), passed);
    assert_eq!(of(json!({"types": {"0x30": {"tag": "variable"}}}), "a4 30 02 fe ff 9f"), passed);
    assert_eq!(of(Value::Null, "a4 30 02 fe ff 9f"), passed);
}

/// Malformed files, with the key and the reason in the error.
#[test]
fn malformed_files_are_refused_with_vector_and_key() {
    let malformed = [
        (json!({"expect": {"bytes": "a0 a"}}), "vectors[0].expect.bytes", "expected two hexadecimal digits"),
        (json!({"expect": {"bytes": "b:102-----"}}), "vectors[0].expect.bytes", "b:"),
        (json!({"expect": {}}), "vectors[0].expect", "vector has no expectation"),
        (json!({"expect": {"bytes": "", "value": 1}}), "vectors[0].expect", "expected at most one of"),
        (json!({"expect": {"location": "reg:x"}}), "vectors[0].expect.location", "no register `x`"),
        (json!({"expect": {"location": "reg:-1"}}), "vectors[0].expect.location", "DWARF number"),
        (json!({"expect": {"location": "reg:999"}}), "vectors[0].expect.location", "no register 999"),
        (json!({"expect": {"location": "mem:9:0x10"}}), "vectors[0].expect.location", "no address space 9"),
        (json!({"expect": {"location": "mem:0:0x10@1"}}), "vectors[0].expect.location", "is not per lane"),
        (
            json!({"expect": {"location": "[reg:0/65]"}}),
            "vectors[0].expect.location",
            "ends after its storage",
        ),
        (json!({"expect": {"location": "reg:0+64"}}), "vectors[0].expect.location", "is outside its storage"),
        (
            json!({"expect": {"location": "[reg:0/8"}}),
            "vectors[0].expect.location",
            "ends too early; expected `]`",
        ),
        (
            json!({"expect": {"location": "reg:0", "error": "evaluation"}}),
            "vectors[0].expect.location",
            "allowed without `value`",
        ),
        (
            json!({"expect": {"error": "wrong"}}),
            "vectors[0].expect.error",
            "`ill-formed`, `evaluation` or `unmapped`",
        ),
        (json!({"expect": {"bytes": "", "type": "signed/8"}}), "vectors[0].expect.type", "without a `value`"),
        (
            json!({"expect": {"value": 1, "type": "sigend/8"}}),
            "vectors[0].expect.type",
            "is not an encoding of base types",
        ),
        (json!({"expect": {"value": 1.5}}), "vectors[0].expect.value", "a number"),
        (json!({"expect": {"value": "1"}}), "vectors[0].expect.value", "a number"),
        (
            json!({"expect": {"bytes": "", "written": {}}}),
            "vectors[0].expect.written",
            "the vector has no `write`",
        ),
        (json!({"write": "00", "expect": {"bytes": ""}}), "vectors[0].expect", "missing field `written`"),
        (
            json!({"write": "00", "expect": {"written": {"reg:0": "00"}}}),
            "vectors[0].expect.written.reg:0",
            "64 bits",
        ),
        (
            json!({"write": "00", "expect": {"written": {"reg:0+8": "00"}}}),
            "vectors[0].expect.written.reg:0+8",
            "`reg:N` or",
        ),
        (json!({"expect": {"bytes": "", "extra": 1}}), "vectors[0].expect.extra", "unknown field `extra`"),
        (
            json!({"expect": {"pointer": {"entry": true, "offset": 0}}}),
            "vectors[0].expect.pointer.entry",
            "expected text",
        ),
        (json!({"extra": 1}), "vectors[0].extra", "unknown field `extra`"),
        (json!({"expect": null}), "vectors[0].expect", "invalid type: null"),
        (json!({"dialect": "dwarf7"}), "vectors[0].dialect", "unknown variant `dwarf7`"),
        (json!({"expr": "5"}), "vectors[0].expr", "hexadecimal digits"),
        (json!({"expr": "5z"}), "vectors[0].expr", "hexadecimal digits"),
        (json!({"loclist": []}), "vectors[0]", "one of `expr`, `loclist` and `cfi`"),
        (json!({"expr": null}), "vectors[0]", "one of `expr`, `loclist` and `cfi`"),
        (json!({"result": "locations"}), "vectors[0].result", "unknown variant"),
        (json!({"where": "cfa"}), "vectors[0].where", "unknown variant"),
        (json!({"read": -1}), "vectors[0].read", "a number"),
        (json!({"read": "32"}), "vectors[0].read", "a number"),
        (json!({"opcodes": {"offset": "0xac"}}), "vectors[0].opcodes", "only valid in the dialect `dwarf6`"),
        (
            json!({"dialect": "dwarf6", "opcodes": {"plus": "0xac"}}),
            "vectors[0].opcodes.plus",
            "is not an operation without a number",
        ),
        (
            json!({"dialect": "dwarf6", "opcodes": {"offset": "0x22"}}),
            "vectors[0].opcodes.offset",
            "encodes `plus`",
        ),
        (json!({"dialect": "dwarf6", "opcodes": {"offset": "0x1ac"}}), "vectors[0].opcodes.offset", "8 bits"),
        (
            json!({"machine": {"registers": {"rax ": "00"}}}),
            "vectors[0].machine.registers.rax ",
            "did you mean `rax`?",
        ),
        (
            json!({"machine": {"registers": {"-1": "00"}}}),
            "vectors[0].machine.registers.-1",
            "neither a DWARF number nor a name",
        ),
        (
            json!({"machine": {"registers": {"rax": "00", "0x0": "00"}}}),
            "vectors[0].machine.registers.rax",
            "register 0 occurs twice",
        ),
        (
            json!({"machine": {"registers": {"99": "00"}}}),
            "vectors[0].machine.registers.99",
            "no register 99",
        ),
        (
            json!({"machine": {"registers": {"0": "00 00 00 00 00 00 00 00 00"}}}),
            "vectors[0].machine.registers.0",
            "9 bytes",
        ),
        (json!({"machine": {"register": {}}}), "vectors[0].machine.register", "unknown field"),
        (json!({"machine": {"pc": true}}), "vectors[0].machine.pc", "expected text"),
        (
            json!({"machine": {"memory": [{"space": 0, "address": "0x0"}]}}),
            "vectors[0].machine.memory[0]",
            "missing field `bytes`",
        ),
        (
            json!({"machine": {"memory": [{"space": 0, "address": "0x0", "bytes": "00", "lane": 1}]}}),
            "vectors[0].machine.memory[0]",
            "is not per lane",
        ),
        // Space 5 is private to each lane: memory without a lane is an error.
        (
            json!({"target": {"name": "amdgpu-gfx1030-wave32"},
                   "machine": {"registers": null, "memory": [{"space": 5, "address": "0x0", "bytes": "00"}]}}),
            "vectors[0].machine.memory[0]",
            "lane is missing",
        ),
        (
            json!({"target": {"name": "amdgpu-gfx1030-wave32"}, "machine": {"registers": null},
                   "expect": {"location": "mem:5:0x10"}}),
            "vectors[0].expect.location",
            "lane is missing",
        ),
        (
            json!({"target": {"name": "amdgpu-gfx1030-wave32"},
                   "machine": {"registers": null, "object": "mem:5:0x10"}}),
            "vectors[0].machine.object",
            "lane is missing",
        ),
        (
            json!({"target": {"name": "amdgpu-gfx1030-wave32"}, "machine": {"registers": null}, "write": "00",
                   "expect": {"location": "mem:5:0x10@3", "written": {"mem:5:0x10": "00"}}}),
            "vectors[0].expect.written.mem:5:0x10",
            "lane is missing",
        ),
        (
            json!({"machine": {"memory": [{"space": 0, "address": "0xffffffffffffffff", "bytes": "00 00"}]}}),
            "vectors[0].machine.memory[0]",
            "past the end of address space",
        ),
        (json!({"machine": {"cfa": "0xg"}}), "vectors[0].machine.cfa", "0x1f"),
        (json!({"machine": {"cfa": "mem:1:0x0"}}), "vectors[0].machine.cfa", "no address space 1"),
        (json!({"machine": {"types": {"0x10": {"bits": 8}}}}), "vectors[0].machine.types.0x10", "`encoding`"),
        (
            json!({"machine": {"entries": {"0x10": {"expr": "", "const_value": ""}}}}),
            "vectors[0].machine.entries.0x10",
            "one of",
        ),
        (
            json!({"machine": {"initial_stack": [{"value": "0x1", "location": "reg:0"}]}}),
            "vectors[0].machine.initial_stack[0]",
            "an element",
        ),
        (
            json!({"machine": {"initial_stack": [{"value": "00", "type": {"encoding": "signed", "bits": 16}}]}}),
            "vectors[0].machine.initial_stack[0]",
            "1 byte is",
        ),
        (
            json!({"machine": {"callers": [{"registers": {"0": "reg:99"}}]}}),
            "vectors[0].machine.callers[0].registers.0",
            "no register 99",
        ),
        (json!({"target": {"name": "x86_65"}}), "vectors[0].target.name", "unknown target"),
        (json!({"target": {"name": null}}), "vectors[0].target", "missing field `name`"),
        (json!({"target": {"endian": "big"}}), "vectors[0].target.endian", "byte order"),
        (json!({"target": null}), "vectors[0]", "missing field `target`"),
        (json!({"valid_in": ["dwarf4"]}), "vectors[0].valid_in[0]", "unknown variant `dwarf4`"),
        (json!({"valid_in": []}), "vectors[0].valid_in", "one document"),
        (
            json!({"status": "open", "issue": "251120.1"}),
            "vectors[0].status",
            "only valid in the dialect `dwarf6`",
        ),
        (json!({"dialect": "dwarf6", "status": "open"}), "vectors[0].status", "has no `issue`"),
        (json!({"dialect": "dwarf6", "issue": "251120.1"}), "vectors[0].issue", "without a `status`"),
        (json!({"expr": null, "loclist": 5}), "vectors[0].loclist", "a list of entries, or an object"),
        (
            json!({"expr": null, "loclist": {"bytes": "00", "extra": 1}}),
            "vectors[0].loclist.extra",
            "unknown field `extra`",
        ),
        (json!({"expr": null, "cfi": {"bytes": "0"}}), "vectors[0].cfi.bytes", "hexadecimal digits"),
        (
            json!({"expr": null, "cfi": {"bytes": "", "section": ".debug_info"}}),
            "vectors[0].cfi.section",
            "unknown variant",
        ),
        (
            json!({"expr": null, "cfi": {"bytes": ""}, "machine": {"cfa": "0x10"}}),
            "vectors[0].machine.cfa",
            "a vector with `cfi` computes its value",
        ),
        (json!({"expr": null, "cfi": {"bytes": ""}, "read": 8}), "vectors[0].read", "cannot read"),
        (
            json!({"expr": null, "cfi": {"bytes": ""}, "expect": {"bytes": ""}}),
            "vectors[0].expect.bytes",
            "cannot expect this",
        ),
        (json!({"expect": {"outermost": true}}), "vectors[0].expect.outermost", "only a vector with `cfi`"),
        (
            json!({"expr": null, "cfi": {"bytes": ""}, "expect": {"cfa": "reg:0", "error": "unmapped"}}),
            "vectors[0].expect.error",
            "allowed with `error`",
        ),
        (
            json!({"expr": null, "cfi": {"bytes": ""}, "expect": {"caller": {"contents": {"999": "00"}}}}),
            "vectors[0].expect.caller.contents.999",
            "no register 999",
        ),
        (
            json!({"expr": null, "cfi": {"bytes": ""},
                   "expect": {"rows": [{"pcs": ["0x4", "0x4"], "cfa": "7+8", "rules": {}}]}}),
            "vectors[0].expect.rows[0]",
            "is empty; expected a start before the end",
        ),
        (
            json!({"expr": null, "cfi": {"bytes": ""},
                   "expect": {"rows": [{"pcs": ["0x4", "0x5"], "cfa": "7", "rules": {}}]}}),
            "vectors[0].expect.rows[0].cfa",
            "`7+16`",
        ),
        (
            json!({"expr": null, "cfi": {"bytes": ""},
                   "expect": {"rows": [{"pcs": ["0x4", "0x5"], "cfa": "none", "rules": {"3": "offset(x)"}}]}}),
            "vectors[0].expect.rows[0].rules.3",
            "`offset(-8)`",
        ),
    ];
    let mut wrong = Vec::new();
    for (vector, path, what) in malformed {
        let error = VectorFile::from_json(one(vector.clone())).map(|_| ()).expect_err(&vector.to_string());
        let at = error.at();
        let json = at.json.as_ref().expect("a place");
        let place = (json.path.as_str(), at.vector.as_deref());
        let text = error.to_string();
        if place != (path, Some("it")) || !text.contains(what) {
            wrong.push(format!("{vector}\n  {error}\n  not {path}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
