//! `eitri.toml`, folders, lists and patterns.

use std::path::Path;

use super::{Folder, eitri, ran, root, run};
use pretty_assertions::assert_eq;
use serde_json::Value;

const OBJECT: &str = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";

/// Runs `lint` in a folder.
fn lint_in(folder: impl AsRef<Path>, arguments: &[&str]) -> super::Ran {
    ran(eitri().current_dir(folder).arg("lint").args(arguments).output().expect("the command runs"))
}

/// Codes with levels in the output with `--format json`.
fn found(out: &super::Ran) -> Vec<(String, String)> {
    let lines = out.text();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let word = |finding: &Value, key: &str| finding[key].as_str().expect("a word").to_owned();
    lines.map(|finding| (word(&finding, "code"), word(&finding, "level"))).collect()
}

fn has(found: &[(String, String)], code: &str, level: &str) -> bool {
    found.iter().any(|finding| finding.0 == code && finding.1 == level)
}

#[test]
fn configuration_has_levels_paths_and_baseline() {
    let folder = Folder::new("config");
    std::fs::create_dir_all(folder.path("build/deep")).expect("folders");
    std::fs::copy(root(OBJECT), folder.path("build/deep/a.hsaco")).expect("a copy");
    folder.file(
        "eitri.toml",
        "[lint]\npaths = [\"build\"]\n[lint.levels]\nregister-as-memory = \"warning\"\n\
        \"no-*\" = \"allow\"\nno-cfa = \"error\"\n",
    );
    let ran = lint_in(&folder.0, &["--format", "json"]);
    let all = found(&ran);
    // A code precedes a pattern.
    assert!(has(&all, "register-as-memory", "warning") && has(&all, "no-cfa", "error"), "{all:?}");
    assert!(all.iter().all(|finding| finding.0 == "no-cfa" || !finding.0.starts_with("no-")), "{all:?}");
    assert!(ran.text().contains("\"file\":\"build/deep/a.hsaco\""), "{}", ran.text());
    // From a folder below, the nearest file above counts, and its paths are relative to it.
    let below = lint_in(folder.path("build/deep"), &["--format", "json"]);
    assert_eq!((found(&below), below.errors.as_str()), (all.clone(), ""));
    // The command line precedes the file.
    let own = found(&lint_in(&folder.0, &["--format", "json", "--deny", "no-lane-pc", "--allow", "no-cfa"]));
    assert!(has(&own, "no-lane-pc", "error") && own.iter().all(|finding| finding.0 != "no-cfa"), "{own:?}");
    // A file that is named, and a baseline relative to it.
    folder.file(
        "build/other.toml",
        "[lint]\npaths = [\"deep/*.hsaco\"]\nbaseline = \"known.json\"\nfail-on = \"never\"\n",
    );
    let ran = lint_in(&folder.0, &["--config", "build/other.toml", "--update-baseline"]);
    assert_eq!((ran.code, ran.errors.as_str()), (0, ""));
    assert!(Path::new(&folder.path("build/known.json")).is_file());
    let ran = lint_in(&folder.0, &["--config", "build/other.toml", "--format", "json"]);
    assert_eq!((ran.code, ran.text().lines().count()), (0, 1), "{}", ran.text());
    // Arguments instead of the paths; `fail-on` of the file.
    let object = root(OBJECT).display().to_string();
    folder.file("fail.toml", "[lint]\nfail-on = \"never\"\n");
    let codes = [&[][..], &["--fail-on", "error"]]
        .map(|more| lint_in(&folder.0, &[&[&*object, "--config", "fail.toml"], more].concat()).code);
    assert_eq!(codes, [0, 1]);
}

#[test]
fn wrong_configuration_is_an_error_with_its_line() {
    let folder = Folder::new("config-wrong");
    let rows = [
        ("[lint]\npath = []\n", "line 2: unknown field `path`"),
        ("\n[lnt]\n", "line 2: unknown field `lnt`"),
        ("[lint]\nrequire = 1\n", "line 2: invalid type"),
        ("[lint]\nfail-on = \"worst\"\n", "line 2: `worst`: expected error, warning, note or never"),
        (
            "[lint.levels]\nno-cfa = \"error\"\nno-lanes = \"error\"\n",
            "line 3: no code or level has the name `no-lanes`",
        ),
        ("[lint.levels]\nno-cfa = \"deny\"\n", "line 2: `deny`: expected allow, note, warning or error"),
        ("[lint.levels]\n\"no-*\" = \"note\"\n\"*-cfa\" = \"error\"\n", "give `no-cfa` two levels"),
        ("[lint.levels]\n\"zz*\" = \"note\"\n", "line 2: no code matches `zz*`"),
        ("[lint]\npaths = [\"none/*.o\"]\n", "line 2: no file matches `none/*.o`"),
        ("[lint\n", "line 1: "),
    ];
    for (config, expected) in rows {
        folder.file("eitri.toml", config);
        let ran = lint_in(&folder.0, &[]);
        let start = ran.errors.starts_with("eitri: eitri.toml, ");
        assert!(ran.code == 2 && start && ran.errors.contains(expected), "{config}: {}", ran.errors);
    }
    let ran = run(&["lint", "--config", "/none/eitri.toml", OBJECT]);
    assert!(ran.code == 2 && ran.errors.contains("/none/eitri.toml"), "{}", ran.errors);
}

#[test]
fn folder_stands_for_the_objects_in_it() {
    let folder = Folder::new("folders");
    std::fs::create_dir_all(folder.path("in/.git")).expect("folders");
    std::fs::create_dir_all(folder.path("empty")).expect("a folder");
    let copy = |from: &str, to: &str| {
        std::fs::copy(root(from), folder.path(to)).expect("a copy");
    };
    copy(OBJECT, "in/b.hsaco");
    copy(OBJECT, "in/.git/hidden.hsaco");
    copy("tests/objects/containers/k01_k06.a", "in/a.a");
    folder.file("in/notes.txt", "text");
    folder.file("in/k.spv", [3, 2, 0x23, 7, 0, 0, 1, 0]);
    let names = |ran: &super::Ran| {
        let mut names: Vec<String> = ran
            .text()
            .lines()
            .map(|line| {
                let line: Value = serde_json::from_str(line).expect("JSON");
                line["file"].as_str().expect("a name").to_owned()
            })
            .collect();
        names.dedup();
        names
    };
    let path = folder.path("in");
    let ran = run(&["lint", &path, "--format", "json"]);
    let members =
        ["k01_saxpy.gfx900.O2.hsaco", "k06_calls.gfx900.O2.o"].map(|name| format!("{path}/a.a({name})"));
    let mut expected = members.to_vec();
    expected.push(format!("{path}/b.hsaco"));
    // The module is found, but these are not all of its words.
    assert_eq!(names(&ran), expected);
    assert!(ran.errors.contains("k.spv: word 2: the words end inside the header"), "{}", ran.errors);
    let ran = run(&["stats", &path, "--format", "json"]);
    assert_eq!(names(&ran), expected);
    assert!(ran.errors.contains("1 file, a SPIR-V module, left out: `eitri lint`"), "{}", ran.errors);
    let ran = run(&["lint", &folder.path("empty")]);
    assert!(ran.code == 2 && ran.errors.contains("the folder contains no object file"), "{}", ran.errors);
}

#[test]
fn lists_and_patterns_choose_functions_and_codes() {
    let all = found(&run(&["lint", OBJECT, "--format", "json"]));
    let chosen =
        |arguments: &[&str]| found(&run(&[&["lint", OBJECT, "--format", "json"], arguments].concat()));
    assert_eq!(chosen(&["--only", "none*,sax*"]), chosen(&["--only", "saxpy"]));
    let without = chosen(&["--allow", "register-as-memory,no-*"]);
    assert!(!without.is_empty() && without.len() < all.len(), "{without:?}");
    assert!(without.iter().all(|finding| finding.0 != "register-as-memory" && !finding.0.starts_with("no-")));
    // A code precedes a pattern.
    let own = chosen(&["--allow", "no-*", "--deny", "no-lane-pc"]);
    assert!(has(&own, "no-lane-pc", "error") && !own.iter().any(|finding| finding.0 == "no-cfa"), "{own:?}");
    let wrong = run(&["lint", OBJECT, "--allow", "zz*"]);
    assert!(wrong.code == 2 && wrong.errors.contains("no code matches `zz*`"), "{}", wrong.errors);
    let wrong = run(&["lint", OBJECT, "--only", "zz*"]);
    assert!(wrong.code == 2 && wrong.errors.contains("`zz*`"), "{}", wrong.errors);
    // `never` is a level of `--fail-on` alone.
    assert_eq!(run(&["lint", OBJECT, "--fail-on", "never"]).code, 0);
    assert_eq!(run(&["lint", OBJECT, "--deny", "never"]).code, 2);
}

/// Code without debug information: a warning, and an error with `--require`.
#[test]
fn objects_without_debug_information_can_be_errors() {
    let object = "examples/data/scale_code.o";
    let codes = |arguments: &[&str]| {
        let ran = run(&[&["lint", object, "--format", "json"], arguments].concat());
        (found(&ran), ran.code)
    };
    let level = |level: &str| vec![("no-debug-info".to_owned(), level.to_owned())];
    assert_eq!(codes(&[]), (level("warning"), 0));
    assert_eq!(codes(&["--require"]), (level("error"), 1));
    assert_eq!(codes(&["--require", "--allow", "no-debug-info"]), (Vec::new(), 0));
    let folder = Folder::new("require");
    let config = folder.file("c.toml", "[lint]\nrequire = true\n");
    assert_eq!(codes(&["--config", &config]), (level("error"), 1));
    assert_eq!(codes(&["--config", &config, "--warn", "no-debug-info"]), (level("warning"), 0));
}

#[test]
fn patterns_of_the_configuration_count_without_arguments_only() {
    let folder = Folder::new("config-unmatched");
    std::fs::copy(root(OBJECT), folder.path("a.hsaco")).expect("a copy");
    folder.file("eitri.toml", "[lint]\npaths = [\"none/*.o\"]\nfail-on = \"never\"\n");
    let ran = lint_in(&folder.0, &["a.hsaco"]);
    assert_eq!((ran.code, ran.errors.as_str()), (0, ""));
}

#[test]
fn pattern_takes_folders_and_leaves_out_other_files() {
    let folder = Folder::new("config-globs");
    std::fs::create_dir_all(folder.path("build/deep")).expect("folders");
    std::fs::copy(root(OBJECT), folder.path("build/a.hsaco")).expect("a copy");
    std::fs::copy(root(OBJECT), folder.path("build/deep/b.hsaco")).expect("a copy");
    folder.file("build/readme.txt", "no object");
    for (paths, expected) in [
        ("\"buil*\"", 2),
        ("\"build/*\"", 1),
        ("\"build/**\"", 2),
        ("\"build//*.hsaco\"", 1),
        // Each file is read once.
        ("\"build\", \"./build/a.hsaco\", \"build/**/*.hsaco\"", 2),
    ] {
        folder.file("eitri.toml", format!("[lint]\npaths = [{paths}]\nfail-on = \"never\"\n"));
        let ran = lint_in(&folder.0, &["--format", "json"]);
        assert_eq!((ran.code, ran.errors.as_str()), (0, ""), "{paths}");
        let text = ran.text();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let files: Vec<String> = lines.map(|line| line["file"].to_string()).collect();
        let objects: std::collections::BTreeSet<&String> = files.iter().collect();
        assert_eq!(objects.len(), expected, "{paths}: {objects:?}");
        let one = found(&lint_in(&folder.0, &["build/a.hsaco", "--format", "json"])).len();
        assert_eq!(files.len(), one * expected, "{paths}");
    }
    // A file that is no object and that a pattern names by its end is an error.
    folder.file("eitri.toml", "[lint]\npaths = [\"build/*.txt\"]\n");
    assert_eq!(lint_in(&folder.0, &[]).code, 2);
}

#[test]
fn level_on_the_command_line_is_about_the_level_of_the_file() {
    let folder = Folder::new("config-levels");
    std::fs::copy(root(OBJECT), folder.path("a.hsaco")).expect("a copy");
    folder.file(
        "eitri.toml",
        "[lint.levels]\nregister-as-memory = \"warning\"\nno-cfa = \"note\"\nno-lane-pc = \"allow\"\n",
    );
    let all = found(&lint_in(&folder.0, &["a.hsaco", "--format", "json", "--deny", "warning"]));
    assert!(has(&all, "register-as-memory", "error") && has(&all, "no-cfa", "note"), "{all:?}");
    assert!(all.iter().all(|finding| finding.0 != "no-lane-pc"), "{all:?}");
    // A code on the command line.
    let all = found(&lint_in(&folder.0, &["a.hsaco", "--format", "json", "--warn", "no-lane-pc"]));
    assert!(has(&all, "no-lane-pc", "warning"), "{all:?}");
}

#[test]
fn prefix_map_of_a_folder_above_is_relative_to_its_file() {
    let folder = Folder::new("config-map");
    std::fs::create_dir_all(folder.path("out/deep")).expect("folders");
    std::fs::copy(root(OBJECT), folder.path("out/deep/a.hsaco")).expect("a copy");
    let all = lint_in(&folder.0, &["out/deep/a.hsaco", "--format", "json"]).text();
    let first: Value = serde_json::from_str(all.lines().next().expect("a finding")).expect("JSON");
    let file = first["declared"]["file"].as_str().expect("a file").to_owned();
    let (start, name) = file.rsplit_once('/').unwrap_or(("", &file));
    assert!(start.starts_with('/'), "{file}");
    folder.file("eitri.toml", format!("[lint.prefix-map]\n\"{start}\" = \"out/deep\"\n"));
    for (at, expected) in [("", format!("out/deep/{name}")), ("out", format!("deep/{name}"))] {
        let object = folder.path("out/deep/a.hsaco");
        let ran = lint_in(folder.path(at), &[&object, "--format", "json"]);
        let text = ran.text();
        let line: Value = serde_json::from_str(text.lines().next().expect("a finding")).expect("JSON");
        assert_eq!(line["declared"]["file"].as_str(), Some(&*expected), "{at}");
    }
}
