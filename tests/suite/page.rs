//! The README of the format: it lists every key in use, and a program based on it alone reads the suite.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use eitri::conform::{ConformReport, VectorFile};
use serde_json::Value;

use super::tools::{Folder, Ran, Tool};
use super::{files, folder, paths, validate, vectors};

const PYTHON: Tool = Tool::new("python3", "python3");

/// The keys of all objects, except names of registers, entries, types, operations and places.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        Value::Object(object) => {
            for (key, value) in object {
                let named =
                    ["opcodes", "written", "targets", "registers", "types", "entries", "rules", "contents"];
                match value {
                    Value::Object(inside) if named.contains(&&**key) => {
                        inside.values().for_each(|value| keys(value, found));
                    }
                    value => keys(value, found),
                }
                found.insert(key.clone());
            }
        }
        _ => {}
    }
}

#[test]
fn the_page_has_every_key_in_use() {
    let page = include_str!("../../docs/conformance.md");
    let mut found = BTreeSet::new();
    files().iter().for_each(|(_, file)| keys(file, &mut found));
    let is_missing =
        |key: &&String| !page.contains(&format!("`{key}`")) && !page.contains(&format!("\"{key}\""));
    let missing: Vec<_> = found.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "keys that are not on the page: {missing:?}");
}

/// Runs a program of the suite.
fn python(program: &str, arguments: &[&OsStr]) -> Option<Ran> {
    let program = folder().join(program);
    let all: Vec<&OsStr> =
        ["-B".as_ref(), program.as_os_str()].into_iter().chain(arguments.iter().copied()).collect();
    PYTHON.run(&all)
}

#[test]
fn a_runner_that_knows_the_page_alone_judges_right_and_wrong_answers() {
    let runner = std::fs::read_to_string(folder().join("conform.py")).expect("the runner");
    assert!(runner.lines().count() <= 150, "the runner has {} lines", runner.lines().count());
    let Some(ran) = python("test_conform.py", &[]) else { return };
    let counts = ran.clean();
    println!("{counts}");
    let vectors: usize = files().iter().map(|(_, file)| vectors(file).len()).sum();
    assert!(counts.starts_with(&format!("{vectors} right, ")), "{counts}");
}

/// Results of the built-in evaluator, judged by the other program.
#[test]
fn the_runner_agrees_with_the_verdicts_of_the_crate() {
    let mut report = ConformReport::default();
    for path in paths() {
        let text = std::fs::read_to_string(&path).expect("the file is read");
        VectorFile::from_json(text).expect("is a file of vectors").run("", None, &mut report);
    }
    let given = Folder::new();
    let judged = |lines: &str| {
        let answers = given.file("answers.jsonl", lines);
        let paths = paths();
        let arguments = ["--answers".as_ref(), answers.as_os_str()].into_iter();
        let arguments: Vec<_> = arguments.chain(paths.iter().map(|path| path.as_os_str())).collect();
        python("conform.py", &arguments)
    };
    let right = report.to_json();
    let Some(ran) = judged(&right) else { return };
    let all = report.outcomes.len();
    assert_eq!(ran.clean(), format!("{all} vectors, {all} passed\n"));
    // Each result is assigned to the next vector, of any kind.
    let lines: Vec<Value> = right.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let moved = lines.iter().zip(lines.iter().cycle().skip(1)).map(|(line, next)| {
        serde_json::json!({"name": line["name"], "answer": next["answer"]}).to_string() + "\n"
    });
    let Some(ran) = judged(&moved.collect::<String>()) else { return };
    let passed =
        ran.out.lines().last().and_then(|line| line.split(", ").find(|part| part.ends_with(" passed")));
    let passed = passed.and_then(|part| part.split(' ').next()?.parse::<usize>().ok()).expect("a count");
    assert!(!ran.succeeded && passed < all / 4, "{passed} of {all} answers to other vectors pass");
}

/// A valid file, and single changes of the file, by JSON pointer, that the suite's schema refuses. Each has whether eitri
/// accepts it: the page lists what eitri also accepts.
fn changed_files() -> Vec<(Value, bool)> {
    let right = serde_json::json!({
        "format": "eitri-vectors-1",
        "targets": {"mine": {"address_size": 8, "endian": "little", "registers": [
            {"dwarf": 0, "name": "r", "bits": 64}
        ]}},
        "target": {"name": "mine"}, "machine": {"pc": "0x4", "registers": {}, "entries": {}},
        "vectors": [{"name": "it", "dialect": "dwarf5", "expr": "50", "expect": {"location": "reg:0"}}]
    });
    let cases = [
        ("/extra", serde_json::json!(1)),
        ("/format", serde_json::json!("eitri-vectors-2")),
        ("/targets/mine/extra", serde_json::json!(1)),
        ("/targets/mine/registers", serde_json::json!([{"dwarf": [1, 2, 3], "name": "r", "bits": 8}])),
        ("/target/extra", serde_json::json!(1)),
        ("/machine/pc", serde_json::json!(4)),
        ("/machine/registers/-1", serde_json::json!("00")),
        ("/machine/entries/0x40", serde_json::json!({"extra": 1})),
        ("/vectors/0/extra", serde_json::json!(1)),
        ("/vectors/0/expr", serde_json::json!("5")),
        ("/vectors/0/loclist", serde_json::json!([])),
        ("/vectors/0/dialect", serde_json::json!("dwarf7")),
        ("/vectors/0/valid_in", serde_json::json!(["dwarf4"])),
        ("/vectors/0/issue", serde_json::json!("2305")),
        ("/vectors/0/expect", serde_json::json!({"bytes": "0"})),
        ("/vectors/0/expect/extra", serde_json::json!(1)),
        ("/vectors/0/expect/rows", serde_json::json!([{"pcs": ["0x0", "0x4"], "cfa": "7", "rules": {}}])),
        ("/vectors/0/expect/outermost", serde_json::json!(false)),
    ];
    let changed = |(pointer, value): (&str, Value)| {
        let mut file = right.clone();
        let (parent, key) = pointer.rsplit_once('/').expect("a key");
        let parent = file.pointer_mut(parent).expect("the parent");
        parent.as_object_mut().expect("an object").insert(key.into(), value);
        (file, pointer == "/machine/pc")
    };
    [(right.clone(), true)].into_iter().chain(cases.map(changed)).collect()
}

#[test]
fn the_schema_takes_every_file_and_refuses_wrong_ones() {
    let schema = folder().join("schema/eitri-vectors-1.schema.json");
    let given = Folder::new();
    let changed = changed_files();
    let files: Vec<_> = changed
        .iter()
        .enumerate()
        .map(|(index, (file, _))| given.file(&format!("{index}.json"), file.to_string()))
        .collect();
    // The first generated file is valid.
    let generated = files.iter().cloned().enumerate().map(|(index, path)| (path, index == 0));
    let all: Vec<_> = paths().into_iter().map(|path| (path, true)).chain(generated).collect();
    validate::by(&schema, &all);
    // eitri and the schema that it prints agree on each file.
    let accepted = files.into_iter().zip(changed.iter().map(|(_, is_accepted)| *is_accepted));
    validate::by(&folder().join("../../docs/vectors.schema.json"), &accepted.collect::<Vec<_>>());
    for (file, is_accepted) in changed {
        assert_eq!(VectorFile::from_json(file.to_string()).is_ok(), is_accepted, "{file}");
    }
}

/// Names of all properties in a schema.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        Value::Object(object) => {
            found.extend(
                object
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flat_map(|it| it.keys().cloned()),
            );
            object.values().for_each(|value| properties(value, found));
        }
        _ => {}
    }
}

#[test]
fn the_page_has_every_key_of_the_schema() {
    let page = include_str!("../../docs/conformance.md");
    let schema = include_str!("../../goldens/conformance/schema/eitri-vectors-1.schema.json");
    let mut found = BTreeSet::new();
    properties(&serde_json::from_str(schema).expect("JSON"), &mut found);
    let is_missing =
        |key: &&String| !page.contains(&format!("`{key}`")) && !page.contains(&format!("\"{key}\""));
    let missing: Vec<_> = found.iter().filter(is_missing).collect();
    assert!(found.len() > 50 && missing.is_empty(), "keys that are not on the page: {missing:?}");
}

#[test]
fn the_folder_is_complete() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap_or_else(|_| panic!("{name}"));
    let version = read("VERSION");
    let numbers: Vec<_> = version.trim_end().split('.').map(str::parse::<u32>).collect();
    assert!(numbers.len() == 2 && numbers.iter().all(Result::is_ok), "version {version}");
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let ours = std::fs::read_to_string(folder().join("../..").join(licence)).expect("the licence");
        assert_eq!(read(licence), ours, "{licence}");
    }
    // The README explains every file.
    let readme = read("README.md");
    for entry in std::fs::read_dir(folder()).expect("the folder") {
        let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
        let is_vectors = name.ends_with(".json");
        assert!(
            is_vectors || name == "README.md" || readme.contains(&format!("`{name}`")),
            "{name} is not in README.md"
        );
    }
}
