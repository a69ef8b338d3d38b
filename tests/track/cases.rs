//! Cases that were worked out by hand: code, and every place that each variable has at each pc.

use std::collections::BTreeSet;

use eitri::model::Loc;
use serde_json::Value;

use super::program::{At, BYTES, Program, Told};

/// Compares the places at each pc. What is recoverable and not derived by the usual analysis may be found or not.
fn differences(case: &Value) -> Vec<String> {
    let name = case["name"].as_str().expect("a name");
    let program = Program::parse(case);
    let told = Told::new(&program);
    let tracked = told.code.track().unwrap_or_else(|error| panic!("{name}: {error}"));
    let listed = |of: &Value, pc: u64| -> BTreeSet<At> {
        let ranges = of.as_array().map_or(&[][..], |ranges| ranges);
        let here = ranges.iter().filter(|range| {
            let at = |index: usize| range[index].as_u64().expect("a pc");
            (at(0)..at(1)).contains(&pc)
        });
        let places = here.flat_map(|range| range[2].as_array().expect("places"));
        places.map(|place| At::parse(place.as_str().expect("a place"))).collect()
    };
    let mut wrong = Vec::new();
    for (variable, &id) in &told.variables {
        for pc in (0..program.pc()).step_by(BYTES as usize) {
            let expected = listed(&case["expect"][variable], pc);
            let further = listed(&case["recoverable_but_not_derived"][variable], pc);
            let found = tracked.places_at(id, pc).expect("the code names it");
            let loc = |at: &At| at.loc(&told.gpu);
            let is_known = |loc: &Loc| expected.iter().chain(&further).any(|at| at.loc(&told.gpu) == *loc);
            let missing = expected.iter().any(|at| !found.contains(&loc(at)));
            if missing || !found.iter().all(is_known) {
                wrong.push(format!("{name}: {variable} at {pc:#x}: expected {expected:?}, found {found:?}"));
            }
        }
    }
    for variable in case["expect"].as_object().expect("variables").keys() {
        assert!(told.variables.contains_key(variable), "{name}: nothing is assigned to {variable}");
    }
    wrong
}

fn all(text: &str) {
    let file: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(file["format"], "eitri location cases 1");
    let cases = file["cases"].as_array().expect("cases");
    assert!(!cases.is_empty());
    let wrong: Vec<String> = cases.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cases_have_every_place() {
    all(include_str!("cases.json"));
}

/// The same for a file that the environment names.
#[test]
fn cases_of_another_file() {
    if let Some(path) = std::env::var_os("EITRI_LOCATION_CASES") {
        all(&std::fs::read_to_string(path).expect("a file of cases"));
    }
}
