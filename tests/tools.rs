//! The promise: other programs are run in one way, and no test passes silently without its program.

use crate::common::tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use tools::{Folder, Tool};

/// Expressions for programs of the project in `Command::new`.
const OWN: [&str; 5] = [
    "env!(\"CARGO_BIN_EXE_eitri\")",
    "common::example(",
    "built::example(",
    "std::env::current_exe()",
    "env!(\"CARGO\")",
];

/// The only file that runs other programs.
const RUNS: &str = "tests/common/tools.rs";

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path))
        } else {
            found.extend(Some(path).filter(|path| path.extension().is_some_and(|end| end == "rs")))
        }
    }
    found.sort();
    found
}

/// Other programs that a text runs directly.
fn run_by_itself(text: &str) -> Vec<String> {
    let made = text.split("Command::new(").skip(1).map(str::trim_start);
    let others = made.filter(|rest| !OWN.iter().any(|own| rest.starts_with(own)));
    let renamed = text.lines().filter(|line| line.contains("Command as "));
    others
        .map(|rest| rest.split([')', '\n']).next().unwrap_or_default())
        .chain(renamed)
        .map(String::from)
        .collect()
}

#[test]
fn programs_of_others_are_run_in_one_way() {
    assert_eq!(run_by_itself("Command::new(\"cc\"); use std::process::Command as C;").len(), 2);
    let root = Path::new(crate::common::ROOT);
    for path in sources(&root.join("tests")) {
        let name = path.strip_prefix(root).expect("a file of the project").display().to_string();
        let text = std::fs::read_to_string(&path).expect("a source file");
        // The texts above are examples.
        if name != RUNS && name != "tests/tools.rs" {
            let found = run_by_itself(&text);
            assert!(found.is_empty(), "{name} runs `{}` by itself, not as {RUNS} does", found[0]);
        }
    }
}

/// Name of a missing program for [`needs_a_program`].
const NEEDED: &str = "EITRI_TEST_NEEDS";

#[test]
fn needs_a_program() {
    if std::env::var_os(NEEDED).is_some() {
        assert!(Tool::new("eitri-is-not-installed", "none").run::<&str>(&[]).is_none());
    }
}

/// Runs the test above without its program. Returns whether it passed, its output, and the record.
fn without_a_program(ci: Option<&str>) -> (bool, String, String) {
    let folder = Folder::new();
    let mut test = Command::new(std::env::current_exe().expect("this test"));
    let skipped = folder.file("skipped", "");
    test.args(["--exact", "tools::needs_a_program", "--nocapture"])
        .env(NEEDED, "1")
        .env("EITRI_SKIPPED", &skipped);
    test.env_remove("CI").envs(ci.map(|value| ("CI", value)));
    let ran = test.output().expect("the test runs");
    let output = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    (ran.status.success(), output, std::fs::read_to_string(skipped).expect("the record"))
}

#[test]
fn skipped_tests_are_recorded() {
    for ci in [None, Some("false"), Some("")] {
        let (passed, output, recorded) = without_a_program(ci);
        assert!(
            passed && output.contains("skipped: tools::needs_a_program: eitri-is-not-installed"),
            "{output}"
        );
        let expected =
            "tools::needs_a_program: eitri-is-not-installed is not installed (Debian package none)\n";
        assert_eq!(recorded, expected, "what was skipped is not recorded");
    }
}

#[test]
fn skipped_tests_fail_under_ci() {
    let (passed, output, recorded) = without_a_program(Some("true"));
    assert!(!passed, "with CI=true the test is green without having run");
    assert!(output.contains("eitri-is-not-installed is not installed") && recorded.is_empty(), "{output}");
}
