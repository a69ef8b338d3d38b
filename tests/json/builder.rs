//! Errors of the builder are errors of a description too: the same message, with its position in the text.

use std::collections::BTreeMap;

use eitri::Error;
use eitri::model::Module;

use crate::json::cases::{ELSEWHERE, LOCATIONS, ON_CPU, STATEMENTS};

const ERRORS: &str = include_str!("../../goldens/errors/errors.txt");

/// Beginning of the descriptions for `goldens/errors/errors.txt`.
const START: &str = r#""target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "saxpy.cl"}},
{"base_type": {"unit": "saxpy.cl", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "saxpy.cl", "name": "saxpy", "code": {"symbol": "saxpy", "bytes": 384}}},
{"unit": {"name": "other.cl"}},
{"base_type": {"unit": "other.cl", "name": "int", "id": "other int", "encoding": "signed", "bits": 32}},
{"function": {"in": "other.cl", "name": "g", "id": "g", "code": {"symbol": "g", "bytes": 64}}}"#;

/// Beginning of the descriptions for a target without lanes.
const START_ON_CPU: &str = r#""target": "x86_64", "describe": [
{"unit": {"name": "a.c"}}, {"base_type": {"unit": "a.c", "name": "int", "encoding": "signed", "bits": 32}},
{"function": {"in": "a.c", "name": "main", "code": {"symbol": "main", "bytes": 64}}}"#;

fn error(start: &str, statements: &str) -> Error {
    match Module::from_json(format!("{{\"eitri\": 1, {start},\n{statements}\n]}}")) {
        Ok(_) => panic!("no error: {statements}"),
        Err(error) => error,
    }
}

/// Message of an error without its position in the text.
fn message(name: &str, error: &Error) -> String {
    let json = error.at().json.clone().unwrap_or_else(|| panic!("{name}: {error} has no place"));
    assert!(json.path.starts_with("describe"), "{name}: {json}");
    let message = error.to_string();
    let message = message.strip_prefix(&json.to_string()).expect("the place comes first");
    message.trim_start_matches(", ").trim_start_matches(": ").to_owned()
}

/// A variant part in as many variants, each in another part.
fn nested_variants(depth: usize) -> String {
    let part = r#""unit": "saxpy.cl", "of": "record", "undiscriminated": true"#;
    let mut statements = format!(
        r#"{{"structure": {{"unit": "saxpy.cl", "name": "record", "bytes": 4}}}}, {{"variant_part": {{{part}, "id": "p0"}}}}"#
    );
    for number in 0..depth {
        let next = number + 1;
        statements += &format!(
            r#", {{"variant": {{"part": "p{number}", "id": "v{number}", "values": []}}}},
                {{"variant_part": {{{part}, "id": "p{next}", "variant": "v{number}"}}}}"#
        );
    }
    statements
}

#[test]
fn json_errors_equal_builder_errors() {
    let lines = ERRORS.lines().filter(|line| !line.starts_with('#'));
    let mut errors: BTreeMap<&str, &str> = lines.filter_map(|line| line.split_once(" | ")).collect();
    let mut wrong = Vec::new();
    let mut compare = |name: &'static str, start: &str, statements: &str| {
        let found = message(name, &error(start, statements));
        match errors.remove(name) {
            Some(expected) if expected == found => {}
            expected => wrong.push(format!("{name}:\n  {found}\n  {}", expected.unwrap_or("no such error"))),
        }
    };
    let n = |scope: &str, pcs: &str, loc: &str| {
        format!(
            r#"{{"variable": {{"in": "{scope}", "name": "n", "type": "int", "live": [[{pcs}, {loc}]]}}}}"#
        )
    };
    for (name, loc) in LOCATIONS {
        compare(name, START, &n("saxpy", r#""0x24", "0x180""#, loc));
    }
    for (name, statements) in STATEMENTS {
        compare(name, START, statements);
    }
    compare("a variant part in 65 variants", START, &nested_variants(65));
    for (name, loc) in ON_CPU {
        compare(name, START_ON_CPU, &n("main", r#"0, "0x40""#, loc));
    }
    for name in ELSEWHERE.iter().flat_map(|(_, names)| *names) {
        if errors.remove(name).is_none() {
            wrong.push(format!("{name}: no such error, or it is found"));
        }
    }
    wrong.extend(errors.keys().map(|name| format!("{name}: no statement of a description makes it")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
