//! The page that documents the format is right: each of its examples is read, and each statement and node has
//! one.

use eitri::json::{LOCATIONS, NUMBERS, STATEMENTS};
use eitri::model::Module;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../docs/description.md");

/// What the examples speak of.
fn around(example: Value, is_last: bool) -> String {
    let mut describe = vec![
        json!({"unit": {"name": "saxpy.cl"}}),
        json!({"base_type": {"unit": "saxpy.cl", "name": "float", "encoding": "float", "bits": 32}}),
        json!({"vector": {"unit": "saxpy.cl", "of": "float", "count": 3, "id": "float3"}}),
        json!({"base_type": {"unit": "saxpy.cl", "name": "int", "encoding": "signed", "bits": 32}}),
        json!({"structure": {"unit": "saxpy.cl", "name": "flags", "bytes": 4}}),
        json!({"variant_part": {"unit": "saxpy.cl", "of": "flags", "id": "part of flags", "untagged": "int"}}),
        json!({"variant": {"part": "part of flags", "id": "variant of flags", "values": [0]}}),
        json!({"structure": {"unit": "saxpy.cl", "name": "s", "id": "structure with an id", "bytes": 4}}),
        json!({"variable": {"in": "structure with an id", "name": "m", "type": "int", "id": "static member"}}),
        json!({"function": {"in": "saxpy.cl", "name": "helper"}}),
        json!({"variable": {"in": "helper", "name": "x", "type": "int", "id": "x of helper"}}),
        json!({"block": {"in": "helper", "pcs": [], "id": "block of helper"}}),
        json!({"parameter": {"in": "helper", "name": "self", "type": "int", "id": "self of helper"}}),
        json!({"function": {"in": "saxpy.cl", "name": "declared", "declaration": true}}),
        json!({"namespace": {"in": "saxpy.cl", "name": "space"}}),
        json!({"variable": {"in": "saxpy.cl", "name": "global", "type": "int", "id": "global"}}),
        json!({"function": {"in": "saxpy.cl", "name": "saxpy", "code": {"symbol": "saxpy", "bytes": 64}, "kernel": true}}),
        json!({"variable": {"in": "saxpy", "name": "p", "type": "int", "id": "p"}}),
        json!({"inlined": {"in": "saxpy", "function": "helper", "pcs": [[8, 16]], "call": ["saxpy.cl", 9, 0],
            "id": "inlined helper"}}),
        json!({"call": {"in": "saxpy", "id": "call of helper", "returns_to": 28, "calls": "helper"}}),
        json!({"procedure": {"unit": "saxpy.cl", "id": "place of x", "loc": "undefined"}}),
        json!({"function": {"in": "saxpy.cl", "name": "scale", "code": {"symbol": "scale", "bytes": 64}}}),
        json!({"region": {"in": "saxpy", "id": "region around", "kind": "then", "pcs": [4, 16], "waits_at": 0,
            "masks": [[4, 16, {"register": "s6"}]]}}),
    ];
    if is_last {
        describe.push(example);
    }
    json!({"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": describe}).to_string()
}

fn read(text: &str) -> Module {
    Module::from_json(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What stands in the fences.
fn fences() -> impl Iterator<Item = &'static str> {
    PAGE.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("the end of the fence"))
}

/// The first cells of the tables under a heading.
fn cells(heading: &str) -> impl Iterator<Item = &'static str> {
    let (_, rest) = PAGE.split_once(&format!("# {heading}\n")).expect("the heading");
    let table = rest.split("\n# ").next().expect("what is under it");
    table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0))
}

/// The word with which a node begins.
fn word(node: &Value) -> Option<String> {
    match node {
        Value::String(word) => Some(word.clone()),
        Value::Object(map) => Some(map.keys().next()?.clone()),
        _ => None,
    }
}

#[test]
fn examples_of_statements_are_read_and_there_is_one_of_each() {
    let mut words = Vec::new();
    for fence in fences() {
        let example: Value = serde_json::from_str(fence).unwrap_or_else(|error| panic!("{error}: {fence}"));
        if example.get("eitri").is_some() {
            assert!(read(fence).functions().count() > 0);
            continue;
        }
        let (before, after) = (read(&around(example.clone(), false)), read(&around(example.clone(), true)));
        assert!(before != after, "says nothing: {fence}");
        words.extend(word(&example));
    }
    for statement in STATEMENTS {
        assert!(words.iter().any(|word| word == statement), "no example of `{statement}`");
    }
    assert!(words.iter().all(|word| STATEMENTS.contains(&&**word)), "{words:?}");
}

#[test]
fn examples_of_nodes_are_read_and_there_is_one_of_each() {
    let mut words = (Vec::new(), Vec::new());
    let node =
        |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    for text in cells("Locations").chain(cells("Raw expressions")) {
        let loc = node(text);
        words.0.extend(word(&loc));
        let example = json!({"variable": {"in": "saxpy", "name": "v", "type": "int", "live": [[0, 4, loc]]}});
        // 16 bits are not enough for an `int`, and a whole vector register is too much.
        let example = if ["per_lane_half", "whole"].iter().any(|word| text.contains(word)) {
            json!({"procedure": {"unit": "saxpy.cl", "id": "v", "loc": loc}})
        } else {
            example
        };
        let module = read(&around(example, true));
        assert!(read(&module.to_json()) == module, "{text}");
    }
    for text in cells("Numbers in locations") {
        let val = node(text);
        words.1.extend(word(&val));
        let example = json!({"variable": {"in": "saxpy", "name": "v", "type": "int", "live": [[0, 4, {"value": val}]]}});
        let module = read(&around(example, true));
        assert!(read(&module.to_json()) == module, "{text}");
    }
    for (all, words, more) in [(LOCATIONS, words.0, "undefined"), (NUMBERS, words.1, "lane_index")] {
        for kind in all.iter().chain([&more]) {
            assert!(words.iter().any(|word| word == kind), "no example of `{kind}`");
        }
    }
}
