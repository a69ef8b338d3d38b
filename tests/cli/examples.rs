//! The examples of each command's help run, in a folder with the files that they name.

use std::path::Path;
use std::process::Command;

use super::help::COMMANDS;
use super::kernel::{REGISTERS, TEXT, described};
use super::{Folder, code, root, run};
use crate::cli::common;
use crate::cli::tools::Tool;

const SHELL: Tool = Tool::new("sh", "dash");

/// Lines `Example: eitri …` of a command's help.
fn examples(command: &str) -> Vec<String> {
    let help = run(&[command, "--help"]).text();
    help.lines().filter_map(|line| line.trim().strip_prefix("Example: ")).map(String::from).collect()
}

/// Copies a file of the project.
fn copy(folder: &Folder, from: &str, names: &[&str]) {
    for name in names {
        std::fs::copy(root(from), folder.path(name)).expect("a file of the project");
    }
}

fn prepared() -> Folder {
    let folder = Folder::new("examples");
    copy(&folder, "examples/scale.json", &["scale.json"]);
    copy(&folder, "examples/data/scale_code.o", &["scale_code.o"]);
    folder.file("d.json", described(REGISTERS).expect("a module").to_json());
    folder.file("k.ptx", TEXT);
    folder.file("kernel.json", code::description(""));
    copy(&folder, "examples/data/saxpy.spv", &["kernel.spv"]);
    copy(&folder, "tests/spirv/foreign/glslang.g.spv", &["shader.spv"]);
    folder.file("shader.wgsl", "// A line.\n".repeat(100));
    let kernel = "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco";
    copy(&folder, kernel, &["kernel.hsaco", "new.hsaco", "old.hsaco", "O2.hsaco"]);
    copy(&folder, "tests/objects/llvm19/k01_saxpy.gfx900.O0.hsaco", &["O0.hsaco"]);
    folder.file("kernel.s", "s_load_dword s0, s[4:5], 0x4 // 000000001600: F4000002 FA000004\n");
    folder.file("src", "");
    std::fs::remove_file(folder.path("src")).expect("a file");
    std::fs::create_dir(folder.path("src")).expect("a folder");
    copy(&folder, "goldens/explain/wave.json", &["machine.json", "wave.json"]);
    copy(&folder, "examples/weigh_stops.json", &["stops.json"]);
    let out = Command::new(common::example("diverged")).arg(folder.path("diverged")).output();
    assert!(out.expect("the example").status.success());
    std::fs::copy(folder.path("diverged/weigh.o"), folder.path("kernel.o")).expect("the example's object");
    let conformance = Path::new(&folder.path("goldens")).join("conformance");
    std::fs::create_dir_all(&conformance).expect("a folder");
    copy(&folder, "goldens/conformance/41-examples-4.3.json", &["goldens/conformance/a.json"]);
    let completions = Path::new(&folder.path(".local")).join("share/bash-completion/completions");
    std::fs::create_dir_all(completions).expect("a folder");
    folder
}

#[test]
fn examples_of_help_run() {
    let folder = prepared();
    let program = Path::new(env!("CARGO_BIN_EXE_eitri")).parent().expect("a folder");
    let mut without = Vec::new();
    for command in COMMANDS {
        let all = examples(command);
        if all.is_empty() {
            without.push(command);
        }
        for example in all {
            let program = program.display();
            let home = folder.path("");
            let script = format!("PATH='{program}':$PATH HOME='{home}'; {example}\necho \"exit $?\"");
            let Some(ran) = SHELL.run_in(Path::new(&home), &["-c", &script]) else { return };
            // 1 is for findings: the objects are those of other compilers.
            let has_findings = ran.out.ends_with("exit 1\n");
            assert!(has_findings || ran.out.ends_with("exit 0\n"), "{example}: {ran}");
            assert!(has_findings || !ran.errors.contains("eitri:"), "{example}: {ran}");
        }
    }
    assert!(without.is_empty(), "without an example: {without:?}");
}
