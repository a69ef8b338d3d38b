//! gdb and lldb print the variables of the program, in an object and in memory.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[allow(dead_code, reason = "the helpers of the project's tests")]
#[path = "../../../tests/common/tools.rs"]
mod tools;

use tools::{Folder, Tool, skip};

const CC: Tool = Tool::new("cc", "gcc");
const GDB: Tool = Tool::new("gdb", "gdb");
const LLDB: Tool = Tool::new("lldb-19", "lldb-19");

const PROGRAM: &str = env!("CARGO_BIN_EXE_cranelift-debug");

/// Frames at the first stop, in `add`: the values are in registers that the call preserves, and `c` is in a spill slot.
const FIRST: [&str; 3] = [
    "add (a=1, b=2) at program.toy:2",
    "work (a=1, b=2, c=3, d=4, e=5, f=6) at program.toy:5",
    "main () at program.toy:9",
];
/// Frames at the second stop: `c` is used no more.
const SECOND: [&str; 2] =
    ["add (a=9, b=4) at program.toy:2", "work (a=1, b=2, c=<optimized out>, d=4, e=5, f=6) at program.toy:6"];

fn gdb(program: &[&str]) {
    let mut arguments = vec!["-batch", "-nx", "-ex", "set breakpoint pending on"];
    for command in ["break program.toy:2", "run", "bt", "continue", "bt", "up", "print e + f"] {
        arguments.extend(["-ex", command]);
    }
    arguments.push("--args");
    arguments.extend(program);
    let Some(ran) = GDB.run(&arguments) else { return };
    if ran.errors.contains("ptrace") {
        return skip("gdb may not trace programs here");
    }
    for expected in FIRST.iter().chain(&SECOND).chain(&["$1 = 11"]) {
        assert!(ran.out.contains(expected), "{expected}: {ran}");
    }
}

#[test]
fn gdb_prints_variables_of_an_object() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let (object, program) = (path("program.o"), path("program"));
    let written = Tool::new(PROGRAM, "the example").run(&["object", &object]).expect("the example").clean();
    assert!(written.starts_with("0 findings, 0 unproven, 0 omitted"), "{written}");
    let Some(ran) = CC.run(&[&object, "-o", &program]) else { return };
    assert!(ran.succeeded, "{ran}");
    gdb(&[&program]);
}

#[test]
fn gdb_prints_variables_of_code_in_memory() {
    gdb(&[PROGRAM, "jit"]);
}

#[test]
fn lldb_prints_variables_of_code_in_memory() {
    let mut arguments = vec!["--no-lldbinit", "-b"];
    for setting in ["settings set target.disable-aslr false", "settings set plugin.jit-loader.gdb.enable on"]
    {
        arguments.extend(["-O", setting]);
    }
    for command in ["breakpoint set -f program.toy -l 2", "run", "bt"] {
        arguments.extend(["-o", command]);
    }
    arguments.extend(["--", PROGRAM, "jit"]);
    let Some(ran) = LLDB.run(&arguments) else { return };
    if ran.errors.contains("ptrace") || ran.errors.contains("personality") {
        return skip("lldb may not trace programs here");
    }
    for expected in FIRST {
        let expected = expected.replace(" (", "(").replace("main()", "main");
        assert!(ran.out.contains(&expected), "{expected}: {ran}");
    }
}
