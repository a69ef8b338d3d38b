//! The library as `cargo cinstall` installs it, where cargo-c 0.10 is there. It is not among the programs that the gate needs:
//! Debian's 0.9 does not read this workspace, and 0.10 takes four minutes to build. `programs.rs` has the same programs
//! with the library as `cargo build` makes it.

use std::path::Path;
use std::process::Command;

/// Folder of the package.
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the standard output of a program that succeeds.
fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?}:\n{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Output of `examples/evaluate.c`.
const SAID: &str = "location reg:v3+160, bytes 50 00 00 00\n";

/// Whether cargo-c is there, in a version that reads this workspace.
fn has_cargo_c() -> bool {
    let said = Command::new("cargo").args(["cinstall", "--version"]).output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = said.strip_prefix("cargo-c 0.").and_then(|version| version.split('.').next());
    version.and_then(|minor| minor.parse().ok()).is_some_and(|minor: u32| minor >= 10)
}

#[test]
fn installed_library_is_found_by_pkg_config_and_cmake() {
    if !has_cargo_c() {
        println!("skipped: cargo-c 0.10 is not there");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let installed = folder.path().join("usr");
    let mut install = Command::new("cargo");
    install.args(["cinstall", "-p", "eitri-c", "--debug", "--libdir", "lib"]);
    install.arg("--prefix").arg(&installed).arg("--manifest-path").arg(format!("{FOLDER}/Cargo.toml"));
    succeed(&mut install);
    let libraries = installed.join("lib");
    for file in
        ["include/eitri.h", "include/eitri.hpp", "lib/libeitri_c.a", "share/cmake/eitri/eitri-config.cmake"]
    {
        assert!(installed.join(file).is_file(), "{file} is not installed");
    }

    // Each function has the library's version.
    let symbols = succeed(Command::new("objdump").arg("-T").arg(libraries.join("libeitri_c.so")));
    let functions: Vec<&str> =
        symbols.lines().filter(|line| line.contains(" eitri_") && line.contains(".text")).collect();
    assert!(functions.len() > 25, "{symbols}");
    assert!(functions.iter().all(|line| line.contains("libeitri_c.so.0")), "{symbols}");

    let program = folder.path().join("evaluate");
    let flags = succeed(
        Command::new("pkg-config")
            .env("PKG_CONFIG_PATH", libraries.join("pkgconfig"))
            .args(["--cflags", "--libs", "eitri"]),
    );
    let mut compile = Command::new("cc");
    compile.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    compile.arg(format!("{FOLDER}/examples/evaluate.c")).args(flags.split_whitespace());
    succeed(compile.arg("-o").arg(&program));
    assert_eq!(succeed(Command::new(&program).env("LD_LIBRARY_PATH", &libraries)), SAID);
    // The program asks for the version, which has the library's number.
    let versions = succeed(Command::new("readelf").arg("-V").arg(&program));
    assert!(versions.contains("File: libeitri_c.so.0.1"), "{versions}");

    assert_eq!(succeed(&mut built_by_cmake(folder.path(), &installed)), SAID);
}

/// Builds `examples/evaluate.c` by CMake, against the installed library.
fn built_by_cmake(folder: &Path, installed: &Path) -> Command {
    let project = format!(
        "cmake_minimum_required(VERSION 3.18)\nproject(user C)\nfind_package(eitri CONFIG REQUIRED)\n\
         add_executable(evaluate {FOLDER}/examples/evaluate.c)\ntarget_link_libraries(evaluate eitri::eitri)\n"
    );
    std::fs::write(folder.join("CMakeLists.txt"), project).expect("is written");
    let build = folder.join("build");
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", installed.display());
    succeed(Command::new("cmake").arg("-S").arg(folder).arg("-B").arg(&build).arg(prefix));
    succeed(Command::new("cmake").arg("--build").arg(&build));
    Command::new(build.join("evaluate"))
}
