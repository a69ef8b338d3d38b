//! Faults in attributes without a field: a value or an attribute differs, is missing, or is too many.

use eitri::check::FindingKind::{self, Attribute, Location, Type};
use eitri::lower::Consumer;
use eitri::model::Module;

use crate::sabotage::{Expected, all_found, missed, sections};

const START: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl", "language": "OpenCL"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"base_type": {"unit": "a.cl", "name": "uint", "encoding": "unsigned", "bits": 32}},
{"class": {"unit": "a.cl", "name": "c", "bytes": 8, "id": "c"}},
{"member": {"unit": "a.cl", "of": "c", "name": "x", "type": "int", "offset": 0}},
{"member": {"unit": "a.cl", "of": "c", "name": "y", "type": "int", "offset": 4}},
{"member_pointer": {"unit": "a.cl", "class": "c", "to": "int", "id": "p"}},
{"array": {"unit": "a.cl", "of": "int", "counts": [null], "id": "a"}},
{"string_type": {"unit": "a.cl", "name": "text"}},
{"subrange_type": {"unit": "a.cl", "name": "digit", "of": "int"}},
{"function": {"in": "c", "name": "m", "declaration": true, "id": "m"}},
{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}},
{"variable": {"in": "k", "name": "n", "type": "int", "id": "n", "always": {"memory": [0, 64]}}},
{"variable": {"in": "k", "name": "v", "type": "p", "id": "v", "always": {"memory": [0, 64]}}},
{"variable": {"in": "k", "name": "w", "type": "a", "id": "w", "always": {"memory": [0, 64]}}},
{"variable": {"in": "k", "name": "t", "type": "text", "id": "t", "always": {"memory": [0, 64]}}},
{"variable": {"in": "k", "name": "d", "type": "digit", "id": "d", "always": {"memory": [0, 64]}}}"#;

/// A fault: the statement in the truth and in the object, and the finding.
type Fault = (&'static str, &'static str, &'static str, FindingKind, Option<&'static str>);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("another dialect", r#"{"attribute": {"unit": "a.cl", "name": "DW_AT_LLVM_language_dialect", "value": {"unsigned": 1}}}"#,
        r#"{"attribute": {"unit": "a.cl", "name": "DW_AT_LLVM_language_dialect", "value": {"unsigned": 2}}}"#, Attribute, None),
    ("another attribute", r#"{"attribute": {"unit": "a.cl", "name": 15893, "value": {"unsigned": 1}}}"#,
        r#"{"attribute": {"unit": "a.cl", "name": 15894, "value": {"unsigned": 1}}}"#, Attribute, None),
    ("an attribute too many", "", r#"{"attribute": {"variable": "n", "name": 12288, "value": "flag"}}"#, Attribute, Some("n")),
    ("a flag missing", r#"{"attribute": {"variable": "n", "name": 12288, "value": "flag"}}"#, "", Attribute, Some("n")),
    ("another text", r#"{"attribute": {"function": "k", "name": 12288, "value": {"text": "a"}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"text": "b"}}}"#, Attribute, None),
    ("another block", r#"{"attribute": {"function": "k", "name": 12288, "value": {"bytes": "0001"}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"bytes": "0000"}}}"#, Attribute, None),
    ("another address", r#"{"attribute": {"function": "k", "name": 12288, "value": {"symbol": ["k", 4]}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"symbol": ["k", 8]}}}"#, Attribute, None),
    ("another location", r#"{"attribute": {"function": "k", "name": 12288, "value": {"location": {"register": "s4"}}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"location": {"register": "s5"}}}}"#, Location, None),
    ("another number", r#"{"attribute": {"function": "k", "name": 12288, "value": {"number": {"plus": [{"register": "s4"}, 1]}}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"number": {"plus": [{"register": "s4"}, 2]}}}}"#, Location, None),
    ("another raw expression", r#"{"attribute": {"function": "k", "name": 12288, "value": {"location": {"expr": {"bytes": "06"}}}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"location": {"expr": {"bytes": "12"}}}}}"#, Attribute, None),
    ("another type", r#"{"attribute": {"variable": "n", "name": 12288, "value": {"type": "int"}}}"#,
        r#"{"attribute": {"variable": "n", "name": 12288, "value": {"type": "uint"}}}"#, Type, Some("n")),
    ("another variable", r#"{"attribute": {"function": "k", "name": 12288, "value": {"variable": "n"}}}"#,
        r#"{"attribute": {"function": "k", "name": 12288, "value": {"variable": "v"}}}"#, Type, None),
    ("the attribute of another member", r#"{"attribute": {"unit": "a.cl", "type": "c", "member": 0, "name": 12288, "value": "flag"}}"#,
        r#"{"attribute": {"unit": "a.cl", "type": "c", "member": 1, "name": 12288, "value": "flag"}}"#, Type, Some("v")),
    ("another bound", r#"{"describe_type": {"unit": "a.cl", "type": "digit", "lower_bound": {"signed": -9}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "digit", "lower_bound": {"signed": -8}}}"#, Type, Some("d")),
    ("a bound missing", r#"{"describe_type": {"unit": "a.cl", "type": "digit", "upper_bound": {"unsigned": 9}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "digit"}}"#, Type, Some("d")),
    ("the other bound", r#"{"describe_type": {"unit": "a.cl", "type": "digit", "upper_bound": {"unsigned": 9}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "digit", "lower_bound": {"unsigned": 9}}}"#, Type, Some("d")),
    ("another variable with a bound", r#"{"describe_type": {"unit": "a.cl", "type": "digit", "upper_bound": {"variable": "n"}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "digit", "upper_bound": {"variable": "v"}}}"#, Type, Some("d")),
    ("another use of a pointer to a member", r#"{"describe_type": {"unit": "a.cl", "type": "p", "use_location": {"expr": {"bytes": "22"}}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "p", "use_location": {"expr": {"bytes": "1c"}}}}"#, Type, Some("v")),
    ("no use of a pointer to a member", r#"{"describe_type": {"unit": "a.cl", "type": "p", "use_location": {"expr": {"bytes": "22"}}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "p"}}"#, Type, Some("v")),
    ("another place of the data", r#"{"describe_type": {"unit": "a.cl", "type": "a", "data_location": {"expr": {"bytes": "06"}}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "a", "data_location": {"expr": {"bytes": "12"}}}}"#, Type, Some("w")),
    ("associated instead of allocated", r#"{"describe_type": {"unit": "a.cl", "type": "a", "allocated": {"unsigned": 1}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "a", "associated": {"unsigned": 1}}}"#, Type, Some("w")),
    ("another variable with the length", r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length": {"variable": "n"}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length": {"variable": "v"}}}"#, Type, Some("t")),
    ("another place of the length", r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length": {"location": {"memory": [0, 64]}}}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length": {"location": {"memory": [0, 68]}}}}"#, Location, Some("t")),
    ("another size of the length", r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length_bytes": 4}}"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "text", "string_length_bytes": 8}}"#, Type, Some("t")),
    ("another slot", r#"{"describe_function": {"function": "m", "vtable_elem_location": {"expr": {"bytes": "1001"}}}}"#,
        r#"{"describe_function": {"function": "m", "vtable_elem_location": {"expr": {"bytes": "1002"}}}}"#, Attribute, None),
];

fn module(statement: &str) -> Module {
    let comma = if statement.is_empty() { "" } else { ", " };
    Module::from_json(format!("{START}{comma}{statement}]}}"))
        .unwrap_or_else(|error| panic!("{statement}: {error}"))
}

#[test]
fn wrong_attributes_are_found() {
    for version in [2, 3, 4, 5] {
        let mut consumer = Consumer::llvm();
        consumer.version = version;
        let all = FAULTS.iter().map(|&(fault, truth, written, kind, variable)| {
            let expected = Expected { kind, variable, pc: None, lane: None };
            (fault, missed(&module(truth), &consumer, &sections(&module(written), &consumer), &expected))
        });
        all_found("attributes", all.collect());
    }
}
