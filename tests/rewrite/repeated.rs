//! A second rewrite with the same options changes nothing: objects of all compilers, by version, option and unit.

use std::path::Path;

use eitri::Consumer;
use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Object};
use eitri::rewrite::RewriteOptions;

use super::rewritten;
use super::units::{CPP, c_files};
use crate::common::tools::{Folder, Tool};
use crate::import::foreign::PROGRAMS;

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
const LD: Tool = Tool::new("ld", "binutils");

type Set = fn(&mut RewriteOptions<'_>);

/// Options by their names on the command line.
const OPTIONS: [(&str, Set); 5] = [
    ("", |_| {}),
    ("--dedupe", |options| options.dedupe = true),
    ("--dedupe --gc", |options| (options.dedupe, options.gc) = (true, true)),
    ("--for dwarf5", |options| options.consumer = Consumer::named("dwarf5").ok()),
    ("--for dwarf4", |options| options.consumer = Consumer::named("dwarf4").ok()),
];

/// Requires that a second rewrite with each of the options changes nothing. Types that differ in what another consumer cannot
/// express are equal in the first result only.
fn settles(name: &str, bytes: &[u8]) {
    for (option, set) in OPTIONS {
        let first = rewritten(bytes, set).unwrap_or_else(|error| panic!("{name} {option}: {error}"));
        if option.starts_with("--for") && !first.omissions.is_empty() {
            continue;
        }
        let second =
            rewritten(&first.object, set).unwrap_or_else(|error| panic!("{name} {option}, again: {error}"));
        assert!(second.object == first.object, "{name} {option}: {:#?}", second.sizes);
    }
}

/// Compiles and links files to `out`.
fn linked(folder: &Folder, compiler: Tool, arguments: &[&str], files: &[(&str, &str)]) -> Option<Vec<u8>> {
    for (name, source) in files {
        folder.file(name, source);
    }
    let sources = files.iter().map(|(name, _)| *name).filter(|name| !name.ends_with(".h"));
    let all: Vec<&str> = arguments.iter().copied().chain(["-o", "out"]).chain(sources).collect();
    let ran = compiler.run_in(folder.path(), &all)?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("out")).expect("a program"))
}

/// Types in type units of linked programs, and of relocatable objects, whose groups have symbols.
#[test]
fn type_units_are_rewritten_once() {
    let c = c_files();
    for (compiler, files, object) in
        [(GCC, &c[..], "c.c"), (CLANG, &c[..], "b.c"), (GXX, &CPP[..], "x2.cc"), (CLANGXX, &CPP[..], "x2.cc")]
    {
        for arguments in
            [["-gdwarf-4", "-O2", "-fdebug-types-section"], ["-gdwarf-5", "-O0", "-fdebug-types-section"]]
        {
            let folder = Folder::new();
            let name = format!("{} {arguments:?}", compiler.name);
            let Some(bytes) = linked(&folder, compiler, &arguments, files) else { continue };
            settles(&name, &bytes);
            let all = [&arguments[..], &["-c", "-o", "out.o", object]].concat();
            let Some(ran) = compiler.run_in(folder.path(), &all) else { continue };
            assert!(ran.succeeded, "{ran}");
            let bytes = std::fs::read(folder.path().join("out.o")).expect("an object");
            settles(&format!("{name} {object}"), &bytes);
        }
    }
}

/// Link-time optimization: code is in units that refer to functions and types of other units.
#[test]
fn link_time_units_are_rewritten_once() {
    let c = c_files();
    for (compiler, files) in [(GCC, &c[..]), (GXX, &CPP[..])] {
        for arguments in [["-flto", "-gdwarf-5", "-O0"], ["-flto", "-gdwarf-4", "-O2"]] {
            let name = format!("{} {arguments:?}", compiler.name);
            let Some(bytes) = linked(&Folder::new(), compiler, &arguments, files) else { continue };
            settles(&name, &bytes);
        }
    }
}

/// A unit of link-time optimization refers to the types of later units, and has no copies of them.
#[test]
fn types_of_later_units_are_not_copied() {
    let Some(bytes) = linked(&Folder::new(), GCC, &["-flto", "-g", "-O0"], &c_files()) else { return };
    // Number of complete structures of a name in each unit that has any.
    let counts = |bytes: &[u8]| {
        let object = Object::read(bytes).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        let is_node = |entry: &eitri::read::Entry<'_, '_>| {
            entry.tag() == dw::DW_TAG_structure_type && entry.name().as_deref() == Some("node")
        };
        let counts = dwarf.units().iter().map(|unit| dwarf.entries_of(unit).filter(is_node).count());
        counts.collect::<Vec<_>>()
    };
    let before = counts(&bytes);
    // The first unit is that of the code, without types of the sources.
    assert!(before[0] == 0 && before.iter().sum::<usize>() == 3, "{before:?}");
    let after = rewritten(&bytes, |_| {}).expect("it is rewritten");
    assert_eq!(counts(&after.object), before);
}

const BLOCKS: &str = "volatile int sink;
static inline __attribute__((always_inline)) bool is_odd(int x) { int low = x & 1; sink = low; return low; }
static inline __attribute__((always_inline)) bool is_small(int x) { sink = x; return x < 100; }
int scale(int x, int n) {
  int sign = x < 0, result = x;
  if (n > 3) { int shift = n - 3, tie = shift & 1; sink = shift; { int inner = tie + shift; sink = inner; } result += tie; }
  if (is_odd(x)) result++;
  if (is_small(n)) { int other = result * 2; sink = other; result = other; }
  if (is_odd(n)) { int last = sink; sink = last + 1; result += last; }
  return result + sign;
}
__attribute__((noinline)) int first(int n) { return scale(n, n + 1); }
int main(int c, char **) { return first(c) + scale(c, 7) + scale(c * 3, c); }
";

/// The code of a function is before its abstract instance, and has inlined calls between the blocks.
#[test]
fn calls_stay_between_blocks() {
    for level in ["-O1", "-O2"] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let Some(bytes) = linked(&Folder::new(), CLANGXX, &[version, level], &[("a.cc", BLOCKS)]) else {
                return;
            };
            settles(&format!("{version} {level}"), &bytes);
        }
    }
}

/// Programs of five compilers, and objects that a linker made of several.
#[test]
fn compiled_objects_are_rewritten_once() {
    for program in PROGRAMS {
        let Some(bytes) = program.compiled(&Folder::new()) else { continue };
        settles(&program.to_string(), &bytes);
    }
    for (compiler, version) in [(GCC, "-gdwarf-5"), (CLANG, "-gdwarf-5"), (GCC, "-gdwarf-3")] {
        let folder = Folder::new();
        for (name, source) in c_files() {
            folder.file(name, source);
        }
        for (source, object) in [("a.c", "a.o"), ("b.c", "b.o"), ("c.c", "c.o")] {
            let arguments = [version, "-O1", "-c", "-o", object, source];
            let Some(ran) = compiler.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
        }
        let Some(ran) = LD.run_in(folder.path(), &["-r", "-o", "out.o", "a.o", "b.o", "c.o"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("out.o")).expect("an object");
        settles(&format!("{} {version}, ld -r", compiler.name), &bytes);
    }
}

/// Committed objects of GPU compilers.
#[test]
fn committed_objects_are_rewritten_once() {
    for file in super::objects().into_iter().step_by(5) {
        settles(&file.display().to_string(), &std::fs::read(&file).expect("a file"));
    }
}

/// The signature of a group is a symbol at offset 0 of a section that is not loaded: it names no code. g++ groups the
/// constructors of a class under a name that no function has (`C5`).
#[test]
fn signatures_of_groups_name_no_code() {
    const SOURCE: &str =
        "struct B { B() : a(1) {} int f() const; int a; };\nint g() { B b; return b.f(); }\n";
    // Names and addresses of functions.
    let functions = |bytes: &[u8]| {
        let object = Object::read(bytes).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        let named = dwarf
            .entries()
            .filter(|entry| entry.tag() == dw::DW_TAG_subprogram)
            .filter_map(|entry| Some((entry.name()?.into_owned(), entry.low_pc()?)));
        named.collect::<std::collections::BTreeSet<_>>()
    };
    let folder = Folder::new();
    folder.file("a.cc", SOURCE);
    for version in ["-gdwarf-2", "-gdwarf-5"] {
        let arguments = [version, "-O0", "-c", "-o", "a.o", "a.cc"];
        let Some(ran) = GXX.run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let before = std::fs::read(folder.path().join("a.o")).expect("an object");
        let Some(ran) = Tool::new("readelf", "binutils").run_in(folder.path(), &["-sW", "a.o"]) else {
            return;
        };
        assert!(ran.out.contains("_ZN1BC5Ev"), "{ran}");
        let after = rewritten(&before, |_| {}).unwrap_or_else(|error| panic!("{version}: {error}"));
        assert!(functions(&before).len() == 2, "{:?}", functions(&before));
        assert_eq!(functions(&after.object), functions(&before), "{version}");
    }
}

/// Number of inlined calls in entries of abstract instances, and in other entries, outside other inlined calls.
fn inlined_calls(bytes: &[u8]) -> [usize; 2] {
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let mut counts = [0, 0];
    for entry in dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_inlined_subroutine) {
        let mut around = std::iter::successors(entry.parent(), |entry| entry.parent());
        let first =
            around.find(|entry| matches!(entry.tag(), dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine));
        let Some(function) = first.filter(|first| first.tag() == dw::DW_TAG_subprogram) else { continue };
        counts[usize::from(!function.has(dw::DW_AT_inline))] += 1;
    }
    counts
}

/// `twice` is inlined into the code of `middle`, which is also inlined, so that it has an abstract instance.
const INLINED: &str = r"
extern int use(int);
static inline int twice(int x) { int t = use(x); return t + t; }
int middle(int y) { int m = twice(y); return m + use(m); }
int outer(int z) { return middle(z) + middle(z + 1) + use(z); }
";

/// Compilers write a call that is inlined into a function's code with the code alone, not in the abstract instance.
#[test]
fn inlined_calls_are_added_to_no_abstract_instance() {
    for (compiler, version) in
        [(GCC, "-gdwarf-5"), (GCC, "-gdwarf-4"), (CLANG, "-gdwarf-5"), (CLANG, "-gdwarf-4")]
    {
        let folder = Folder::new();
        folder.file("a.c", INLINED);
        let arguments = [version, "-O2", "-c", "-o", "a.o", "a.c"];
        let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("a.o")).expect("an object");
        let name = format!("{} {version}", compiler.name);
        let before = inlined_calls(&bytes);
        assert!(before[0] == 0 && before[1] > 1, "{name}: {before:?}");
        let after = super::keeps_facts(&name, &bytes);
        assert_eq!(inlined_calls(&after.object), before, "{name}");
    }
    for file in super::objects() {
        let bytes = std::fs::read(&file).expect("a file");
        let after = rewritten(&bytes, |_| {}).expect("it is rewritten");
        let name = Path::new(&file).display();
        assert_eq!(inlined_calls(&after.object), inlined_calls(&bytes), "{name}");
    }
}
