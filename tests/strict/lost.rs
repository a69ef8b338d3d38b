//! With `Policy::Strict` each property of an entity is in the bytes, or an error; with `Policy::Partial` it is in the
//! bytes, or an omission. `check` knows both: it finds an object without the property, and a missing omission.

use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::ErrorKind;
use eitri::lower::{Lowered, lower};
use eitri::model::Module;
use eitri::omission::Property;
use eitri::op::Dialect;
use eitri::schema::Schema;
use serde_json::{Value, json};

use crate::strict::consumers::consumers;

/// Entities of the properties.
const BASE: &str = r#"
{"unit": {"name": "a.cl"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"structure": {"unit": "a.cl", "name": "s", "bytes": 4, "id": "s"}},
{"variable": {"in": "s", "name": "m", "type": "int", "id": "m"}},
{"variable": {"in": "a.cl", "name": "g", "type": "int", "declaration": true, "id": "g"}},
{"namespace": {"in": "a.cl", "name": "n"}},
{"function": {"in": "a.cl", "name": "d", "declaration": true}},
{"function": {"in": "a.cl", "name": "h", "id": "h"}},
{"variable": {"in": "h", "name": "hv", "type": "int", "id": "hv"}},
{"block": {"in": "h", "pcs": [], "id": "hb"}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "f", "bytes": 16}}},
{"inlined": {"in": "f", "function": "h", "pcs": [[0, 8]], "call": ["a.cl", 1, 0], "id": "ih"}},
{"inlined_block": {"in": "ih", "origin": "hb", "pcs": [[0, 4]], "id": "ihb"}},
{"block": {"in": "f", "pcs": [[0, 8]], "id": "b"}},
{"rows": {"function": "f", "rows": [[0, "a.cl", 1]]}}"#;

/// Values of the properties of variables.
const VARIABLE: &str = r#"{"accessibility": "private", "always": {"memory": [0, 64]}, "artificial": true,
    "const_value": "01000000", "declared": ["a.cl", 98], "external": true, "linkage_name": "zz", "memory_space": "group"}"#;
/// Values of the properties of functions.
const FUNCTION: &str = r#"{"accessibility": "private", "body_line": 9, "convention": 64, "declared": ["a.cl", 8, 3],
    "declared_inline": true, "defaulted": "in_class", "deleted": true, "describes_calls": "all", "explicit": true,
    "external": true, "frame_base": {"memory": [0, 64]}, "linkage_name": "zz", "main": true, "noreturn": true,
    "returns": "int", "static_link": {"memory": [0, 64]}, "unprototyped": true, "variadic": true, "virtuality": "virtual"}"#;
/// A language whose functions can lack a prototype.
const C: &str = r#"{"describe_unit": {"unit": "a.cl", "language": "C17"}},"#;
const CALL: &str = r#"{"call": {"in": "f", "id": "c", "returns_to": 8}},"#;

/// Statements: object in the schema, statements before it, the statement without the properties, their values.
#[rustfmt::skip]
const STATEMENTS: &[(&str, &str, &str, &str)] = &[
    ("DescribeUnit", "", r#"{"describe_unit": {"unit": "a.cl"}}"#,
        r#"{"command_line": "-O2", "directory": "/src", "language": "C17", "language_version": 300, "optimized": true,
            "producer": "cc"}"#),
    ("File", "", r#"{"file": {"unit": "a.cl", "name": "a.h"}}"#, r#"{"directory": "include"}"#),
    ("File", "", r#"{"file": {"unit": "a.cl", "name": "a.cl"}}"#, r#"{"md5": "d41d8cd98f00b204e9800998ecf8427e", "source": "int f;\n"}"#),
    ("DescribeScope", "", r#"{"describe_scope": {"scope": "b"}}"#, r#"{"begins": ["a.cl", 4, 2], "discriminator": 3, "entry_pc": 4}"#),
    ("DescribeScope", r#"{"describe_scope": {"scope": "hb", "begins": ["a.cl", 3, 7]}},"#,
        r#"{"describe_scope": {"scope": "ihb"}}"#, r#"{"begins": ["a.cl", 4], "discriminator": 3}"#),
    ("DescribeScope", "", r#"{"describe_scope": {"scope": "ih"}}"#, r#"{"discriminator": 3, "entry_pc": 4}"#),
    ("DescribeScope", "", r#"{"describe_scope": {"scope": "n"}}"#, r#"{"begins": ["a.cl", 4, 2]}"#),
    ("DescribeType", "", r#"{"describe_type": {"unit": "a.cl", "type": "s"}}"#,
        r#"{"alignment": 16, "declared": ["a.cl", 3], "in": "n", "passed": "by_value"}"#),
    ("DescribeType", "", r#"{"describe_type": {"unit": "a.cl", "type": "s"}}"#,
        r#"{"allocated": {"signed": -1}, "associated": {"variable": "g"},
            "data_location": {"expr": {"bytes": "9706"}}}"#),
    ("DescribeType", "", r#"{"describe_type": {"unit": "a.cl", "type": "s"}}"#,
        r#"{"allocated": {"location": {"expr": {"bytes": "970630 2e"}}}, "associated": {"number": 7},
            "data_location": {"memory": [0, 64]}}"#),
    ("DescribeType", r#"{"member_pointer": {"unit": "a.cl", "class": "s", "to": "int", "id": "p"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "p"}}"#, r#"{"use_location": {"expr": {"bytes": "22"}}}"#),
    ("DescribeType", r#"{"member_pointer": {"unit": "a.cl", "class": "s", "to": "int", "id": "p"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "p"}}"#,
        r#"{"use_location": {"expr": {"text": "swap; offset", "dialect": "llvm"}}}"#),
    ("DescribeType", r#"{"array": {"unit": "a.cl", "of": "int", "counts": [null], "id": "ar"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "ar"}}"#, r#"{"rank": {"location": {"expr": {"bytes": "970608 1c 9402"}}}}"#),
    ("StringType", "", r#"{"string_type": {"unit": "a.cl"}}"#, r#"{"bytes": 80, "name": "character(80)"}"#),
    ("DescribeType", r#"{"string_type": {"unit": "a.cl", "id": "t"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "t"}}"#,
        r#"{"string_length": {"variable": "g"}, "string_length_bytes": 4}"#),
    ("DescribeType", r#"{"string_type": {"unit": "a.cl", "bytes": 80, "id": "t"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "t"}}"#,
        r#"{"string_length": {"location": {"memory": [0, 64]}}}"#),
    ("DescribeType", r#"{"structure": {"unit": "a.cl", "name": "d", "id": "d"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "d"}}"#, r#"{"size": {"variable": "g"}}"#),
    ("DescribeType", r#"{"structure": {"unit": "a.cl", "name": "d", "id": "d"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "d"}}"#,
        r#"{"size": {"location": {"expr": {"bytes": "970608 1e 9402"}}}}"#),
    ("SetType", "", r#"{"set_type": {"unit": "a.cl"}}"#, r#"{"bits": 8, "name": "small", "of": "int"}"#),
    ("SubrangeType", "", r#"{"subrange_type": {"unit": "a.cl"}}"#, r#"{"bits": 8, "name": "small", "of": "int"}"#),
    ("DescribeType", r#"{"subrange_type": {"unit": "a.cl", "of": "int", "id": "t"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "t"}}"#,
        r#"{"lower_bound": {"signed": -5}, "upper_bound": {"variable": "g"}}"#),
    ("Function", "", r#"{"function": {"in": "s", "name": "p", "declaration": true}}"#,
        r#"{"vtable_elem_location": {"expr": {"bytes": "1002"}}}"#),
    ("Function", "", r#"{"function": {"in": "a.cl", "name": "p"}}"#, FUNCTION),
    ("Function", C, r#"{"function": {"in": "a.cl", "name": "p"}}"#, r#"{"unprototyped": true}"#),
    ("DescribeFunction", C, r#"{"describe_function": {"function": "h"}}"#, r#"{"unprototyped": true}"#),
    ("FunctionDefinition", C, r#"{"function_definition": {"in": "a.cl", "declaration": "d"}}"#, r#"{"unprototyped": true}"#),
    ("DescribeType", r#"{"subroutine": {"unit": "a.cl", "parameters": ["int"], "id": "t"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "t"}}"#, r#"{"unprototyped": true}"#),
    ("DescribeType", r#"{"subroutine": {"unit": "a.cl", "parameters": ["int"], "id": "t"}},
        {"describe_unit": {"unit": "a.cl", "language": "C17"}},"#,
        r#"{"describe_type": {"unit": "a.cl", "type": "t"}}"#, r#"{"unprototyped": true}"#),
    ("Function", "", r#"{"function": {"in": "s", "name": "p", "declaration": true}}"#, FUNCTION),
    ("Function", "", r#"{"function": {"in": "a.cl", "name": "p", "code": {"symbol": "p", "bytes": 16}}}"#, FUNCTION),
    ("Function", "", r#"{"function": {"in": "a.cl", "name": "p", "code": {"symbol": "p", "bytes": 16}}}"#,
        r#"{"frame_bases": [[0, 4, {"memory": [0, 64]}], [4, 16, {"memory": [0, 128]}]]}"#),
    ("DescribeFunction", "", r#"{"describe_function": {"function": "h"}}"#, FUNCTION),
    ("FunctionDefinition", r#"{"describe_function": {"function": "d", "declared": ["a.cl", 7, 5]}},"#,
        r#"{"function_definition": {"in": "a.cl", "declaration": "d"}}"#, FUNCTION),
    ("FunctionDefinition", "", r#"{"function_definition": {"in": "a.cl", "declaration": "d"}}"#,
        r#"{"declared": ["a.cl", 8]}"#),
    ("FunctionInstance", r#"{"function": {"in": "a.cl", "name": "o", "declared": ["a.cl", 7, 5]}},"#,
        r#"{"function_instance": {"in": "a.cl", "origin": "o"}}"#, FUNCTION),
    ("FunctionInstance", r#"{"function": {"in": "a.cl", "name": "o"}},"#,
        r#"{"function_instance": {"in": "a.cl", "origin": "o"}}"#, r#"{"code": {"symbol": "p", "bytes": 16}}"#),
    ("Variable", "", r#"{"variable": {"in": "a.cl", "name": "v", "type": "int"}}"#, VARIABLE),
    ("Variable", "", r#"{"variable": {"in": "f", "name": "v", "type": "int"}}"#, VARIABLE),
    ("Variable", "", r#"{"variable": {"in": "b", "name": "v", "type": "int"}}"#,
        r#"{"live": [[0, 8, {"memory": [0, 64]}]]}"#),
    ("Variable", "", r#"{"variable": {"in": "s", "name": "v", "type": "int"}}"#,
        r#"{"accessibility": "private", "artificial": true, "const_value": "01000000", "declared": ["a.cl", 98],
            "external": true, "linkage_name": "zz", "memory_space": "group"}"#),
    ("Parameter", "", r#"{"parameter": {"in": "f", "name": "v", "type": "int"}}"#, VARIABLE),
    ("Constant", "", r#"{"constant": {"in": "f", "name": "v", "type": "int", "value": "02000000"}}"#,
        r#"{"accessibility": "private", "artificial": true, "declared": ["a.cl", 98], "external": true,
            "linkage_name": "zz", "memory_space": "group"}"#),
    ("DescribeVariable", "", r#"{"describe_variable": {"variable": "hv"}}"#, VARIABLE),
    ("Definition", "", r#"{"definition": {"in": "a.cl", "member": "m"}}"#, VARIABLE),
    ("Definition", r#"{"describe_variable": {"variable": "g", "declared": ["a.cl", 7, 5], "linkage_name": "z",
        "memory_space": "global"}},"#, r#"{"definition": {"in": "a.cl", "member": "g"}}"#,
        r#"{"declared": ["a.cl", 98], "linkage_name": "zz", "memory_space": "group"}"#),
    ("InlinedVariable", "", r#"{"inlined_variable": {"in": "ih", "origin": "hv"}}"#, VARIABLE),
    ("InlinedVariable", r#"{"describe_variable": {"variable": "hv", "declared": ["a.cl", 7, 5], "linkage_name": "z",
        "accessibility": "public"}},"#, r#"{"inlined_variable": {"in": "ih", "origin": "hv"}}"#,
        r#"{"declared": ["a.cl", 98], "linkage_name": "zz", "accessibility": "private"}"#),
    ("DescribeCall", CALL, r#"{"describe_call": {"call": "c"}}"#,
        r#"{"at": 4, "calls": "h", "clobbered_target": 5, "line": ["a.cl", 3], "tail": true, "target": 6}"#),
    ("Call", "", r#"{"call": {"in": "f", "at": 4}}"#, r#"{"returns_to": 8}"#),
    ("Argument", CALL, r#"{"argument": {"call": "c", "location": {"memory": [0, 8]}}}"#,
        r#"{"value": 7, "points_to": [{"memory": [0, 64]}, 5]}"#),
    ("Argument", CALL, r#"{"argument": {"call": "c", "location": {"memory": [0, 8]}}}"#, r#"{"points_to_value": 5}"#),
    ("Label", "", r#"{"label": {"in": "f", "name": "l"}}"#, r#"{"at": 4, "declared": ["a.cl", 3]}"#),
    ("Label", "", r#"{"label": {"in": "h", "name": "l"}}"#, r#"{"declared": ["a.cl", 3]}"#),
    ("Import", "", r#"{"import": {"in": "f", "function": "h"}}"#, r#"{"declared": ["a.cl", 3], "name": "i"}"#),
    ("Vector", "", r#"{"vector": {"unit": "a.cl", "of": "int", "count": 3}}"#, r#"{"packed": true}"#),
    ("Matrix", r#"{"vector": {"unit": "a.cl", "of": "int", "count": 2, "id": "v"}},"#,
        r#"{"matrix": {"unit": "a.cl", "of": "v", "count": 2}}"#, r#"{"column_major": true, "stride_bits": 128}"#),
    ("Pointer", "", r#"{"pointer": {"unit": "a.cl", "to": "int"}}"#, r#"{"kind": "reference", "memory_space": "global", "space": 3}"#),
    ("BaseType", "", r#"{"base_type": {"unit": "a.cl", "name": "b", "bits": 16, "encoding": "float"}}"#, r#"{"encoding": "bfloat16"}"#),
    ("Qualified", "", r#"{"qualified": {"unit": "a.cl", "qualifier": "atomic"}}"#, r#"{"of": "int"}"#),
    ("Base", r#"{"class": {"unit": "a.cl", "name": "c", "bytes": 8}},"#, r#"{"base": {"unit": "a.cl", "of": "c", "type": "s", "offset": 0}}"#,
        r#"{"accessibility": "public", "offset": 4}"#),
    ("Member", r#"{"class": {"unit": "a.cl", "name": "c", "bytes": 8}},"#,
        r#"{"member": {"unit": "a.cl", "of": "c", "type": "int", "offset": 0}}"#,
        r#"{"accessibility": "private", "artificial": true, "declared": ["a.cl", 3], "mutable": true,
            "name": "x", "offset": 4}"#),
    ("Enumeration", "", r#"{"enumeration": {"unit": "a.cl", "of": "int", "enumerators": [["a", 1]]}}"#,
        r#"{"class": true, "name": "e"}"#),
    ("Enumeration", "", r#"{"enumeration": {"unit": "a.cl", "bytes": 1, "enumerators": [["a", 1]]}}"#, r#"{"bytes": 2}"#),
    ("Subroutine", "", r#"{"subroutine": {"unit": "a.cl", "parameters": ["int"]}}"#,
        r#"{"returns": "int", "variadic": true}"#),
    ("Template", "", r#"{"template": {"function": "h", "argument": {"type": "int"}}}"#, r#"{"default": true, "name": "T"}"#),
    ("Template", "", r#"{"template": {"function": "h", "argument": {"template": "vector"}}}"#, r#"{"default": true, "name": "T"}"#),
    ("Region", "", r#"{"region": {"in": "f", "kind": "then", "pcs": [0, 8], "waits_at": 12, "masks": [[0, 16, {"memory": [0, 64]}]]}}"#,
        r#"{"kind": "loop", "masks": [[0, 16, {"memory": [0, 128]}]], "pcs": [4, 12], "waits_at": 0}"#),
    ("Namespace", "", r#"{"namespace": {"in": "a.cl"}}"#, r#"{"name": "o"}"#),
    ("Namespace", "", r#"{"namespace": {"in": "a.cl", "name": "o"}}"#, r#"{"inline": true}"#),
    ("Namespace", "", r#"{"namespace": {"in": "a.cl", "name": "o"}}"#, r#"{"kind": "module"}"#),
    ("Namespace", "", r#"{"namespace": {"in": "f", "name": "o"}}"#, r#"{"kind": "common_block"}"#),
];

/// Keys of these objects without a value above, each with the reason.
const OTHERS: &[(&str, &str)] = &[
    ("id", "a name in the description alone"),
    ("code", "whole entries differ"),
    ("declaration", "whole entries differ"),
    ("kernel", "where the consumer has no calling convention for it, the program itself marks its kernels"),
    ("stack", "the units of stack slots, which their locations show"),
    ("split_name", "the name of a file that only a consumer with split units has"),
    ("inside", "follows from the pcs of regions in one scope; regions of inlined calls: `tests/lanes`"),
    ("undescribed", "whole entries differ; `tests/rewrite/debugged.rs`"),
    ("frame_bases", "excludes `frame_base`, and needs code; part of `Function`"),
    ("vtable_elem_location", "needs a member function; part of `Function`"),
    ("object_pointer", "needs a parameter of the function; `tests/scopes.rs`"),
    ("parameter", "needs a parameter of the callee; `tests/scopes.rs`"),
    ("offset_bits", "another unit of `offset`"),
    ("bits", "excludes `offset`"),
    ("variant", "selects the place of a member"),
    ("all_of", "another imported entity"),
    ("member", "another imported entity"),
    ("enumerator", "another imported entity"),
    ("location", "an argument without it needs a parameter; `tests/rewrite/languages.rs`"),
    ("variable", "another imported entity"),
    ("type", "another imported entity"),
    ("namespace", "another imported entity"),
    ("function", "another owner of a template, or the imported entity"),
    ("of", "owner of a member or template"),
    ("unit", "owner of a template"),
    ("to", "a pointer to nothing"),
    ("virtual", "excludes `offset`"),
    ("returns_to", "part of `Call`"),
    ("live", "tested for a variable of a block; other kinds share its code"),
];

/// Keys that name an entity for people, and are properties of no program: each is in no bytes.
const INFORMATIVE: &[(&str, &str, &str)] = &[(
    "Region",
    "kind",
    "the meaning of a region is its pcs, its masks and the pc where lanes wait; no attribute of the AMDGPU extension, \
     \"Support for Divergent Control Flow of SIMT Hardware\", has the statement of the source, and messages name it",
)];

/// A statement with a property, or without.
fn with(statement: &str, property: Option<(&str, &Value)>) -> String {
    let mut statement: Value = serde_json::from_str(statement).expect(statement);
    let object = statement.as_object_mut().expect("a statement").values_mut().next().expect("an object");
    if let Some((key, value)) = property {
        object[key] = value.clone();
    }
    statement.to_string()
}

fn module(target: &str, before: &str, statement: &str) -> Module {
    let text = format!(
        r#"{{"eitri": 1, "target": "{target}", "describe": [{}, {before} {statement}]}}"#,
        BASE.trim_start()
    );
    Module::from_json(&text).unwrap_or_else(|error| panic!("{statement}: {error}"))
}

const TARGETS: [&str; 2] = ["amdgpu-gfx1030-wave32", "nvptx-sm_90"];

/// Consumers of each version, those with further attributes and with fewer, and the indices of their targets.
fn all() -> Vec<(usize, Consumer)> {
    let mut all = Vec::new();
    for consumer in consumers() {
        let versions = if consumer == Consumer::dwarf5() { &[2, 3, 4, 5][..] } else { &[5] };
        for &version in versions {
            let mut consumer = consumer.clone();
            consumer.version = version;
            all.push((0, consumer));
        }
    }
    let mut six = Consumer::llvm();
    six.entries.language_names = true;
    let mut less = Consumer::dwarf5();
    less.attributes.address_space = None;
    all.extend([(0, six), (0, less), (1, Consumer::cuda_gdb())]);
    all
}

fn object(module: &Module, lowered: &Lowered) -> Vec<u8> {
    let code = ObjectCode::text(vec![0; 64]).with_function("f", 0, 16).with_function("p", 16, 16);
    new_object(module.target(), &code, &lowered.sections).expect("an object")
}

/// Fault in the treatment of a property by a consumer.
fn fault(consumer: &Consumer, with: &Module, without: &Module) -> Option<String> {
    let lowered = |module, policy| lower(module, consumer, policy);
    // The entity itself is inexpressible.
    let base = lowered(without, Policy::Strict).ok()?;
    let is_omitted = match lowered(with, Policy::Strict) {
        Ok(strict) if strict.sections == base.sections && strict.lines == base.lines => {
            return Some("lost without error".into());
        }
        Ok(_) => false,
        Err(error) if matches!(error.kind(), ErrorKind::Inexpressible { .. }) => true,
        Err(error) => return Some(error.to_string()),
    };
    let partial = lowered(with, Policy::Partial).expect("a policy without errors");
    if partial.omissions.is_empty() == is_omitted {
        return Some(format!("{} omissions", partial.omissions.len()));
    }
    // The text of PTX is the object of this consumer.
    if consumer.has_line_directives {
        return None;
    }
    let check = |omissions: &[_], lowered| {
        eitri::check(with, consumer, omissions, &object(with, lowered)).expect("an object")
    };
    let report = check(&partial.omissions, &partial);
    if !report.is_clean() || !report.unproven.is_empty() {
        return Some(report.to_string());
    }
    for index in 0..partial.omissions.len() {
        let mut omissions = partial.omissions.clone();
        let omission = omissions.remove(index);
        if check(&omissions, &partial).is_clean() {
            return Some(format!("check does not need `{omission}`"));
        }
    }
    let is_found = is_omitted || !check(&[], &base).is_clean();
    (!is_found).then(|| "check does not find an object without it".into())
}

#[test]
fn strict_loses_no_property() {
    let mut faults = Vec::new();
    for (object, before, statement, values) in STATEMENTS {
        let values: Value = serde_json::from_str(values).expect(values);
        for (key, value) in values.as_object().expect("values") {
            // The line of a body is in the file of the declaration.
            let needs = (key == "body_line").then(|| ("declared", &values["declared"]));
            let base = self::with(statement, needs);
            let modules = TARGETS.map(|target| {
                let with = self::with(&base, Some((key, value)));
                (module(target, before, &with), module(target, before, &base))
            });
            let is_informative = INFORMATIVE.iter().any(|(of, name, _)| (of, *name) == (object, key));
            for (target, consumer) in all() {
                let (with, without) = &modules[target];
                if is_informative {
                    let sections =
                        |module| lower(module, &consumer, Policy::Partial).expect("sections").sections;
                    assert_eq!(sections(with), sections(without), "{object} {key} is in the bytes");
                    continue;
                }
                if let Some(fault) = fault(&consumer, with, without) {
                    let Consumer { name, version, .. } = consumer;
                    faults.push(format!("{object} {statement} {key} for {name}, version {version}: {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Statements before an attribute, and the keys of its owner.
#[rustfmt::skip]
const OWNERS: &[(&str, &str)] = &[
    ("", r#""unit": "a.cl""#),
    ("", r#""scope": "n""#),
    ("", r#""scope": "b""#),
    ("", r#""scope": "hb""#),
    ("", r#""scope": "ih""#),
    ("", r#""scope": "ihb""#),
    ("", r#""unit": "a.cl", "type": "int""#),
    ("", r#""unit": "a.cl", "type": "s""#),
    (r#"{"array": {"unit": "a.cl", "of": "int", "counts": [2, 3], "id": "t"}},"#, r#""unit": "a.cl", "type": "t""#),
    (r#"{"array": {"unit": "a.cl", "of": "int", "counts": [2, 3], "id": "t"}},"#,
        r#""unit": "a.cl", "type": "t", "dimension": 1"#),
    (r#"{"vector": {"unit": "a.cl", "of": "int", "count": 2, "id": "t"}},"#,
        r#""unit": "a.cl", "type": "t", "dimension": 0"#),
    (r#"{"enumeration": {"unit": "a.cl", "name": "t", "of": "int", "enumerators": [["a", 1], ["b", 2]]}},"#,
        r#""unit": "a.cl", "type": "t", "enumerator": 1"#),
    (r#"{"structure": {"unit": "a.cl", "name": "t", "bytes": 8}},
        {"base": {"unit": "a.cl", "of": "t", "type": "s", "offset": 0}},"#, r#""unit": "a.cl", "type": "t", "base": 0"#),
    (r#"{"structure": {"unit": "a.cl", "name": "t", "bytes": 8}},
        {"member": {"unit": "a.cl", "of": "t", "name": "x", "type": "int", "offset": 0}},
        {"member": {"unit": "a.cl", "of": "t", "name": "y", "type": "int", "offset_bits": 32, "bits": 3}},"#,
        r#""unit": "a.cl", "type": "t", "member": 1"#),
    (r#"{"structure": {"unit": "a.cl", "name": "t", "bytes": 8}},
        {"template": {"unit": "a.cl", "of": "t", "name": "T", "argument": {"type": "int"}}},"#,
        r#""unit": "a.cl", "type": "t", "template": 0"#),
    (r#"{"pointer": {"unit": "a.cl", "to": "int", "id": "t"}},"#, r#""unit": "a.cl", "type": "t""#),
    ("", r#""function": "h""#),
    ("", r#""function": "f""#),
    ("", r#""function": "d""#),
    (r#"{"template": {"function": "h", "name": "T", "argument": {"type": "int"}}},"#,
        r#""function": "h", "template": 0"#),
    ("", r#""variable": "m""#),
    ("", r#""variable": "g""#),
    ("", r#""variable": "hv""#),
    (r#"{"parameter": {"in": "f", "name": "v", "type": "int", "id": "v", "always": {"memory": [0, 64]}}},"#,
        r#""variable": "v""#),
    (r#"{"inlined_variable": {"in": "ih", "origin": "hv", "id": "v"}},"#, r#""variable": "v""#),
    (r#"{"call": {"in": "f", "id": "c", "returns_to": 8}},"#, r#""call": "c""#),
    (r#"{"call": {"in": "f", "id": "c", "returns_to": 8}},
        {"argument": {"call": "c", "location": {"memory": [0, 8]}, "value": 7}},
        {"argument": {"call": "c", "location": {"memory": [0, 16]}, "value": 8}},"#, r#""call": "c", "argument": 1"#),
    (r#"{"import": {"in": "f", "function": "h", "id": "i"}},"#, r#""import": "i""#),
    (r#"{"label": {"in": "f", "name": "l", "at": 4, "id": "l"}},"#, r#""label": "l""#),
];

/// Names and values of attributes: numbers of LLVM, GNU and nobody.
const VALUES: &[(&str, &str)] = &[
    (r#""DW_AT_LLVM_language_dialect""#, r#"{"unsigned": 2}"#),
    ("0x3e15", r#"{"unsigned": "0x8000000000000000"}"#),
    ("0x3000", r#"{"signed": -300}"#),
    ("0x3000", r#""flag""#),
    (r#""DW_AT_LLVM_sysroot""#, r#"{"text": "/opt/a folder"}"#),
    ("0x2fff", r#"{"bytes": "00ff22"}"#),
    ("0x3e12", r#"{"bytes": "00ff22"}"#),
    ("0x3fff", r#"{"symbol": ["f", 4]}"#),
    ("0x3fff", r#"{"address": 4096}"#),
    ("0x2000", r#"{"location": {"memory": [0, 64]}}"#),
    ("0x2000", r#"{"location": {"expr": {"bytes": "0822"}}}"#),
    ("0x2000", r#"{"number": {"plus": [{"read": [{"memory": [0, 64]}, 32]}, 5]}}"#),
    ("0x2000", r#"{"type": "int"}"#),
    ("0x2000", r#"{"function": "f"}"#),
    ("0x2000", r#"{"variable": "g"}"#),
    // AMD's debugger and LLVM have these for attributes of the model.
    ("0x3e0f", r#"{"unsigned": 2}"#),
    ("0x3e11", r#"{"unsigned": 2}"#),
];

/// Each value of a vendor's attribute, on each kind of entry.
#[test]
fn vendor_attributes_are_in_the_bytes_or_omitted() {
    const NOTHING: &str =
        r#"{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}"#;
    let mut faults = Vec::new();
    for (index, (before, owner)) in OWNERS.iter().enumerate() {
        for (value_index, (name, value)) in VALUES.iter().enumerate() {
            // A unit has each value, other owners a sample.
            if index > 0 && (index + value_index) % 3 > 0 {
                continue;
            }
            let name = if name.starts_with('0') {
                u16::from_str_radix(&name[2..], 16).expect("a number").to_string()
            } else {
                name.to_string()
            };
            let attribute = format!(r#"{{"attribute": {{{owner}, "name": {name}, "value": {value}}}}}"#);
            let modules = TARGETS.map(|target| {
                let with = module(target, before, &format!("{NOTHING}, {attribute}"));
                (with, module(target, before, NOTHING))
            });
            for (target, consumer) in all() {
                let (with, without) = &modules[target];
                if let Some(fault) = fault(&consumer, with, without) {
                    let Consumer { name, version, .. } = consumer;
                    faults.push(format!("{attribute} for {name}, version {version}: {fault}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// DWARF 5 has no type for the elements that several lanes share.
#[test]
fn cooperative_matrix_is_omitted_or_refused_by_every_consumer() {
    let matrix = r#"{"cooperative_matrix": {"unit": "a.cl", "of": "int", "scope": 3, "rows": 16, "columns": 8,
        "usage": 2, "id": "tile"}}, {"variable": {"in": "f", "name": "x", "type": "tile"}}"#;
    let other = r#"{"unspecified_type": {"unit": "a.cl", "name": "tile", "id": "tile"}},
        {"variable": {"in": "f", "name": "x", "type": "tile"}}"#;
    let modules = TARGETS.map(|target| (module(target, "", matrix), module(target, "", other)));
    for (target, consumer) in all() {
        let (with, without) = &modules[target];
        let Consumer { name, version, .. } = &consumer;
        assert_eq!(fault(&consumer, with, without), None, "{name}, version {version}");
        let partial = lower(with, &consumer, Policy::Partial).expect("a policy without errors");
        assert!(partial.omissions.iter().any(|left| left.property == Property::Kind), "{name}, {version}");
    }
}

/// A frame is in a section, or an omission: NVIDIA's assembler makes the frames of PTX.
#[test]
fn frames_without_a_section_are_omitted() {
    // PTX has no register with the return address.
    let frames = [r#", [0, 16, "pc", "undefined"]"#, ""].map(|caller| {
        format!(
            r#"{{"frame": {{"function": "f", "rules": [[0, 16, "cfa", {{"memory": [0, 64]}}]{caller}]}}}}"#
        )
    });
    let other = r#"{"namespace": {"in": "a.cl", "name": "o"}}"#;
    let modules = [0, 1].map(|target: usize| {
        let [with, without] = [format!("{other}, {}", frames[target]), other.to_owned()];
        (module(TARGETS[target], "", &with), module(TARGETS[target], "", &without))
    });
    for (target, mut consumer) in all() {
        consumer.frames.debug_frame = false;
        let (with, without) = &modules[target];
        let Consumer { name, version, .. } = &consumer;
        assert_eq!(fault(&consumer, with, without), None, "{name}, version {version}");
        let partial = lower(with, &consumer, Policy::Partial).expect("a policy without errors");
        let frames: Vec<_> =
            partial.omissions.iter().filter(|left| left.property == Property::CallFrames).collect();
        assert_eq!(frames.len(), 1, "{name}, {version}");
        assert!(frames[0].to_string().starts_with("unit `a.cl`, function `f`: "), "{}", frames[0]);
        // The frame that a kernel has without rules is in the memory of an address space that some readers lack.
        let kernel = r#"{"describe_function": {"function": "f", "kernel": true}}"#;
        let kernel = module(TARGETS[target], "", kernel);
        let partial = lower(&kernel, &consumer, Policy::Partial).expect("a policy without errors");
        let is_omitted = partial.omissions.iter().any(|left| left.property == Property::CallFrames);
        let is_expressible = consumer.expressions.dialect != Dialect::Dwarf5;
        assert_eq!(is_omitted, is_expressible, "{name}, {version}");
    }
}

/// Each optional key of these statements in the schema, which the table of entities generates, has a value above.
#[test]
fn each_property_of_the_schema_is_tested() {
    let schema: Value = serde_json::from_str(&Schema::Description.to_string()).expect("a schema");
    let mut missing = Vec::new();
    for (object, definition) in schema["$defs"].as_object().expect("definitions") {
        let tested: Vec<Value> = STATEMENTS
            .iter()
            .filter(|(tested, ..)| tested == object)
            .map(|(.., values)| serde_json::from_str(values).expect("values"))
            .collect();
        if tested.is_empty() {
            continue;
        }
        let required = definition.get("required").cloned().unwrap_or(json!([]));
        for key in definition["properties"].as_object().expect("properties").keys() {
            let is_required = required.as_array().is_some_and(|all| all.iter().any(|one| one == key));
            let is_tested = tested.iter().any(|values| values.get(key).is_some());
            // A call has the properties of its description, and a constant has a value.
            let is_other = OTHERS.iter().any(|(other, _)| other == key)
                || object == "Call"
                || object == "Constant" && ["always", "const_value", "value"].contains(&&**key);
            if !(is_required || is_tested || is_other) {
                missing.push(format!("{object} {key}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}
