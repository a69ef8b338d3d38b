//! The page of the format: every key in use is on it, and a program that knows nothing else reads the suite.

use std::collections::BTreeSet;

use serde_json::Value;

use super::tools::Tool;
use super::{files, folder};

const PYTHON: Tool = Tool::new("python3", "python3");

/// The keys of all objects in it, but those that name a register, an entry, a type, an operation or a place.
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

#[test]
#[should_panic(expected = "conform.py")]
fn a_runner_that_knows_the_page_alone_judges_right_and_wrong_answers() {
    let Some(ran) = PYTHON.run(&[folder().join("conform.py").as_os_str(), "--self-test".as_ref()]) else {
        return;
    };
    println!("{}", ran.clean());
}
