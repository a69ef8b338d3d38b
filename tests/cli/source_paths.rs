//! Names of source files in findings: joined, mapped, relative; what GitHub shows.

use super::{Folder, eitri, ran, root, run};
use pretty_assertions::assert_eq;
use serde_json::Value;

/// Clang compiled `k01_saxpy.cl` in the folder `/src`.
const OBJECT: &str = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";

fn declared(arguments: &[&str]) -> Vec<String> {
    let out = run(&[&["lint", OBJECT, "--format", "json"], arguments].concat()).text();
    let lines = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut names: Vec<_> =
        lines.filter_map(|one| Some(one["declared"]["file"].as_str()?.to_owned())).collect();
    names.dedup();
    names
}

#[test]
fn names_are_joined_with_the_folder_of_the_compilation_and_mapped() {
    assert_eq!(declared(&[]), ["/src/k01_saxpy.cl"]);
    assert_eq!(declared(&["--prefix-map", "/src=kernels"]), ["kernels/k01_saxpy.cl"]);
    assert_eq!(declared(&["--prefix-map", "/src=."]), ["k01_saxpy.cl"]);
    // The last match counts, and whole names are compared.
    assert_eq!(declared(&["--prefix-map", "/src=a", "--prefix-map", "/src=b"]), ["b/k01_saxpy.cl"]);
    assert_eq!(declared(&["--prefix-map", "/sr=a"]), ["/src/k01_saxpy.cl"]);
    assert_eq!(run(&["lint", OBJECT, "--prefix-map", "/src"]).code, 2);
    // Each format has the name, also from the configuration.
    let folder = Folder::new("prefix");
    let config = folder.file("c.toml", "[lint.prefix-map]\n\"/src\" = \"kernels\"\n");
    for format in ["text", "json", "sarif", "github"] {
        let out = run(&["lint", OBJECT, "--config", &config, "--format", format]).text();
        assert!(out.contains("kernels/k01_saxpy.cl") && !out.contains("/src/"), "{format}: {out}");
    }
    let own = declared(&["--config", &config, "--prefix-map", "/src=own"]);
    assert_eq!(own, ["own/k01_saxpy.cl"]);
    // The line of a mapped source is shown.
    std::fs::create_dir_all(folder.path("kernels")).expect("a folder");
    folder.file("kernels/k01_saxpy.cl", (1..=8).map(|line| format!("text {line}\n")).collect::<String>());
    let mut command = eitri();
    command.current_dir(&folder.0).arg("lint").arg(root(OBJECT)).args(["--prefix-map", "/src=kernels"]);
    let out = ran(command.output().expect("the command runs")).text();
    assert!(out.contains("\n      kernels/k01_saxpy.cl:4 | text 4\n"), "{out}");
}

/// SARIF 2.1.0 section 3.14.14: a relative URI belongs to a base, whose URI ends with a slash.
#[test]
fn sarif_names_the_base_of_relative_uris() {
    let folder = Folder::new("sarif base");
    std::fs::copy(root(OBJECT), folder.path("a.hsaco")).expect("a copy");
    let log = |arguments: &[&str]| -> Value {
        let mut command = eitri();
        command.current_dir(&folder.0).args(["lint", "a.hsaco", "--format", "sarif"]).args(arguments);
        serde_json::from_slice(&ran(command.output().expect("the command runs")).out).expect("JSON")
    };
    let plain = log(&[]);
    let run = &plain["runs"][0];
    let base = run["originalUriBaseIds"]["SRCROOT"]["uri"].as_str().expect("a URI");
    let here = folder.0.canonicalize().expect("a folder").display().to_string().replace(' ', "%20");
    assert_eq!(base, format!("file://{here}/"));
    let artifacts = |log: &Value| -> Vec<Value> {
        let results = log["runs"][0]["results"].as_array().expect("results").clone();
        results
            .iter()
            .map(|one| one["locations"][0]["physicalLocation"]["artifactLocation"].clone())
            .collect()
    };
    let source = serde_json::json!({"uri": "file:///src/k01_saxpy.cl"});
    assert!(artifacts(&plain).contains(&source), "{plain:#}");
    let mapped = serde_json::json!({"uri": "k01_saxpy.cl", "uriBaseId": "SRCROOT"});
    assert!(artifacts(&log(&["--prefix-map", "/src=."])).contains(&mapped));
}

/// GitHub shows ten annotations of each level for a step (actions/toolkit, docs/problem-matchers.md).
#[test]
fn workflow_commands_are_as_many_as_github_shows() {
    let objects = ["k04_diverge.gfx1100.O2", "k02_reduce.gfx1100.O2", "k14_spill.gfx1030.O2"];
    let objects = objects.map(|name| format!("tests/objects/llvm19/{name}.hsaco"));
    let arguments: Vec<&str> = ["lint"].into_iter().chain(objects.iter().map(String::as_str)).collect();
    let json = run(&[&arguments[..], &["--format", "json"]].concat()).text();
    let all: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let count = |level: &str| all.iter().filter(|finding| finding["level"] == level).count();
    let out = run(&[&arguments[..], &["--format", "github"]].concat()).text();
    let shown = |command: &str| out.lines().filter(|line| line.starts_with(&format!("::{command} "))).count();
    assert!(count("error") > 10, "{} errors", count("error"));
    for (level, command) in [("error", "error"), ("warning", "warning"), ("note", "notice")] {
        assert_eq!(shown(command), count(level).min(10), "{level}");
    }
    let last = out.lines().last().expect("a line");
    let more = count("error") - 10;
    assert!(last.starts_with(&format!("not printed: {more} of {} errors", count("error"))), "{last}");
    // Each code that has an error is among them.
    let mut codes: Vec<&str> =
        all.iter().filter(|one| one["level"] == "error").filter_map(|one| one["code"].as_str()).collect();
    codes.sort();
    codes.dedup();
    for code in codes {
        assert!(out.contains(&format!(",title={code}::")), "{code}: {out}");
    }
    // Fewer findings: no last line.
    let few = run(&["lint", OBJECT, "--format", "github"]).text();
    assert!(few.lines().all(|line| line.starts_with("::")), "{few}");
}
