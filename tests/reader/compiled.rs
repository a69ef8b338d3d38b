//! Objects compiled during a test, with its flags.

use std::path::{Path, PathBuf};

use eitri::read::{Dwarf, Object, Sections};

use crate::reader::compare::compare;
use crate::reader::tools::{Folder, Tool};

pub const CLANG: Tool = Tool::new("clang-19", "clang-19");
pub const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
pub const GCC: Tool = Tool::new("gcc", "gcc");
pub const GXX: Tool = Tool::new("g++", "g++");
pub const LLC: Tool = Tool::new("llc-19", "llvm-19");
pub const LLD: Tool = Tool::new("ld.lld-19", "lld-19");
pub const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Types in a namespace, a template, a thread-local variable, inlined calls.
pub const TYPES: &str = "
namespace n { struct S { int a; char b[3]; virtual ~S(); virtual int g(); }; enum E { A, B }; }
n::S::~S() {}
int n::S::g() { return a; }
thread_local int tls = 3;
int gl[4];
static int helper(int x) { return x * gl[x & 3]; }
template <class T> T tw(T t) { n::S s; return t + helper(t) + s.a; }
int f(int x) { int r = 0; for (int i = 0; i < x; i++) r += tw(i) + tls; return r; }
int h(n::S &s, n::E e) { return s.g() + e + f(4); }
";

/// Frames that grow in steps, and one of dynamic size.
pub const FRAMES: &str = "
int g; extern int h(int *, int);
static int lots(int a, int b) { int v[40]; h(v, a); return v[b & 31]; }
int f(int n) { int k = lots(n, 1) + lots(n, 2); for (int i = 0; i < n; i++) k += h(&k, i); return k * g; }
int w(int n) { char *p = __builtin_alloca(n); return h((int *)p, n); }
int s(int *p, int n) { if (!n) return 0; h(p, n); if (n == 1) return h(p, 7); return h(p, n + 1) + 3; }
";

pub const MACROS: &str = "
#include \"m.h\"
#define LOCAL(x) ((x) + WIDE)
#undef WIDE
#define WIDE 3
int g; int f(int n) { int k = LOCAL(n); return k * g; }
";

/// Compiles a source file in the folder; `None` without the tool.
pub fn compile(tool: Tool, folder: &Path, source: &str, flags: &str, out: &str) -> Option<PathBuf> {
    let out = folder.join(out);
    let mut arguments: Vec<String> = flags.split_whitespace().map(String::from).collect();
    arguments.extend([folder.join(source).display().to_string(), "-o".into(), out.display().to_string()]);
    tool.run(&arguments)?.clean();
    Some(out)
}

/// A folder with all sources.
pub fn sources() -> Folder {
    let folder = Folder::new();
    folder.file("types.cpp", TYPES);
    folder.file("frames.c", FRAMES);
    folder.file("macros.c", MACROS);
    folder.file("m.h", "#define WIDE 2\n#define EMPTY\n");
    folder
}

/// Output of `llvm-dwarfdump`, which may warn about relocations that it does not know.
pub fn dumped(option: &str, path: &Path) -> Option<String> {
    let ran = DWARFDUMP.run(&[option.as_ref(), path.as_os_str()])?;
    assert!(ran.succeeded && ran.errors.lines().all(|line| line.contains("R_390")), "{ran}");
    Some(ran.out)
}

pub fn hex(text: &str) -> u64 {
    let text = text.trim_end_matches([',', ')', ':']).trim_start_matches(['[', '(']);
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("no number: {text}"))
}

#[test]
fn every_version_and_format_is_read_as_gimli_does() {
    let folder = sources();
    let mut versions: Vec<String> = (2..=5).map(|version| format!("-gdwarf-{version}")).collect();
    versions.extend(["-gdwarf-4 -gdwarf64".into(), "-gdwarf-5 -gdwarf64".into()]);
    versions.extend((4..=5).map(|version| format!("-gdwarf-{version} -fdebug-types-section")));
    for version in versions {
        for (tool, machine) in [
            (CLANGXX, ""),
            (GXX, ""),
            (CLANGXX, "--target=s390x-linux-gnu"),
            (CLANGXX, "--target=aarch64-linux-gnu"),
            (CLANGXX, "--target=riscv64-linux-gnu"),
            (CLANGXX, "--target=i386-linux-gnu"),
        ] {
            if machine.contains("i386") && version.contains("gdwarf64") {
                continue;
            }
            let flags = format!("-O1 -c {version} {machine}");
            let Some(path) = compile(tool, folder.path(), "types.cpp", &flags, "a.o") else { return };
            let bytes = std::fs::read(path).unwrap();
            let object = Object::read(&bytes).unwrap();
            assert_eq!(object.is_big_endian(), machine.contains("s390x"));
            let count = compare(Sections::of(&object));
            assert!(count.entries > 30 && count.rows > 7, "{flags}: {count:?}");
            assert!(count.list_entries > 0, "{flags}: {count:?}");
            let dwarf = Dwarf::read(&object).unwrap();
            let text = eitri::dump::dump(&object, &dwarf, None, {
                let mut options = eitri::dump::DumpOptions::default();
                options.verbose = true;
                options
            });
            assert!(!text.contains("<section"), "{flags}: {text}");
        }
    }
}

#[test]
fn relocations_are_applied_as_a_linker_does() {
    let folder = Folder::new();
    // Without variables in sections of their own, whose addresses are the linker's choice.
    let source = "long g(long *); struct s { short a; int b; };\
        long f(long a, double d) { struct s x = {(short)a, 2}; long y = a * 3; if (d > 1) y += g(&y);\n\
        for (int i = 0; i < a; i++) y += x.b; return y + x.a; }\n\
        int h(int *, int); int w(int n) { if (n < 3) return n; char *p = __builtin_alloca(n);\n\
        h((int *)p, n); return h((int *)p, n) + 1; }";
    folder.file("pairs.c", source);
    let dump = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let target = object.target(None);
        eitri::dump::dump(&object, &dwarf, target.as_ref(), eitri::dump::DumpOptions::default())
    };
    for machine in ["aarch64", "riscv64", "riscv64 -mno-relax"] {
        for version in [4, 5] {
            // The linker would relax code for RISC-V, and pcs change.
            let flags = format!("-O1 -c -gdwarf-{version} --target={machine}-linux-gnu");
            let flags = flags.replace(" -mno-relax-linux-gnu", "-linux-gnu -mno-relax");
            let Some(path) = compile(CLANG, folder.path(), "pairs.c", &flags, "a.o") else { return };
            let linked = folder.path().join("a.so");
            let text = |path: &Path| path.display().to_string();
            // The address at which the reader puts the first section.
            let arguments = ["-shared", "--no-relax", "-Ttext=0x10000", "-o", &text(&linked), &text(&path)];
            let Some(ran) = LLD.run(&arguments) else { return };
            ran.clean();
            let object = dump(&path);
            let (addresses, object) = object.split_once("\n\n").unwrap();
            assert!(addresses.contains("0x10000 .text"), "{addresses}");
            assert!(object.contains("lines: version") && object.contains("cfa="), "{object}");
            assert_eq!(object, dump(&linked), "{flags}");
        }
    }
}
