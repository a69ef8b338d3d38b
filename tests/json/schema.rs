//! The schemas equal those of the repository, and an independent validator accepts and rejects the same files as eitri.

use std::path::{Path, PathBuf};

use eitri::conform::{VectorFile, VectorMachine};
use eitri::model::Module;
use eitri::schema::Schema;
use serde_json::{Value, json};

use super::common;
use super::page;
use super::tools::Folder;
use super::validate;

/// Path of the schema in the repository.
fn path(name: &str) -> PathBuf {
    Path::new(crate::common::ROOT).join(format!("docs/{name}.schema.json"))
}

#[test]
fn schemas_are_those_of_the_repository() {
    for name in Schema::NAMES {
        let schema = Schema::named(name).expect("a format").to_string();
        if common::bless() {
            std::fs::write(path(name), &schema).expect("the schema is written");
        }
        let golden = std::fs::read_to_string(path(name)).unwrap_or_default();
        assert!(golden == schema, "EITRI_BLESS=1 rewrites docs/{name}.schema.json");
    }
}

/// Validates files against a schema of the repository, each with the expected result.
fn validate(name: &str, files: &[(PathBuf, bool)]) {
    validate::by(&path(name), files);
}

/// Files of a folder of the repository whose names have this suffix.
fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let folder = Path::new(crate::common::ROOT).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(end)).collect();
    found.sort();
    found
}

/// A description with these statements.
fn description(statements: Value) -> Value {
    json!({"$schema": "description.schema.json", "eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": statements})
}

#[test]
fn descriptions_are_valid_and_wrong_ones_are_not() {
    let given = Folder::new();
    let mut all = vec![
        (files("examples", "scale.json").remove(0), true),
        (files("goldens/explain", "walk.json").remove(0), true),
    ];
    // Examples of the page, and the descriptions written from them.
    for (index, text) in page::descriptions().into_iter().enumerate() {
        let module = Module::from_json(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        all.push((given.file(&format!("{index}.json"), &text), true));
        all.push((given.file(&format!("{index}-written.json"), module.to_json()), true));
    }
    let live = |loc: Value| {
        let live = json!([[0, 4, loc]]);
        json!([{"unit": {"name": "a"}}, {"variable": {"in": "a", "name": "v", "type": "int", "live": live}}])
    };
    let wrong = [
        json!({"target": "x86_64", "describe": []}),
        json!({"eitri": 2, "target": "x86_64", "describe": []}),
        json!({"eitri": 1, "target": 7, "describe": []}),
        json!({"eitri": 1, "target": "x86_64", "describe": {}}),
        json!({"eitri": 1, "target": "x86_64", "describe": [], "author": "me"}),
        description(json!([{}])),
        description(json!([7])),
        description(json!([["unit"]])),
        description(json!([{"melt": {}}])),
        description(json!([{"unit": {}}])),
        description(json!([{"unit": {"nam": "a"}}])),
        description(json!([{"unit": {"name": 5}}])),
        description(json!([{"unit": {"name": "a", "optimized": 1}}])),
        description(json!([{"unit": {"name": "a"}, "lanes": {"in": "a"}}])),
        description(json!([{"unit": ["a"]}])),
        description(json!([{"base_type": {"unit": "a", "name": "t", "encoding": "roman", "bits": 8}}])),
        description(json!([{"base_type": {"unit": "a", "name": "t", "encoding": "float", "bits": -8}}])),
        description(json!([{"base_type": {"unit": "a", "name": "t", "encoding": "float", "bits": "8"}}])),
        description(json!([{"function": {"in": "a", "name": "f", "code": {"symbol": "f"}}}])),
        description(json!([{"function": {"in": "a", "name": "f", "convention": 256}}])),
        description(json!([{"function": {"in": "a", "name": "f", "declared": ["a"]}}])),
        description(json!([{"file": {"unit": "a", "name": "b", "md5": "0g"}}])),
        description(json!([{"block": {"in": "f", "pcs": [[0, 4, 8]]}}])),
        description(json!([{"rows": {"function": "f", "rows": [[0, "a"]]}}])),
        description(json!([{"rows": {"function": "f", "rows": [[0, "a", 1, 2, {"is_stmt": true}]]}}])),
        description(json!([{"macros": {"unit": "a", "macros": [{"define": [0]}]}}])),
        description(
            json!([{"unit": {"name": "a"}}, {"macros": {"unit": "a", "macros": [{"end_file": null}]}}]),
        ),
        description(json!([{"member": {"unit": "a", "type": "t", "mutable": "yes"}}])),
        description(live(json!("nowhere"))),
        description(live(json!({"regster": "s4"}))),
        description(live(json!({"lane": ["v40"]}))),
        description(live(json!({"lane": ["v40", -1]}))),
        description(live(json!({"memory": ["global", "undefined"]}))),
        description(live(json!({"offset": [{"add": [1, 2]}, 4]}))),
        description(live(json!({"implicit": "0"}))),
        description(live(json!({"parts": [[{"register": "s4"}]]}))),
        description(live(json!({"register": "s4", "offset": 4}))),
        description(live(json!({"value": 0.5}))),
        description(live(json!({"expr": {"text": "lit0", "dialect": "elvish"}}))),
        description(live(
            json!({"expr": {"bytes": "30", "fixups": [{"offset": 0, "kind": "melted", "entity": {"type": "t"}}]}}),
        )),
    ];
    let spirv = |spirv: Value| json!({"eitri": 1, "target": "x86_64", "describe": [], "spirv": spirv});
    let wrong_spirv = [
        spirv(json!([])),
        spirv(json!({"extra": 1})),
        spirv(json!({"functions": {"f": 1}})),
        spirv(json!({"variables": 7})),
    ];
    for (index, file) in wrong.iter().chain(&wrong_spirv).enumerate() {
        assert!(Module::from_json(file.to_string()).is_err(), "{file}");
        all.push((given.file(&format!("wrong{index}.json"), file.to_string()), false));
    }
    validate("description", &all);
}

#[test]
fn machines_are_valid_and_wrong_ones_are_not() {
    let given = Folder::new();
    let mut all: Vec<_> = files("examples", "_stops.json").into_iter().map(|path| (path, true)).collect();
    all.extend(
        files("goldens/explain", ".json")
            .into_iter()
            .filter(|path| !path.ends_with("walk.json"))
            .map(|path| (path, true)),
    );
    let machine =
        |machine: Value| json!({"$schema": "machine.schema.json", "target": "x86_64", "machine": machine});
    let right = [
        machine(json!({"pc": 64, "registers": {"rax": "00", "6": null}})),
        json!({"target": "x86_64", "stops": [{"pc": "0x40"}, {"pc": "0x44"}], "machine": {}}),
    ];
    let wrong = [
        machine(json!({"pc": "forty"})),
        machine(json!({"pc": -1})),
        machine(json!({"registers": {"rax": "0"}})),
        machine(json!({"registers": [0]})),
        machine(json!({"memory": [{"space": 0, "address": "0x10"}]})),
        machine(json!({"lane": "x"})),
        machine(json!({"frame": 4294967296u64})),
        machine(json!({"cfa": "mem"})),
        machine(json!({"types": {"0x2a": {"encoding": "roman", "bits": 32}}})),
        machine(json!({"entries": {"0x40": {"extra": 1}}})),
        machine(json!({"entries": {"0x40": {"loclist": [{"kind": "offset_pair", "start": "0x0"}]}}})),
        machine(json!({"initial_stack": [{"valu": 1}]})),
        machine(json!({"extra": 1})),
        machine(json!([])),
        machine(json!({"pc": 1.5})),
        machine(json!({"pc": [64]})),
        machine(json!({"registers": {"rax": 7}})),
        machine(json!({"registers": {"rax": "zz"}})),
        machine(json!({"memory": {"space": 0}})),
        machine(json!({"memory": [{"space": 0, "address": "0x10", "bytes": "0"}]})),
        machine(json!({"memory": [{"space": 0, "address": "0x10", "bytes": "00", "size": 1}]})),
        machine(json!({"memory": [{"space": 0, "address": -16, "bytes": "00"}]})),
        machine(json!({"lanes": "all"})),
        machine(json!({"iteration": -1})),
        machine(json!({"callers": [{"pc": "0x40", "extra": 1}]})),
        machine(json!({"callers": {"pc": "0x40"}})),
        machine(json!({"frame_base": {"expr": "5"}})),
        machine(json!({"object": 5})),
        machine(json!({"tls": "here"})),
        machine(json!({"debug_addr": "0x10"})),
        machine(json!({"types": {"0x2a": {"encoding": "signed", "bits": 32, "extra": 1}}})),
        json!({"target": "x86_64", "stops": {}}),
        json!({"target": "x86_64", "machine": {}, "author": "me"}),
        json!({"target": ["x86_64"], "machine": {}}),
        json!({"target": {"name": "x86_64", "address_size": "eight"}, "machine": {}}),
        json!({"target": {"name": "x86_64", "endian": "middle"}, "machine": {}}),
    ];
    for (index, (file, is_valid)) in
        right.iter().map(|file| (file, true)).chain(wrong.iter().map(|file| (file, false))).enumerate()
    {
        assert_eq!(VectorMachine::stops(file.to_string(), None, None).is_ok(), is_valid, "{file}");
        all.push((given.file(&format!("{index}.json"), file.to_string()), is_valid));
    }
    validate("machine", &all);
}

#[test]
fn vectors_are_valid_and_wrong_ones_are_not() {
    let given = Folder::new();
    let mut all: Vec<_> = files("goldens/conformance", ".json")
        .into_iter()
        .filter(|path| !path.to_string_lossy().contains("sample"))
        .map(|path| (path, true))
        .collect();
    assert!(all.len() > 40);
    let right = json!({
        "$schema": "vectors.schema.json", "format": "eitri-vectors-1", "target": "x86_64", "machine": {"pc": 4},
        "vectors": [{"name": "it", "dialect": "dwarf5", "expr": "50", "expect": {"location": "reg:rax"}}]
    });
    let cases = [
        ("/extra", json!(1)),
        ("/format", json!("eitri-vectors-2")),
        ("/target", json!(7)),
        ("/machine/extra", json!(1)),
        ("/vectors/0/extra", json!(1)),
        ("/vectors/0/expr", json!("5")),
        ("/vectors/0/dialect", json!("dwarf7")),
        ("/vectors/0/valid_in", json!(["dwarf4"])),
        ("/vectors/0/result", json!("best")),
        ("/vectors/0/where", json!("here")),
        ("/vectors/0/expect", json!({"bytes": "0"})),
        ("/vectors/0/expect/extra", json!(1)),
        ("/vectors/0/expect/error", json!("bad")),
        ("/vectors/0/expect/rows", json!([{"pcs": ["0x0", "0x4"], "cfa": "7", "rules": {}}])),
        ("/vectors/0/expect/pointer", json!({"entry": "0x40"})),
        ("/vectors/0/read", json!(-1)),
        ("/vectors", json!({})),
        ("/targets", json!([])),
        ("/targets", json!({"mine": {"address_size": 8, "endian": "middle", "registers": []}})),
        ("/targets", json!({"mine": {"address_size": 8, "endian": "little", "registers": [{"name": "r"}]}})),
        ("/machine/registers", json!({"rax": "0"})),
        ("/vectors/0/name", json!(7)),
        ("/vectors/0/doc", json!(["it"])),
        ("/vectors/0/status", json!("agreed")),
        ("/vectors/0/issue", json!("230524.1")),
        ("/vectors/0/loclist", json!([])),
        ("/vectors/0/cfi", json!({"bytes": "00"})),
        ("/vectors/0/opcodes", json!({"DW_OP_mine": 256})),
        ("/vectors/0/write", json!("0")),
        ("/vectors/0/expect", json!({"location": 5})),
        ("/vectors/0/expect/value", json!({"value": 1})),
        ("/vectors/0/expect/type", json!("signed")),
        ("/vectors/0/expect/outermost", json!(false)),
        ("/vectors/0/expect/written", json!({"here": "00"})),
        ("/vectors/0/expect/caller", json!({"extra": 1})),
    ];
    let mut made = vec![(right.clone(), true)];
    for (pointer, value) in cases {
        let mut file = right.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a key");
        let parent = file.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        parent.insert(key.into(), value);
        made.push((file, false));
    }
    for (index, (file, is_valid)) in made.iter().enumerate() {
        assert_eq!(VectorFile::from_json(file.to_string()).is_ok(), *is_valid, "{file}");
        all.push((given.file(&format!("{index}.json"), file.to_string()), *is_valid));
    }
    validate("vectors", &all);
}
