//! `stats`: lines, comparison of builds, thresholds. `report`: its files and members.

use super::{Folder, run, text};
use pretty_assertions::assert_eq;
use serde_json::Value;

const O2: &str = "tests/objects/llvm19/k04_diverge.gfx1100.O2.hsaco";
const BUNDLE: &str = "tests/objects/containers/k06.hipfb";

fn json(arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["stats", "--format", "json"].iter().chain(arguments).copied().collect();
    let out = run(&all).text();
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_build_is_compared_with_another() {
    let clean = "examples/data/uspill.o";
    let same = json(&[O2, "--against", O2]);
    let all = &same[0]["functions"][0];
    assert_eq!((&all["name"], &all["old"]), (&Value::Null, &all["new"]));
    // clang's entries are unsound: nothing is lost.
    assert_eq!(run(&["stats", O2, "--against", O2, "--fail-below", "100"]).code, 0);
    assert_eq!(run(&["stats", O2, "--fail-below", "50"]).code, 1);
    assert_eq!(run(&["stats", O2, "--fail-below", "0"]).code, 0);
    let ran = run(&["stats", clean]);
    assert!(ran.code == 0 && ran.text().contains("that are there twice"), "{}", ran.text());
}

#[test]
fn contents_are_counted() {
    let found = &json(&[O2])[0];
    let operations = found["operations"].as_object().expect("operations");
    // llvm-dwarfdump-19 --debug-loclists prints these operations.
    assert!(operations["xderef"].as_u64() > Some(0), "{operations:?}");
    assert!(found["forms"]["DW_FORM_strx1"].as_u64() > Some(0), "{}", found["forms"]);
    let variable = &found["functions"][0]["variables"][0];
    assert!(variable["#bytes of entry"].as_u64() > Some(0), "{variable}");
}

#[test]
fn a_page_is_written_for_one_object() {
    let folder = Folder::new("report");
    let page = folder.path("page.html");
    assert_eq!(run(&["report", O2, "-o", &page]).code, 0);
    assert!(text(&page).starts_with("<!doctype html>"));
    let ran = run(&["report", O2, "-o", "-"]);
    assert_eq!(ran.text(), text(&page));
    let several = run(&["report", BUNDLE, "-o", &page]);
    assert!(several.code == 2 && several.errors.contains("--member") && several.errors.contains("gfx900"));
    assert_eq!(run(&["report", BUNDLE, "--member", "gfx900", "-o", &page]).code, 0);
    assert_eq!(run(&["report", "Cargo.toml", "-o", "-"]).code, 2);
}

#[test]
fn members_of_containers_are_printed() {
    let all = run(&["dump", BUNDLE]).text();
    for gfx in ["gfx900", "gfx1030"] {
        let heading = format!("{BUNDLE}(hipv4-amdgcn-amd-amdhsa--{gfx}):\n");
        assert_eq!(all.matches(&heading).count(), 1, "{heading}");
        let one = run(&["dump", BUNDLE, "--member", gfx]).text();
        assert!(!one.contains("hipv4") && all.contains(&one), "{gfx}");
    }
    assert_eq!(run(&["dump", BUNDLE, "--member", "gfx11"]).code, 2);
}
