//! Objects of other producers: committed objects, and programs that are compiled in the test.

use std::path::Path;

use eitri::import::{ImportOptions, UnimportedReason, import};
use eitri::target::Target;

use super::{differences, listed};
use crate::common::tools::{Folder, Tool};
use crate::common::with;

/// Folders with committed objects.
pub const FOLDERS: [&str; 5] = [
    "examples/data",
    "tests/objects/amd",
    "tests/objects/llvm19",
    "tests/objects/llvm22",
    "tests/objects/triton",
];

/// Objects of GPU compilers: all facts are in the module, or are listed.
#[test]
fn facts_of_committed_objects_are_kept() {
    let mut count = 0;
    for folder in FOLDERS {
        let folder = Path::new(crate::common::ROOT).join(folder);
        let mut files: Vec<_> =
            folder.read_dir().expect("a folder").map(|file| file.expect("a file").path()).collect();
        files.sort();
        for file in files {
            let is_object = file.extension().is_some_and(|name| name == "o" || name == "hsaco");
            // Code without debug information.
            if !is_object || file.ends_with("scale_code.o") {
                continue;
            }
            let bytes = std::fs::read(&file).expect("a file");
            let (_, found) = differences(&bytes);
            assert!(found.is_empty(), "{}:\n{}", file.display(), listed(&found));
            count += 1;
        }
    }
    assert!(count > 80, "{count} objects");
}

/// A kernel of AMD's compiler is a kernel in the module, and its canonical frame address is typed: AMD's LLVM guide, "Call
/// Frame Information", has it at private memory's address 0 in a kernel, as the compiler's expression says.
#[test]
fn kernel_of_amd_is_imported_with_its_frame() {
    const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
    let file = Path::new(crate::common::ROOT).join("tests/objects/amd/k04_diverge.gfx942.O2.hsaco");
    let Some(ran) = DWARFDUMP.run(&["--debug-info".as_ref(), file.as_os_str()]) else { return };
    // LLVM 19's name of the convention.
    assert!(ran.out.contains("DW_AT_calling_convention\t(DW_CC_LLVM_OpenCLKernel)"), "{ran}");
    let bytes = std::fs::read(&file).expect("an object");
    let options = with::<ImportOptions<'_>>(|options| {
        options.target = Target::named("amdgpu-gfx942-wave64").ok();
    });
    let module = import(&bytes, &options).expect("the object is imported").module;
    let kernels: Vec<_> = module.functions().filter(|(_, function)| function.is_kernel).collect();
    assert_eq!(kernels.len(), 1);
    let text = module.to_json();
    assert!(text.contains(r#""cfa",{"memory":["private_wave",0]}"#), "{text}");
}

/// A program, its compiler, and the arguments.
pub struct Program {
    pub name: &'static str,
    pub source: &'static str,
    pub compiler: Tool,
    pub arguments: &'static [&'static str],
}

impl Program {
    /// Compiles the program in a folder. `None` if the compiler is not installed.
    pub fn compiled(&self, folder: &Folder) -> Option<Vec<u8>> {
        folder.file(self.name, self.source);
        let all: Vec<&str> = self.arguments.iter().copied().chain(["-o", "out.o", self.name]).collect();
        let ran = self.compiler.run_in(folder.path(), &all)?;
        assert!(ran.succeeded, "{ran}");
        Some(std::fs::read(folder.path().join("out.o")).expect("an object"))
    }
}

/// The compiler and its arguments.
impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.compiler.name, self.arguments)
    }
}

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
const GFORTRAN: Tool = Tool::new("gfortran", "gfortran");
const RUSTC: Tool = Tool::new("rustc", "rustc");

const C: &str = r"
#include <stdint.h>
struct S { int a; unsigned b:3, c:5; struct S *next; char name[8]; union { float f; int i; }; };
enum E { A, B = -3, C };
typedef struct S S_t;
static const volatile int k = 3;
extern int ext(int, ...);
int glob[3][4];
int (*fp)(int, float);
static inline int sq(int x) { int y = x * x; { int z = y + 1; return z; } }
__attribute__((noinline)) static int st(S_t *s, enum E e) { int q = sq(s->a) + e; return q; }
int main(int argc, char **argv) {
    S_t s = {argc};
    for (int i = 0; i < argc; i++) { int v = i * 3; s.a += st(&s, v); if (v > 3) goto out; ext(v, argv[i]); }
out:
    return sq(s.a) + k + glob[1][2];
}
";

const CPP: &str = r"
namespace N {
namespace inner {
struct Base { virtual ~Base(); virtual int f(int) const; protected: int b : 3; static int count; };
}
template <class T> struct Box { T t; };
template <class T, int V = 4, template <class> class C = Box, class... P>
class D : public virtual inner::Base, private Box<T> {
public:
    explicit D(T t) : t(t) {}
    D(const D &) = delete;
    int f(int x) const override { return x + V; }
    mutable T t;
    enum class K : unsigned char { A, B };
    K k;
private:
    int (D::*pm)(int) const;
    int D::*pd;
};
inline namespace v1 { using namespace inner; using inner::Base; }
namespace al = inner;
int inner::Base::count = 3;
inner::Base::~Base() {}
int inner::Base::f(int x) const { return x * count; }
}
alignas(32) int aligned_var;
decltype(nullptr) np;
char32_t c32;
struct alignas(16) Al { int x; int &r; int &&rr; unsigned long long big : 33; };
template <class... A> int sum(A... a) { return (0 + ... + a); }
int main(int argc, char **argv) {
    N::D<float, 4, N::Box, int, char> d(1.f);
    Al *al = nullptr;
    int n = argc;
    [&](int q) { n += q; }(3);
    return d.f(sum(n, 1, 2)) + (al ? al->x : 0);
}
";

const FORTRAN: &str = r#"
module m
  type t
    real :: x(3)
    integer :: i
  end type
  real :: glob
contains
  subroutine s(a, str, k)
    real, intent(inout) :: a(:,:)
    character(len=*) :: str
    integer, optional :: k
    complex :: z
    z = (1.0, 2.0)
    a(1,2) = real(z)
    print *, str
  end subroutine
end module
program p
  use m
  real :: q(2,3)
  call s(q, "abc", 3)
end program
"#;

const RUST: &str = r#"
use std::collections::HashMap;
#[derive(Debug, Clone)]
pub enum Shape { Circle(f64), Rect { w: u32, h: u32 }, Unit, Opt(Option<Box<u8>>) }
pub trait Area { fn area(&self) -> f64; }
impl Area for Shape {
    fn area(&self) -> f64 {
        match self { Shape::Circle(r) => 3.0 * r * r, Shape::Rect { w, h } => (*w * *h) as f64, _ => 0.0 }
    }
}
pub fn general<T: Area + ?Sized>(t: &T, n: i128) -> (f64, i128) { let c = |x: f64| x * t.area(); (c(2.0), n) }
fn main() {
    let mut m = HashMap::new();
    m.insert("a".to_string(), Shape::Circle(1.0));
    for (k, v) in &m { println!("{k} {:?} {:?}", v, general(v, 3)); }
}
"#;

#[rustfmt::skip]
pub const PROGRAMS: [Program; 13] = [
    Program { name: "a.c", source: C, compiler: GCC, arguments: &["-g", "-O0", "-c"] },
    Program { name: "a.c", source: C, compiler: GCC, arguments: &["-g", "-O2", "-c"] },
    Program { name: "a.c", source: C, compiler: GCC, arguments: &["-g", "-O2", "-gdwarf-4", "-c"] },
    Program { name: "a.c", source: C, compiler: GCC, arguments: &["-g", "-O0", "-gdwarf-3", "-c"] },
    Program { name: "a.c", source: C, compiler: CLANG, arguments: &["-g", "-O0", "-c"] },
    Program { name: "a.c", source: C, compiler: CLANG, arguments: &["-g", "-O2", "-gdwarf64", "-c"] },
    Program { name: "b.cc", source: CPP, compiler: GXX, arguments: &["-g", "-O0", "-c"] },
    Program { name: "b.cc", source: CPP, compiler: GXX, arguments: &["-g", "-O2", "-gdwarf-4", "-c"] },
    Program { name: "b.cc", source: CPP, compiler: CLANGXX, arguments: &["-g", "-O0", "-c"] },
    Program { name: "b.cc", source: CPP, compiler: CLANGXX, arguments: &["-g", "-O2", "-gdwarf-4", "-c"] },
    Program { name: "c.f90", source: FORTRAN, compiler: GFORTRAN, arguments: &["-g", "-O0", "-c"] },
    Program { name: "d.rs", source: RUST, compiler: RUSTC, arguments: &["-g", "-C", "opt-level=0", "--emit=obj"] },
    Program { name: "d.rs", source: RUST, compiler: RUSTC, arguments: &["-g", "-C", "opt-level=2", "--emit=obj"] },
];

/// Programs of five compilers.
#[test]
fn facts_of_compiled_programs_are_kept() {
    for program in PROGRAMS {
        let Some(bytes) = program.compiled(&Folder::new()) else { continue };
        let (imported, found) = differences(&bytes);
        assert!(found.is_empty(), "{program}:\n{}", listed(&found));
        // Nothing that the model has is refused.
        let is_unknown = |reason: &UnimportedReason| matches!(reason, UnimportedReason::Unreadable(_));
        assert!(!imported.unimported.iter().any(|fact| is_unknown(&fact.reason)), "{program}");
    }
}

/// gcc numbers the views at an address: it lists them before a location list, or, with `incompat5`, in the list, where
/// `readelf` shows them.
#[test]
fn views_of_locations_are_listed() {
    const SOURCE: &str = "extern int use(int);\nint f(int a) { int b = a + 1; b = use(b); int c = b * 2; return use(c) + b; }\n";
    const READELF: Tool = Tool::new("readelf", "binutils");
    for (views, attribute) in [
        ("-gvariable-location-views", gimli::DW_AT_GNU_locviews),
        ("-gvariable-location-views=incompat5", gimli::DW_AT_location),
    ] {
        let folder = Folder::new();
        let arguments = &["-g", "-O2", "-c"];
        let program = Program { name: "v.c", source: SOURCE, compiler: GCC, arguments };
        folder.file(program.name, program.source);
        let all: Vec<&str> = arguments.iter().copied().chain([views, "-o", "v.o", program.name]).collect();
        let Some(ran) = GCC.run_in(folder.path(), &all) else { return };
        assert!(ran.succeeded, "{ran}");
        let Some(ran) = READELF.run_in(folder.path(), &["--debug-dump=loc", "v.o"]) else { return };
        assert!(ran.out.contains("views"), "{ran}");
        let bytes = std::fs::read(folder.path().join("v.o")).expect("an object");
        let (imported, found) = differences(&bytes);
        assert!(found.is_empty(), "{views}:\n{}", listed(&found));
        let listed = imported.unimported.iter().filter(|fact| fact.reason == UnimportedReason::LocationViews);
        let listed: Vec<_> = listed.map(|fact| fact.attribute).collect();
        assert!(
            listed.len() >= 2 && listed.iter().all(|name| *name == Some(attribute)),
            "{views}: {listed:?}"
        );
    }
}
