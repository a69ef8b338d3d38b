//! Facts that few programs have, in programs that compilers and assemblers make in the test.

use super::{keeps_facts, listed, loaded, rewritten};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
const FORTRAN: Tool = Tool::new("gfortran", "gfortran");
const GO: Tool = Tool::new("go", "golang-go");
const GDB: Tool = Tool::new("gdb", "gdb");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Compiles a file to `before`.
pub(super) fn compiled(
    folder: &Folder,
    compiler: Tool,
    file: (&str, &str),
    arguments: &[&str],
) -> Option<Vec<u8>> {
    folder.file(file.0, file.1);
    let ran = compiler.run_in(folder.path(), &[arguments, &["-o", "before", file.0]].concat())?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("before")).expect("an object"))
}

/// Rewrites `before` as `after`, twice: the second rewrite changes nothing.
pub(super) fn twice(folder: &Folder, bytes: &[u8]) -> Vec<String> {
    let first = rewritten(bytes, |_| {}).expect("it is rewritten");
    loaded::are_equal("a program", bytes, &first.object);
    let second = rewritten(&first.object, |_| {}).expect("it is rewritten again");
    assert!(second.object == first.object, "a second rewrite changes bytes: {:#?}", second.sizes);
    std::fs::copy(folder.path().join("before"), folder.path().join("after")).expect("a copy");
    folder.file("after", &first.object);
    let lost = first.unimported.iter().map(ToString::to_string);
    lost.chain(first.omissions.iter().map(ToString::to_string)).collect()
}

/// Returns what gdb prints of a program after commands.
pub(super) fn gdb(folder: &Folder, program: &str, commands: &[&str]) -> Option<String> {
    let mut arguments = vec!["-nx", "-batch", "-ex", "set debuginfod enabled off"];
    for command in commands {
        arguments.extend(["-ex", command]);
    }
    arguments.push(program);
    let ran = GDB.run_in(folder.path(), &arguments)?;
    let lines = ran.out.lines().chain(ran.errors.lines());
    // Process numbers and paths differ.
    let kept = lines.filter(|line| !line.contains("process ") && !line.contains(program));
    Some(kept.collect::<Vec<_>>().join("\n"))
}

const STATIC: &str = r"
volatile int sink;
__attribute__((noinline)) int ext(int i) { sink = i; return i; }
int sw(int x) { if (x == 3) { static int cnt = 41; ext(1); ext(2); ext(3); return ++cnt; } return 0; }
int a(int x) { return sw(x); }
int b(int x) { return sw(x) + 1; }
int main(int c, char **v) { return a(c + 2) + b(c + 2) + sw(c); }
";

/// gcc states the address of a static variable in the abstract instance, from which inlined calls inherit it.
#[test]
fn static_variables_are_in_all_instances() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let arguments = ["-O2", "-fno-ipa-icf", version];
        let Some(bytes) = compiled(&folder, GCC, ("a.c", STATIC), &arguments) else { return };
        twice(&folder, &bytes);
        let show = [
            "break ext",
            "run",
            "up",
            "info locals",
            "down",
            "continue",
            "continue",
            "continue",
            "up",
            "info locals",
        ];
        let Some(before) = gdb(&folder, "./before", &show) else { return };
        if before.contains("Cannot create process") || before.contains("ptrace") {
            return;
        }
        let Some(after) = gdb(&folder, "./after", &show) else { return };
        assert!(before.contains("cnt = 41") && before.contains("cnt = 42"), "{version}: {before}");
        pretty_assertions::assert_eq!(before, after, "{version}");
    }
}

const ALLOCATABLE: &str = "program p
  real(8), allocatable :: x(:)
  integer, pointer :: q(:,:)
  allocate(x(2))
  allocate(q(2,3))
  x = 1.5
  q = 7
  print *, size(x), size(q)
end program
";

/// A lower bound that is an expression, as gfortran writes those of allocatable arrays and pointers.
#[test]
fn allocatable_arrays_are_kept() {
    for level in ["-O0", "-O2"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, FORTRAN, ("a.f90", ALLOCATABLE), &["-g", level]) else { return };
        keeps_facts(&format!("gfortran {level}"), &bytes);
        twice(&folder, &bytes);
        let show = ["break 8", "run", "whatis x", "whatis q", "print x", "print q"];
        let Some(before) = gdb(&folder, "./before", &show) else { return };
        let Some(after) = gdb(&folder, "./after", &show) else { return };
        assert!(level != "-O0" || before.contains("(1.5, 1.5)"), "{before}");
        pretty_assertions::assert_eq!(before, after, "{level}");
    }
}

/// Go names its pointers, and has pointers that nothing refers to.
#[test]
fn pointers_with_names_are_kept() {
    let folder = Folder::new();
    let source = "package main\n\nfunc main() { println(1) }\n";
    folder.file("go.mod", "module example.com/m\n\ngo 1.19\n");
    folder.file("a.go", source);
    let Some(ran) = GO.run_in(folder.path(), &["build", "-o", "before", "a.go"]) else { return };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("before")).expect("a program");
    twice(&folder, &bytes);
    for file in ["before", "after"] {
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", "--name=unsafe.Pointer", file])
        else {
            return;
        };
        assert!(ran.out.contains("DW_TAG_pointer_type"), "{file}: {ran}");
    }
}

const NESTED: &str = r"
struct A { struct N; N *p; enum class K : short; K k; };
struct A::N { int z; struct M { int w; } m; };
enum class A::K : short { One = 1, Two };
namespace ns {
struct T { enum class E { A, B } e; struct U { int x; } u; };
enum Color { RED = 1, GREEN = 2 };
template <class V> struct W { V v; };
}
struct D { struct Nested { int q; } nest; int k; } d;
ns::T t;
ns::Color c = ns::GREEN;
A a;
A::N n;
ns::W<ns::T> w;
int f(ns::T::U *u) { return u->x; }
int main() {
  D::Nested n2;
  n2.q = 1;
  A::K k = A::K::Two;
  return n2.q + d.k + (int)k + n.z + f(&t.u) + c;
}
";

/// Types of namespaces and classes keep their scope, and enumerations their enumerators, with and without type units.
#[test]
fn scopes_of_types_are_kept() {
    let types = [
        "ptype/o struct A",
        "ptype A::N",
        "ptype A::N::M",
        "ptype A::K",
        "ptype ns::T",
        "ptype ns::T::E",
        "ptype ns::T::U",
        "ptype ns::Color",
        "ptype ns::W<ns::T>",
        "ptype D::Nested",
        "print c",
        "ptype Nested",
        "ptype T",
        "ptype Color",
    ];
    for (compiler, version) in
        [(GXX, "-gdwarf-4"), (GXX, "-gdwarf-5"), (CLANGXX, "-gdwarf-4"), (CLANGXX, "-gdwarf-5")]
    {
        for units in ["-fdebug-types-section", "-fno-debug-types-section"] {
            let folder = Folder::new();
            let arguments = [version, "-O0", units];
            let Some(bytes) = compiled(&folder, compiler, ("a.cc", NESTED), &arguments) else { continue };
            let lost = twice(&folder, &bytes);
            let lost: Vec<_> =
                lost.into_iter().filter(|fact| !fact.contains("DW_AT_GNU_odr_signature")).collect();
            let case = format!("{} {version} {units}", compiler.name);
            assert!(lost.is_empty(), "{case}: {}", listed(&lost));
            let Some(before) = gdb(&folder, "./before", &types) else { return };
            let Some(after) = gdb(&folder, "./after", &types) else { return };
            assert!(
                before.contains("{A::K::One = 1, A::K::Two}") && before.contains("struct ns::T::U {"),
                "{before}"
            );
            assert!(before.contains("No symbol \"Nested\" in current context"), "{before}");
            pretty_assertions::assert_eq!(before, after, "{case}");
        }
    }
}

/// A function with a linkage name only.
const UNNAMED: &str = r#"
	.text
	.globl f
	.type f,@function
f:
	ret
	.size f,.-f
.Lend:
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 2, 0x2e
	.byte 0
	.uleb128 0x6e, 0x08, 0x3f, 0x19, 0x11, 0x01, 0x12, 0x07, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
	.long .Lafter - .Lstart
.Lstart:
	.short 5
	.byte 1, 8
	.long .debug_abbrev
	.uleb128 1
	.asciz "a.c"
	.quad f
	.quad .Lend - f
	.uleb128 2
	.asciz "_Z1fv"
	.quad f
	.quad .Lend - f
	.byte 0
.Lafter:
"#;

/// An entity without a name gets none, and no entry of an index has an empty name.
#[test]
fn functions_without_a_name_get_none() {
    let folder = Folder::new();
    let Some(bytes) = compiled(&folder, GCC, ("a.s", UNNAMED), &["-c"]) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{}", listed(&lost));
    let named = rewritten(&bytes, |options| options.names = true).expect("it is rewritten");
    folder.file("after", &named.object);
    let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", "--debug-names", "after"]) else {
        return;
    };
    assert!(ran.out.contains("DW_AT_linkage_name\t(\"_Z1fv\")"), "{ran}");
    assert!(!ran.out.contains("(\"\")") && !ran.out.contains("\"\"\n"), "{ran}");
}

/// Marks of code and data, of which each section has its own, name no addresses.
#[test]
fn objects_with_mapping_symbols_are_rewritten() {
    let folder = Folder::new();
    let arguments = ["--target=aarch64-linux-gnu", "-g", "-O1", "-c"];
    let source = "int g = 1; static int s; int f(int x) { static int c; s += x; return c++ + s + g; }\n";
    let Some(bytes) = compiled(&folder, CLANG, ("a.c", source), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{}", listed(&lost));
    let Some(before) = DWARFDUMP.run_in(folder.path(), &["--debug-info", "before"]) else { return };
    let Some(after) = DWARFDUMP.run_in(folder.path(), &["--debug-info", "after"]) else { return };
    let locations = |text: &str| text.matches("DW_AT_location\t(DW_OP_addr").count();
    assert_eq!(locations(&before.out), 3, "{before}");
    assert_eq!(locations(&after.out), 3, "{after}");
}

/// g++ marks variables that are declared inline, as C++17 has them.
#[test]
fn inline_variables_stay_inline() {
    const SOURCE: &str = "struct S { static inline int made = 3; }; inline int counted = 4;\n\
        template <class T> inline int size = sizeof(T);\n\
        int main() { return S::made + counted + size<long>; }\n";
    let folder = Folder::new();
    let arguments = ["-std=c++17", "-g", "-O0", "-c"];
    let Some(bytes) = compiled(&folder, GXX, ("a.cc", SOURCE), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.iter().all(|fact| fact.contains("DW_TAG_template_type_parameter")), "{}", listed(&lost));
    for name in ["before", "after"] {
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", name]) else { return };
        // The member's declaration and the two variables.
        assert_eq!(ran.out.matches("DW_AT_inline\t(DW_INL_declared_inlined)").count(), 3, "{name}: {ran}");
    }
}

/// clang describes a string literal by a variable without a name, at an address without a symbol of its own. A linker gives
/// it the same address before and after a rewrite.
#[test]
fn string_literals_keep_their_addresses() {
    let folder = Folder::new();
    let source = "const char *f(void) { return \"literal\"; }\nint main(void) { return f()[0]; }\n";
    let arguments = ["-g", "-gdwarf-5", "-O0", "-c"];
    let Some(bytes) = compiled(&folder, CLANG, ("a.c", source), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{}", listed(&lost));
    let mut addresses = Vec::new();
    for name in ["before", "after"] {
        let object = format!("{name}.o");
        std::fs::rename(folder.path().join(name), folder.path().join(&object)).expect("a new name");
        let Some(ran) = GCC.run_in(folder.path(), &["-no-pie", "-o", name, &object]) else { return };
        assert!(ran.succeeded, "{ran}");
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-addr", name]) else { return };
        let mut list: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("0x00000000")).collect();
        list.sort_unstable();
        // The two functions and the literal.
        assert_eq!(list.len(), 3, "{ran}");
        addresses.push(list.join("\n"));
    }
    assert_eq!(addresses[0], addresses[1]);
}

/// A local symbol with the name of a global symbol, or of another local symbol, names no address.
#[test]
fn symbols_with_one_name_are_not_confused() {
    let folder = Folder::new();
    folder.file("a.c", "static int x[4] = {1}; int *a(void) { return x; }\n");
    folder.file("b.c", "static int x[2] = {2}; int y = 3; int *b(void) { return x; }\n");
    for file in ["a", "b"] {
        let source = format!("{file}.c");
        let Some(ran) = GCC.run_in(folder.path(), &["-g", "-O0", "-c", &source]) else { return };
        assert!(ran.succeeded, "{ran}");
    }
    let Some(ran) = GCC.run_in(folder.path(), &["-r", "-nostdlib", "-o", "before", "a.o", "b.o"]) else {
        return;
    };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("before")).expect("an object");
    twice(&folder, &bytes);
    let show = ["print &x[1]", "print 'a.c'::x", "print 'b.c'::x", "print y"];
    let Some(before) = gdb(&folder, "./before", &show) else { return };
    let Some(after) = gdb(&folder, "./after", &show) else { return };
    assert!(before.contains("{1, 0, 0, 0}") && before.contains("{2, 0}"), "{before}");
    pretty_assertions::assert_eq!(before, after);
}

const VARIADIC: &str = r"
int (*with)(const char *, ...);
int (*without)(const char *);
void (*callback)(int (*)(int, ...), int);
int main(void) { return with == 0 && without == 0 && callback == 0; }
";

/// Types of functions with more arguments are other types than those without.
#[test]
fn function_types_with_more_arguments_are_kept() {
    for (compiler, version) in [(GCC, "-gdwarf-5"), (GCC, "-gdwarf-3"), (CLANG, "-gdwarf-5")] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, compiler, ("a.c", VARIADIC), &[version, "-O0"]) else { continue };
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{}", listed(&lost));
        let show = ["whatis with", "whatis without", "whatis callback"];
        let Some(after) = gdb(&folder, "./after", &show) else { return };
        let expected = [
            "type = int (*)(const char *, ...)",
            "type = int (*)(const char *)",
            "type = void (*)(int (*)(int, ...), int)",
        ];
        pretty_assertions::assert_eq!(after, expected.join("\n"), "{} {version}", compiler.name);
    }
}

/// A function whose stack the instructions do not show: an indexed array in scratch.
const INDEXED: &str = r"
__attribute__((noinline)) static int h(int x, global int *s) {
  int q[8];
  for (int i = 0; i < 8; i++) q[i] = x * i + *s;
  int r = 0;
  for (int i = 0; i < x; i++) r += q[i & 7];
  return r;
}
kernel void k(global int *o, global int *s, local int *l) {
  int id = __builtin_amdgcn_workitem_id_x();
  l[id] = h(id, s);
  __builtin_amdgcn_s_barrier();
  o[id] = l[id ^ 1];
}
";

/// An error that a fix leaves is in its report.
#[test]
fn errors_that_a_fix_leaves_are_listed() {
    let folder = Folder::new();
    let arguments = ["--target=amdgcn-amd-amdhsa", "-mcpu=gfx1100", "-nogpulib", "-g", "-O1", "-x", "cl"];
    let Some(bytes) = compiled(&folder, CLANG, ("a.cl", INDEXED), &arguments) else { return };
    let fixed = rewritten(&bytes, |options| options.fix = true).expect("it is fixed");
    let left: Vec<String> = fixed.unfixed.iter().map(ToString::to_string).collect();
    // lint of the result is the judge.
    let report = eitri::lint::lint(&fixed.object, &eitri::lint::LintOptions::default()).expect("it is read");
    let errors = report.findings.iter().filter(|finding| finding.level == eitri::lint::Level::Error);
    assert_eq!(left.len(), errors.count(), "{left:#?}");
    assert!(left.iter().any(|line| line.starts_with("no-cfa: h [0x")), "{left:#?}");
    let plain = rewritten(&bytes, |_| {}).expect("it is rewritten");
    assert!(plain.unfixed.is_empty());
}

/// A constant that is a negative number in an unsigned form, and an instance of a function whose line has no file, as Zig
/// writes them.
const ZIG: &str = r#"
	.text
	.globl f
	.type f,@function
f:
	ret
	.size f,.-f
.Lend:
	.section .debug_abbrev,"",@progbits
	.uleb128 1, 0x11
	.byte 1
	.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
	.uleb128 2, 0x24
	.byte 0
	.uleb128 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0
	.uleb128 3, 0x34
	.byte 0
	.uleb128 0x03, 0x08, 0x49, 0x13, 0x1c, 0x0f, 0, 0
	.uleb128 4, 0x2e
	.byte 0
	.uleb128 0x03, 0x08, 0x3b, 0x0b, 0x39, 0x0b, 0x3c, 0x19, 0, 0
	.uleb128 5, 0x2e
	.byte 0
	.uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0
	.byte 0
	.section .debug_info,"",@progbits
.Lunit:
	.long .Lafter - .Lstart
.Lstart:
	.short 5
	.byte 1, 8
	.long .debug_abbrev
	.uleb128 1
	.asciz "a.zig"
	.quad f
	.quad .Lend - f
.Lint:
	.uleb128 2
	.asciz "i32"
	.byte 5, 4
	.uleb128 3
	.asciz "minus"
	.long .Lint - .Lunit
	.uleb128 0xffffffffffffffff
	.uleb128 3
	.asciz "least"
	.long .Lint - .Lunit
	.uleb128 0xffffffff80000000
.Lf:
	.uleb128 4
	.asciz "f"
	.byte 7, 3
	.uleb128 5
	.long .Lf - .Lunit
	.quad f
	.quad .Lend - f
	.byte 0
.Lafter:
"#;

#[test]
fn negative_constants_and_lines_of_instances_are_kept() {
    let folder = Folder::new();
    let Some(bytes) = compiled(&folder, GCC, ("a.s", ZIG), &["-c"]) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{}", listed(&lost));
    for file in ["before", "after"] {
        let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", file]) else { return };
        assert!(ran.out.contains("DW_AT_decl_line\t(7)"), "{file}: {ran}");
        let Some(shown) = gdb(&folder, file, &["print minus", "print least"]) else { return };
        assert!(shown.contains("= -1") && shown.contains("= -2147483648"), "{file}: {shown}");
    }
}
