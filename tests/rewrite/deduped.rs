//! `--dedupe`: each type of the original is there, and each entity has the type that it had.

use std::collections::BTreeSet;

use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Entry, Object};
use eitri::rewrite::Rewritten;

use super::said::{assert_same, entities};
use super::units::{CPP, c_files};
use super::{keeps_facts, loaded, rewritten};
use crate::agreement::choices::Choices;
use crate::agreement::{modules, targets};
use crate::common::cases::cases;
use crate::common::consumers::{consumers, named, varied};
use crate::common::random::fixed_choices;
use crate::common::tools::{Folder, Tool, skip};
use crate::import::facts::is_type;
use crate::import::random::written;

pub(super) const GCC: Tool = Tool::new("gcc", "gcc");
pub(super) const GXX: Tool = Tool::new("g++", "g++");
pub(super) const CLANG: Tool = Tool::new("clang-19", "clang-19");
pub(super) const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
const RUSTC: Tool = Tool::new("rustc", "rustc");
const LD: Tool = Tool::new("ld", "binutils");
const DWZ: Tool = Tool::new("dwz", "dwz");
const GDB: Tool = Tool::new("gdb", "gdb");
const LLDB: Tool = Tool::new("lldb-19", "lldb-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const READELF: Tool = Tool::new("readelf", "binutils");

/// Merges the types of an object. Requires that it says what it says in `plain`, which is rewritten without merging; that
/// tools accept it; and that merging again changes nothing.
fn merged(name: &str, before: &[u8], plain: &Rewritten) -> Rewritten {
    let merged = merge(name, before);
    assert_same(name, &plain.object, &merged.object);
    // What an equal type says is not lost.
    assert!(merged.unimported.len() <= plain.unimported.len(), "{name}");
    assert_eq!(merged.omissions, plain.omissions, "{name}");
    loaded::are_equal(name, before, &merged.object);
    merged
}

fn merge(name: &str, before: &[u8]) -> Rewritten {
    let merge = |bytes| rewritten(bytes, |options| options.dedupe = true);
    let merged = merge(before).unwrap_or_else(|error| panic!("{name}: {error}"));
    let again = merge(&merged.object).unwrap_or_else(|error| panic!("{name}, again: {error}"));
    assert!(again.object == merged.object, "{name}: merging again changes bytes: {:#?}", again.sizes);
    let folder = Folder::new();
    folder.file("merged.o", &merged.object);
    if let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--verify", "--quiet", "merged.o"]) {
        let is_accepted_before = {
            folder.file("before.o", before);
            let before = DWARFDUMP.run_in(folder.path(), &["--verify", "--quiet", "before.o"]);
            before.is_some_and(|before| before.succeeded)
        };
        assert!(ran.succeeded || !is_accepted_before, "{name}: {ran}");
    }
    if let Some(ran) = READELF.run_in(folder.path(), &["--debug-dump=info", "merged.o"]) {
        assert!(ran.succeeded && !ran.errors.contains("Warning"), "{name}: {}", ran.errors);
    }
    merged
}

/// Number of complete types with a name outside functions.
fn definitions(bytes: &[u8], name: &str) -> usize {
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let is_named = |entry: &Entry<'_, '_>| {
        is_type(entry.tag())
            && entry.name().is_some_and(|known| known == name)
            && !entry.has(dw::DW_AT_declaration)
    };
    dwarf.entries().filter(is_named).count()
}

/// Compiles and links the units in a folder; `None` if a tool is missing.
pub(super) fn linked(
    folder: &Folder,
    compiler: Tool,
    arguments: &[&str],
    files: &[(&str, &str)],
) -> Option<Vec<u8>> {
    for (name, source) in files {
        folder.file(name, source);
    }
    let units = files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".h"));
    let all: Vec<&str> = arguments.iter().copied().chain(["-o", "before"]).chain(units).collect();
    let ran = compiler.run_in(folder.path(), &all)?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("before")).expect("a program"))
}

/// Types of C are merged by what they say, and a type of one name that differs stays in its unit.
#[test]
fn types_of_c_units_are_merged_except_those_that_differ() {
    for (compiler, arguments) in [
        (GCC, &["-g", "-O0"][..]),
        (GCC, &["-g3", "-O2"]),
        (GCC, &["-gdwarf-4", "-O1"]),
        (GCC, &["-gdwarf-3", "-gstrict-dwarf", "-O0"]),
        (GCC, &["-gdwarf-2", "-gstrict-dwarf", "-O0"]),
        (CLANG, &["-g", "-O0"]),
        (CLANG, &["-g", "-O2", "-gdwarf64"]),
        (CLANG, &["-gdwarf-4", "-O0"]),
    ] {
        let name = format!("{} {arguments:?}", compiler.name);
        let Some(before) = linked(&Folder::new(), compiler, arguments, &c_files()) else { continue };
        let plain = keeps_facts(&name, &before);
        let merged = merged(&name, &before, &plain);
        assert!(merged.merged_types > 10, "{name}: {}", merged.merged_types);
        // clang does not describe a variable of another unit.
        let configs = if compiler.name == "gcc" { 3 } else { 2 };
        for (ty, count) in [("node", 1), ("color", 1), ("even", 1), ("odd", 1), ("config", configs)] {
            assert_eq!(definitions(&merged.object, ty), count, "{name}: {ty}");
        }
        let different: Vec<_> =
            merged.different_types.iter().map(|one| (&one.name[..], one.entries.len())).collect();
        // clang describes no enumeration that nothing has.
        assert!(different.contains(&("config", 2)), "{name}: {different:?}");
        assert!(compiler.name != "gcc" || different.contains(&("MOST", 2)), "{name}: {different:?}");
        assert!(different.len() <= 2, "{name}: {different:?}");
        let info = |rewritten: &Rewritten| {
            rewritten.sizes.iter().find(|size| size.name == ".debug_info").map_or(0, |size| size.after)
        };
        assert!(info(&merged) < info(&plain), "{name}");
    }
}

/// Types of one name are looked up in the unit at the pc first: gdb and lldb print what they print for the original.
#[test]
fn debuggers_print_the_types_of_the_unit() {
    let commands = [
        "break sum",
        "run",
        "info args",
        "info locals",
        "ptype n",
        "ptype struct config",
        "print conf2",
        "print conf",
        "print (int)MOST",
        "ptype struct odd",
        "up",
        "info locals",
        "ptype struct config",
        "print (int)MOST",
        "ptype struct outer",
        "ptype node_t",
        "ptype o",
        "print n",
        "print *o.p",
        "whatis sizeof(int)",
        "print sizeof(struct node)",
        "info types color",
        "print GREEN",
        "print gg",
        "ptype gg",
        "ptype strange",
        "info scope strange",
        "list strange",
    ];
    let lldb = [
        "breakpoint set -n sum",
        "run",
        "frame variable -T",
        "up",
        "frame variable -T",
        "target variable conf conf2 nn gg",
        "bt",
    ];
    for (compiler, arguments) in [(GCC, ["-g", "-O0"]), (CLANG, ["-gdwarf-4", "-O0"])] {
        let folder = Folder::new();
        let Some(before) = linked(&folder, compiler, &arguments, &c_files()) else { continue };
        let after = merge(compiler.name, &before).object;
        let program = folder.path().join("program");
        // The debuggers print the path of the program.
        std::fs::copy(folder.path().join("before"), &program).expect("a copy with the permissions");
        let mut printed = Vec::new();
        for bytes in [&before, &after] {
            std::fs::write(&program, bytes).expect("a program");
            let mut all = vec!["-nx", "-batch"];
            all.extend(commands.iter().flat_map(|command| ["-ex", command]));
            let Some(gdb) = GDB.run_in(folder.path(), &[&all[..], &["./program"]].concat()) else { return };
            if gdb.errors.contains("ptrace") || gdb.out.contains("Cannot create process") {
                return skip("gdb is not permitted to run a program");
            }
            let mut all = vec!["--batch", "--no-lldbinit"];
            all.extend(lldb.iter().flat_map(|command| ["-o", command]));
            let Some(lldb) = LLDB.run_in(folder.path(), &[&all[..], &["./program"]].concat()) else { return };
            // Numbers of processes and addresses differ.
            let lines = lldb.out.lines().filter(|line| !line.contains("Process") && !line.contains("0x0000"));
            let lldb = lines.map(String::from).collect::<Vec<_>>();
            printed.push((gdb.out.lines().map(String::from).collect::<Vec<_>>(), gdb.errors, lldb));
        }
        pretty_assertions::assert_eq!(printed[0].0, printed[1].0, "{}", compiler.name);
        pretty_assertions::assert_eq!(printed[0].1, printed[1].1, "{}", compiler.name);
        pretty_assertions::assert_eq!(printed[0].2, printed[1].2, "{}", compiler.name);
        assert!(printed[0].0.iter().any(|line| line.contains("{z = 1, b = 20}")), "{:#?}", printed[0].0);
        assert!(printed[0].2.iter().any(|line| line.contains("(outer) o = {")), "{:#?}", printed[0].2);
    }
}

/// Definitions of member functions and static members refer to the declarations of the merged type.
#[test]
fn types_of_cpp_units_are_merged_by_name_and_structure() {
    for (compiler, arguments) in [
        (GXX, &["-g", "-O0"][..]),
        (GXX, &["-gdwarf-4", "-O2"]),
        (CLANGXX, &["-g", "-O1"]),
        (CLANGXX, &["-gdwarf-4", "-O0", "-fstandalone-debug"]),
    ] {
        let name = format!("{} {arguments:?}", compiler.name);
        let Some(before) = linked(&Folder::new(), compiler, arguments, &CPP) else { continue };
        let plain = rewritten(&before, |_| {}).expect("it is rewritten");
        let merged = merged(&name, &before, &plain);
        assert!(merged.merged_types > 5, "{name}: {}", merged.merged_types);
        assert_eq!(definitions(&merged.object, "In"), 1, "{name}");
        // A namespace without a name is a different namespace in each unit.
        assert_eq!(definitions(&merged.object, "Anon"), 2, "{name}");
    }
}

/// Types of type units are merged, too: no type unit is left, and no declaration is there twice.
#[test]
fn types_of_type_units_are_merged() {
    for (compiler, arguments) in [
        (GXX, &["-g", "-O0", "-fdebug-types-section"][..]),
        (GXX, &["-gdwarf-4", "-O2", "-fdebug-types-section"]),
        (CLANGXX, &["-g", "-O0", "-fdebug-types-section"]),
    ] {
        let name = format!("{} {arguments:?}", compiler.name);
        let Some(before) = linked(&Folder::new(), compiler, arguments, &CPP) else { continue };
        let merged = merge(&name, &before);
        loaded::are_equal(&name, &before, &merged.object);
        assert!(merged.merged_types > 0, "{name}");
        let object = Object::read(&merged.object).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        assert!(dwarf.units().iter().all(|unit| unit.kind == dw::DW_UT_compile), "{name}");
        // `In` has no functions, so that all units have it whole.
        assert_eq!(definitions(&merged.object, "In"), 1, "{name}");
        for ty in dwarf.entries().filter(|entry| is_type(entry.tag())) {
            let names: Vec<_> = ty
                .children()
                .filter_map(|child| child.attr(dw::DW_AT_linkage_name)?.text().map(|name| name.into_owned()))
                .collect();
            assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "{name}: {names:?}");
        }
    }
}

/// A relocatable object has a relocation for each reference to another unit.
#[test]
fn references_between_units_are_relocated() {
    const SOURCES: [(&str, &str); 2] = [
        (
            "a.rs",
            "pub enum Shape { Round(f64), Wide { w: u32 } }\npub fn one(s: &Shape, o: Option<u32>) -> u64 { match s { Shape::Round(r) => *r as u64, Shape::Wide { w } => u64::from(*w) + match o { Some(n) => u64::from(n), None => 0 } } }\n",
        ),
        (
            "b.rs",
            "pub fn two(o: Option<u32>, r: Option<u8>) -> u64 { match (o, r) { (Some(n), None) => u64::from(n), _ => 0 } }\n",
        ),
    ];
    let folder = Folder::new();
    for (name, source) in SOURCES {
        folder.file(name, source);
        let output = format!("{name}.o");
        let arguments = [
            "--crate-type=lib",
            "--emit=obj",
            "-g",
            "-Copt-level=0",
            "-Ccodegen-units=1",
            "-o",
            &output,
            name,
        ];
        let Some(ran) = RUSTC.run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
    }
    let Some(ran) = LD.run_in(folder.path(), &["-r", "-o", "both.o", "a.rs.o", "b.rs.o"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let before = std::fs::read(folder.path().join("both.o")).expect("an object");
    let plain = rewritten(&before, |_| {}).expect("it is rewritten");
    let merged = merged("rustc", &before, &plain);
    assert!(merged.merged_types > 0);
    assert_eq!(definitions(&merged.object, "Option<u32>"), 1);
    // ld links the object again, and the references still lead to the type.
    folder.file("merged.o", &merged.object);
    let ran = LD.run_in(
        folder.path(),
        &["-r", "-o", "linked.o", "a.rs.o", "merged.o", "--allow-multiple-definition"],
    );
    let Some(ran) = ran else { return };
    assert!(ran.succeeded, "{ran}");
    if let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--verify", "--quiet", "linked.o"]) {
        assert!(ran.succeeded, "{ran}");
    }
    let linked = std::fs::read(folder.path().join("linked.o")).expect("an object");
    assert_eq!(definitions(&linked, "Option<u32>"), 2);
}

/// What dwz has merged into partial units is there once for the program, not once for each unit.
#[test]
fn partial_units_of_dwz_are_imported_once() {
    let folder = Folder::new();
    let Some(before) = linked(&folder, GCC, &["-g", "-O0"], &c_files()) else { return };
    let Some(ran) = DWZ.run_in(folder.path(), &["-o", "small", "before"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let small = std::fs::read(folder.path().join("small")).expect("a program");
    let has_partial_units = {
        let object = Object::read(&small).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        dwarf.units().iter().any(|unit| unit.kind == dw::DW_UT_partial)
    };
    assert!(has_partial_units);
    let plain = rewritten(&small, |_| {}).expect("it is rewritten");
    assert_eq!(definitions(&plain.object, "node"), 1);
    let merged = merge("dwz", &small);
    assert_same("dwz", &plain.object, &merged.object);
    // Apart from types to which nothing refers, they say what the program says.
    let original = rewritten(&before, |_| {}).expect("it is rewritten");
    assert_eq!(entities(&original.object), entities(&plain.object));
}

/// Random descriptions: merging keeps what they say.
#[test]
fn random_descriptions_say_the_same_after_merging() {
    let (mut count, mut changed) = (0, Vec::new());
    for seed in 0..cases(40) as u64 {
        let numbers = fixed_choices(seed, 600);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let consumers = consumers().map(|consumer| varied(&consumer, |count| choices.below(count)));
        let made = modules::module(&mut choices, target);
        for consumer in consumers {
            let name = format!("{seed}, {}", named(&consumer));
            let before = written(&made.module, &made.code, &consumer).expect("the description is written");
            let rewritten = |bytes: &[u8], dedupe| {
                rewritten(bytes, |options| {
                    options.target = Some(made.module.target().clone());
                    options.dedupe = dedupe;
                })
            };
            // Cubins, and split units, are refused.
            let Ok(plain) = rewritten(&before, false) else { continue };
            let merged = rewritten(&before, true).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_same(&name, &plain.object, &merged.object);
            count += 1;
            for (what, dedupe, object) in [("plain", false, &plain.object), ("merged", true, &merged.object)]
            {
                let again = rewritten(object, dedupe).unwrap_or_else(|error| panic!("{name}: {error}"));
                changed.extend((again.object != *object).then(|| format!("{name}, {what}")));
            }
        }
    }
    assert!(count > 40, "{count} objects");
    // Some descriptions for GPUs change once more: docs/rewrite.md.
    assert!(changed.len() * 10 < count, "{} of {count} objects change again: {changed:#?}", changed.len());
}

/// Committed objects of GPU compilers have one unit each: merging does no harm.
#[test]
fn committed_objects_are_merged() {
    for file in super::objects().into_iter().step_by(7) {
        let bytes = std::fs::read(&file).expect("a file");
        let name = file.display().to_string();
        let plain = rewritten(&bytes, |_| {}).expect("it is rewritten");
        let merged = merge(&name, &bytes);
        assert_same(&name, &plain.object, &merged.object);
    }
}

/// Types that are declared at the same line of different files are different types. gcc writes the number of a file that
/// all declarations have into the abbreviation (`DW_FORM_implicit_const`), where it is signed.
#[test]
fn types_of_different_files_are_kept() {
    let folder = Folder::new();
    for (name, unit) in [("x", "a"), ("y", "b")] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        folder.file(
            &format!("{name}/e.h"),
            "struct wide { int first; int second; int third; int fourth; int fifth; };\n",
        );
        folder.file(
            &format!("{name}/{unit}.c"),
            format!("#include \"e.h\"\nint {unit}(struct wide *p) {{ return p->first + p->fifth; }}\n"),
        );
        let (source, object) = (format!("{name}/{unit}.c"), format!("{unit}.o"));
        let Some(ran) = GCC.run_in(folder.path(), &["-g", "-gdwarf-5", "-c", "-o", &object, &source]) else {
            return;
        };
        assert!(ran.succeeded, "{ran}");
    }
    let Some(ran) = LD.run_in(folder.path(), &["-r", "-o", "ab.o", "a.o", "b.o"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let before = std::fs::read(folder.path().join("ab.o")).expect("an object");
    folder.file("merged.o", merge("two files", &before).object);
    let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", "merged.o"]) else { return };
    for file in ["x/e.h", "y/e.h"] {
        assert!(ran.out.contains(&format!("{file}\")")), "no {file}: {ran}");
    }
}
