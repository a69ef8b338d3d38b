//! gdb shows the same of a program before and after a rewrite: types, variables at each instruction, lines, breakpoints and
//! frames.

use eitri::consumer::Consumer;

use super::kept::{compiled, gdb, twice};
use super::{keeps_facts, rewritten};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");

const LOCALS: &str = r"
struct pair { int one; long other; };
__attribute__((noinline)) static long sum(int count, struct pair *pairs) {
  long total = 0;
  int values[count];
  for (int i = 0; i < count; i++) {
    values[i] = pairs[i].one;
    total += values[i] + pairs[i].other;
  }
  return total;
}
int main(void) {
  struct pair pairs[2] = {{1, 2}, {3, 4}};
  long result = sum(2, pairs);
  return result == 10 ? 0 : 1;
}
";

/// Whether gdb could run the program.
pub(super) fn is_run(shown: &str) -> bool {
    !shown.contains("Cannot create process") && !shown.contains("ptrace")
}

/// Compares what gdb shows of `before` and `after`. Returns it, if gdb can run programs.
pub(super) fn shows_the_same(folder: &Folder, name: &str, commands: &[&str]) -> Option<String> {
    let before = gdb(folder, "./before", commands)?;
    // The stack begins with the name of the program: names of the same length give the same addresses.
    std::fs::copy(folder.path().join("after"), folder.path().join("after1")).expect("a copy");
    let after = gdb(folder, "./after1", commands)?;
    pretty_assertions::assert_eq!(before, after, "{name}");
    is_run(&before).then_some(before)
}

/// gcc has a frame base for each pc range of a prologue in DWARF 2, which lacks `DW_OP_call_frame_cfa`.
#[test]
fn frame_base_by_pc_keeps_variables_at_each_instruction() {
    for (level, frame_pointer) in [("-O0", ""), ("-O0", "-fomit-frame-pointer"), ("-Og", "")] {
        let name = format!("{level} {frame_pointer}");
        let folder = Folder::new();
        let mut arguments = vec!["-gdwarf-2", level];
        arguments.extend(Some(frame_pointer).filter(|option| !option.is_empty()));
        let Some(bytes) = compiled(&folder, GCC, ("a.c", LOCALS), &arguments) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("DW_AT_frame_base")), "{name}: {lost:#?}");
        let mut commands = vec!["break *sum", "run"];
        for _ in 0..40 {
            commands.extend(["print $pc", "info args", "info locals", "bt", "stepi"]);
        }
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("count = 2"), "{name}: {shown}");
    }
}

/// DWARF 2 has no operation for the canonical frame address, from which variables are reached in later versions.
#[test]
fn frame_base_for_dwarf_2_follows_the_frame() {
    for (version, frame_pointer) in [
        ("-gdwarf-4", "-fomit-frame-pointer"),
        ("-gdwarf-5", "-fomit-frame-pointer"),
        ("-gdwarf-5", "-fno-omit-frame-pointer"),
    ] {
        let name = format!("{version} {frame_pointer}");
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GCC, ("a.c", LOCALS), &[version, "-O0", frame_pointer]) else {
            return;
        };
        let consumer = Consumer::named("dwarf2").expect("a consumer");
        let after = rewritten(&bytes, |options| options.consumer = Some(consumer)).expect("it is rewritten");
        assert!(after.omissions.is_empty(), "{name}: {:#?}", after.omissions);
        std::fs::copy(folder.path().join("before"), folder.path().join("after")).expect("a copy");
        folder.file("after", &after.object);
        let mut commands = vec!["break *sum", "run"];
        for _ in 0..40 {
            commands.extend(["print $pc", "print count", "print total", "bt", "stepi"]);
        }
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("count=2"), "{name}: {shown}");
    }
}

const LINES: &str = r#"
static inline int half(int x) { return x / 2; }
__attribute__((noinline)) int twice(int x) {
  volatile int y = x;
  return y + y;
}
__attribute__((noinline, section(".text.other"))) int other(int x) {
  volatile int y = half(x);
  return y + twice(y);
}
int main(int count, char **values) {
  int sum = other(count);
  return sum > 100 ? sum : 0;
}
"#;

/// clang describes only functions with inlined calls for `-gline-tables-only`, and gcc no variables for `-g1`.
#[test]
fn code_without_functions_keeps_lines_and_frames() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    let frames = "-fno-asynchronous-unwind-tables";
    for (compiler, arguments) in [
        (CLANG, vec!["-gline-tables-only", "-O0"]),
        (CLANG, vec!["-gline-tables-only", "-O2", frames]),
        (CLANG, vec!["-gline-tables-only", "-O1", "-gdwarf-4", frames]),
        (GCC, vec!["-g1", "-O0", frames]),
        (GCC, vec!["-g1", "-O2"]),
    ] {
        let name = arguments.join(" ");
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, compiler, ("a.c", LINES), &arguments) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| fact.contains(".debug_info")), "{name}: {lost:#?}");
        let mut commands: Vec<String> =
            ["twice", "other", "main"].map(|name| format!("info line {name}")).into();
        for line in 1..16 {
            commands.push(format!("info line a.c:{line}"));
            commands.push(format!("break a.c:{line}"));
        }
        commands.push("run".into());
        commands.extend((0..12).flat_map(|_| ["bt".into(), "info locals".into(), "continue".into()]));
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("twice (") && shown.contains("at a.c:"), "{name}: {shown}");
    }
}

/// clang has predefined macros and those of the command line in line 0 of the primary file, gcc before the file.
#[test]
fn predefined_macros_are_kept() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    let source = "#include \"h.h\"\n#define A(x) ((x) + H)\n#undef GONE\nint main(void) { return A(-4); }\n";
    for (compiler, arguments) in [
        (CLANG, vec!["-g", "-fdebug-macro", "-DGIVEN=7", "-DGONE"]),
        (CLANG, vec!["-g", "-gdwarf-4", "-fdebug-macro", "-DGIVEN=7", "-DGONE"]),
        (GCC, vec!["-g3", "-DGIVEN=7", "-DGONE"]),
    ] {
        let name = arguments.join(" ");
        let folder = Folder::new();
        folder.file("h.h", "#define H 4\n");
        let Some(bytes) = compiled(&folder, compiler, ("a.c", source), &arguments) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{name}: {lost:#?}");
        let Some([before, after]) = macros_of_both(&folder) else { return };
        assert!(before.iter().any(|line| line.ends_with("lineno: 0 macro: GIVEN 7")), "{name}: {before:#?}");
        pretty_assertions::assert_eq!(before, after, "{name}");
        let commands = [
            "break main",
            "run",
            "info macro GIVEN",
            "info macro GONE",
            "info macro H",
            "macro expand A(1)",
            "info macros",
        ];
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("((1) + 4)"), "{name}: {shown}");
    }
}

/// Returns the macros of `before` and `after` by their lines, as LLVM reads them. Lists that a list imports are apart.
fn macros_of_both(folder: &Folder) -> Option<[Vec<String>; 2]> {
    const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
    let macros = |program: &str| {
        let ran = DWARFDUMP.run_in(folder.path(), &["--debug-macro", program])?;
        // An empty definition has a space before it, which clang omits.
        let line = |line: &str| line.find("lineno: ").map(|at| line[at..].trim_end().to_owned());
        let mut lines: Vec<String> = ran.out.lines().filter_map(line).collect();
        lines.retain(|line| line.contains(" macro: "));
        lines.sort();
        Some(lines)
    };
    Some([macros("before")?, macros("after")?])
}

/// Units import the definitions of a header that all of them include, as gcc's units do.
#[test]
fn macros_of_a_header_are_written_once() {
    let header: String = (0..400).map(|n| format!("#define LONG_NAME_{n} {n}\n")).collect();
    let folder = Folder::new();
    folder.file("h.h", &header);
    for name in ["b", "c", "d"] {
        folder.file(
            &format!("{name}.c"),
            format!("#include \"h.h\"\nint {name}(void) {{ return LONG_NAME_7; }}\n"),
        );
    }
    let source = "#include \"h.h\"\nint b(void);\nint main(void) { return b() + LONG_NAME_3 - 10; }\n";
    let arguments = ["-g3", "b.c", "c.c", "d.c"];
    let Some(bytes) = compiled(&folder, GCC, ("a.c", source), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{lost:#?}");
    let Some([before, after]) = macros_of_both(&folder) else { return };
    let count = |lines: &[String]| lines.iter().filter(|line| line.ends_with("LONG_NAME_9 9")).count();
    assert_eq!([count(&before), count(&after)], [1, 1]);
    let commands = ["break b", "run", "info macro LONG_NAME_399", "macro expand LONG_NAME_7", "info macros"];
    let Some(shown) = shows_the_same(&folder, "-g3", &commands) else { return };
    assert!(shown.contains("expands to: 7"), "{shown}");
}

/// Scripts of gdb refer to no debug information. What an unknown section refers to is not known.
#[test]
fn scripts_stay_and_unknown_sections_are_listed() {
    let source = r#"
asm(".pushsection \".debug_gdb_scripts\", \"MS\",@progbits,1\n.byte 1\n.asciz \"script.py\"\n.popsection");
asm(".pushsection \".debug_other\", \"\",@progbits\n.long 5\n.popsection");
int main(void) { return 0; }
"#;
    for arguments in [["-g", "-O1"], ["-g", "-c"]] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GCC, ("a.c", source), &arguments) else { return };
        let rewritten = super::rewritten(&bytes, |_| {}).expect("it is rewritten");
        let object = eitri::read::Object::read(&rewritten.object).expect("an object");
        let scripts = object.section(".debug_gdb_scripts").expect("the scripts");
        assert_eq!(&*scripts.data, b"\x01script.py\0");
        assert!(object.section(".debug_other").is_none());
        let lost: Vec<String> = rewritten.lost().collect();
        assert_eq!(lost.len(), 1, "{lost:#?}");
        assert!(lost[0].contains("`.debug_other` is removed"), "{lost:#?}");
    }
}

/// A function that ends outside its section is an error in the object.
#[test]
fn function_beyond_its_section_is_an_error_in_the_object() -> eitri::Result<()> {
    use eitri::build::Builder;
    use eitri::consumer::{Consumer, Policy};
    use eitri::emit::elf::{ObjectCode, new_object};
    use eitri::error::ErrorKind;
    let mut m = Builder::new(eitri::target::Target::x86_64());
    let unit = m.unit("a.c");
    m.function(unit, "f")?.code("f", 0x40);
    let module = m.finish()?;
    let sections = eitri::lower::lower(&module, &Consumer::dwarf5(), Policy::Strict)?.sections;
    let code = ObjectCode::text(vec![0x90; 16]).with_function("f", 0, 16);
    let object = new_object(module.target(), &code, &sections)?;
    let error = super::rewritten(&object, |_| {}).expect_err("the code is too short");
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    let text = error.to_string();
    for part in ["a.c", "`f`", ".text", "0x40 bytes", "0x10 bytes"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    Ok(())
}

const NAMELIST: &str = "subroutine show()
  integer :: count = 3
  real(8) :: width
  namelist /numbers/ count, width
  width = 1.5
  count = count + 1
  write (*, nml=numbers)
end subroutine
program p
  call show()
end program
";

/// gfortran declares the variables of a namelist, with their locations.
#[test]
fn variables_of_namelists_keep_their_locations() {
    const FORTRAN: Tool = Tool::new("gfortran", "gfortran");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let arguments = ["-O0", version];
        let Some(bytes) = compiled(&folder, FORTRAN, ("a.f90", NAMELIST), &arguments) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("DW_AT_location")), "{version}: {lost:#?}");
        let commands = ["break 7", "run", "print count", "print width", "ptype width"];
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        assert!(shown.contains("= 4") && shown.contains("= 1.5"), "{version}: {shown}");
    }
}

const C: &str = r#"
#include <stdlib.h>
struct pair { int one; long other; struct { unsigned flags : 3; } bits; };
union both { struct pair pair; char bytes[8]; };
enum color { RED, GREEN = 5 };
typedef int (*operation)(int, int);
static int add(int one, int other) { return one + other; }
__attribute__((noipa)) static int apply(operation run, int one, int other) {
  int result = run(one, other);
  return result * 2;
}
__attribute__((noinline, section(".text.other"))) int walk(struct pair *pairs, int count) {
  int total = 0;
  for (int i = 0; i < count; i++) {
    int here = pairs[i].one;
    total += apply(add, here, (int)pairs[i].other);
  }
  return total;
}
int main(int count, char **values) {
  struct pair pairs[2] = {{1, 2, {1}}, {3, 4, {2}}};
  union both both = {.pair = pairs[0]};
  enum color color = count > 1 ? RED : GREEN;
  int total = walk(pairs, 2);
  return total + color + both.bytes[0] == 26 ? 0 : 1;
}
"#;

const CXX: &str = r#"
namespace outer {
struct Base { virtual ~Base() {} virtual int run(int n) const { return n; } int count = 1; };
template <class T, int N> struct Array { T values[N]; T sum() const { T s = 0; for (auto v : values) s += v; return s; } };
enum class Kind : unsigned char { One, Two };
struct Derived : virtual Base {
  int run(int n) const override { return n + factor; }
  int factor = 3; Kind kind = Kind::Two; static int total;
};
int Derived::total = 0;
}
using outer::Derived;
__attribute__((noinline)) int call(const outer::Base &base, int n) {
  int result = base.run(n);
  return result;
}
int main() {
  Derived derived;
  outer::Array<int, 3> array{{1, 2, 3}};
  auto twice = [&](int n) { return 2 * n + array.values[0]; };
  int &alias = Derived::total;
  alias = call(derived, twice(array.sum()));
  return alias == 16 ? 0 : 1;
}
"#;

/// A program with what gdb is asked of it.
struct Debugged {
    compiler: Tool,
    file: (&'static str, &'static str),
    arguments: &'static [&'static str],
    types: &'static [&'static str],
}

/// Types, lines, breakpoints, variables and frames of several producers' programs.
#[test]
fn programs_are_debugged_as_before() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
    const C_TYPES: &[&str] = &["struct pair", "union both", "enum color", "operation", "walk", "main"];
    const CXX_TYPES: &[&str] =
        &["outer::Base", "outer::Derived", "outer::Kind", "outer::Array<int, 3>", "call", "main"];
    let c = |compiler, arguments| Debugged { compiler, file: ("a.c", C), arguments, types: C_TYPES };
    // Without types, the functions have no prototypes.
    let lines = |compiler, arguments| Debugged { types: &[], ..c(compiler, arguments) };
    let cxx = |compiler, arguments| Debugged { compiler, file: ("a.cc", CXX), arguments, types: CXX_TYPES };
    let programs = [
        c(GCC, &["-gdwarf-2", "-O0"]),
        c(GCC, &["-gdwarf-2", "-O2"]),
        c(GCC, &["-gdwarf-5", "-O2"]),
        lines(GCC, &["-g1", "-O1"]),
        lines(CLANG, &["-gline-tables-only", "-O1"]),
        c(CLANG, &["-g", "-O2"]),
        c(CLANG, &["-g", "-O0", "-fdebug-types-section"]),
        cxx(CLANGXX, &["-g", "-O0", "-fdebug-types-section"]),
        cxx(CLANGXX, &["-gdwarf-4", "-O0"]),
    ];
    for Debugged { compiler, file, arguments, types } in programs {
        let name = format!("{compiler:?} {}", arguments.join(" "));
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, compiler, file, arguments) else { return };
        twice(&folder, &bytes);
        let mut commands = vec!["set width 0".to_string(), "set print entry-values no".to_string()];
        commands.extend(types.iter().map(|ty| format!("ptype {ty}")));
        for line in 1..file.1.lines().count() {
            commands.push(format!("info line {}:{line}", file.0));
            commands.push(format!("break {}:{line}", file.0));
        }
        commands.push("run".into());
        commands
            .extend((0..40).flat_map(|_| ["bt", "info locals", "info args", "continue"].map(String::from)));
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("Breakpoint 1"), "{name}: {shown}");
    }
}

/// gcc repeats in each instance that the variable is a declaration.
#[test]
fn variables_that_inlined_functions_declare_are_kept() {
    const SOURCE: &str = "int sum(int);\n\
        int plus(int a) { extern int shared; return shared + a; }\n\
        int sum(int a) { return plus(a) + plus(a + 1); }\n\
        int shared = 3;\n\
        int main(void) { return sum(0) + plus(1) - 11; }\n";
    for version in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GCC, ("a.c", SOURCE), &[version, "-O2"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("DW_AT_declaration")), "{version}: {lost:#?}");
        let commands = ["print shared", "ptype plus", "break plus"];
        let Some(before) = gdb(&folder, "./before", &commands) else { return };
        let Some(after) = gdb(&folder, "./after", &commands) else { return };
        pretty_assertions::assert_eq!(before, after, "{version}");
    }
}

/// Objective-C's functions have prototypes, as C's have, and other languages have them as attributes.
#[test]
fn prototypes_outside_c_are_kept() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    let folder = Folder::new();
    folder.file("a.m", "int f(int a) { return a; }\nint (*pointer)(int) = f;\n");
    let Some(ran) = CLANG.run_in(folder.path(), &["-g", "-c", "-o", "before", "a.m"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("before")).expect("an object");
    keeps_facts("clang, Objective-C", &bytes);
}

/// clang has a register's location as the target of a call, where the address is meant: gdb follows both to the caller's
/// description of the arguments.
#[test]
fn call_targets_in_registers_are_kept() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    const SOURCE: &str = "volatile int sink;\n\
        __attribute__((noinline)) void called(int n) { sink = n; n = sink + 1; sink = 2; }\n\
        void (*volatile pointer)(int) = called;\n\
        __attribute__((noinline)) void twice(void (*f)(int)) { f(6); sink = 1; f(7); sink = 3; }\n\
        int main(void) { twice(pointer); return 0; }\n";
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, CLANG, ("a.c", SOURCE), &[version, "-O2"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("target")), "{version}: {lost:#?}");
        let mut commands = vec!["set print entry-values both", "break called", "run"];
        commands.extend(["bt 1", "stepi"].repeat(5));
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        assert!(shown.contains("(n=7, n@entry=6)"), "{version}: {shown}");
    }
}

/// clang writes the 10 bytes of x86's extended precision for a type of 16 bytes.
#[test]
fn constants_of_extended_precision_keep_their_values() {
    const CLANG: Tool = Tool::new("clang-19", "clang-19");
    const SOURCE: &str = "volatile long double out;\n\
        static inline __attribute__((always_inline)) long double half(long double x) { out = x / 2; return out; }\n\
        int main(void) { half(3.25L); half(-1.5L); return 0; }\n";
    for version in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, CLANG, ("a.c", SOURCE), &[version, "-O1"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{version}: {lost:#?}");
        let commands = ["break half", "run", "info args", "continue", "info args"];
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        assert!(shown.contains("x = 3.25") && shown.contains("x = -1.5"), "{version}: {shown}");
    }
}
