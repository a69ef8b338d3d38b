//! `lint`: formats, choice of findings, containers, exit codes.

use super::{Folder, common, run, run_with, text};
use pretty_assertions::assert_eq;
use serde_json::Value;

const OBJECT: &str = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";
/// The smallest objects of each producer.
const OBJECTS: [&str; 4] = [
    OBJECT,
    "tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco",
    "tests/objects/triton/scan_limit.gfx1100.hsaco",
    "tests/objects/triton/scan_limit.sm_90.cubin",
];

#[test]
fn each_format_is_as_reviewed() {
    for (format, file) in
        [("text", "text.txt"), ("json", "json.txt"), ("sarif", "sarif.json"), ("github", "github.txt")]
    {
        let arguments: Vec<&str> = ["lint", "--format", format].into_iter().chain(OBJECTS).collect();
        let ran = run(&arguments);
        assert_eq!((ran.code, ran.errors.as_str()), (1, ""), "{format}");
        common::check_golden(&format!("lint/command-{file}"), &ran.text());
    }
}

/// Findings as JSON.
fn findings(arguments: &[&str]) -> Vec<Value> {
    let all: Vec<&str> = ["lint", "--format", "json"].iter().chain(arguments).copied().collect();
    let out = run(&all).text();
    out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn findings_are_chosen_by_code_and_by_level() {
    let all = findings(&[OBJECT]);
    let levels = |arguments: &[&str]| {
        let found = findings(arguments);
        found.iter().map(|one| one["level"].as_str().expect("a level").to_owned()).collect::<Vec<_>>()
    };
    let count = |code: &str| all.iter().filter(|one| one["code"] == code).count();
    assert_eq!((count("register-as-memory"), count("no-cfa"), count("no-lane-pc")), (3, 1, 1));
    assert!(!findings(&["--allow", "note", OBJECT]).iter().any(|one| one["level"] == "note"));
    assert_eq!(findings(&["--allow", "register-as-memory", OBJECT]).len(), all.len() - 3);
    assert!(levels(&["--warn", "error", OBJECT]).iter().all(|level| level != "error"));
    assert!(levels(&["--deny", "note", OBJECT]).iter().all(|level| level == "error"));
    assert_eq!(findings(&["--only", "saxpy", OBJECT]).len(), all.len());
    let ran = run(&["lint", "--only", "saxpi", OBJECT]);
    assert!(ran.code == 2 && ran.errors.contains("did you mean `saxpy`?"), "{}", ran.errors);
    assert_eq!(findings(&["--max", "2", OBJECT]).len(), 2);
}

#[test]
fn the_exit_code_depends_on_the_level() {
    assert_eq!(run(&["lint", OBJECT]).code, 1);
    assert_eq!(run(&["lint", OBJECT, "--warn", "error"]).code, 0);
    assert_eq!(run(&["lint", OBJECT, "--warn", "error", "--fail-on", "warning"]).code, 1);
    let ran = run(&["lint", "Cargo.toml", OBJECT]);
    // The next file is still read.
    assert_eq!(ran.code, 2);
    assert!(ran.errors.contains("Cargo.toml") && ran.text().contains("register-as-memory"), "{}", ran.errors);
    assert_eq!(run(&["lint"]).code, 2);
    assert_eq!(run(&["lint", OBJECT, "--allow", "register-as-memroy"]).code, 2);
}

#[test]
fn findings_of_a_baseline_are_omitted() {
    let folder = Folder::new("baseline");
    let old = run(&["lint", "--format", "json", OBJECT]).out;
    let old = folder.file("old.json", old);
    let ran = run(&["lint", OBJECT, "--baseline", &old, "--format", "json"]);
    assert_eq!((ran.code, ran.text().as_str()), (0, ""));
    let bad = folder.file("bad.json", "{}\n");
    assert_eq!(run(&["lint", OBJECT, "--baseline", &bad]).code, 2);
}

#[test]
fn codes_are_listed_and_explained() {
    let codes = run(&["lint", "--codes"]);
    assert_eq!(codes.code, 0);
    assert!(text("docs/lint.md").contains(&codes.text()));
    for line in codes.text().lines() {
        let code = line.split_whitespace().next().expect("a code");
        let page = run(&["lint", "--explain", code]);
        assert!(page.code == 0 && page.text().starts_with(&format!("{code}: ")), "{code}");
    }
    let ran = run(&["lint", "--explain", "no-lanes"]);
    assert!(ran.code == 2 && ran.errors.contains("no-lane"), "{}", ran.errors);
}

#[test]
fn members_of_containers_are_read() {
    let bundle = "tests/objects/containers/k06.hipfb";
    let names = |arguments: &[&str]| {
        let mut names: Vec<String> =
            findings(arguments).iter().map(|one| one["file"].as_str().expect("a name").to_owned()).collect();
        names.dedup();
        names
    };
    let member = |gfx: &str| format!("{bundle}(hipv4-amdgcn-amd-amdhsa--{gfx})");
    assert_eq!(names(&[bundle]), [member("gfx900"), member("gfx1030")]);
    assert_eq!(names(&[bundle, "--member", "gfx1030"]), [member("gfx1030")]);
    let ran = run(&["lint", bundle, "--member", "gfx11"]);
    assert!(ran.code == 2 && ran.errors.contains(&member("gfx1030")), "{}", ran.errors);
    let archive = "tests/objects/containers/k01_k06.a";
    let expected =
        ["k01_saxpy.gfx900.O2.hsaco", "k06_calls.gfx900.O2.o"].map(|name| format!("{archive}({name})"));
    assert_eq!(names(&[archive]), expected);
    assert_eq!(names(&["tests/objects/containers/host_with_hip_fatbin.o"]).len(), 2);
}

#[test]
fn standard_input_and_colours_are_supported() {
    let object = std::fs::read(super::root(OBJECT)).expect("an object");
    let ran = run_with(&object, &["lint", "-"]);
    assert!(ran.code == 1 && ran.text().starts_with("standard input: "));
    assert!(!ran.text().contains('\x1b'));
    assert!(run(&["lint", OBJECT, "--color", "always"]).text().contains("\x1b[1;31m"));
}

/// Names of a file are text: they neither colour a terminal nor begin a line.
#[test]
fn names_cannot_act_on_a_terminal() {
    let mut object = std::fs::read(super::root(OBJECT)).expect("an object");
    let (name, hostile) = (b"k01_saxpy.cl", b"\x1b[31m\n::ab.c");
    let places: Vec<_> =
        object.windows(name.len()).enumerate().filter(|one| one.1 == name).map(|one| one.0).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|&at| object[at..at + name.len()].copy_from_slice(hostile));
    let folder = Folder::new("hostile");
    let object = folder.file("a.hsaco", object);
    let out = run(&["lint", &object]).text();
    assert!(out.contains(r": \u{1b}[31m\n::ab.c: function `saxpy`"), "{out}");
    let github = run(&["lint", &object, "--format", "github"]).text();
    let is_command = |line: &str| {
        ["::error file=", "::warning file=", "::notice file="].iter().any(|start| line.starts_with(start))
    };
    assert!(github.lines().all(is_command) && github.contains("%0A"), "{github}");
    for out in
        [out, github, run(&["lint", &object, "--format", "sarif"]).text(), run(&["stats", &object]).text()]
    {
        assert!(!out.contains('\x1b') && !out.lines().any(|line| line.starts_with("::a")), "{out}");
    }
}
