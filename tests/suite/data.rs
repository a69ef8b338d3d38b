//! Vectors as data: identifiers, targets, documents, proposals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{files, name, vectors};

#[test]
#[should_panic(expected = "`offset-register-end` of")]
fn names_are_identifiers_in_the_whole_suite() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut twice = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents) {
            if let Some(other) = known.insert(name(vector).to_owned(), file.clone()) {
                twice += &format!("`{}` of {file} is in {other}\n", name(vector));
            }
        }
    }
    assert!(twice.is_empty(), "names that two vectors have:\n{twice}");
}

#[test]
#[should_panic(expected = "`amdgpu-gfx1030-wave32`")]
fn targets_are_written_out() {
    let mut missing = BTreeSet::new();
    for (file, contents) in files() {
        let own = vectors(&contents).iter().map(|vector| &vector["target"]);
        for target in own.chain([&contents["target"]]) {
            let Some(target) = target["name"].as_str().filter(|name| *name != "generic") else { continue };
            if contents["targets"][target].is_null() {
                missing.insert(format!("{file}: `{target}` is not in `targets`"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Whether a vector of the encoding of DWARF 5 is one that DWARF 5 alone decides.
fn is_of_dwarf_5(vector: &Value) -> bool {
    let given = vector["valid_in"].as_array();
    vector["dialect"] == "dwarf5"
        && given.is_none_or(|given| given.iter().any(|document| document == "dwarf5"))
}

/// A location operation ends an expression of DWARF 5, or its piece (2.6.1.1): gimli gives these errors where one
/// does not.
const ENDED: [&str; 2] = ["invalid expression terminator", "piece followed by non-piece"];

#[test]
#[should_panic(expected = "`register-goes-on`")]
fn vectors_of_the_stack_model_are_not_of_dwarf_5() {
    let mut wrong = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents).iter().filter(|vector| is_of_dwarf_5(vector)) {
            let doc = vector["doc"].as_str().unwrap_or_default();
            if ENDED.iter().any(|error| doc.contains(error)) {
                wrong += &format!("{file}: `{}`: {doc}\n", name(vector));
            }
        }
    }
    assert!(wrong.is_empty(), "vectors whose meaning DWARF 5 does not have:\n{wrong}");
}

#[test]
#[should_panic(expected = "`push-lane`")]
fn proposals_have_a_status() {
    let mut wrong = String::new();
    for (file, contents) in files() {
        for vector in vectors(&contents) {
            let (status, issue) = (vector["status"].as_str(), vector["issue"].as_str());
            let is_right = match (vector["dialect"] == "dwarf6", status) {
                (true, Some("accepted" | "open")) => issue.is_some(),
                (true, Some("in progress" | "removed")) => true,
                (true, _) => false,
                (false, status) => status.is_none() && issue.is_none(),
            };
            if !is_right {
                wrong += &format!("{file}: `{}`: {status:?} {issue:?}\n", name(vector));
            }
        }
    }
    assert!(wrong.is_empty(), "vectors without the status of their proposal:\n{wrong}");
}
