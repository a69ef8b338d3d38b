//! What the builder refuses, a description cannot say either: the same error, with its place in the text.

use std::collections::BTreeMap;

use eitri::Error;
use eitri::model::Module;

const ERRORS: &str = include_str!("../../goldens/errors/errors.txt");

/// What the errors of `goldens/errors/errors.txt` begin with.
const START: &str = r#"{"unit": {"name": "saxpy.cl"}},
{"base_type": {"unit": "saxpy.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "saxpy.cl", "name": "saxpy", "code": {"symbol": "saxpy", "bytes": 384}}},
{"unit": {"name": "other.cl"}},
{"base_type": {"unit": "other.cl", "name": "int", "id": "other int", "encoding": "signed", "bits": 32}},
{"function": {"in": "other.cl", "name": "g", "id": "g", "code": {"symbol": "g", "bytes": 64}}}"#;

fn error(statements: &str) -> Error {
    let text = format!(
        "{{\"eitri\": 1, \"target\": \"amdgpu-gfx1030-wave32\", \"describe\": [\n{START},\n{statements}\n]}}"
    );
    match Module::from_json(&text) {
        Ok(_) => panic!("no error: {statements}"),
        Err(error) => error,
    }
}

/// Locations of `n` in `saxpy`.
#[rustfmt::skip]
const LOCATIONS: &[(&str, &str)] = &[
    ("register 5000", r#"{"register": 5000}"#),
    ("a register of the other wave size", r#"{"per_lane": 2560}"#),
    ("register of u64::MAX", r#"{"value": {"register": 18446744073709551615}}"#),
    ("lane 32 of 32", r#"{"lane": ["v40", 32]}"#),
    ("lane 70 of 32", r#"{"lane": ["v40", 70]}"#),
    ("a lane of a scalar register", r#"{"lane": ["s4", 0]}"#),
    ("each lane of a scalar register", r#"{"per_lane": "s4"}"#),
    ("memory in space 4", r#"{"memory": [4, 0]}"#),
    ("a part beyond its storage", r#"{"parts": [[{"register": "s4"}, 33]]}"#),
    ("a part beyond its storage, further on", r#"{"parts": [[{"offset": [{"register": "s4"}, 1]}, 32]]}"#),
    ("fewer parts than bits", r#"{"parts": [[{"register": "s4"}, 16]]}"#),
    ("no parts", r#"{"parts": []}"#),
    ("a part without bits", r#"{"parts": [["undefined", 0], [{"register": "s4"}, 32]]}"#),
    ("parts of 2^64 bits", r#"{"parts": [["undefined", "0xffffffffffffffff"], ["undefined", 1]]}"#),
    ("an offset behind the register", r#"{"offset": [{"register": "s4"}, 4]}"#),
    ("an offset before the register", r#"{"offset": [{"register": "s4"}, -1]}"#),
    ("a bit behind the register", r#"{"bit_offset": [{"register": "s4"}, 32]}"#),
    ("an offset of 2^63 bytes", r#"{"offset": [{"register": "s4"}, "-0x8000000000000000"]}"#),
    ("what is laid over is too small", r#"{"overlay": [{"register": "v4"}, {"register": "s4"}, 0, 33]}"#),
    ("what is laid over goes past the end", r#"{"overlay": [{"register": "s4"}, {"register": "s5"}, 8, 32]}"#),
    ("elements beyond their storage", r#"{"select": [1, {"register": "s4"}, {"register": "v4"}, 32, 2]}"#),
    ("more elements than a mask has bits", r#"{"select": [1, "undefined", "undefined", 32, 65]}"#),
    ("elements without bits", r#"{"extend": ["undefined", 0, 32]}"#),
    ("elements of 2^64 bits", r#"{"extend": ["undefined", 4294967296, 4294967296]}"#),
    ("an element beyond its storage", r#"{"extend": [{"register": "s4"}, 64, 2]}"#),
    ("a constant of fewer bytes than the variable", r#"{"implicit": "0102"}"#),
    ("a number of more than 64 bits", r#"{"value": {"read": [{"register": "v4"}, 65]}}"#),
    ("a number of no bits", r#"{"value": {"read": [{"register": "v4"}, 0]}}"#),
    ("a vector register as a number", r#"{"value": {"register": "v4"}}"#),
];

/// Statements.
#[rustfmt::skip]
const STATEMENTS: &[(&str, &str)] = &[
    ("a larger variable than its storage", r#"{"base_type": {"unit": "saxpy.cl", "name": "long", "encoding": "signed", "bits": 64}},
        {"variable": {"in": "saxpy", "name": "n", "type": "long", "live": [[0, 4, {"register": "s4"}]]}}"#),
    ("a larger variable than a lane", r#"{"base_type": {"unit": "saxpy.cl", "name": "long", "encoding": "signed", "bits": 64}},
        {"variable": {"in": "saxpy", "name": "n", "type": "long", "live": [[0, 4, {"lane": ["v4", 0]}]]}}"#),
    ("a call to another unit's procedure", r#"{"procedure": {"unit": "other.cl", "id": "p", "loc": "undefined"}},
        {"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [["0x24", "0x180", {"call": "p"}]]}}"#),
    ("an expression with another unit's type", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [["0x24", "0x180",
        {"expr": {"bytes": "a8 808000", "fixups": [{"offset": 1, "kind": {"type": 3}, "entity": {"type": "other int"}}]}}]]}}"#),
    ("an empty range", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[8, 8, "undefined"]]}}"#),
    ("a reversed range", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[8, 4, "undefined"]]}}"#),
    ("a range beyond the function", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[8, "0x181", "undefined"]]}}"#),
    ("a range in a global variable's", r#"{"variable": {"in": "saxpy.cl", "name": "n", "type": "int", "live": [[0, 4, "undefined"]]}}"#),
    ("a range beyond 4 GiB", r#"{"variable": {"in": "saxpy.cl", "name": "n", "type": "int", "live": [[0, "0x100000000", "undefined"]]}}"#),
    ("no place", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[0, 4, []]]}}"#),
    ("overlapping ranges", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[8, 16, "undefined"], [0, 12, "undefined"]]}}"#),
    ("a range in a range", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[0, 16, "undefined"], [4, 8, "undefined"], [12, 20, "undefined"]]}}"#),
    ("always and by pc", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[8, 16, "undefined"]], "always": "undefined"}}"#),
    ("a parameter of a unit", r#"{"parameter": {"in": "saxpy.cl", "name": "n", "type": "int"}}"#),
    ("a parameter of a block", r#"{"block": {"in": "saxpy", "pcs": [], "id": "b"}}, {"parameter": {"in": "b", "name": "n", "type": "int"}}"#),
    ("a constant that is too small", r#"{"constant": {"in": "saxpy", "name": "n", "type": "int", "value": "01"}}"#),
    ("a constant that is too large", r#"{"constant": {"in": "saxpy", "name": "n", "type": "int", "value": "0000000000"}}"#),
    ("a variable of another unit's type", r#"{"variable": {"in": "saxpy", "name": "n", "type": "other int"}}"#),
    ("a function that returns another unit's type", r#"{"function": {"in": "saxpy.cl", "name": "f", "returns": "other int"}}"#),
    ("a function declared in another unit's file", r#"{"file": {"unit": "other.cl", "name": "other.cl", "id": "f"}},
        {"function": {"in": "saxpy.cl", "name": "f", "declared": ["f", 1]}}"#),
    ("an unknown stack base", r#"{"function": {"in": "saxpy.cl", "name": "f", "stack": {"base": 5000}}}"#),
    ("a stack that begins in a vector register", r#"{"describe_function": {"function": "saxpy", "stack": {"base": "v3"}}}"#),
    ("an empty block", r#"{"block": {"in": "saxpy", "pcs": [[0, 4], [8, 8]]}}"#),
    ("a block outside of the function", r#"{"block": {"in": "saxpy", "pcs": [[0, 4], [8, "0x184"]]}}"#),
    ("a block that overlaps itself", r#"{"block": {"in": "saxpy", "pcs": [[0, 8], [4, 12]]}}"#),
    ("a block outside of the block around it", r#"{"block": {"in": "saxpy", "pcs": [[0, 8], [16, 24]], "id": "b"}}, {"block": {"in": "b", "pcs": [[4, 12]]}}"#),
    ("one of several places is nowhere", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "live": [[0, 4, [{"register": "s4"}, "undefined"]]]}}"#),
    ("elements of a bit", r#"{"base_type": {"unit": "saxpy.cl", "name": "bit", "encoding": "boolean", "bits": 1}}, {"vector": {"unit": "saxpy.cl", "of": "bit", "count": 8}}"#),
    ("a block in a unit", r#"{"block": {"in": "saxpy.cl", "pcs": [[0, 4]]}}"#),
    ("an inlined function of another unit", r#"{"inlined": {"in": "saxpy", "function": "g", "pcs": [[0, 4]], "call": ["saxpy.cl", 1, 0]}}"#),
    ("an instance of a variable that is not inlined", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "id": "n"}},
        {"function": {"in": "saxpy.cl", "name": "inner"}}, {"inlined": {"in": "saxpy", "function": "inner", "pcs": [[0, 4]], "call": ["saxpy.cl", 1, 0], "id": "i"}},
        {"inlined_variable": {"in": "i", "origin": "n"}}"#),
    ("an instance outside of an inlined call", r#"{"variable": {"in": "saxpy", "name": "n", "type": "int", "id": "n"}}, {"inlined_variable": {"in": "saxpy", "origin": "n"}}"#),
    ("a row outside of the function", r#"{"rows": {"function": "saxpy", "rows": [["0x180", "saxpy.cl", 1]]}}"#),
    ("a row of another unit's file", r#"{"file": {"unit": "other.cl", "name": "other.cl", "id": "f"}}, {"rows": {"function": "saxpy", "rows": [[0, "f", 1]]}}"#),
    ("a row inside of an instruction", r#"{"rows": {"function": "saxpy", "rows": [[0, "saxpy.cl", 1], [6, "saxpy.cl", 1]]}}"#),
    ("a function that ends inside of an instruction", r#"{"function": {"in": "saxpy.cl", "name": "odd", "code": {"symbol": "odd", "bytes": "0x3e"}}}, {"rows": {"function": "odd", "rows": [[0, "saxpy.cl", 1]]}}"#),
    ("files with and without a sum", r#"{"file": {"unit": "saxpy.cl", "name": "a.h", "directory": "include", "md5": "01010101010101010101010101010101"}}"#),
    ("a text with a zero byte", r#"{"file": {"unit": "saxpy.cl", "name": "saxpy.cl", "source": "a\u0000b"}}"#),
    ("a macro that begins with a space", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, " A 1"]}]}}"#),
    ("a macro with spaces between its parameters", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, "A(a, b) 1"]}]}}"#),
    ("a macro whose parameters do not end", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, "A(a"]}]}}"#),
    ("a macro without a space before its definition", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, "A(a)1"]}]}}"#),
    ("a macro with a tab before its definition", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, "A\t1"]}]}}"#),
    ("a macro without a name", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, ""]}]}}"#),
    ("a macro with a zero byte", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [0, "A 1\u0000"]}]}}"#),
    ("a macro of a line of no file", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"define": [3, "A 1"]}]}}"#),
    ("a macro of line 0 in a file", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"file": [0, "saxpy.cl"]}, {"define": [0, "A 1"]}]}}"#),
    ("a macro that is forgotten with its parameters", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"undefine": [0, "A(a)"]}]}}"#),
    ("a file that ends and did not begin", r#"{"macros": {"unit": "saxpy.cl", "macros": ["end_file"]}}"#),
    ("a file that does not end", r#"{"macros": {"unit": "saxpy.cl", "macros": [{"file": [0, "saxpy.cl"]}]}}"#),
    ("a procedure with a wrong lane", r#"{"procedure": {"unit": "saxpy.cl", "id": "p", "loc": {"lane": ["v4", 32]}}}"#),
    ("a type without bits", r#"{"base_type": {"unit": "saxpy.cl", "name": "void", "encoding": "unsigned", "bits": 0}}"#),
    ("a pointer to another unit's type", r#"{"pointer": {"unit": "saxpy.cl", "to": "other int"}}"#),
    ("a pointer into space 4", r#"{"pointer": {"unit": "saxpy.cl", "space": 4}}"#),
    ("a vector of another unit's type", r#"{"vector": {"unit": "saxpy.cl", "of": "other int", "count": 4}}"#),
    ("a member of another unit's type", r#"{"structure": {"unit": "saxpy.cl", "name": "point", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "point", "name": "x", "type": "other int", "offset": 0}}"#),
    ("a member of no structure", r#"{"member": {"unit": "saxpy.cl", "of": "int", "name": "x", "type": "int", "offset": 0}}"#),
    ("a member beyond the structure", r#"{"structure": {"unit": "saxpy.cl", "name": "point", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "point", "name": "x", "type": "int", "offset": 5}}"#),
    ("a member at 2^61 bytes", r#"{"structure": {"unit": "saxpy.cl", "name": "point", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "point", "name": "x", "type": "int", "offset": "0x2000000000000000"}}"#),
    ("a structure of 2^61 bytes", r#"{"structure": {"unit": "saxpy.cl", "name": "point", "bytes": "0x2000000000000000"}}"#),
    ("a bit field that is larger than its type", r#"{"structure": {"unit": "saxpy.cl", "name": "flags", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "flags", "name": "mode", "type": "int", "offset_bits": 0, "bits": 33}}"#),
    ("a bit field without bits", r#"{"structure": {"unit": "saxpy.cl", "name": "flags", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "flags", "name": "mode", "type": "int", "offset_bits": 0, "bits": 0}}"#),
    ("a structure in itself", r#"{"structure": {"unit": "saxpy.cl", "name": "node", "bytes": 8}}, {"member": {"unit": "saxpy.cl", "of": "node", "type": "node", "offset": 0}}"#),
    ("a member of an incomplete structure", r#"{"incomplete": {"unit": "saxpy.cl", "kind": "structure", "name": "hidden"}}, {"member": {"unit": "saxpy.cl", "of": "hidden", "type": "int", "offset": 0}}"#),
    ("a second variant for all other values", r#"{"structure": {"unit": "saxpy.cl", "name": "shape", "bytes": 8}}, {"variant_part": {"unit": "saxpy.cl", "of": "shape", "id": "p", "untagged": "int"}},
        {"variant": {"part": "p", "id": "1", "values": []}}, {"variant": {"part": "p", "id": "2", "values": []}}"#),
    ("a variant for no values", r#"{"structure": {"unit": "saxpy.cl", "name": "shape", "bytes": 8}}, {"variant_part": {"unit": "saxpy.cl", "of": "shape", "id": "p", "untagged": "int"}},
        {"variant": {"part": "p", "id": "1", "values": [[2, 1]]}}"#),
    ("a variant for a value that the discriminant cannot have", r#"{"structure": {"unit": "saxpy.cl", "name": "shape", "bytes": 8}}, {"variant_part": {"unit": "saxpy.cl", "of": "shape", "id": "p", "untagged": "int"}},
        {"variant": {"part": "p", "id": "1", "values": [2147483648]}}"#),
    ("a reference to nothing", r#"{"pointer": {"unit": "saxpy.cl", "kind": "reference"}}"#),
    ("a reference to another unit's type", r#"{"pointer": {"unit": "saxpy.cl", "kind": "reference", "to": "other int"}}"#),
    ("a pointer to a member of a number", r#"{"member_pointer": {"unit": "saxpy.cl", "class": "int", "to": "int"}}"#),
    ("an array of as many elements as a vector register says", r#"{"array": {"unit": "saxpy.cl", "of": "int", "extents": [{"value": {"register": "v3"}}]}}"#),
    ("an array whose elements overlap", r#"{"array": {"unit": "saxpy.cl", "of": "int", "counts": [2], "stride_bits": 16}}"#),
    ("a template parameter of a number", r#"{"template": {"unit": "saxpy.cl", "of": "int", "name": "T", "argument": {"type": null}}}"#),
    ("a template parameter of too few bytes", r#"{"structure": {"unit": "saxpy.cl", "name": "tile", "bytes": 8}}, {"template": {"unit": "saxpy.cl", "of": "tile", "name": "N", "argument": {"value": ["int", {"implicit": "01"}]}}}"#),
    ("a pack in a pack", r#"{"structure": {"unit": "saxpy.cl", "name": "tile", "bytes": 8}}, {"template": {"unit": "saxpy.cl", "of": "tile", "name": "P", "argument": {"pack": [{"argument": {"pack": []}}]}}}"#),
    ("an alignment of 3 bytes", r#"{"structure": {"unit": "saxpy.cl", "name": "tile", "bytes": 8}}, {"describe_type": {"unit": "saxpy.cl", "type": "tile", "alignment": 3}}"#),
    ("a base type in a namespace", r#"{"namespace": {"in": "saxpy.cl", "name": "n"}}, {"describe_type": {"unit": "saxpy.cl", "type": "int", "in": "n"}}"#),
    ("a namespace in a class", r#"{"structure": {"unit": "saxpy.cl", "name": "tile", "id": "t", "bytes": 8}}, {"namespace": {"in": "t", "name": "n"}}"#),
    ("a block in a class", r#"{"structure": {"unit": "saxpy.cl", "name": "tile", "id": "t", "bytes": 8}}, {"block": {"in": "t", "pcs": [[0, 4]]}}"#),
    ("a name with a zero byte", r#"{"variable": {"in": "saxpy", "name": "n\u0000m", "type": "int"}}"#),
];

fn assert_error(name: &str, statements: &str, known: &BTreeMap<&str, &str>, wrong: &mut Vec<String>) {
    let error = error(statements);
    let json = error.at().json.clone().unwrap_or_else(|| panic!("{name}: {error} has no place"));
    assert!(json.path.starts_with("describe"), "{name}: {json}");
    let found = error.to_string();
    let found = found.strip_prefix(&json.to_string()).expect("the place comes first");
    let found = found.trim_start_matches(", ").trim_start_matches(": ");
    let expected = known.get(name).unwrap_or_else(|| panic!("{name} is not among the errors"));
    if found != *expected {
        wrong.push(format!("{name}:\n  {found}\n  {expected}"));
    }
}

#[test]
fn what_the_builder_refuses_is_refused_with_the_same_words() {
    let lines = ERRORS.lines().filter(|line| !line.starts_with('#'));
    let known: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(" | ")).collect();
    let mut wrong = Vec::new();
    for (name, loc) in LOCATIONS {
        let statement = format!(
            r#"{{"variable": {{"in": "saxpy", "name": "n", "type": "int", "live": [["0x24", "0x180", {loc}]]}}}}"#
        );
        assert_error(name, &statement, &known, &mut wrong);
    }
    for (name, statements) in STATEMENTS {
        assert_error(name, statements, &known, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
