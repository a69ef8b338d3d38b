//! Programs in C and C++: compiled with gcc and clang without a warning, run, and run under valgrind and
//! AddressSanitizer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Folder of the package.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// Warnings under which a program that includes a header has to compile.
const WARNINGS: &[&str] =
    &["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wredundant-decls", "-Wconversion"];

/// A compiler with its language's arguments.
struct Compiler {
    name: &'static str,
    arguments: &'static [&'static str],
}

const C: &[Compiler] = &[
    Compiler { name: "gcc", arguments: &["-std=c99"] },
    Compiler { name: "clang-19", arguments: &["-std=c11"] },
];
const CPP: &[Compiler] = &[
    Compiler { name: "g++", arguments: &["-std=c++17"] },
    Compiler { name: "clang++-19", arguments: &["-std=c++20"] },
];

/// Folder with the libraries that this test's build made.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("a folder").to_owned()
}

/// Runs a program; `None` if there is none, which is a failure where all programs are needed.
fn run(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if std::env::var_os("CI").is_some_and(|ci| ci == "true") => {
            panic!("{:?}: {error}", command.get_program())
        }
        Err(_) => {
            println!("skipped: {:?} is not there", command.get_program());
            None
        }
    }
}

/// Returns the standard output of a program that succeeds.
fn succeed(command: &mut Command) -> Option<String> {
    let output = run(command)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    Some(text(&output.stdout))
}

/// Compiles a source; `None` without the compiler.
fn compiled(compiler: &Compiler, source: &str, more: &[&str], to: &Path) -> Option<()> {
    let mut command = Command::new(compiler.name);
    command.args(compiler.arguments).args(["-g", "-O1"]).args(WARNINGS);
    command.arg("-I").arg(format!("{FOLDER}/include")).arg(format!("{FOLDER}/{source}"));
    command.args(more).arg("-o").arg(to);
    let library = libraries();
    command.arg("-L").arg(&library).arg("-leitri_c").arg(format!("-Wl,-rpath,{}", library.display()));
    succeed(&mut command).map(|_| ())
}

/// Object with the code of `examples/scale.c`'s kernel, which an assembler made.
fn scale_code() -> String {
    format!("{FOLDER}/../../examples/data/scale_code.o")
}

#[test]
fn an_object_is_written_and_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in C {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "examples/scale.c", &[], &program) else { continue };
        let object = folder.path().join("scale.o");
        let said = succeed(Command::new(&program).arg(scale_code()).arg(&object)).expect("was compiled");
        assert!(said.starts_with("0 findings, "), "{said}");
        let Some(entries) = succeed(Command::new("llvm-dwarfdump-19").arg("--name=n").arg(&object)) else {
            continue;
        };
        assert!(entries.contains("DW_TAG_formal_parameter"), "{entries}");
        // The scalar register, and 28 bytes into v40, register 0x628 for 32 lanes of 4 bytes: lane 7.
        assert!(entries.contains("DW_OP_regx 0x628"), "{entries}");
        assert!(entries.contains("e9 05 1c"), "{entries}");
    }
}

#[test]
fn an_expression_is_evaluated() {
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in C {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "examples/evaluate.c", &[], &program) else { continue };
        let said = succeed(&mut Command::new(&program)).expect("was compiled");
        // Lane 5 of 32 lanes with 4 bytes is at bit 160, and has 5 * 16.
        assert_eq!(said, "location reg:v3+160, bytes 50 00 00 00\n");
    }
}

#[test]
fn an_object_is_repaired() {
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in CPP {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "examples/repair.cpp", &[], &program) else { continue };
        // LLVM 22 writes a register where its lane is meant.
        let object = format!("{FOLDER}/../../tests/objects/llvm22/k01_saxpy.gfx1030.O2.hsaco");
        let said = succeed(Command::new(&program).arg(object).arg(folder.path().join("fixed.o")))
            .expect("was compiled");
        let last = said.lines().last().expect("a line");
        let (before, after) = last.split_once(" errors before, ").expect("counts");
        assert_ne!(before, "0", "{said}");
        assert_eq!(after, "0 after", "{said}");
    }
}

#[test]
fn mistakes_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in C {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "tests/mistakes.c", &[], &program) else { continue };
        let said = succeed(&mut Command::new(&program)).expect("was compiled");
        assert_eq!(said, "0 failures\n");
    }
}

#[test]
fn memory_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let [plain, watched] = ["plain", "watched"].map(|name| folder.path().join(name));
    if compiled(&C[0], "tests/mistakes.c", &[], &plain).is_some() {
        let arguments = ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
        if let Some(said) = succeed(Command::new("valgrind").args(arguments).arg(&plain)) {
            assert_eq!(said, "0 failures\n");
        }
    }
    let sanitizer = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    if compiled(&C[0], "tests/mistakes.c", &sanitizer, &watched).is_some() {
        let said = succeed(&mut Command::new(&watched)).expect("was compiled");
        assert_eq!(said, "0 failures\n");
    }
}

#[test]
fn a_lost_handle_is_a_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("leak");
    let Some(()) = compiled(&C[0], "tests/leak.c", &[], &program) else { return };
    let arguments = ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
    if let Some(output) = run(Command::new("valgrind").args(arguments).arg(&program)) {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(9), "{said}");
        assert!(said.contains("definitely lost"), "{said}");
    }
}

/// The wrapper's results and views are used as those of the standard library are.
#[test]
fn the_wrapper_is_as_the_standard_library() {
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in CPP {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "tests/wrapper.cpp", &[], &program) else { continue };
        assert_eq!(succeed(&mut Command::new(&program)).expect("was compiled"), "0 failures\n");
    }
}

#[test]
fn the_header_is_of_each_language() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("all.cpp");
    std::fs::write(&source, "#include <eitri.hpp>\nint main() { return eitri_version() == nullptr; }\n")
        .expect("is written");
    for compiler in CPP {
        let mut command = Command::new(compiler.name);
        command.args(compiler.arguments).args(WARNINGS).arg("-fsyntax-only");
        succeed(command.arg("-I").arg(format!("{FOLDER}/include")).arg(&source));
    }
}

/// The program in `docs/c.md` is the file `tests/screen.c`, and says that nothing is wrong.
#[test]
fn the_program_in_the_documentation_runs() {
    let page = std::fs::read_to_string(format!("{FOLDER}/../../docs/c.md")).expect("the page");
    let source = std::fs::read_to_string(format!("{FOLDER}/tests/screen.c")).expect("the program");
    assert!(page.contains(&format!("```c\n{source}```\n")), "docs/c.md has another program");
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in C {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "tests/screen.c", &[], &program) else { continue };
        assert_eq!(succeed(&mut Command::new(&program)).expect("was compiled"), "0 findings\n");
    }
}

/// The program in C++ in `docs/c.md` is the file `tests/screen.cpp`, and says that nothing is wrong.
#[test]
fn the_program_in_cpp_in_the_documentation_runs() {
    let page = std::fs::read_to_string(format!("{FOLDER}/../../docs/c.md")).expect("the page");
    let source = std::fs::read_to_string(format!("{FOLDER}/tests/screen.cpp")).expect("the program");
    assert!(page.contains(&format!("```cpp\n{source}```\n")), "docs/c.md has another program");
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in CPP {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "tests/screen.cpp", &[], &program) else { continue };
        assert_eq!(succeed(&mut Command::new(&program)).expect("was compiled"), "0 findings\n");
    }
}

/// The structures in `docs/c.md` are in `tests/structures.c`, and describe the parameter of the first program.
#[test]
fn the_structures_in_the_documentation_are_a_variable() {
    let page = std::fs::read_to_string(format!("{FOLDER}/../../docs/c.md")).expect("the page");
    let source = std::fs::read_to_string(format!("{FOLDER}/tests/structures.c")).expect("the program");
    let shown = page.split("```c\nuint64_t ").nth(1).and_then(|rest| rest.split("```").next());
    let lines = shown.expect("the structures").lines().skip(1).map(str::trim);
    assert!(lines.clone().count() > 5);
    for line in lines {
        assert!(source.contains(line), "tests/structures.c lacks {line}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    for compiler in C {
        let program = folder.path().join(compiler.name);
        let Some(()) = compiled(compiler, "tests/structures.c", &[], &program) else { continue };
        let said = succeed(&mut Command::new(&program)).expect("was compiled").replace(' ', "");
        let expected = r#"{"parameter":{"in":"scale","name":"n","type":"int","live":[[0,12,{"register":"s4"}],[12,40,{"lane":["v40",7]}]]}}"#;
        assert!(said.contains(expected), "{said}");
    }
}

/// A CMake project finds the library by its package file.
#[test]
fn cmake_finds_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = format!(
        "cmake_minimum_required(VERSION 3.18)\nproject(user C)\nfind_package(eitri CONFIG REQUIRED)\n\
         add_executable(evaluate {FOLDER}/examples/evaluate.c)\ntarget_link_libraries(evaluate eitri::eitri)\n"
    );
    std::fs::write(folder.path().join("CMakeLists.txt"), project).expect("is written");
    let build = folder.path().join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(folder.path()).arg("-B").arg(&build);
    configure
        .arg(format!("-Deitri_DIR={FOLDER}"))
        .arg(format!("-DEITRI_LIBRARY_DIR={}", libraries().display()));
    if succeed(&mut configure).is_none() {
        return;
    }
    succeed(Command::new("cmake").arg("--build").arg(&build)).expect("is there");
    let said = succeed(&mut Command::new(build.join("evaluate"))).expect("was compiled");
    assert_eq!(said, "location reg:v3+160, bytes 50 00 00 00\n");
}
