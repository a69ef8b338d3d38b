//! Files that an object names: split units, the debug information of a stripped program, a supplementary file.
#![cfg(unix)]

use std::fs;

use pretty_assertions::assert_eq;

use super::tools::Tool;
use super::{Folder, run};

const SOURCE: &str = "struct s { int a; long b; };\nint work(struct s *one, int count) { return one->a + count; }\n\
                      int main(int argc, char **argv) { struct s one = { argc, 0 }; return work(&one, argc); }\n";

/// Builds a program with gcc. `None` if it is not installed.
fn program(folder: &Folder, name: &str, options: &[&str]) -> Option<String> {
    folder.file(&format!("{name}.c"), SOURCE);
    let source = format!("{name}.c");
    let arguments = [&["-g", "-O2", "-fno-inline", &source, "-o", name], options].concat();
    let ran = Tool::new("gcc", "gcc").run_in(&folder.0, &arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(folder.path(name))
}

fn objcopy(folder: &Folder, arguments: &[&str]) -> Option<()> {
    let ran = Tool::new("objcopy", "binutils").run_in(&folder.0, arguments)?;
    assert!(ran.succeeded, "{ran}");
    Some(())
}

const MACHINE: &str = r#"{"target": "x86_64", "machine": {"registers": {"rdi": "05 00 00 00 00 00 00 00"}}}"#;

/// The answer for a parameter, and what is on standard error.
fn ask(folder: &Folder, command: &str, program: &str, more: &[&str]) -> (i32, String, String) {
    let machine = folder.file("m.json", MACHINE);
    let question = [command, program, "--var", "argc", "--pc", "main", "--machine", &machine];
    let ran = run(&[&question, more].concat());
    (ran.code, ran.text(), ran.errors)
}

const FOUND: &str = "location reg:rdi, bytes 05 00 00 00\n";

#[test]
fn variable_of_split_unit_is_evaluated() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new(&format!("companion{version}"));
        let Some(program) = program(&folder, "split", &["-gsplit-dwarf", version]) else { return };
        assert_eq!(ask(&folder, "eval", &program, &[]), (0, FOUND.into(), String::new()));
        let (code, steps, _) = ask(&folder, "explain", &program, &[]);
        assert!(code == 0 && steps.ends_with(FOUND), "{steps}");
        let dwo = fs::read_dir(&folder.0)
            .expect("a folder")
            .filter_map(|one| one.ok()?.file_name().into_string().ok());
        let dwo = dwo.filter(|name| name.ends_with(".dwo")).collect::<Vec<_>>();
        let moved = folder.path("moved.other");
        fs::rename(folder.path(&dwo[0]), &moved).expect("a file");
        for command in ["eval", "explain"] {
            let (code, _, errors) = ask(&folder, command, &program, &[]);
            assert!(code == 2 && errors.contains(&*dwo[0]) && errors.contains("--split"), "{errors}");
            let (code, text, errors) = ask(&folder, command, &program, &["--split", &moved]);
            assert!(code == 0 && text.ends_with(FOUND), "{text}{errors}");
        }
    }
}

#[test]
fn debug_information_of_stripped_program_is_found() {
    // By the id, or by the sum of a file without one.
    for (name, id) in [("id", "-Wl,--build-id"), ("sum", "-Wl,--build-id=none")] {
        let folder = Folder::new(&format!("stripped-{name}"));
        let Some(program) = program(&folder, "whole", &[id]) else { return };
        if objcopy(&folder, &["--only-keep-debug", "whole", "part.debug"]).is_none() {
            return;
        }
        let _ = objcopy(&folder, &["--strip-debug", "--add-gnu-debuglink=part.debug", "whole", "bare"]);
        let bare = folder.path("bare");
        let expected = run(&["stats", &program]);
        for place in ["part.debug", ".debug/part.debug"] {
            let path = folder.path(place);
            assert_eq!(ask(&folder, "eval", &bare, &[]).1, FOUND);
            let ran = run(&["stats", &bare]);
            let rows = |text: &str| text.lines().skip(2).take(4).map(String::from).collect::<Vec<_>>();
            assert_eq!((ran.code, rows(&ran.text())), (0, rows(&expected.text())), "{place}");
            assert_eq!(ran.errors, format!("note: {bare}: the debug information is that of {path}\n"));
            for command in ["dump", "lint"] {
                let ran = run(&[command, &bare]);
                assert!(ran.errors.contains(&path), "{command}: {}", ran.errors);
            }
            assert!(run(&["dump", &bare]).text().contains("\"argc\""));
            fs::create_dir_all(folder.path(".debug")).expect("a folder");
            fs::rename(&path, folder.path(".debug/part.debug")).expect("a file");
            if place == ".debug/part.debug" {
                // The file of another program is not used.
                let other = folder.path("part.debug");
                fs::copy(root_program(&folder), &other).expect("a copy");
                fs::remove_file(&path).expect("a file");
            }
        }
        for command in ["dump", "lint", "stats"] {
            let ran = run(&[command, &bare]);
            assert!(ran.errors.contains("`part.debug`, which is not found"), "{command}: {}", ran.errors);
        }
        let (code, _, errors) = ask(&folder, "eval", &bare, &[]);
        assert!(code == 2 && errors.contains("`part.debug`, which is not found"), "{errors}");
        let ran = run(&["report", &bare, "-o", &folder.path("page.html")]);
        assert!(ran.errors.contains("`part.debug`, which is not found"), "{}", ran.errors);
    }
}

/// A program with another id and other contents.
fn root_program(folder: &Folder) -> String {
    program(folder, "other", &["-DOTHER", "-O0"]).expect("gcc is installed")
}

#[test]
fn supplementary_file_that_is_not_read_is_named() {
    let folder = Folder::new("supplementary");
    let [Some(one), Some(_)] = ["one", "two"].map(|name| program(&folder, name, &["-gdwarf-4"])) else {
        return;
    };
    let Some(ran) = Tool::new("dwz", "dwz").run_in(&folder.0, &["-m", "common.dbg", "one", "two"]) else {
        return;
    };
    assert!(ran.succeeded, "{ran}");
    if !folder.0.join("common.dbg").exists() {
        // Nothing that is worth a file.
        return;
    }
    for command in ["dump", "stats", "lint"] {
        let ran = run(&[command, &one]);
        assert!(
            ran.errors.contains("the supplementary file `common.dbg` is not read"),
            "{command}: {}",
            ran.errors
        );
    }
    assert!(ask(&folder, "eval", &one, &[]).2.contains("common.dbg"));
}
