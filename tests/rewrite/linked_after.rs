//! Relocatable objects that are linked after the rewrite: a linker keeps a single copy of a function that several objects
//! have, and the copies' debug information must not move to the code of the kept copy.

use std::path::Path;

use eitri::read::Object;

use super::rewritten;
use crate::common::tools::{Folder, Tool};

const SYMBOLIZER: Tool = Tool::new("llvm-symbolizer-19", "llvm-19");
const VERIFY: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// The inline function has more code in the second file than in the first.
const CPP: [(&str, &str); 3] = [
    (
        "m.cc",
        "#include \"h.h\"\nint two(int);\nint main(int c, char **) { return shared(c) + two(c) + tw(c); }\n",
    ),
    ("n.cc", "#define MORE\n#include \"h.h\"\nint two(int q) { return shared(q) + tw(q); }\n"),
    (
        "h.h",
        "inline int shared(int x) {
  int loc = x;
#ifdef MORE
  int extra = x * 3; int more = extra + loc; loc += more * extra;
#endif
  return loc + 1;
}
template <class T> T tw(T x) { T y = x; return y * 2; }
",
    ),
];

/// A function that another file replaces is the first in its section.
const C: [(&str, &str); 2] = [
    (
        "a.c",
        "__attribute__((weak)) int f(int a) { int weak_local = a + 1; return weak_local; }
__attribute__((weak)) int value = 5;
int g(int);
int alias1(int q) { int aq = q * 2; return aq; }
int alias0(int) __attribute__((weak, alias(\"alias1\")));
int main(int c, char **v) { return f(c) + g(c) + value + alias0(c); }
",
    ),
    (
        "b.c",
        "int f(int a) { int strong_local = a * 2; int second = strong_local + a; return second; }
int value = 9;
int g(int x) { return f(x) + value; }
",
    ),
];

/// A compiler with its options, and the linker's driver with its options.
struct Tools<'t> {
    compiler: Tool,
    options: &'t [&'t str],
    linker: Tool,
    link: &'t [&'t str],
}

/// Compiles, rewrites, links both, and compares functions, inlined calls and lines at each address.
fn same_after_the_link(name: &str, sources: &[(&str, &str)], tools: &Tools<'_>) {
    let folder = Folder::new();
    sources.iter().for_each(|(file, text)| drop(folder.file(file, text)));
    let [mut before, mut after] = [Vec::new(), Vec::new()];
    for (file, _) in sources.iter().filter(|(file, _)| !file.ends_with(".h")) {
        let (object, new) = (format!("{file}.o"), format!("{file}.new.o"));
        let compiled = [tools.options, &["-g", "-c", file, "-o", &object]].concat();
        let Some(ran) = tools.compiler.run_in(folder.path(), &compiled) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join(&object)).expect("an object");
        let written = rewritten(&bytes, |_| ()).unwrap_or_else(|error| panic!("{name}: {error}"));
        std::fs::write(folder.path().join(&new), &written.object).expect("a file");
        before.push(object);
        after.push(new);
    }
    let [before, after] = [(before, "before"), (after, "after")].map(|(objects, program)| {
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let ran = tools.linker.run_in(folder.path(), &[tools.link, &objects, &["-o", program]].concat())?;
        assert!(ran.succeeded, "{name}: {ran}");
        let ran = VERIFY.run_in(folder.path(), &["--verify", program])?;
        symbolized(folder.path(), program).map(|text| (text, ran.succeeded))
    });
    let Some(((before, was_valid), (after, is_valid))) = before.zip(after) else { return };
    assert!(before.contains("main\n") || before.contains("_start\n"), "{name}: {before}");
    pretty_assertions::assert_eq!(before, after, "{name}");
    assert!(is_valid || !was_valid, "{name}: llvm-dwarfdump finds a fault");
}

/// Returns the functions, inlined calls and lines at each address of a program's text.
fn symbolized(folder: &Path, program: &str) -> Option<String> {
    let bytes = std::fs::read(folder.join(program)).expect("a program");
    let object = Object::read(&bytes).expect("a program");
    let text = object.sections().iter().find(|section| section.name == ".text").expect("a section");
    let addresses = text.address..text.address + text.size;
    let addresses: Vec<String> = addresses.step_by(2).map(|address| format!("{address:#x}")).collect();
    let object = format!("--obj={program}");
    let arguments = [&*object, "--inlines", "--functions=short"];
    let addresses = addresses.iter().map(String::as_str);
    let ran = SYMBOLIZER.run_in(folder, &arguments.into_iter().chain(addresses).collect::<Vec<_>>())?;
    assert!(ran.succeeded, "{ran}");
    // clang's unit has the padding between functions, too.
    let in_functions = ran.out.split("\n\n").filter(|answer| !answer.starts_with("??"));
    Some(in_functions.collect::<Vec<_>>().join("\n\n"))
}

#[test]
fn discarded_copies_stay_where_they_are() {
    let compilers: [(Tool, &[&str]); 2] = [
        (Tool::new("g++", "g++"), &["-fno-pie", "-no-pie"]),
        (Tool::new("clang++-19", "clang-19"), &["-fuse-ld=lld", "-pie"]),
    ];
    for (compiler, own) in compilers {
        for options in [["-O0", "-gdwarf-5"], ["-O0", "-gdwarf-4"], ["-O1", "-ffunction-sections"]] {
            for link in [own, &["-Wl,--gc-sections"]] {
                let tools = Tools { compiler, options: &options, linker: compiler, link };
                same_after_the_link(&format!("{}{}", compiler.name, options[1]), &CPP, &tools);
            }
        }
    }
}

/// Code that a linker shortens has no pcs before the link.
#[test]
fn relaxed_code_is_refused() {
    let compilers: [(Tool, &[&str]); 2] = [
        (Tool::new("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"), &[]),
        (Tool::new("clang-19", "clang-19"), &["--target=riscv64-linux-gnu"]),
    ];
    let text = "int ext(int); int first(int a) { int b = ext(a); return b + 1; } \
        int second(int q) { int r = ext(q) * 2; return r + ext(r); } int ext(int x) { return x * 3; } \
        void _start(void) { ext(first(1) + second(2)); }\n";
    let linker = Tool::new("riscv64-linux-gnu-ld", "gcc-riscv64-linux-gnu");
    for (compiler, target) in compilers {
        let options = [target, &["-O1", "-ffreestanding", "-fno-pic", "-fno-inline"]].concat();
        let folder = Folder::new();
        folder.file("r.c", text);
        let compile = [&options[..], &["-g", "-c", "r.c", "-o", "r.o"]].concat();
        let Some(ran) = compiler.run_in(folder.path(), &compile) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("r.o")).expect("an object");
        let error = rewritten(&bytes, |_| ()).expect_err("its code is shortened").to_string();
        assert!(error.contains(".text") && error.contains("R_RISCV_RELAX"), "{error}");
        let options = [&options[..], &["-mno-relax"]].concat();
        let tools = Tools { compiler, options: &options, linker, link: &["-static", "-Ttext=0x10000"] };
        same_after_the_link(&format!("riscv-{}", compiler.name), &[("r.c", text)], &tools);
    }
}

#[test]
fn replaced_functions_stay_where_they_are() {
    for compiler in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for options in [&["-O0"][..], &["-O0", "-gdwarf-3"], &["-O0", "-fPIC"]] {
            let tools = Tools { compiler, options, linker: compiler, link: &[] };
            same_after_the_link(&format!("{}{}", compiler.name, options.concat()), &C, &tools);
        }
    }
}
