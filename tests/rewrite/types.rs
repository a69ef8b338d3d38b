//! Types as a debugger shows them before and after: gdb prints equal text, and llvm-dwarfdump equal entries.

use std::collections::BTreeMap;

use super::kept::{compiled, gdb, twice};
use super::rewritten;
use crate::common::tools::{Folder, Tool, skip};

const GDB: Tool = Tool::new("gdb", "gdb");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const GCC: Tool = Tool::new("gcc", "gcc");
const GPP: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const CLANGPP: Tool = Tool::new("clang++-19", "clang-19");

/// A program whose types are compared before and after.
struct Program {
    file: &'static str,
    source: &'static str,
    /// gdb's commands.
    commands: &'static [&'static str],
    /// What gdb prints of the original, among other text.
    prints: &'static [&'static str],
    /// Entries whose attributes are compared, except those that an import derives.
    tags: &'static [&'static str],
}

impl Program {
    /// Compiles the program, rewrites it twice, and compares what two readers show. Returns the text of the report.
    fn is_kept(&self, compiler: Tool, arguments: &[&str]) -> Option<String> {
        let case = format!("{} {arguments:?}", compiler.name);
        let folder = Folder::new();
        folder.file(self.file, self.source);
        let ran = compiler.run_in(folder.path(), &[arguments, &["-o", "before", self.file]].concat())?;
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let first = rewritten(&bytes, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
        std::fs::copy(folder.path().join("before"), folder.path().join("after")).expect("a program");
        folder.file("after", &first.object);
        let second = rewritten(&first.object, |_| {}).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(second.object == first.object, "{case}: a second rewrite changes bytes: {:#?}", second.sizes);
        let [before, after] = ["before", "after"].map(|program| self.printed(&folder, program));
        let (before, after) = (before?, after?);
        if before.contains("ptrace") || before.contains("Cannot create process") {
            skip("gdb is not permitted to run a program");
            return None;
        }
        for text in self.prints {
            assert!(before.contains(text), "{case}: no {text:?} in {before}");
        }
        pretty_assertions::assert_eq!(before, after, "{case}");
        let [before, after] = ["before", "after"].map(|program| self.counted(&folder, program));
        pretty_assertions::assert_eq!(before?, after?, "{case}");
        Some(first.unimported.iter().map(|fact| format!("{fact}\n")).collect())
    }

    fn printed(&self, folder: &Folder, program: &str) -> Option<String> {
        let commands = self.commands.iter().flat_map(|command| ["-ex", command]);
        let arguments: Vec<_> = ["-nx", "-batch"].into_iter().chain(commands).chain([program]).collect();
        let ran = GDB.run_in(folder.path(), &arguments)?;
        // A section for gdb's scripts is not about types.
        let is_about_types = |line: &&str| !line.contains("auto-load") && !line.starts_with("of file");
        Some(ran.out + &ran.errors.lines().filter(is_about_types).collect::<Vec<_>>().join("\n"))
    }

    /// Numbers of entries with the tags, and of their attributes.
    fn counted(&self, folder: &Folder, program: &str) -> Option<BTreeMap<String, usize>> {
        let ran = DWARFDUMP.run_in(folder.path(), &["--debug-info", "--debug-types", program])?;
        let mut counts = BTreeMap::new();
        let mut tag = "";
        for line in ran.out.lines() {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default();
            if first.starts_with("0x") {
                tag = words.next().unwrap_or_default();
                if self.tags.contains(&tag) {
                    *counts.entry(tag.to_owned()).or_default() += 1;
                }
            } else if EVERYWHERE.contains(&first) {
                *counts.entry(first.to_owned()).or_default() += 1;
            } else if first.starts_with("DW_AT_") && self.tags.contains(&tag) && !DERIVED.contains(&first) {
                *counts.entry(format!("{tag} {first}")).or_default() += 1;
            }
        }
        Some(counts)
    }
}

/// Attributes that say where something is in the file or in the source, or that others imply.
const DERIVED: [&str; 4] = ["DW_AT_sibling", "DW_AT_decl_file", "DW_AT_decl_line", "DW_AT_decl_column"];

/// Attributes that are counted in all entries.
const EVERYWHERE: [&str; 1] = ["DW_AT_artificial"];

const UNPROTOTYPED: Program = Program {
    file: "a.c",
    source: r#"
typedef int (*unknown)();
typedef int (*known)(int, ...);
struct table { int (*old)(); int (*new_)(void); };
int old(a, b) int a; char *b; { return a + (b ? *b : 0); }
int none() { return 1; }
int new_(int a) { return a + 1; }
static unknown call = none;
static known variadic;
struct table table = { none, 0 };
int main() { unknown f = old; return f(1, "x") + call() + new_(2) + (variadic ? 1 : 0) + table.old(); }
"#,
    commands: &[
        "ptype old",
        "ptype none",
        "ptype new_",
        "ptype call",
        "ptype variadic",
        "ptype struct table",
    ],
    prints: &["type = int ()\n", "type = int (*)()\n", "int (*old)();\n", "int (*new_)(void);\n"],
    tags: &["DW_TAG_subroutine_type"],
};

/// gdb prints `int ()` for a function without a prototype, and `int (void)` for a function with a prototype.
#[test]
fn functions_without_prototype_stay_without_prototype() {
    for compiler in [GCC, CLANG] {
        for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            for level in ["-O0", "-O2"] {
                let arguments = ["-std=gnu89", "-w", version, level];
                let Some(report) = UNPROTOTYPED.is_kept(compiler, &arguments) else { return };
                assert!(!report.contains("DW_AT_prototyped"), "{report}");
            }
        }
    }
}

const MEMBER_FUNCTIONS: Program = Program {
    file: "a.cc",
    source: "
struct S { int f(int x) const { return x + a; } virtual double g(char) { return 1; } int a; };
int (S::*pf)(int) const = &S::f;
double (S::*pg)(char) = &S::g;
int (*plain)(const S *, int);
int main() { S s; s.a = 3; return (s.*pf)(4) + int((s.*pg)('a')) + (plain != nullptr); }
",
    commands: &["ptype pf", "ptype pg", "ptype plain", "whatis pf"],
    prints: &["int (S::*)(const S * const, int)", "double (S::*)(S * const, char)"],
    tags: &["DW_TAG_ptr_to_member_type"],
};

/// The object of a pointer to a member function is an artificial parameter of the function type.
#[test]
fn artificial_parameters_of_function_types_stay_artificial() {
    for compiler in [GPP, CLANGPP] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let Some(report) = MEMBER_FUNCTIONS.is_kept(compiler, &[version, "-O0"]) else { return };
            assert!(!report.contains("DW_AT_artificial"), "{report}");
        }
    }
}

const RUST: Program = Program {
    file: "a.rs",
    source: r#"
#![allow(dead_code)]
use std::hint::black_box;
pub enum Never {}
pub enum Single { Only(u32) }
pub enum Two { A(u8), B(Never), C }
pub enum Many { A(Never), B(Never), C(u64) }
pub enum Bits { A(u8), B }
static UNIT: () = ();
static ONE: Single = Single::Only(7);
static TWO: Two = Two::A(3);
static MANY: Many = Many::C(9);
static BITS: Bits = Bits::A(1);
#[inline(never)] fn call(f: fn() -> !) -> ! { f() }
fn end() -> ! { std::process::exit(0) }
#[inline(never)] fn result(r: Result<u32, Never>) -> u32 { match black_box(r) { Ok(n) => n, Err(_) => 0 } }
pub fn start() {
    black_box((&UNIT, &ONE, &TWO, &MANY, &BITS, result(Ok(3))));
    call(end);
}
"#,
    commands: &[
        "set language rust",
        "ptype a::UNIT",
        "whatis a::UNIT",
        "print sizeof(a::UNIT)",
        "ptype a::Single",
        "ptype a::Two",
        "ptype a::Many",
        "ptype a::Never",
        "print a::ONE",
        "print a::TWO",
        "print a::BITS",
        "ptype a::call",
    ],
    prints: &["type = ()\n", "= 0\n", "a::Single::Only(7)", "a::Two::A(3)", "Only(u32)", "-> !"],
    tags: &["DW_TAG_variant_part", "DW_TAG_variant", "DW_TAG_base_type", "DW_TAG_unspecified_type"],
};

/// `()` and `!` are base types without bits. An enumeration with a single variant that can exist has no discriminant.
#[test]
fn types_without_bits_and_variants_without_discriminant_are_kept() {
    let rustc = Tool::new("rustc", "rustc");
    for level in ["opt-level=0", "opt-level=2"] {
        let arguments = ["--crate-type=lib", "--emit=obj", "-g", "-C", level];
        let Some(report) = RUST.is_kept(rustc, &arguments) else { return };
        assert!(!report.contains("DW_TAG_variant") && !report.contains("DW_TAG_base_type"), "{report}");
    }
}

const STATIC_MEMBERS: Program = Program {
    file: "a.cc",
    source: "
struct S { static int first; int a; static const int second = 2; double b; static long third; static char fourth; char c; static S *last; };
int S::first = 1; long S::third = 3; char S::fourth = 4; S *S::last;
struct T { int x; static T *only; }; T *T::only;
struct U { static int alone; }; int U::alone;
S s;
int main() { return S::first + int(sizeof(T)) + U::alone + S::second; }
",
    commands: &["ptype S", "ptype T", "ptype U", "print s", "ptype/o S"],
    prints: &["static int first;\n    int a;\n    static const int second;\n    double b;\n    static long third;\n"],
    tags: &["DW_TAG_member"],
};

/// A static member stays between the data members around it.
#[test]
fn static_members_stay_among_the_data_members() {
    for compiler in [GPP, CLANGPP] {
        for version in ["-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            let Some(_) = STATIC_MEMBERS.is_kept(compiler, &[version, "-O0"]) else { return };
        }
    }
}

/// Modules, common blocks, a namelist, and arrays whose bounds or number of dimensions are known at run time.
const SOURCE: &str = "module consts
  implicit none
  integer, parameter :: n = 4
  real :: table(2:5, -1:3) = 1.5
  type :: point
    real :: x, y
  end type
  type(point) :: origin = point(1.0, 2.0)
contains
  subroutine shift(p, d)
    type(point), intent(inout) :: p
    real, intent(in) :: d
    p%x = p%x + d
  end subroutine
  real function total(a)
    real, intent(in) :: a(:,:)
    total = sum(a)
  end function
  integer function ranked(c)
    integer, intent(in) :: c(..)
    ranked = rank(c)
  end function
end module
module other
  use consts, only: renamed => origin, point, shift
  integer :: q = 3
end module
subroutine work(k)
  use other
  implicit none
  integer :: k, i, j
  real :: arr(10)
  common /blk/ i, j, arr
  integer :: z
  common // z
  namelist /settings/ k, i
  i = k; j = i + 1; arr = 2.0; z = 5
  call shift(renamed, 1.0)
  write(*, settings)
end subroutine
program main
  use consts
  implicit none
  integer :: i, j, loc(3,3)
  real :: arr(10)
  common /blk/ i, j, arr
  loc = 2
  call work(3)
  print *, i, j, arr(1), total(table), ranked(loc), n
end program
";

const FORTRAN: Program = Program {
    file: "a.f90",
    source: SOURCE,
    commands: &[
        "set pagination off",
        "set language fortran",
        "info modules",
        "info module variables -m consts",
        "info scope work",
        "ptype consts::origin",
        "ptype consts::table",
        "print consts::origin",
        "break 39",
        "break 15",
        "run",
        "info common",
        "info locals",
        "print renamed",
        "bt",
        "continue",
        "info args",
        "ptype a",
    ],
    prints: &[
        "1:\tconsts\n",
        "Contents of F77 COMMON block 'blk':\ni = 3\nj = 4\n",
        "settings = ( k = 3, i = 3 )",
        "type = real(kind=4) (4,5)",
    ],
    tags: &[
        "DW_TAG_module",
        "DW_TAG_namespace",
        "DW_TAG_common_block",
        "DW_TAG_namelist",
        "DW_TAG_namelist_item",
        "DW_TAG_array_type",
        "DW_TAG_generic_subrange",
        "DW_TAG_imported_module",
        "DW_TAG_imported_declaration",
    ],
};

/// Before DWARF 5, the number of dimensions is not described, and gdb prints what is in memory.
const RANK: Program = Program {
    commands: &["set language fortran", "break 20", "run", "info args", "ptype c", "print c"],
    prints: &["c = ((2, 2, 2) (2, 2, 2) (2, 2, 2))"],
    ..FORTRAN
};

#[test]
fn scopes_and_arrays_of_fortran_are_kept() {
    let gfortran = Tool::new("gfortran", "gfortran");
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let Some(report) = FORTRAN.is_kept(gfortran, &[version, "-O0"]) else { return };
        for tag in ["DW_TAG_module", "DW_TAG_common_block", "DW_TAG_namelist", "DW_TAG_array_type"] {
            assert!(!report.contains(tag), "{version}: {report}");
        }
    }
    RANK.is_kept(gfortran, &["-gdwarf-5", "-O0"]);
}

/// Go's linker puts all types into a unit, to which units before it and after it refer; that unit refers to functions of
/// later units only.
#[test]
fn types_of_go_stay_in_their_unit() {
    let folder = Folder::new();
    folder.file("go.mod", "module example.com/m\n\ngo 1.19\n");
    folder.file("a.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1, \"a\") }\n");
    let Some(ran) = Tool::new("go", "golang-go").run_in(folder.path(), &["build", "-o", "before", "a.go"])
    else {
        return;
    };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("before")).expect("a program");
    let first = rewritten(&bytes, |_| {}).expect("it is rewritten");
    folder.file("after", &first.object);
    let tags = ["DW_TAG_structure_type", "DW_TAG_typedef", "DW_TAG_subroutine_type", "DW_TAG_array_type"];
    let [before, after] = ["before", "after"].map(|program| {
        let ran = DWARFDUMP.run_in(folder.path(), &["--debug-info", program])?;
        Some(tags.map(|tag| ran.out.matches(tag).count()))
    });
    let (Some(before), Some(after)) = (before, after) else { return };
    assert!(before.iter().all(|&count| count > 0), "{before:?}");
    assert_eq!(after, before, "{tags:?}");
}

const TEMPLATES: Program = Program {
    file: "a.cc",
    source: "
template <class T, int N = 3, class U = int> struct A { T t[N]; U u; };
template <template <class...> class C, class... Ts> struct P { int n = sizeof...(Ts); };
template <class... Ts> struct Tup { };
template <int... Is> struct Seq { };
template <int &R> struct Ref { int &r = R; };
struct S { int m; int f() { return 1; } };
template <int S::*M> struct Mem { };
template <int (S::*F)()> struct Fun { };
template <int (*F)(int)> struct Ptr { };
template <decltype(nullptr) N> struct Nul { };
template <bool B, char C, unsigned long long L, short H> struct Many { };
enum E { X, Y }; enum class F : unsigned char { Z = 200 };
template <E e, F f> struct Enu { };
int global; int fn(int x) { return x; }
A<int> a1; A<double, 2, char> a2; P<Tup, int, char> p; P<Tup> p0; Seq<1, 2, -3> s; Seq<> s0; Ref<global> r;
Mem<&S::m> m; Fun<&S::f> f; Ptr<fn> pf; Ptr<nullptr> pf0; Nul<nullptr> nu;
Many<true, 'x', 0xffffffffffffffffull, -1> ma; Enu<Y, F::Z> en;
int main() { return a1.u + p.n; }
",
    commands: &[
        "ptype a1", "ptype a2", "ptype p", "ptype s", "ptype r", "ptype m", "ptype f", "ptype pf",
        "ptype ma", "ptype en",
    ],
    prints: &["[with T = int, U = int]"],
    tags: &[
        "DW_TAG_template_type_parameter",
        "DW_TAG_template_value_parameter",
        "DW_TAG_GNU_template_template_param",
        "DW_TAG_GNU_template_parameter_pack",
    ],
};

/// Types, values, templates and packs; a pointer to a member function has only a type.
#[test]
fn template_parameters_are_kept() {
    for compiler in [GPP, CLANGPP] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let Some(report) = TEMPLATES.is_kept(compiler, &["-std=c++17", version, "-O0"]) else { return };
            // g++ states the line of a pack.
            let mut lost = report.lines().filter(|line| line.contains("_template_"));
            assert!(lost.all(|line| line.contains("DW_AT_decl_")), "{report}");
        }
    }
}

/// g++ names the abstract instance of a constructor in a function `C4`, and its code `C2`: the name of the code's symbol.
#[test]
fn code_keeps_its_linkage_name() {
    const SOURCE: &str = "
template <class T> int work(T t) {
  struct Guard { T *p; explicit Guard(T *q) : p(q) { } ~Guard() { *p = 0; } };
  Guard g(&t);
  return t;
}
int main() { return work(3); }
";
    for version in ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        folder.file("a.cc", SOURCE);
        let Some(ran) = GPP.run_in(folder.path(), &[version, "-O0", "-o", "before", "a.cc"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let first = rewritten(&bytes, |_| {}).expect("it is rewritten");
        folder.file("after", &first.object);
        for program in ["before", "after"] {
            let Some(ran) = DWARFDUMP.run_in(folder.path(), &["--debug-info", program]) else { return };
            for name in ["(\"_ZZ4workIiEiT_EN5GuardC2EPi\")", "(\"_ZZ4workIiEiT_EN5GuardD2Ev\")"] {
                assert!(ran.out.contains(name), "{version}, {program}: no {name}");
            }
        }
    }
}

/// Before DWARF 4, and by gcc and clang in DWARF 4, a bit field that begins before its storage unit has a negative offset from
/// the unit's most significant bit.
#[test]
fn bit_fields_before_their_unit_keep_their_place() {
    let program = Program {
        file: "a.c",
        source: "
struct __attribute__((packed)) fields { char c; int i : 7; long long l : 33; unsigned long long m : 31; short z; };
struct fields g = {1, 2, 3, 4, 5};
int main(void) { return g.m; }
",
        commands: &["print g", "print/x g", "ptype/o struct fields"],
        prints: &["m = 4, z = 5"],
        tags: &[],
    };
    for (compiler, version) in
        [(GCC, "-gdwarf-2"), (GCC, "-gdwarf-4"), (CLANG, "-gdwarf-3"), (CLANG, "-gdwarf-5")]
    {
        let Some(lost) = program.is_kept(compiler, &["-g", version]) else { return };
        assert!(!lost.contains("bit_offset"), "{lost}");
    }
}

const NAMED_LATER: &str = "typedef struct { int quotient; struct { int inner; } rest; } result_t;
result_t result;
int main() { return result.quotient; }
";

/// Before DWARF 4, g++ has the linkage name of such a structure in the attribute of MIPS, by which gdb names the structure.
#[test]
fn structures_that_are_named_by_a_type_definition_keep_the_name() {
    for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let gxx = Tool::new("g++", "g++");
        let Some(bytes) = compiled(&folder, gxx, ("a.cpp", NAMED_LATER), &[version]) else { return };
        assert_eq!(twice(&folder, &bytes), [""; 0], "{version}");
        let commands = ["info types result", "ptype result", "whatis result", "ptype result.rest"];
        let Some(before) = gdb(&folder, "./before", &commands) else { return };
        let Some(after) = gdb(&folder, "./after", &commands) else { return };
        assert!(
            before.contains("1:      result_t;") || before.contains("1:\tresult_t;"),
            "{version}: {before}"
        );
        pretty_assertions::assert_eq!(after, before, "{version}");
    }
}

/// `DW_ATE_lo_user`, by which gcc and clang mean complex integers. gdb knows it from gcc only.
#[test]
fn complex_integers_keep_their_encoding() {
    let program = Program {
        file: "a.c",
        source: "_Complex int whole = 3 + 4i; _Complex char small = 1 - 2i; int main(void) { return __real__ whole; }",
        commands: &[
            "ptype whole",
            "print whole",
            "print sizeof(whole)",
            "print small",
            "print sizeof(small)",
        ],
        prints: &["= 8", "= 2"],
        tags: &["base_type", "variable"],
    };
    for compiler in [GCC, CLANG] {
        for version in ["-gdwarf-2", "-gdwarf-5"] {
            let Some(lost) = program.is_kept(compiler, &["-no-pie", "-O0", version]) else { return };
            assert_eq!(lost, "", "{} {version}", compiler.name);
        }
    }
}
