//! The promise: what a debugger needs of a program is there, and agrees with other debuggers.
//!
//! Programs are compiled here, and the expectations are the answers of gdb, lldb and llvm-symbolizer.

use std::path::{Path, PathBuf};

use crate::common::tools::{Folder, Tool};

mod blocks;
mod elements;
mod enumerators;
mod members;
mod mismatched;
mod missing;
mod split;
mod stack;
mod symbols;
mod types;

const CC: Tool = Tool::new("gcc", "gcc");
const CXX: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
const LLDB: Tool = Tool::new("lldb-19", "lldb-19");
const SYMBOLIZER: Tool = Tool::new("llvm-symbolizer-19", "llvm-19");
const STRIP: Tool = Tool::new("strip", "binutils");
const GDB: Tool = Tool::new("gdb", "gdb");

/// Compiles sources in a folder to a program; `None` if the compiler is not installed.
fn compile(compiler: Tool, folder: &Folder, sources: &[&str], options: &[&str]) -> Option<PathBuf> {
    let arguments = [&["-g", "-o", "program"], options, sources].concat();
    let ran = compiler.run_in(folder.path(), &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(folder.path().join("program"))
}

/// Returns the answer of llvm-symbolizer for an address, without inlined calls; `None` if it is not installed.
fn symbolized(program: &Path, options: &[&str], address: u64) -> Option<String> {
    let address = format!("{address:#x}");
    let name = program.to_str().expect("a path");
    let arguments = [&["--no-inlines", "--no-debuginfod", "-e", name][..], options, &[&address]].concat();
    let ran = SYMBOLIZER.run(&arguments)?;
    Some(ran.clean())
}

/// Returns what a Python script in gdb prints about a program; `None` if gdb is not installed.
fn gdb(program: &Path, script: &str) -> Option<String> {
    let folder = program.parent().expect("the folder");
    std::fs::write(folder.join("ask.py"), script).expect("the script");
    let name = program.file_name().and_then(|name| name.to_str()).expect("the name");
    let arguments =
        ["-batch", "-nx", "-q", "-ex", "set debuginfod enabled off", "-ex", "source ask.py", name];
    let ran = GDB.run_in(folder, &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(ran.out)
}
