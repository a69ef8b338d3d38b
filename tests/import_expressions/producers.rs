//! How many expressions of each producer are typed, and why the rest is not. The table is in `docs/import.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eitri::read::Object;

use super::corpus::{Counts, count};
use crate::common::ROOT;
use crate::common::tools::{Folder, Tool};

/// A program, and the arguments that make an object `program` of it in several ways.
struct Program {
    producer: &'static str,
    compiler: Tool,
    name: &'static str,
    source: &'static str,
    ways: &'static [&'static [&'static str]],
}

const C: &str = include_str!("program.c");
const CPP: &str = include_str!("program.cpp");
const LEVELS: &[&[&str]] = &[&["-g", "-O0", "-o", "program"], &["-g", "-O2", "-o", "program"]];

#[rustfmt::skip]
const PROGRAMS: [Program; 8] = [
    Program { producer: "gcc", compiler: Tool::new("gcc", "gcc"), name: "program.c", source: C, ways: LEVELS },
    Program { producer: "gcc", compiler: Tool::new("g++", "g++"), name: "program.cpp", source: CPP, ways: LEVELS },
    Program { producer: "clang", compiler: Tool::new("clang-19", "clang-19"), name: "program.c", source: C, ways: LEVELS },
    Program { producer: "clang", compiler: Tool::new("clang++-19", "clang-19"), name: "program.cpp", source: CPP, ways: LEVELS },
    Program {
        producer: "rustc",
        compiler: Tool::new("rustc", "rustc"),
        name: "program.rs",
        source: include_str!("program.rs"),
        ways: &[&["-g", "-Copt-level=0", "-o", "program"], &["-g", "-Copt-level=2", "-o", "program"]],
    },
    Program {
        producer: "gfortran",
        compiler: Tool::new("gfortran", "gfortran"),
        name: "program.f90",
        source: include_str!("program.f90"),
        ways: LEVELS,
    },
    Program {
        producer: "go",
        compiler: Tool::new("go", "golang-go"),
        name: "program.go",
        source: include_str!("program.go"),
        ways: &[&["build", "-gcflags=-N -l", "-o", "program"], &["build", "-o", "program"]],
    },
    // `-lineinfo` writes no entries.
    Program {
        producer: "nvcc",
        compiler: Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI"),
        name: "program.cu",
        source: include_str!("program.cu"),
        ways: &[
            &["-std=c++17", "-G", "-arch=sm_80", "-cubin", "-o", "program"],
            &["-std=c++17", "-G", "-arch=sm_90", "-cubin", "-o", "program"],
            &["-std=c++17", "-lineinfo", "-arch=sm_90", "-cubin", "-o", "program"],
        ],
    },
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
    let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
    for Program { producer, compiler, name, source, ways } in &PROGRAMS {
        let folder = Folder::new();
        folder.file(name, source);
        for way in *ways {
            let arguments: Vec<&str> = way.iter().copied().chain([*name]).collect();
            let Some(ran) = compiler.run_in(folder.path(), &arguments) else { break };
            assert!(ran.succeeded, "{ran}");
            add(&folder.path().join("program"), counts.entry(producer).or_default());
        }
    }
    for (producer, counts) in counts {
        checked(producer, counts);
    }
}
