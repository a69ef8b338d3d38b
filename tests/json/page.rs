//! The page of the format is correct: each of its examples is read, and each statement and node has an example.

use eitri::json::{LOCATIONS, NUMBERS, STATEMENTS};
use eitri::model::Module;
use eitri::schema::Schema;
use serde_json::{Value, json};

use super::common;

const PAGE: &str = include_str!("../../docs/description.md");

/// Entities that the examples reference.
fn around(example: Value, is_last: bool) -> String {
    let mut describe = vec![
        json!({"unit": {"name": "saxpy.cl"}}),
        json!({"base_type": {"unit": "saxpy.cl", "name": "float", "encoding": "float", "bits": 32}}),
        json!({"vector": {"unit": "saxpy.cl", "of": "float", "count": 3, "id": "float3"}}),
        json!({"base_type": {"unit": "saxpy.cl", "name": "int", "encoding": "signed", "bits": 32}}),
        json!({"string_type": {"unit": "saxpy.cl", "name": "text"}}),
        json!({"subrange_type": {"unit": "saxpy.cl", "name": "digit", "of": "int"}}),
        json!({"structure": {"unit": "saxpy.cl", "name": "flags", "bytes": 4}}),
        json!({"variant_part": {"unit": "saxpy.cl", "of": "flags", "id": "part of flags", "untagged": "int"}}),
        json!({"variant": {"part": "part of flags", "id": "variant of flags", "values": [0]}}),
        json!({"member": {"unit": "saxpy.cl", "variant": "variant of flags", "type": "int", "offset": 0}}),
        json!({"structure": {"unit": "saxpy.cl", "name": "record"}}),
        json!({"member": {"unit": "saxpy.cl", "of": "record", "name": "count", "type": "int", "offset": 0}}),
        json!({"structure": {"unit": "saxpy.cl", "name": "s", "id": "structure with an id", "bytes": 4}}),
        json!({"variable": {"in": "structure with an id", "name": "m", "type": "int", "id": "static member"}}),
        json!({"enumeration": {"unit": "saxpy.cl", "name": "hue", "of": "int", "enumerators": [["BLUE", 0]]}}),
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

/// Contents of the fences.
fn fences() -> impl Iterator<Item = &'static str> {
    PAGE.split("```json\n").skip(1).map(|rest| rest.split("```").next().expect("the end of the fence"))
}

/// The first cells of the tables under a heading.
fn cells(heading: &str) -> impl Iterator<Item = &'static str> {
    let (_, rest) = PAGE.split_once(&format!("# {heading}\n")).expect("the heading");
    let table = rest.split("\n# ").next().expect("what is under it");
    table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0))
}

/// Whole descriptions: those of the page, and one around each example of a statement or node.
pub fn descriptions() -> Vec<String> {
    let statements = fences().map(|fence| {
        let example: Value = serde_json::from_str(fence).expect("JSON");
        if example.get("eitri").is_some() { fence.into() } else { around(example, true) }
    });
    let place =
        |text: &str| json!({"procedure": {"unit": "saxpy.cl", "id": "of the example", "loc": node(text)}});
    let number = |text: &str| json!({"procedure": {"unit": "saxpy.cl", "id": "of the example", "loc": {"value": node(text)}}});
    let locs = cells("Locations").chain(cells("Raw expressions")).map(place);
    let vals = cells("Numbers in locations").map(number);
    statements.chain(locs.chain(vals).map(|example| around(example, true))).collect()
}

fn node(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// JSON on one line, with spaces.
fn spaced(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::Array(items) => format!("[{}]", joined(items.iter().map(spaced).collect())),
        Value::Object(keys) => {
            let keys = keys.iter().map(|(key, value)| format!("\"{key}\": {}", spaced(value)));
            format!("{{{}}}", joined(keys.collect()))
        }
        other => other.to_string(),
    }
}

/// Rows of the nodes of a sort from the schema: in the order of the table, then words.
fn rows(sort: &str, keys: &[&str]) -> String {
    let schema: Value = serde_json::from_str(&Schema::Description.to_string()).expect("JSON");
    let any = schema["$defs"][sort]["anyOf"].as_array().expect("a choice");
    let (with_keys, bare) = any.split_last().expect("an object");
    let keyed = keys.iter().map(|key| &with_keys["properties"][key]);
    let row = |schema: &Value| {
        let text = schema["description"].as_str().expect("a description");
        let one = [schema.clone()];
        let list =
            [&schema["prefixItems"], &schema["items"]["prefixItems"]].into_iter().find_map(Value::as_array);
        let operands =
            list.map_or(&one[..], |list| list).iter().filter_map(|operand| operand["title"].as_str());
        let operands = operands.collect::<Vec<_>>().join(", ");
        format!("| `{}` | {operands} | {text} |\n", spaced(&schema["examples"][0]))
    };
    let (numbers, words): (Vec<_>, Vec<_>) = bare.iter().partition(|one| one.get("const").is_none());
    numbers.into_iter().chain(keyed).chain(words).map(row).collect()
}

/// Rows of an entity's properties from the schema of its statement.
fn properties(statement: &str) -> String {
    let schema: Value = serde_json::from_str(&Schema::Description.to_string()).expect("JSON");
    let keys = schema["$defs"][statement]["properties"].as_object().expect("an object");
    let row = |(key, schema): (&String, &Value)| {
        let text = schema["description"].as_str()?;
        let value = match (schema["enum"].as_array(), schema["type"].as_str(), schema["$ref"].as_str()) {
            (Some(words), ..) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
            (_, Some("boolean"), _) => "`true`".into(),
            (_, Some("string"), _) => "text".into(),
            (_, Some("integer"), _) => "a number".into(),
            (_, _, Some(reference)) => reference.rsplit('/').next()?.to_lowercase().replace('_', " "),
            _ => "a list".into(),
        };
        let since = schema["$comment"].as_str()?.strip_prefix("since ")?;
        Some(format!("| `{key}` | {value} | {since} | {text} |\n"))
    };
    keys.iter().filter_map(row).collect()
}

#[test]
fn tables_are_those_of_the_schema() {
    let nodes = [("location", LOCATIONS), ("value", NUMBERS)]
        .map(|(sort, keys)| (format!("nodes: {sort} -->\n\n| node | operands | |"), rows(sort, keys)));
    let entities = [
        "Unit",
        "File",
        "DescribeScope",
        "Function",
        "Label",
        "Import",
        "Call",
        "Variable",
        "Region",
        "Member",
        "DescribeType",
    ];
    let entities = entities
        .map(|entity| (format!("properties: {entity} -->\n\n| key | value | since | |"), properties(entity)));
    for (begin, rows) in nodes.into_iter().chain(entities) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/description.md");
        let mut page = std::fs::read_to_string(path).expect("the page");
        let columns = begin.lines().last().expect("a line").matches(" | ").count() + 1;
        let begin = format!("<!-- {begin}\n{}|\n", "|---".repeat(columns));
        let start = page.find(&begin).expect("the table") + begin.len();
        let length =
            page[start..].lines().take_while(|line| line.starts_with('|')).map(|line| line.len() + 1);
        let end = start + length.sum::<usize>();
        if common::bless() {
            page.replace_range(start..end, &rows);
            std::fs::write(path, &page).expect("the page is written");
        } else {
            pretty_assertions::assert_eq!(
                &page[start..end],
                rows,
                "EITRI_BLESS=1 rewrites docs/description.md"
            );
        }
    }
}

/// Key of a node.
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
        let before = read(&around(example.clone(), false));
        let after = read(&around(example.clone(), true));
        // Code is not part of a module.
        let is_code = word(&example).as_deref() == Some("code");
        assert!((before == after) == is_code, "says nothing: {fence}");
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
    for text in cells("Locations").chain(cells("Raw expressions")) {
        let loc = node(text);
        words.0.extend(word(&loc));
        let example = json!({"variable": {"in": "saxpy", "name": "v", "type": "int", "live": [[0, 4, loc]]}});
        // 16 bits are too few for an `int`, and a whole vector register is too many.
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
