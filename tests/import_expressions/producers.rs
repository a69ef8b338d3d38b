//! How many expressions of each producer are typed, and why the rest is not. The table is in `docs/import.md`.

use std::path::{Path, PathBuf};

use eitri::read::Object;

use super::corpus::{Counts, count};
use crate::common::ROOT;
use crate::common::tools::{Folder, Tool};

/// Programs that are compiled: name, compiler, extension, source.
const PROGRAMS: [(&str, &[Tool], &str, &str); 4] = [
    ("gcc", &[Tool::new("gcc", "gcc"), Tool::new("g++", "g++")], "c", include_str!("program.c")),
    (
        "clang",
        &[Tool::new("clang-19", "clang-19"), Tool::new("clang++-19", "clang-19")],
        "c",
        include_str!("program.c"),
    ),
    ("rustc", &[Tool::new("rustc", "rustc")], "rs", include_str!("program.rs")),
    ("gfortran", &[Tool::new("gfortran", "gfortran")], "f90", include_str!("program.f90")),
];

/// Objects of the committed corpus, by folder.
const FOLDERS: [(&str, &str); 4] =
    [("AMD", "amd"), ("LLVM 19", "llvm19"), ("LLVM 22", "llvm22"), ("Triton", "triton")];

fn add(path: &Path, counts: &mut Counts) {
    let bytes = std::fs::read(path).unwrap();
    let object = Object::read(&bytes).unwrap();
    count(&object, counts).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn objects(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(ROOT).join("tests/objects").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Returns the counts of a producer's objects, which must have no difference.
fn checked(name: &str, counts: Counts) -> String {
    let Counts { all, typed, meaningless, proven, reasons, differences } = counts;
    let shown: Vec<_> = differences.iter().map(|text| &text[..text.len().min(600)]).take(5).collect();
    assert!(differences.is_empty(), "{name}, {} of {all}:\n{}", differences.len(), shown.join("\n"));
    for (reason, (count, example)) in &reasons {
        println!("{name}: {count} {reason}: {example}");
    }
    println!(
        "{name}: {all} expressions, {typed} typed, {meaningless} always fail, {proven} different expressions compared"
    );
    let rest = all - typed - meaningless;
    // AMD's are all typed; of the rest, 99 of 100 that have a meaning.
    let most = if name == "AMD" { 0 } else { (all - meaningless) / 100 };
    assert!(rest <= most || name == "gfortran", "{name}: {rest} of {all} are not typed");
    format!("| {name} | {all} | {typed} | {meaningless} | {rest} |\n")
}

#[test]
fn expressions_of_committed_objects_are_typed_and_mean_the_same() {
    let mut table = String::new();
    for (name, folder) in FOLDERS {
        let mut counts = Counts::default();
        objects(folder).iter().for_each(|path| add(path, &mut counts));
        table += &checked(name, counts);
    }
    let page = std::fs::read_to_string(Path::new(ROOT).join("docs/import.md")).unwrap();
    assert!(page.contains(&table), "the table of the page is:\n{table}");
}

#[test]
fn expressions_of_compiled_programs_are_typed_and_mean_the_same() {
    let folder = Folder::new();
    for (name, compilers, extension, source) in PROGRAMS {
        let sources = [
            folder.file(&format!("program.{extension}"), source),
            folder.file("program.cpp", include_str!("program.cpp")),
        ];
        let mut counts = Counts::default();
        for (compiler, file) in compilers.iter().zip(&sources) {
            for level in [0, 2] {
                let level =
                    if name == "rustc" { format!("-Copt-level={level}") } else { format!("-O{level}") };
                let arguments =
                    ["-g".as_ref(), level.as_ref(), file.as_os_str(), "-o".as_ref(), "program".as_ref()];
                let Some(ran) = compiler.run_in(folder.path(), &arguments) else { return };
                assert!(ran.succeeded, "{ran}");
                add(&folder.path().join("program"), &mut counts);
            }
        }
        checked(name, counts);
    }
}
