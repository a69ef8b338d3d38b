//! Cases that were worked out by hand: code, and every place that each variable has at each pc.

use std::collections::BTreeSet;

use eitri::model::Loc;
use serde_json::Value;

use super::program::{At, BYTES, Program, Source, Stated};

/// Compares the places at each pc. A place that is recoverable and not derived by the usual analysis may be found or
/// not.
fn differences(case: &Value) -> Vec<String> {
    let name = case["name"].as_str().expect("a name");
    let program = Program::parse(case);
    let stated = Stated::new(&program);
    let tracked = stated.code.track().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut places = program.places();
    places.extend(program.assigns.iter().filter_map(|(_, _, source)| match source {
        Source::Constant(value) => Some(At::Constant(*value)),
        _ => None,
    }));
    let list = |names: &mut dyn Iterator<Item = String>| match names.collect::<Vec<_>>().join(" ") {
        none if none.is_empty() => "no place".to_owned(),
        some => some,
    };
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
    for (variable, &id) in &stated.variables {
        for pc in (0..program.pc()).step_by(BYTES as usize) {
            let expected = listed(&case["expect"][variable], pc);
            let further = listed(&case["recoverable_but_not_derived"][variable], pc);
            let found = tracked.places_at(id, pc).expect("the code names it");
            let loc = |at: &At| at.loc(&stated.gpu);
            let is_known = |loc: &Loc| expected.iter().chain(&further).any(|at| at.loc(&stated.gpu) == *loc);
            let missing = expected.iter().any(|at| !found.contains(&loc(at)));
            if missing || !found.iter().all(is_known) {
                let named = |of: &Loc| places.iter().find(|at| loc(at) == *of).map(At::to_string);
                let mut found = found.iter().map(|of| named(of).unwrap_or_else(|| format!("{of:?}")));
                let expected = list(&mut expected.iter().map(At::to_string));
                let found = list(&mut found);
                wrong
                    .push(format!("{name}: {variable} at {pc:#x}: expected in {expected}, found in {found}"));
            }
        }
    }
    for variable in case["expect"].as_object().expect("variables").keys() {
        assert!(stated.variables.contains_key(variable), "{name}: nothing is assigned to {variable}");
    }
    wrong
}

fn all(path: &str, text: &str) {
    let file: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(file["format"], "eitri location cases 1");
    let cases = file["cases"].as_array().expect("cases");
    assert!(!cases.is_empty(), "{path} has no cases");
    let wrong: Vec<String> = cases.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{path}:\n{}", wrong.join("\n"));
}

#[test]
fn cases_have_every_place() {
    all("cases.json", include_str!("cases.json"));
}

/// The same for a file that the environment names.
#[test]
fn cases_of_another_file() {
    if let Some(path) = std::env::var_os("EITRI_LOCATION_CASES") {
        let path = path.to_string_lossy();
        let text = std::fs::read_to_string(&*path).unwrap_or_else(|error| panic!("{path}: {error}"));
        all(&path, &text);
    }
}

/// Checks the descriptions that some cases have, and compares what is found.
#[test]
fn descriptions_of_cases_are_checked() {
    let file: Value = serde_json::from_str(include_str!("cases.json")).expect("JSON");
    let mut checked = 0;
    for case in file["cases"].as_array().expect("cases").iter().filter(|case| case["described"].is_object()) {
        let program = Program::parse(case);
        let mut stated = Stated::new(&program);
        for (variable, ranges) in case["described"].as_object().expect("variables") {
            for range in ranges.as_array().expect("ranges") {
                let pc = |at: usize| range[at].as_u64().expect("a pc");
                let loc = At::parse(range[2].as_str().expect("a place")).loc(&stated.gpu);
                let id = stated.variables[variable];
                let mut variable = stated.builder.describe_variable(id).expect("a variable");
                variable.live(pc(0)..pc(1), loc).expect("a location");
            }
        }
        let module = stated.builder.finish().expect("a module");
        let report = stated.code.track().expect("the code fits").check(&module);
        let found = |pcs: &std::ops::Range<u64>, variable, place: &str| -> Vec<(String, u64, String)> {
            let name = stated.variables.iter().find(|(_, id)| **id == variable).expect("a variable").0;
            let pcs = pcs.clone().step_by(BYTES as usize);
            pcs.map(|pc| (name.clone(), pc, place.to_owned())).collect()
        };
        let expected = |kind: &str| -> BTreeSet<(String, u64, String)> {
            let findings = case["findings"][kind].as_array().expect("findings").iter();
            let each = findings.flat_map(|finding| {
                let name = finding[0].as_str().expect("a variable");
                let places = finding[2].as_array().expect("places").iter();
                places.map(move |place| {
                    (
                        name.to_owned(),
                        finding[1].as_u64().expect("a pc"),
                        place.as_str().expect("a place").to_owned(),
                    )
                })
            });
            each.collect()
        };
        let stale = report.stale.iter().flat_map(|one| found(&one.pcs, one.variable, &one.place)).collect();
        let missed = report.missed.iter().flat_map(|one| found(&one.pcs, one.variable, &one.place)).collect();
        assert_eq!((expected("stale"), expected("unclaimed")), (stale, missed), "{}", case["name"]);
        assert_eq!(report.unchecked, []);
        checked += 1;
        if case["name"] == "edge-moves" {
            let text = "stale: unit `a.cl`, function `k`, variable `i`, pc 0x1c..0x20: s5 was overwritten at 0x18, \
                copied from s6; the variable is in s4";
            assert_eq!(report.stale[0].to_string(), text);
        }
    }
    assert!(checked > 0);
}
