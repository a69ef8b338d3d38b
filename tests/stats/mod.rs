//! The promise: `stats` has the numbers of `llvm-dwarfdump --statistics`, for objects of any producer.

use crate::common::source;
use crate::common::tools;
use crate::common::{fields, with};
use crate::report::asked;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::Expr;
use eitri::read::{Dwarf, Object, Skeleton, SplitFiles};
use eitri::report::{ReportOptions, report};
use eitri::stats::{Build, StatsOptions, stats, variable_lines};
use eitri::target::Target;
use fields::with_fields;
use serde_json::Value;
use source::SOURCE;
use tools::{Folder, Tool};

const PEER: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Numbers of llvm-dwarfdump; `None` if it is not installed.
fn expected(file: &Path) -> Option<BTreeMap<String, Value>> {
    let ran = PEER.run(&["--statistics".as_ref(), file.as_os_str()])?;
    assert!(ran.succeeded, "{ran}");
    Some(serde_json::from_str(&ran.out).expect("JSON"))
}

/// Numbers of a file, with the split units beside it.
fn numbers(file: &Path) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(file).expect("the file");
    let read = |name: &str| Ok((name.to_string(), std::fs::read(file.with_file_name(name))?));
    let find = |all: &[Skeleton<'_>]| all.iter().map(|one| read(one.dwo_name)).collect();
    let options = with::<StatsOptions>(|options| {
        options.sound = false;
        options.split = SplitFiles::new(&find);
    });
    stats(&bytes, &options).expect("it is read").numbers().into_iter().collect()
}

/// Numbers of a file that differ from those of llvm-dwarfdump; `None` if it is not installed.
fn differences(file: &Path) -> Option<Vec<String>> {
    Some(compared(file, &expected(file)?))
}

/// Numbers of a file that differ from those that are expected.
fn compared(file: &Path, expected: &BTreeMap<String, Value>) -> Vec<String> {
    let found = numbers(file);
    let numbers = expected.iter().filter_map(|(name, value)| Some((name, value.as_u64()?)));
    let mut all: Vec<String> = numbers
        .filter(|(name, value)| found.get(*name) != Some(value))
        .map(|(name, value)| format!("{}: {name}: {value}, found {:?}", file.display(), found.get(name)))
        .collect();
    let others = found.keys().filter(|name| !expected.contains_key(*name));
    all.extend(others.map(|name| format!("{}: {name} is not expected", file.display())));
    all
}

/// Objects in the folders of producers.
fn objects() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["llvm19", "llvm22", "triton"] {
        let folder = Path::new(crate::common::ROOT).join("tests/objects").join(folder);
        all.extend(std::fs::read_dir(folder).expect("the folder").map(|one| one.expect("a file").path()));
    }
    all.sort();
    assert!(all.len() > 20, "{} objects", all.len());
    all
}

/// Whether a number depends on location lists.
fn depends_on_lists(difference: &str) -> bool {
    difference.contains(" covered by DW_AT_location")
        || difference.contains(" with binary location")
        || difference.contains("#source variables with location")
}

/// Units of cubins have lists of DWARF 2 and no `DW_AT_low_pc`. llvm-dwarfdump then has no base address, and counts the
/// variables as without a location, although `--debug-info` prints their ranges. All other numbers are equal, where the
/// fields have the addends: llvm-dwarfdump applies no relocations of cubins.
#[test]
fn objects_of_gpu_compilers_have_the_numbers_of_llvm_dwarfdump() {
    let mut wrong = Vec::new();
    let mut without_base = 0;
    let folder = Folder::new();
    for file in objects() {
        let bytes = std::fs::read(&file).expect("the file");
        let is_cubin = file.extension().is_some_and(|one| one == "cubin");
        let relocated = if is_cubin { with_fields(&bytes, |addend| addend).0 } else { bytes.clone() };
        let Some(expected) = expected(&folder.file("relocated", relocated)) else { return };
        let mut found = compared(&file, &expected);
        let object = Object::read(&bytes).expect("it is read");
        let dwarf = Dwarf::read(&object).expect("it is read");
        if dwarf.units().iter().any(|unit| unit.encoding.version < 5 && unit.low_pc.is_none()) {
            without_base += usize::from(!found.is_empty());
            found.retain(|one| !depends_on_lists(one));
        }
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
    // The exception is for the four cubins.
    assert!(without_base <= 4, "{without_base} objects");
}

/// `step` is in %r4 at [0, 0x5e0). `cuobjdump -elf` prints where machine registers have it: from 0x4b0 to the instruction at
/// 0x5d0, which has 16 bytes.
#[test]
fn registers_of_ptx_without_a_home_are_unavailable() {
    let file = Path::new(crate::common::ROOT).join("tests/objects/triton/scan_limit.sm_90.cubin");
    let measured =
        stats(&std::fs::read(file).expect("a file"), &StatsOptions::default()).expect("it is read");
    let mut variables = measured.functions.iter().flat_map(|function| &function.variables);
    let step = variables.find(|variable| variable.name == "step").expect("the variable").coverage;
    assert_eq!([step.located, step.unavailable, step.sound], [0x5e0, 0x4b0, 0x5e0 - 0x4b0]);
}

#[test]
fn objects_of_c_compilers_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    let source = folder.file("a.c", SOURCE).display().to_string();
    let object = folder.path().join("a.o");
    let output = object.display().to_string();
    let mut wrong = Vec::new();
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for level in ["-O0", "-O2"] {
            for version in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
                let Some(ran) = tool.run(&[version, level, "-c", &source, "-o", &output]) else { return };
                assert!(ran.succeeded, "{ran}");
                let Some(found) = differences(&object) else { return };
                wrong.extend(found.into_iter().map(|one| format!("{} {level} {version} {one}", tool.name)));
            }
        }
    }
    // Addresses that are sums of one in a table and an offset: by expressions, by ranges and by a form of LLVM's.
    for mode in ["Expressions", "Ranges", "Form", "Disabled"] {
        let mode = format!("-minimize-addr-in-v5={mode}");
        let arguments = ["-g", "-O2", "-ffunction-sections", "-mllvm", &mode, "-c", &source, "-o", &output];
        let Some(ran) = Tool::new("clang-19", "clang-19").run(&arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let Some(found) = differences(&object) else { return };
        wrong.extend(found.into_iter().map(|one| format!("{mode} {one}")));
    }
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
}

/// Machines whose relocations llvm-dwarfdump applies, in both byte orders and sizes where a machine has both.
const MACHINES: [&str; 22] = [
    "aarch64_be-linux-gnu",
    "armv7-linux-gnueabihf",
    "armeb-none-eabi",
    "avr",
    "bpfeb",
    "bpfel",
    "hexagon-unknown-elf",
    "i386-linux-gnu",
    "loongarch32-unknown-elf",
    "loongarch64-linux-gnu",
    "mips-linux-gnu",
    "mipsel-linux-gnu",
    "mips64-linux-gnuabi64",
    "mips64el-linux-gnuabi64",
    "msp430",
    "powerpc-linux-gnu",
    "powerpc64-linux-gnu",
    "powerpc64le-linux-gnu",
    "riscv32-unknown-elf",
    "s390x-linux-gnu",
    "sparc-linux-gnu",
    "sparcv9-linux-gnu",
];

/// Relocations of debug sections are applied for every machine that a compiler has.
#[test]
fn objects_of_many_machines_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    let source = folder.file("a.c", PLAIN).display().to_string();
    let object = folder.path().join("a.o");
    let output = object.display().to_string();
    let clang = Tool::new("clang-19", "clang-19");
    let mut wrong = Vec::new();
    let mut compare = |tool: Tool, arguments: &[&str]| {
        let all = [arguments, &["-g", "-O1", "-c", &source, "-o", &output]].concat();
        let Some(ran) = tool.run(&all) else { return };
        assert!(ran.succeeded, "{ran}");
        let Some(found) = differences(&object) else { return };
        wrong.extend(found.into_iter().map(|one| format!("{} {arguments:?} {one}", tool.name)));
    };
    for machine in MACHINES {
        compare(clang, &["-gdwarf-5", &format!("--target={machine}")]);
    }
    for gcc in ["arm-linux-gnueabihf-gcc", "mips-linux-gnu-gcc", "riscv64-linux-gnu-gcc"] {
        compare(
            Tool::new(gcc, "gcc-arm-linux-gnueabihf, gcc-mips-linux-gnu, gcc-riscv64-linux-gnu"),
            &["-gdwarf-4"],
        );
    }
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
}

/// A source that needs no header.
const PLAIN: &str = "
struct S { int a; short b; } g = {1, 2};
static int helper(int x, struct S *s) { int t = x * 3; for (int i = 0; i < x; i++) t += s->a + i; return t; }
int other(int);
int f(int a, int b) { int k = helper(a, &g); if (k > b) { int z = other(k); k += z; } return k; }
int h(int a) { return f(a, a + 1) + other(a); }
";

const CLASSES: &str = "
#include <functional>
struct S { int a; int get(int k) { int z = a + k; return z; } };
int f(S *s, int n) { int t = 0; for (int i = 0; i < n; i++) t += s[i].get(i); return t; }
int g(int c) { std::function<int(int)> h = [&](int x) { return x + c; }; return h(3); }
";

const COLD: &str = "
struct S { int a; int get() { return a; } };
__attribute__((cold)) void slow(S &);
int f(S *s, int n) {
  int t = 0;
  for (int i = 0; i < n; i++) {
    if (__builtin_expect(s[i].a == 7, 0)) { slow(s[i]); t += s[i].get() * 3; }
    t += s[i].get();
  }
  return t;
}
int h(S *s) { return s->get(); }
";

/// Compiles C++ with debug information. `None` if the tool is not installed.
fn compiled(folder: &Folder, tool: Tool, source: &str, name: &str, arguments: &[&str]) -> Option<PathBuf> {
    let source = folder.file("a.cpp", source).display().to_string();
    let output = folder.path().join(name);
    let path = output.display().to_string();
    let all: Vec<&str> = ["-g", &source, "-o", &path].iter().chain(arguments).copied().collect();
    let ran = tool.run(&all)?;
    assert!(ran.succeeded, "{ran}");
    Some(output)
}

const CPP: [Tool; 2] = [Tool::new("g++", "g++"), Tool::new("clang++-19", "clang-19")];

/// In an unlinked file, each type unit of DWARF 5 has a section `.debug_info` of its own, in which offsets count from 0.
/// Sizes of sections are those in the file.
#[test]
fn type_units_and_compressed_sections_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for tool in CPP {
        for more in [
            &["-O0", "-fdebug-types-section", "-gdwarf-5"][..],
            &["-O1", "-fdebug-types-section", "-gdwarf-4"],
            &["-O1", "-fdebug-types-section", "-gdwarf-5"],
            &["-O0", "-gz"],
        ] {
            let arguments: Vec<&str> = ["-c"].iter().chain(more).copied().collect();
            let Some(object) = compiled(&folder, tool, CLASSES, "a.o", &arguments) else { return };
            let Some(found) = differences(&object) else { return };
            wrong.extend(found.into_iter().map(|one| format!("{} {more:?} {one}", tool.name)));
        }
    }
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
}

/// gcc moves cold parts of functions to `.text.unlikely`. In an unlinked file both sections begin at address 0, and
/// llvm-dwarfdump counts the pcs of one in the other: more bytes are covered than the scopes have. After linking it has
/// the numbers that are right for the unlinked file, too.
#[test]
fn cold_parts_have_the_numbers_of_the_linked_file() {
    let folder = Folder::new();
    let Some(object) = compiled(&folder, CPP[0], COLD, "a.o", &["-O2", "-c"]) else { return };
    let Some(found) = differences(&object) else { return };
    assert!(found.iter().any(|one| one.contains("covered by DW_AT_location")), "the difference is known");
    let linked = folder.path().join("a");
    let paths = [&object, &linked].map(|path| path.display().to_string());
    let arguments = ["--unresolved-symbols=ignore-all", "-e", "0", &paths[0], "-o", &paths[1]];
    let Some(ran) = Tool::new("ld", "binutils").run(&arguments) else { return };
    assert!(ran.succeeded, "{ran}");
    let expected = expected(&linked).expect("the peer");
    let found = numbers(&object);
    let is_size = |name: &str| name.starts_with("#bytes in .debug_");
    let wrong: Vec<_> = expected
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_u64()?)))
        .filter(|(name, value)| !is_size(name) && found.get(*name) != Some(value))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Units of link-time optimization refer to variables of other units, and those have the numbers of files.
#[test]
fn optimized_programs_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    for level in ["-O0", "-O2"] {
        let arguments = [level, "-flto", "-shared", "-fPIC"];
        let Some(object) = compiled(&folder, CPP[0], CLASSES, "a.so", &arguments) else { return };
        let Some(wrong) = differences(&object) else { return };
        assert!(wrong.is_empty(), "{level}: {} numbers\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// llvm-dwarfdump reads the units of the `.dwo`, and measures the sections of the object alone.
#[test]
fn split_units_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let object = folder.path().join("a.o");
    let gcc = Tool::new("gcc", "gcc");
    let clang = Tool::new("clang-19", "clang-19");
    let mut wrong = Vec::new();
    for (tool, split) in [(gcc, "-gsplit-dwarf"), (clang, "-gsplit-dwarf"), (clang, "-gsplit-dwarf=single")] {
        for (level, version) in
            [("-O0", "-gdwarf-4"), ("-O2", "-gdwarf-4"), ("-O0", "-gdwarf-5"), ("-O2", "-gdwarf-5")]
        {
            // The name of the file is relative to the folder of the compilation.
            let arguments = [version, split, level, "-c", "a.c", "-o", "a.o"];
            let Some(ran) = tool.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
            let Some(found) = differences(&object) else { return };
            wrong.extend(found.into_iter().map(|one| format!("{} {arguments:?} {one}", tool.name)));
            let bytes = std::fs::read(&object).expect("an object");
            let read = |name: &str| Ok((name.to_string(), std::fs::read(folder.path().join(name))?));
            let find = |all: &[Skeleton<'_>]| all.iter().map(|one| read(one.dwo_name)).collect();
            let build = Build { split: SplitFiles::new(&find), ..Build::new(&bytes) };
            let lines = variable_lines(build, None, false).expect("it is read");
            let arguments = [version, level, "-c", "a.c", "-o", "whole.o"];
            let Some(ran) = tool.run_in(folder.path(), &arguments) else { return };
            assert!(ran.succeeded, "{ran}");
            let whole = std::fs::read(folder.path().join("whole.o")).expect("an object");
            let whole = variable_lines(Build::new(&whole), None, false).expect("it is read");
            assert!(!lines.is_empty());
            assert_eq!(lines, whole, "{} {split} {level} {version}", tool.name);
        }
    }
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
}

const RUST: &str = "
use std::collections::BTreeMap;
pub fn totals(all: &[(String, u32)]) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in all {
        *sums.entry(name.as_str()).or_insert(0) += u64::from(*count);
    }
    sums.retain(|name, sum| !name.is_empty() && *sum > 3);
    sums
}
";

#[test]
fn objects_of_rustc_have_the_numbers_of_llvm_dwarfdump() {
    let folder = Folder::new();
    let source = folder.file("a.rs", RUST).display().to_string();
    let object = folder.path().join("a.o");
    let output = object.display().to_string();
    for level in ["opt-level=0", "opt-level=1", "opt-level=3"] {
        let options =
            ["--crate-type", "lib", "--edition", "2021", "-g", "-C", level, "-C", "codegen-units=1"];
        let all: Vec<&str> = options.into_iter().chain(["--emit", "obj", &source, "-o", &output]).collect();
        let Some(ran) = Tool::new("rustc", "rustc").run(&all) else { return };
        assert!(ran.succeeded, "{ran}");
        let Some(wrong) = differences(&object) else { return };
        assert!(wrong.is_empty(), "{level}: {} numbers\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// In the split units of rustc, DWARF 4, llvm-dwarfdump has no names of source files, and so counts the functions that the
/// standard library also has twice; and it finds functions of one file at offsets in another, and counts their variables.
/// The right numbers are those that it has for the program with all units in it.
#[test]
fn split_programs_of_rustc_have_the_functions_of_others() {
    let folder = Folder::new();
    folder.file("a.rs", format!("{RUST}\nfn main() {{ println!(\"{{:?}}\", totals(&[])); }}"));
    // The names of the files are relative to the folder of the compilation.
    let program = |name: &str, split: &str| {
        let split = format!("split-debuginfo={split}");
        // llvm-dwarfdump counts functions that the linker discarded.
        let kept = "link-arg=-Wl,--no-gc-sections";
        let arguments = ["--edition", "2021", "-g", "-C", &split, "-C", kept, "a.rs", "-o", name];
        let ran = Tool::new("rustc", "rustc").run_in(folder.path(), &arguments)?;
        assert!(ran.succeeded, "{ran}");
        Some(folder.path().join(name))
    };
    let (Some(whole), Some(split)) = (program("whole", "off"), program("split", "unpacked")) else { return };
    let Some(wrong) = differences(&whole) else { return };
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
    let expected = numbers(&whole);
    let found = numbers(&split);
    let names = ["#functions", "#functions with location", "#unique source variables", "#source variables"];
    for name in names {
        assert!(expected[name] > 1000, "{name}");
        assert_eq!(found[name], expected[name], "{name}");
    }
    let depends = |one: &str| {
        let is_of_function = names.iter().any(|name| one.contains(&format!(": {name}: ")));
        is_of_function || one.contains("processed") || one.contains("with 0%")
    };
    let wrong: Vec<_> =
        differences(&split).expect("the peer").into_iter().filter(|one| !depends(one)).collect();
    assert!(wrong.is_empty(), "{} numbers\n{}", wrong.len(), wrong.join("\n"));
}

/// Each unit of a linked file has the sums that llvm-dwarfdump has for the object of the unit.
#[test]
fn units_have_the_sums_of_their_objects() {
    let folder = Folder::new();
    let output = folder.path().join("all.o").display().to_string();
    let mut objects = Vec::new();
    let mut expected = Vec::new();
    for (name, source) in [("a.c", SOURCE), ("b.c", LOOP)] {
        let source = folder.file(name, source).display().to_string();
        let object = folder.path().join(name).with_extension("o");
        let path = object.display().to_string();
        let Some(ran) = Tool::new("clang-19", "clang-19").run(&["-g", "-O2", "-c", &source, "-o", &path])
        else {
            return;
        };
        assert!(ran.succeeded, "{ran}");
        let Some(ran) = PEER.run(&["--statistics", &path]) else { return };
        let numbers: Value = serde_json::from_str(&ran.clean()).expect("JSON");
        let sum = |what: &str| numbers[&format!("sum_all_variables(#bytes in parent scope{what})")].as_u64();
        expected.push((Some(source), sum(""), sum(" covered by DW_AT_location")));
        objects.push(path);
    }
    let Some(ran) = Tool::new("ld", "binutils").run(&["-r", &objects[0], &objects[1], "-o", &output]) else {
        return;
    };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(output).expect("the file");
    for threads in [1, 2] {
        let found =
            stats(&bytes, &with::<StatsOptions>(|options| options.threads = threads)).expect("it is read");
        let units = found.units.into_iter();
        let units: Vec<_> =
            units.map(|one| (one.name, Some(one.coverage.scope), Some(one.coverage.located))).collect();
        assert_eq!(units, expected);
        assert!(units[1].1 > Some(0), "{units:?}");
    }
}

/// Sums by hand: two units, the second with two functions.
#[test]
fn units_sum_their_functions() -> eitri::Result<()> {
    let target = Target::x86_64();
    let rax = Loc::register(target.register_named("rax").expect("a register"));
    let mut m = Builder::new(target.clone());
    let mut code = ObjectCode::text(vec![0x90; 0x70]);
    let mut start = 0;
    for (unit, functions) in [("a.c", &[("f", 0x40)][..]), ("b.c", &[("g", 0x20), ("h", 0x10)])] {
        let unit = m.unit(unit);
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        for &(name, size) in functions {
            let function = m.function(unit, name)?.code(name, size).id();
            m.variable(function, "half", int)?.live(0..size / 2, rax.clone())?;
            m.variable(function, "none", int)?;
            code = code.with_function(name, start, size);
            start += size;
        }
    }
    let written = lower(&m.finish()?, &Consumer::dwarf5(), Policy::Strict)?;
    let found = stats(&new_object(&target, &code, &written.sections)?, &StatsOptions::default())?;
    let units = found.units.iter().map(|one| (one.name.as_deref(), one.coverage.scope, one.coverage.located));
    // 2 × 0x40 and 0x20; 2 × (0x20 + 0x10) and 0x10 + 0x08.
    let expected = [(Some("a.c"), 0x80, 0x20), (Some("b.c"), 0x60, 0x18)];
    assert_eq!(units.collect::<Vec<_>>(), expected);
    Ok(())
}

/// Empty expressions and empty pieces state that a variable is unavailable (DWARF 5, 2.6.1.1.4 and 2.6.1.2).
/// `llvm-dwarfdump` counts their bytes as covered: 0x30 and 0x40 of 2 × 0x40.
#[test]
fn empty_locations_are_unavailable() -> eitri::Result<()> {
    let target = Target::x86_64();
    let rax = Loc::register(target.register_named("rax").expect("a register"));
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let function = m.function(unit, "f")?.code("f", 0x40).id();
    let mut raw = |bytes: &[u8]| Ok::<_, eitri::Error>(Loc::expr(m.expr(Expr::raw(bytes.to_vec()), &[])?));
    let [empty, pieces, half] = [raw(&[])?, raw(&[0x93, 2, 0x93, 2])?, raw(&[0x50, 0x93, 2, 0x93, 2])?];
    let mut variable = m.variable(function, "part", int)?;
    variable.live(0..0x10, empty.clone())?.live(0x10..0x18, pieces)?;
    variable.live(0x18..0x20, half)?.live(0x20..0x30, rax)?;
    m.variable(function, "none", int)?.always(empty)?;
    let code = ObjectCode::text(vec![0x90; 0x40]).with_function("f", 0, 0x40);
    let written = lower(&m.finish()?, &Consumer::dwarf5(), Policy::Strict)?;
    let object = new_object(&target, &code, &written.sections)?;
    let coverage = stats(&object, &StatsOptions::default())?.functions[0].coverage;
    assert_eq!((coverage.scope, coverage.located, coverage.unavailable), (0x80, 0x70, 0x18 + 0x40));
    assert_eq!((coverage.available(), coverage.sound), (0x18, 0x18));
    let folder = Folder::new();
    let differences = differences(&folder.file("a.o", &object)).unwrap_or_default();
    assert!(differences.is_empty(), "{differences:?}");
    let page = report(&object, &ReportOptions::default())?;
    let Some(found) = asked(&page, "#f=0", "coverage") else { return Ok(()) };
    // 0x18 of 0x80; the function has no frame, which is an error.
    assert_eq!(found, "19 % located, 19 % sound, 1 E");
    Ok(())
}

/// An object of clang 19 for gfx1030 has errors at `-O2`: sound coverage omits the entries with errors.
#[test]
fn sound_coverage_omits_entries_with_errors() {
    let file = Path::new(crate::common::ROOT).join("tests/objects/llvm19/k02_reduce.gfx1030.O2.o");
    let bytes = std::fs::read(file).expect("the file");
    let sound = stats(&bytes, &StatsOptions::default()).expect("it is read").variables.coverage;
    let without = stats(&bytes, &with::<StatsOptions>(|options| options.sound = false))
        .expect("it is read")
        .variables
        .coverage;
    assert_eq!((sound.scope, sound.located), (without.scope, without.located));
    assert_eq!(without.sound, without.located);
    assert!(sound.sound < sound.located, "{sound:?}");
}

const LOOP: &str = "int f(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i;
  return s;
}
static inline __attribute__((always_inline)) int twice(int v) {
  int w = v * 2;
  return w;
}
int g(int n) { return twice(n) + twice(n + 1); }
";

/// Lines by hand: without optimisation, each variable has a place at all lines of its scope; the loop's variable at those
/// of the loop, and the variables of an inlined function at those of its body.
#[test]
fn source_lines_are_those_of_the_scopes() {
    let folder = Folder::new();
    let source = folder.file("a.c", LOOP).display().to_string();
    // clang has no row of the line with the closing brace, and in the second inlined call none of its `return`.
    for (tool, lines, second) in [(Tool::new("gcc", "gcc"), 6, 2), (Tool::new("clang-19", "clang-19"), 5, 1)]
    {
        let object = |level: &str| {
            let output = folder.path().join(format!("{}{level}.o", tool.name));
            let ran = tool.run(&["-g", level, "-c", &source, "-o", &output.display().to_string()])?;
            assert!(ran.succeeded, "{ran}");
            Some(std::fs::read(output).expect("an object"))
        };
        let (Some(base), Some(optimised)) = (object("-O0"), object("-O2")) else { return };
        let all = variable_lines(Build::new(&base), None, false).expect("it is read");
        let numbers = |function: &str, name: &str| -> Vec<(u64, u64)> {
            let found = all.iter().filter(|one| one.function == function && one.name == name);
            found.map(|one| (one.scope, one.located)).collect()
        };
        assert_eq!(numbers("f", "s"), [(lines, lines)], "{}", tool.name);
        assert_eq!(numbers("f", "n"), [(lines, lines)], "{}", tool.name);
        assert_eq!(numbers("f", "i"), [(2, 2)], "{}", tool.name);
        // Two instances of an inlined function, with lines 8 and 9 of its body.
        assert_eq!(numbers("twice", "w"), [(2, 2), (second, second)], "{}", tool.name);
        let combined = variable_lines(Build::new(&base), Some(Build::new(&base)), true).expect("it is read");
        let w = combined.iter().find(|one| one.name == "w").expect("the variable");
        assert_eq!((w.instances, w.scope, w.located), (2, 2 + second, 2 + second), "{}", tool.name);
        // (2 + 2) / 2, and (2 + 1) / 2.
        assert_eq!(w.average(w.located), if second == 2 { 2.0 } else { 1.5 }, "{}", tool.name);
        assert_eq!(w.base.map(|base| (base.located, base.present)), Some((4, 2 + second)), "{}", tool.name);
        // An optimised build has no line at which the other lacks the variable.
        for one in variable_lines(Build::new(&optimised), Some(Build::new(&base)), false).expect("it is read")
        {
            let base = one.base.expect("the base has the variable");
            assert!(one.located <= one.scope && base.present <= base.located, "{one:?}");
        }
    }
}
