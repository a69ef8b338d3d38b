//! Scopes, lines and variables at pcs: those of other programs, in objects of other compilers; errors of damaged parts.

mod damaged;
#[cfg(debug_assertions)]
mod growth;
mod lldb;
mod symbolizer;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use eitri::read::Dwarf;

use crate::common::tools::{Folder, Tool};

/// Functions with inlined calls in inlined calls, shadowing, templates, static variables, exceptions and recursion.
const SOURCE: &str = "tests/pcs/inlined.cpp";

const COMPILERS: [Tool; 2] = [Tool::new("clang++-19", "clang-19"), Tool::new("g++", "g++")];

/// Compiles the source by each compiler, at each level and in each version. Empty if a compiler is not installed.
fn programs(folder: &Folder) -> Vec<PathBuf> {
    let mut programs = Vec::new();
    for compiler in COMPILERS {
        for options in [["-O1", "-gdwarf-5"], ["-O2", "-gdwarf-4"], ["-O2", "-gdwarf-5"]] {
            let program = folder.path().join(format!("{}{}", compiler.name, options.concat()));
            if !compile(compiler, &options, &program) {
                return Vec::new();
            }
            programs.push(program);
        }
    }
    programs
}

fn compile(compiler: Tool, options: &[&str], output: &Path) -> bool {
    let output = output.to_str().expect("a path");
    let arguments = [options, &["-w", "-o", output, SOURCE]].concat();
    let ran = compiler.run_in(Path::new(crate::common::ROOT), &arguments);
    ran.is_some_and(|ran| ran.clean().is_empty())
}

/// Objects that compilers for GPUs made.
fn objects() -> Vec<PathBuf> {
    let folders = ["amd", "llvm19", "llvm22", "triton"].map(|folder| {
        let folder = Path::new(crate::common::ROOT).join("tests/objects").join(folder);
        std::fs::read_dir(folder).expect("the objects").map(|file| file.expect("a file").path())
    });
    let objects = folders.into_iter().flatten();
    let mut objects: Vec<PathBuf> =
        objects.filter(|path| path.extension().is_some_and(|extension| extension == "hsaco")).collect();
    objects.sort();
    assert!(objects.len() >= 80, "{}", objects.len());
    objects
}

/// Returns the first and the last pc of each row with code.
fn pcs(dwarf: &Dwarf<'_>) -> BTreeSet<u64> {
    let mut pcs = BTreeSet::new();
    for unit in dwarf.units() {
        let Some(program) = dwarf.lines(unit).expect("a line program") else { continue };
        let rows: Vec<_> = program.rows().collect::<Result<_, _>>().expect("rows");
        let pairs = rows.windows(2).filter(|pair| !pair[0].end_sequence && dwarf.is_code(pair[0].address));
        let ranges = pairs.map(|pair| pair[0].address..pair[1].address).filter(|range| !range.is_empty());
        pcs.extend(ranges.flat_map(|range| [range.start, range.end - 1]));
    }
    pcs
}
