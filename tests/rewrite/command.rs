//! The command: its output, its files, and its exit codes.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::tools::Folder;

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eitri"));
    command.current_dir(folder.path()).arg("rewrite").args(arguments).output().expect("it runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Copies a committed file to a folder.
fn copied(folder: &Folder, path: &str) -> Vec<u8> {
    let bytes = std::fs::read(Path::new(crate::common::ROOT).join(path)).expect("a file");
    folder.file("in.o", &bytes);
    bytes
}

#[test]
fn object_and_report_are_written() {
    let folder = Folder::new();
    let before = copied(&folder, "examples/data/squares.o");
    let output = run(&folder, &["in.o", "-o", "out.o"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let after = std::fs::read(folder.path().join("out.o")).expect("the output");
    assert!(after.starts_with(b"\x7fELF") && after != before);
    assert!(text(&output.stdout).contains(".debug_info"), "{output:?}");
    // The report in a file, and a line for a program.
    let output = run(&folder, &["in.o", "-o", "again.o", "--report", "report.json", "--format", "json"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), ""), "{output:?}");
    let report = std::fs::read(folder.path().join("report.json")).expect("the report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!((&report["version"], &report["object"]), (&1.into(), &"in.o".into()));
    let sizes = report["sections"].as_array().expect("sections");
    let info = sizes.iter().find(|size| size["name"] == ".debug_info").expect("a section");
    let stored = |bytes: &[u8]| {
        use eitri::object::{Object, ObjectSection};
        let file = eitri::object::File::parse(bytes).expect("an object");
        file.section_by_name(".debug_info").expect("a section").size()
    };
    assert_eq!(
        [info["before"].as_u64(), info["after"].as_u64()],
        [Some(stored(&before)), Some(stored(&after))]
    );
}

#[test]
fn dry_run_writes_nothing() {
    let folder = Folder::new();
    copied(&folder, "examples/data/squares.o");
    let output = run(&folder, &["in.o", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);
    // Without it, there is an output.
    assert_eq!(run(&folder, &["in.o"]).status.code(), Some(2));
}

#[test]
fn output_over_the_input_is_refused() {
    let folder = Folder::new();
    let before = copied(&folder, "examples/data/squares.o");
    let output = run(&folder, &["in.o", "-o", "./in.o"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the output would replace an input"), "{output:?}");
    assert!(std::fs::read(folder.path().join("in.o")).expect("the input") == before);
}

/// The current lane has no operation in the standard: the location is lost, and `--strict` writes nothing.
#[test]
fn lost_facts_are_listed_and_strict_refuses_them() {
    let folder = Folder::new();
    copied(&folder, "tests/objects/amd/k04_diverge.gfx1030.O2.hsaco");
    let output = run(&folder, &["in.o", "--for", "dwarf5", "-o", "out.o"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("omitted: "), "{output:?}");
    let output = run(&folder, &["in.o", "--for", "dwarf5", "--strict", "-o", "strict.o"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(!folder.path().join("strict.o").exists());
}

#[test]
fn malformed_objects_are_refused_with_their_place() {
    let folder = Folder::new();
    let mut bytes = copied(&folder, "examples/data/squares.o");
    // The name of `count` gets the index 99 of a string, of which there are 12.
    bytes[0x17d + 0x5f] = 99;
    folder.file("in.o", &bytes);
    let output = run(&folder, &["in.o", "-o", "out.o"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = text(&output.stderr);
    assert!(error.contains("section .debug_str_offsets, offset 0x"), "{error}");
    assert!(!folder.path().join("out.o").exists());
}
