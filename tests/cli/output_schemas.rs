//! Outputs of `rewrite` and `stats` are valid by their schemas, and other objects are not.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Folder, root, run, text};

const OBJECTS: [&str; 6] = [
    "tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco",
    "tests/objects/llvm19/h13_templ.gfx900.O2.hsaco",
    "tests/objects/triton/scan_limit.gfx1100.hsaco",
    "tests/objects/triton/add.sm_90.cubin",
    "tests/objects/typed.cubin",
    "examples/data/uspill.o",
];

/// Validates outputs, and objects in which a key is missing, unknown or of another type: at the top, and in the first element
/// of each list of objects.
fn validate(schema: &str, outputs: &[String]) {
    let folder = Folder::new(schema);
    let mut all: Vec<(PathBuf, bool)> = Vec::new();
    let mut add = |text: String, is_valid: bool| {
        all.push((folder.file(&format!("{}.json", all.len()), text).into(), is_valid));
    };
    let mut seen = std::collections::BTreeSet::new();
    for output in outputs {
        add(output.clone(), true);
        let right: Value = serde_json::from_str(output).expect("JSON");
        let lists = right.as_object().expect("an object").iter().filter(|(_, value)| value[0].is_object());
        let parts = lists.map(|(key, _)| format!("/{key}/0")).chain([String::new()]);
        for part in parts.filter(|part| seen.insert(part.clone())).collect::<Vec<_>>() {
            let keys: Vec<String> = right
                .pointer(&part)
                .expect("a part")
                .as_object()
                .expect("an object")
                .keys()
                .cloned()
                .collect();
            let named = keys.iter().filter(|key| !key.starts_with('#') && !key.starts_with("sum_all_"));
            for key in named {
                let mut wrong = right.clone();
                wrong.pointer_mut(&part).and_then(Value::as_object_mut).expect("an object").remove(key);
                add(wrong.to_string(), false);
            }
            for (key, value) in [("author", json!("me")), (&*keys[0], json!({"a": [1.5]}))] {
                let mut wrong = right.clone();
                wrong.pointer_mut(&part).expect("an object")[key] = value;
                add(wrong.to_string(), false);
            }
        }
    }
    super::validate::by(&root(&format!("docs/{schema}.schema.json")), &all);
}

#[test]
fn reports_of_rewrites_are_valid_by_the_schema() {
    let folder = Folder::new("rewritten");
    let mut outputs = Vec::new();
    for (index, object) in OBJECTS.iter().enumerate() {
        for options in [&["--fix"][..], &["--fix", "--for", "llvm", "--dedupe", "--gc"], &[]] {
            let (out, report) = (folder.path("out.o"), folder.path(&format!("{index}.txt")));
            let fixed =
                [&["rewrite", object, "-o", &out, "--report", &report, "--format", "json"], options].concat();
            let ran = run(&fixed);
            // A report that lists lost facts fits the schema, too; a cubin is for `cuda-gdb` alone.
            if ran.code < 2 {
                outputs.extend(std::fs::read_to_string(&report).expect("a report").lines().map(String::from));
            }
        }
    }
    let parsed: Vec<Value> = outputs.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    for key in ["fixed", "sections", "changes"] {
        assert!(parsed.iter().any(|report| report[key] != json!([])), "no {key}");
    }
    assert!(outputs.len() > OBJECTS.len());
    validate("rewritten", &outputs);
}

#[test]
fn statistics_are_valid_by_the_schema() {
    let lines: Vec<String> = OBJECTS
        .iter()
        .flat_map(|object| {
            run(&["stats", "--format", "json", object]).text().lines().map(String::from).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(lines.len(), OBJECTS.len());
    // An unknown number is refused by its name alone, and a number by its type.
    let mut wrong: Value = serde_json::from_str(&lines[0]).expect("JSON");
    assert!(wrong["#functions"].is_u64());
    wrong["#functions"] = json!("many");
    let folder = Folder::new("statistics");
    let file = folder.file("wrong.json", wrong.to_string());
    super::validate::by(&root("docs/statistics.schema.json"), &[(file.into(), false)]);
    validate("statistics", &lines);
}

/// The pages name the schemas.
#[test]
fn pages_name_the_schemas() {
    assert!(text("docs/rewrite.md").contains("`docs/rewritten.schema.json`"));
    assert!(text("docs/lint.md").contains("`docs/statistics.schema.json`"));
}
