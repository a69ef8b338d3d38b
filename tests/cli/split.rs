//! Files of split units: where they are found, and what is read without one of them.
#![cfg(unix)]

use std::fs;

use eitri::read::Object;
use pretty_assertions::assert_eq;
use serde_json::Value;

use super::tools::Tool;
use super::{Folder, Ran, run};

const P: &str = "int of_q(int *all, int n);\nint main(int n, char **all) { return of_q((int *)all, n); }\n";
const Q: &str =
    "int of_q(int *all, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += all[i]; return sum; }\n";

/// Compiles two units whose files of split units have one name, as CMake and Make do: the program is in the folder of the
/// compilation. `None` if gcc is not installed.
fn program(folder: &Folder) -> Option<String> {
    let gcc = Tool::new("gcc", "gcc");
    for (name, source) in [("p", P), ("q", Q)] {
        fs::create_dir_all(folder.path(&format!("build/obj/{name}"))).expect("a folder");
        folder.file(&format!("build/{name}.c"), source);
        let object = format!("obj/{name}/x.o");
        let arguments = ["-gdwarf-5", "-gsplit-dwarf", "-O2", "-c", &format!("{name}.c"), "-o", &object]
            .map(String::from);
        let ran = gcc.run_in(&folder.0.join("build"), &arguments)?;
        assert!(ran.succeeded, "{ran}");
    }
    let ran = gcc.run_in(&folder.0.join("build"), &["obj/p/x.o", "obj/q/x.o", "-o", "program"])?;
    assert!(ran.succeeded, "{ran}");
    Some(folder.path("build/program"))
}

/// Number of functions of a program, and that of units that are not found.
fn found(program: &str, more: &[&str]) -> (u64, usize) {
    let stats: Value = serde_json::from_str(&stats(program, more).text()).expect("JSON");
    let lint = run(&[&["lint", "--format", "json", program], more].concat());
    let missing = lint.text().lines().filter(|line| line.contains("split-unit-elsewhere")).count();
    (stats["#functions"].as_u64().expect("a number"), missing)
}

fn stats(program: &str, more: &[&str]) -> Ran {
    run(&[&["stats", "--format", "json", program], more].concat())
}

#[test]
fn files_of_one_name_are_found() {
    let folder = Folder::new("split-places");
    let Some(program) = program(&folder) else { return };
    assert_eq!(found(&program, &[]), (2, 0));
    // The folder of the compilation, for a program that is installed.
    let installed = folder.path("program");
    fs::copy(&program, &installed).expect("a copy");
    assert_eq!(found(&installed, &[]), (2, 0));
    // A file beside it has another unit, or is not regular, and is no obstacle.
    fs::copy(folder.path("build/obj/p/x.dwo"), folder.path("x.dwo")).expect("a copy");
    assert_eq!(found(&installed, &[]), (2, 0));
    fs::remove_file(folder.path("x.dwo")).expect("a file");
    folder.pipe("x.dwo");
    assert_eq!(found(&installed, &[]), (2, 0));
    // The folder of the object, if all is moved.
    fs::rename(folder.path("build"), folder.path("moved")).expect("a folder");
    let program = folder.path("moved/program");
    assert_eq!((found(&program, &[]), found(&installed, &[])), ((2, 0), (0, 2)));
    // All files beside it.
    for name in ["p", "q"] {
        fs::rename(folder.path(&format!("moved/obj/{name}/x.dwo")), folder.path(&format!("{name}.dwo")))
            .expect("a file");
    }
    fs::copy(folder.path("q.dwo"), folder.path("moved/x.dwo")).expect("a copy");
    assert_eq!(found(&program, &[]), (1, 1));
    let split = ["p.dwo", "q.dwo"].map(|name| folder.path(name));
    assert_eq!(found(&installed, &["--split", &split[0], "--split", &split[1]]), (2, 0));
    let ran = run(&["lint", &program, "--only", "of__q2"]);
    assert!(ran.code == 2 && ran.errors.contains("did you mean `of_q`?"), "{}", ran.errors);
}

/// A file that cannot be read is named, and what is in others is read.
#[test]
fn a_bad_file_hides_no_other() {
    let folder = Folder::new("split-bad");
    let Some(program) = program(&folder) else { return };
    let dwo = folder.path("build/obj/q/x.dwo");
    let whole = fs::read(&dwo).expect("a file");
    let object = Object::read(&whole).expect("an object");
    let change = |name: &str, skipped: usize| {
        let section = object.section(name).expect("the section");
        let at = whole.windows(section.data.len()).position(|bytes| bytes == &*section.data).expect("bytes");
        let mut changed = whole.clone();
        changed[at + skipped..at + section.data.len()].fill(0xff);
        changed
    };
    let page = folder.path("page.html");
    // A file without an end, almost: `/proc/kcore` is one.
    let large = fs::File::options().append(true).open(&dwo).expect("a file");
    large.set_len((4 << 30) + 1).expect("a size");
    let ran = stats(&program, &[]);
    assert!(ran.code == 2 && ran.errors.contains("expected at most 0x100000000"), "{}", ran.errors);
    // No object; a table that is read first; lists that are read with their variables.
    for (bytes, names) in [
        (b"no object".to_vec(), ["not an ELF file", ""]),
        (change(".debug_abbrev.dwo", 0), [".debug_abbrev.dwo", ""]),
        (change(".debug_loclists.dwo", 12), [".debug_loclists.dwo", "q.c"]),
    ] {
        fs::write(&dwo, bytes).expect("a file");
        let of_stats = stats(&program, &[]);
        let found: Value = serde_json::from_str(&of_stats.text()).expect("JSON");
        let is_unread = names[1].is_empty();
        assert_eq!(found["#functions"], if is_unread { 1 } else { 2 });
        let lint = run(&["lint", &program]);
        // Lists that cannot be read are findings: the functions of their unit are judged.
        let functions = if is_unread { " in 1 function " } else { " in 2 functions " };
        assert!(lint.text().contains(functions), "{}", lint.text());
        let report = run(&["report", &program, "-o", &page]);
        assert!(super::text(&page).contains("main"));
        for ran in [of_stats, lint, report] {
            let part = format!("eitri: {program}: split file `{dwo}`");
            let is_named =
                |line: &str| line.starts_with(&part) && names.iter().all(|name| line.contains(name));
            assert!(ran.code == 2 && ran.errors.lines().all(is_named), "{}", ran.errors);
            let count = ran.errors.lines().count();
            assert!(if is_unread { count == 1 } else { count > 1 }, "{}", ran.errors);
        }
        // Named, for several objects: each failure once.
        let of_one = run(&["stats", &program, "--split", &dwo]).errors;
        let ran = run(&["stats", &program, &program, "--split", &dwo]);
        assert_eq!((ran.code, ran.errors.lines().count()), (2, of_one.lines().count()), "{}", ran.errors);
    }
}
