//! Objects of compilers for CPUs have no finding above a note.

use std::borrow::Cow;
use std::path::Path;

use eitri::lint::{Level, LintCode, LintFinding, LintOptions, LintReport, lint};
use eitri::read::{FindSplit, Skeleton, SplitFiles};

use super::source::SOURCE;
use super::tools::{Folder, Tool};
use crate::common::with;

fn findings(tool: Tool, arguments: &[&str]) -> Option<Vec<String>> {
    findings_in(tool, SOURCE, arguments)
}

/// What a compiler makes of a source in a file of a name; `None` without the compiler.
pub fn object_of(tool: Tool, name: &str, source: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let source = folder.file(name, source).display().to_string();
    let object = folder.path().join("a.o");
    let output = object.display().to_string();
    let all: Vec<&str> = arguments.iter().copied().chain(["-c", &source, "-o", &output]).collect();
    let ran = tool.run(&all)?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(&object).expect("an object"))
}

/// Findings above a note in what a compiler makes of a source.
fn findings_in(tool: Tool, source: &str, arguments: &[&str]) -> Option<Vec<String>> {
    let folder = Folder::new();
    let source = folder.file("a.c", source);
    let object = folder.path().join("a.o");
    let source = source.display().to_string();
    let output = object.display().to_string();
    let all: Vec<&str> = arguments.iter().copied().chain(["-c", &source, "-o", &output]).collect();
    let ran = tool.run(&all)?;
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(&object).expect("an object");
    let mut report = lint(&bytes, &LintOptions::default()).expect("it is read");
    // The functions of split units are in a file beside the object, and a finding names the file.
    let is_split = arguments.contains(&"-gsplit-dwarf");
    let elsewhere = report.findings.iter().filter(|one| one.code == LintCode::SplitUnitElsewhere);
    let elsewhere: Vec<_> = elsewhere.map(|one| one.written.as_str()).collect();
    assert_eq!((report.functions > 0, elsewhere.len()), (!is_split, is_split.into()), "{arguments:?}");
    assert!(elsewhere.iter().all(|written| written.ends_with("a.dwo`")), "{elsewhere:?}");
    if is_split {
        report = lint_with_split(&bytes, folder.path());
        assert!(report.functions > 0, "{arguments:?}");
        assert!(report.findings.iter().all(|one| one.code != LintCode::SplitUnitElsewhere), "{arguments:?}");
    }
    let above = report.findings.iter().filter(|finding| finding.level > Level::Note);
    Some(above.map(|finding| format!("{arguments:?}: {finding:?}")).collect())
}

/// Judges an object with the files of split units in a folder.
fn lint_with_split(bytes: &[u8], folder: &Path) -> LintReport {
    let read = |name: &str| Ok((name.to_string(), std::fs::read(folder.join(name))?));
    let find = |all: &[Skeleton<'_>]| all.iter().map(|one| read(one.dwo_name)).collect();
    lint(bytes, &with::<LintOptions>(|options| options.split = SplitFiles::new(&find))).expect("it is read")
}

#[test]
fn c_of_gcc_and_clang_has_no_findings() {
    let mut wrong = Vec::new();
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
                // LLVM writes a constant without `stack_value` before DWARF 4: a true finding.
                let is_known = tool.name == "clang-19" && version < "-gdwarf-4" && level != "-O0";
                let Some(found) = findings(tool, &[version, level]) else { return };
                wrong.extend(found.into_iter().filter(|one| !is_known || !one.contains("ConstantAsAddress")));
            }
        }
        let mut others = vec![
            &["-ffunction-sections"][..],
            &["-fdebug-types-section"],
            &["-gsplit-dwarf"],
            &["-gsplit-dwarf", "-gdwarf-4"],
            &["-gsplit-dwarf", "-fdebug-types-section"],
            &["-gsplit-dwarf", "-fdebug-types-section", "-gdwarf-4"],
        ];
        // gcc has no split units in the object itself.
        if tool.name == "clang-19" {
            others.extend([&["-gsplit-dwarf=single"][..], &["-gsplit-dwarf=single", "-gdwarf-4"]]);
        }
        for more in others {
            let arguments: Vec<&str> = ["-g", "-O2"].iter().chain(more).copied().collect();
            wrong.extend(findings(tool, &arguments).unwrap_or_default());
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

const LENGTHS: &str = "
static inline int sum(int n, int rows[n][n], int seed) {
    int last[n];
    for (int i = 0; i < n; i++) last[i] = rows[i][n - 1] * seed;
    int all = 0;
    for (int i = 0; i < n; i++) all += last[i] + last[n - 1 - i];
    return all;
}
int both(int n, int m, int *p) { return sum(n, (void *)p, 3) + sum(m, (void *)p, n); }
";

/// The types of arrays with a variable length are those of each inlined call.
#[test]
fn variable_lengths_have_no_findings() {
    let mut wrong = Vec::new();
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for level in ["-O1", "-O2"] {
            let Some(found) = findings_in(tool, LENGTHS, &["-g", level]) else { return };
            wrong.extend(found);
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

/// Registers of extensions, and vector registers of more than 16 bytes, which have the numbers of those of 16.
const EXTENSIONS: &str = "
#include <immintrin.h>
long double use(long double);
long double extended(long double a, long double c) {
    long double b = a * c; use(b);
    for (int i = 0; i < 10; i++) { long double e = b * i; c = e + b; }
    return c;
}
typedef struct { __m256 v; } S;
static inline S twice(S s) { s.v = _mm256_add_ps(s.v, s.v); return s; }
__m256 wide(__m256 a) { S s = {a}; s = twice(s); return twice(s).v; }
__m512 many(__m512 *p) {
    __m512 a[20], s = p[30];
    for (int i = 0; i < 20; i++) a[i] = p[i];
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < 20; i++) { __m512 t = _mm512_add_ps(a[i], s); a[i] = _mm512_mul_ps(t, t); }
    for (int i = 0; i < 20; i++) s = _mm512_add_ps(s, a[i]);
    return s;
}
unsigned masks(__m512i x, __m512i y) {
    __mmask16 k = _mm512_cmpeq_epi32_mask(x, y), l = _mm512_cmplt_epi32_mask(x, y);
    return _kand_mask16(k, l);
}
";

/// Slots of a large frame, values of `long double` and bits of `float` on the stack, and debug information in a file of
/// its own.
#[test]
fn large_frames_and_typed_values_have_no_findings() {
    const SOURCE: &str = "
void use(void *, void *);
int large(int n) { int first[3]; char a[100000]; int last[3]; use(a, first); use(last, a); return a[n] + first[n]; }
long double wide(int n) { long double d = n; use(&n, &n); d = n + 1; use(&n, &n); return d * n; }
float bits(int n) {
    union { int i; float f; } u; u.i = (n & 0xff) << 23; float x = u.f; use(0, 0); u.i = (n << 1) & -4096; float y = u.f;
    use(0, 0); return n > 3 ? x : y;
}";
    let folder = Folder::new();
    let source = folder.file("a.c", SOURCE).display().to_string();
    let [object, debug] = ["a.so", "a.debug"].map(|name| folder.path().join(name).display().to_string());
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let all = ["-g", level, "-w", "-shared", "-fPIC", &source, "-o", &object];
            let Some(ran) = tool.run(&all) else { return };
            assert!(ran.succeeded, "{ran}");
            let objcopy = Tool::new("objcopy", "binutils");
            let Some(ran) = objcopy.run(&["--only-keep-debug", &object, &debug]) else { return };
            assert!(ran.succeeded, "{ran}");
            for file in [&object, &debug] {
                let report = lint(&std::fs::read(file).expect("a file"), &LintOptions::default());
                let report = report.expect("it is read");
                let above: Vec<_> = report.findings.iter().filter(|one| one.level > Level::Note).collect();
                assert!(report.functions > 2 && above.is_empty(), "{} {level} {file}: {above:?}", tool.name);
            }
        }
    }
}

const WIDE: &str = "
typedef float v8 __attribute__((vector_size(32)));
typedef double v16 __attribute__((vector_size(128)));
__attribute__((noinline)) long double power(long double x, int n) {
    long double r = 1;
    while (n--) { long double t = r * x; r = t + 0.5L; }
    return r;
}
__attribute__((noinline)) _Complex long double square(_Complex long double a) { _Complex long double b = a * a; return b; }
__attribute__((noinline)) __int128 product(__int128 a, int n) { __int128 c = a * 7 + n; c ^= a; return c; }
__attribute__((noinline)) v8 sum(v8 a, v8 b) { v8 c = a * b; v8 d = c + a; return d - b; }
__attribute__((noinline)) void twice(v16 *a) { v16 b = *a; v16 c = b + b; *a = c; }
int both(int n, v8 *a) {
    long double x = power(n, 3);
    __int128 p = product(n, 4);
    *a = sum(*a, *a + (float)n);
    return x + p + __real__ square(x) + (*a)[1];
}
";

/// Vectors in pieces and in calls, and `long double` in the x87 stack.
const VECTORS: &str = "
long double l(int n, long double *v) {
  long double s = 0;
  for (int i = 0; i < n; i++) { long double t = v[i] * v[i]; s += t; }
  return s;
}
_Complex long double m(_Complex long double a) { _Complex long double c = a * a; return c + a; }
typedef float V __attribute__((vector_size(32)));
typedef double W __attribute__((vector_size(64)));
typedef struct { V a, b; } P;
V g(V);
V f(V x, V y) { P p = { x + y, x * y }; V z = g(p.a); P q = { z, p.a }; return g(q.a + q.b); }
W h(W x, W y) { W z = x + y; return z * y; }
";

/// Registers of extensions: x87, AVX and AVX-512, whose numbers are those of the smaller ones, and masks; and values that are
/// converted to a type of 16 bytes.
#[test]
fn registers_of_extensions_have_no_findings() {
    let mut wrong = Vec::new();
    let programs: [(&str, &[&str]); 4] = [
        (EXTENSIONS, &["-mavx512f", "-mavx512bw"]),
        (WIDE, &["-mavx2"]),
        (WIDE, &["-mavx512f"]),
        (VECTORS, &["-mavx512f"]),
    ];
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            for (source, of) in programs {
                let Some(found) = findings_in(tool, source, &[&["-g", level], of].concat()) else { return };
                wrong.extend(found);
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

/// A package whose errors are collected.
struct Found(Vec<u8>, std::sync::Mutex<Vec<String>>);

impl FindSplit for Found {
    fn find(&self, _: &[Skeleton<'_>]) -> eitri::Result<Vec<(String, Cow<'_, [u8]>)>> {
        Ok(vec![("a.dwp".into(), Cow::from(&self.0))])
    }

    fn take_failure(&self, error: eitri::Error) -> eitri::Result<Option<eitri::Error>> {
        self.1.lock().expect("one thread").push(error.to_string());
        Ok(None)
    }
}

/// Registers of an extension, whose sizes are those of the processor.
#[test]
fn scalable_vectors_have_no_findings() {
    let source = "
typedef __SVFloat32_t v;
v sum(__SVBool_t p, v a, v b) { v c = __builtin_sve_svadd_f32_m(p, a, b); return __builtin_sve_svmul_f32_m(p, c, a); }
";
    let mut wrong = Vec::new();
    for level in ["-O0", "-O2"] {
        let target = ["-target", "aarch64-linux-gnu", "-march=armv8-a+sve", "-g", level];
        let Some(found) = findings_in(Tool::new("clang-19", "clang-19"), source, &target) else { return };
        wrong.extend(found);
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

const PROGRAM: &str = "
#include <stdio.h>
static int unused(int a) { int b = a * 3; return b + 1; }
int left_out(int a) { return unused(a) - 1; }
static int twice(int v) { int w = v * 2; return w; }
int main(int count, char **names) {
    int sum = 0;
    for (int i = 0; i < count; i++) sum += twice(names[i][0]);
    printf(\"%d\\n\", sum);
    return sum & 1;
}
";

/// Programs from which the linker removed sections, and programs of link-time optimization.
#[test]
fn linked_programs_have_no_findings() {
    let folder = Folder::new();
    let source = folder.file("a.c", PROGRAM).display().to_string();
    let program = folder.path().join("a");
    let output = program.display().to_string();
    for (tool, linker) in
        [(Tool::new("gcc", "gcc"), None), (Tool::new("clang-19", "clang-19"), Some("-fuse-ld=lld"))]
    {
        for more in [&["-ffunction-sections", "-Wl,--gc-sections"][..], &["-flto"]] {
            let arguments: Vec<&str> = ["-g", "-O2", &source, "-o", &output]
                .into_iter()
                .chain(more.iter().copied())
                .chain(linker)
                .collect();
            let Some(ran) = tool.run(&arguments) else { return };
            assert!(ran.succeeded, "{ran}");
            let report = lint(&std::fs::read(&program).expect("a program"), &LintOptions::default());
            let report = report.expect("it is read");
            let above: Vec<_> = report.findings.iter().filter(|one| one.level > Level::Note).collect();
            assert!(report.functions > 0 && above.is_empty(), "{} {more:?}: {above:?}", tool.name);
        }
    }
}

const CPP: &str = r#"
#include <map>
#include <string>
#include <vector>
template<class... T> int total(T... args) { int s = 0; ((s += (int)args), ...); return s; }
struct Base { virtual ~Base() = default; virtual int f(int) = 0; int tag = 1; };
struct Derived : Base { int f(int x) override { auto [a, b] = std::pair<int, long>(x, 2L); return a + (int)b; } };
static thread_local int counter;
int run(const std::vector<std::string> &v, std::map<std::string, int> &m) {
    std::string all;
    for (const auto &s : v) { all += s; m[s]++; ++counter; }
    Derived d;
    auto l = [&](int x) { std::string t = all + "x"; return (int)t.size() + d.f(x); };
    __int128 big = (__int128)all.size() * 12345678901234567ull;
    try { if (all.empty()) throw all; } catch (const std::string &e) { return (int)e.size(); }
    return l(3) + total(1, 2.5, 'c') + (int)(big >> 64);
}
"#;

#[test]
fn cpp_of_gcc_and_clang_has_no_findings() {
    let mut wrong = Vec::new();
    for tool in [Tool::new("g++", "g++"), Tool::new("clang++-19", "clang-19")] {
        for level in ["-O0", "-O2"] {
            for version in ["-gdwarf-4", "-gdwarf-5"] {
                let arguments = ["-std=c++17", "-x", "c++", version, level];
                let Some(found) = findings_in(tool, CPP, &arguments) else { return };
                wrong.extend(found);
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

/// clang describes the 16 bytes of two pointers that are 0 by `lit0; stack_value; piece 16`.
#[test]
fn a_function_object_of_zeros_has_no_findings() {
    const SOURCE: &str = "
#include <functional>
int use(std::function<int(int)> &);
int f(int k) { std::function<int(int)> g = [&](int y) { return y + k; }; return use(g); }
";
    let mut wrong = Vec::new();
    for tool in [Tool::new("g++", "g++"), Tool::new("clang++-19", "clang-19")] {
        for level in ["-O2", "-Os"] {
            for version in ["-gdwarf-4", "-gdwarf-5"] {
                let Some(found) = findings_in(tool, SOURCE, &["-x", "c++", version, level]) else { return };
                wrong.extend(found);
            }
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}

const RUST: &str = r#"
use std::collections::HashMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut m: HashMap<&str, usize> = HashMap::new();
    for a in &args { *m.entry(a.as_str()).or_default() += a.len(); }
    let total: usize = m.values().map(|v| v * 2).sum();
    println!("{total} {m:?}");
}
"#;

/// Programs with the whole standard library, linked.
#[test]
fn rust_has_no_findings() {
    const RUSTC: Tool = Tool::new("rustc", "rustc");
    for level in ["0", "1", "3"] {
        let folder = Folder::new();
        let source = folder.file("a.rs", RUST).display().to_string();
        let program = folder.path().join("a");
        let output = program.display().to_string();
        let level = format!("opt-level={level}");
        let arguments = ["--edition", "2021", "-g", "-C", &level, &source, "-o", &output];
        let Some(ran) = RUSTC.run(&arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(&program).expect("a program");
        let report = lint(&bytes, &LintOptions::default()).expect("it is read");
        assert!(report.functions > 1000);
        let above: Vec<_> = report.findings.iter().filter(|one| one.level > Level::Note).collect();
        assert!(above.is_empty(), "{} findings: {:?}", above.len(), above.first());
    }
}

/// clang describes `i = n - 1` by the register of `n`, minus 1.
#[test]
fn the_offset_of_a_value_is_the_source_s() {
    const SOURCE: &str = "double poly(double x, __private double *c, int n) {
  double s = 0; for (int i = n - 1; i >= 0; --i) s = s * x + c[i]; return s;
}";
    let folder = Folder::new();
    let source = folder.file("a.cl", SOURCE).display().to_string();
    let object = folder.path().join("a.o");
    let output = object.display().to_string();
    let target = ["-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-O2", "-g"];
    let all: Vec<&str> = target.into_iter().chain(["-c", &source, "-o", &output]).collect();
    let Some(ran) = Tool::new("clang-19", "clang-19").run(&all) else { return };
    assert!(ran.succeeded, "{ran}");
    let report =
        lint(&std::fs::read(&object).expect("an object"), &LintOptions::default()).expect("it is read");
    let meant = |name: &str| {
        let of = |one: &&eitri::lint::LintFinding| one.variable.as_deref() == Some(name);
        report
            .findings
            .iter()
            .filter(of)
            .filter_map(|one| one.meant.as_ref().map(ToString::to_string))
            .next()
            .expect("a finding")
    };
    assert_eq!(meant("i"), format!("{} minus 1", meant("n")));
}

/// Split units have the findings of the same units in one file.
#[test]
fn split_units_have_the_findings_of_others() {
    const SOURCE: &str = "kernel void scale(global float *x, float a, int n) {
  float part[8]; int i = get_local_id(0);
  for (int k = 0; k < 8; k++) part[k] = x[i + k] * a;
  for (int k = 0; k < n; k++) x[i] += part[k & 7];
}";
    const TOOL: Tool = Tool::new("clang-19", "clang-19");
    let folder = Folder::new();
    let source = folder.file("a.cl", SOURCE).display().to_string();
    let [output, dwo] = ["a.o", "a.dwo"].map(|name| folder.path().join(name).display().to_string());
    let target = ["-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa"];
    for level in ["-O0", "-O2"] {
        let report = |split: &[&str]| {
            let more = ["-mcpu=gfx1030", "-nogpulib", "-g", level, "-c", &source, "-o", &output];
            let all: Vec<&str> = target.iter().chain(&more).chain(split).copied().collect();
            let ran = TOOL.run(&all)?;
            assert!(ran.succeeded, "{ran}");
            let report = lint_with_split(&std::fs::read(&output).expect("an object"), folder.path());
            let mut found: Vec<_> = report
                .findings
                .iter()
                .map(|one| (one.code.name(), one.function.clone(), one.variable.clone(), one.pcs.clone()))
                .map(|one| format!("{one:?}"))
                .collect();
            found.sort();
            for one in &report.findings {
                // The frames are in the object, and all else is in the other file.
                let is_in_split = !split.is_empty() && one.section != ".debug_frame";
                assert_eq!(one.section.ends_with(".dwo"), is_in_split, "{one:?}");
                assert_eq!(one.split.as_deref(), split.first().map(|_| dwo.as_str()), "{one:?}");
            }
            let has_lists = |one: &LintFinding| one.section.starts_with(".debug_loclists");
            assert_eq!(report.findings.iter().any(has_lists), level == "-O2");
            Some((report.functions, found))
        };
        let (Some(whole), Some(split)) = (report(&[]), report(&["-gsplit-dwarf"])) else { return };
        assert!(whole.0 > 0 && !whole.1.is_empty(), "{level}: {whole:?}");
        assert_eq!(whole, split, "{level}");
    }
}

/// Units of a package have the findings and the coverage of the same units in files of their own.
#[test]
fn packages_have_the_units_of_their_files() {
    const SECOND: &str = "struct s { int a; long b; }; int twice(struct s *p, int n) {
  int sum = 0; for (int i = 0; i < n; i++) { struct s *q = p + i; sum += q->a * 2 + (int)q->b; } return sum;
}";
    const FIRST: &str = "struct s { int a; long b; }; int twice(struct s *p, int n);
static int last(struct s *p, int n) { int a = p[n - 1].a; return a + n; }
int main(int n, char **names) { struct s all[3] = {{n, 1}, {2, 3}, {4, 5}}; return twice(all, 3) + last(all, 3); }";
    let folder = Folder::new();
    let sources = [("a.c", FIRST), ("b.c", SECOND)].map(|(name, text)| folder.file(name, text));
    let program = folder.path().join("program");
    for tool in [Tool::new("gcc", "gcc"), Tool::new("clang-19", "clang-19")] {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let mut objects = Vec::new();
            for source in &sources {
                let object = source.with_extension("o");
                let all = ["-O2", "-gsplit-dwarf", version, "-c"].map(std::ffi::OsStr::new);
                let all = [&all[..], &[source.as_os_str(), "-o".as_ref(), object.as_os_str()]].concat();
                let Some(ran) = tool.run(&all) else { return };
                assert!(ran.succeeded, "{ran}");
                objects.push(object);
            }
            let [a, b] = &objects[..] else { panic!("two objects") };
            let ran = tool.run(&[a.as_os_str(), b.as_os_str(), "-o".as_ref(), program.as_os_str()]);
            assert!(ran.is_some_and(|ran| ran.succeeded), "{version}");
            let package = folder.path().join("program.dwp");
            let [dwo, other] = ["a.dwo", "b.dwo"].map(|name| folder.path().join(name));
            let tool = Tool::new("llvm-dwp-19", "llvm-19");
            let all = [dwo.as_os_str(), other.as_os_str(), "-o".as_ref(), package.as_os_str()];
            let Some(ran) = tool.run(&all) else { return };
            assert!(ran.succeeded, "{ran}");
            let bytes = std::fs::read(&program).expect("a program");
            let read = |files: &[&Path]| {
                let read = |file: &&Path| Ok((file.display().to_string(), std::fs::read(file)?));
                let find = |_: &[Skeleton<'_>]| files.iter().map(read).collect();
                let split = SplitFiles::new(&find);
                let report =
                    lint(&bytes, &with::<LintOptions>(|options| options.split = split)).expect("it is read");
                let above = report.findings.iter().filter(|one| one.level > Level::Note);
                assert_eq!(above.count(), 0, "{version}: {:?}", report.findings);
                let stats = eitri::stats::stats(
                    &bytes,
                    &with::<eitri::stats::StatsOptions>(|options| options.split = split),
                );
                (
                    report.functions,
                    report.entries,
                    report.findings.len(),
                    stats.expect("it is read").functions,
                )
            };
            let of_files = read(&[&dwo, &other]);
            assert!((of_files.0, of_files.2) == (2, 0), "{of_files:?}");
            assert_eq!(read(&[&package]), of_files, "{version}");
            // Units of both are read once.
            assert_eq!(read(&[&dwo, &package]), of_files, "{version}");
            let whole = std::fs::read(&package).expect("a package");
            // The strings of a package are counted once, whatever the number of units: here one is there twice.
            let strings = |files: &[(String, Vec<u8>)]| {
                let find = |_: &[Skeleton<'_>]| Ok(files.to_vec());
                let options =
                    with::<eitri::stats::StatsOptions>(|options| options.split = SplitFiles::new(&find));
                eitri::stats::stats(&bytes, &options).expect("it is read").contents.strings
            };
            let mut twice = whole.clone();
            let places = (0..whole.len()).filter(|at| whole[*at..].starts_with(b"b.c\0"));
            places.for_each(|at| twice[at] = b'a');
            let copies = strings(&[("a.dwp".into(), twice)]).copies;
            assert_eq!(copies, strings(&[]).copies + 1, "{version}");
            // Without one of the units, the other is read.
            let info = eitri::read::Object::read(&whole).expect("a package");
            let info = &info.section(".debug_info.dwo").expect("units").data;
            let at = whole.windows(info.len()).position(|part| part == &info[..]).expect("units");
            let mut broken = whole.clone();
            broken[at + 4] = 9;
            let found = Found(broken, std::sync::Mutex::default());
            let options = with::<LintOptions>(|options| options.split = SplitFiles::new(&found));
            let report = lint(&bytes, &options).expect("the object is read");
            assert_eq!((report.functions, found.1.lock().expect("one thread").len()), (1, 1), "{version}");
            // A changed byte: a finding, an error or nothing, but no panic.
            for at in (0..whole.len()).step_by(5) {
                let mut changed = whole.clone();
                changed[at] ^= 0xff;
                let find = |_: &[Skeleton<'_>]| Ok(vec![("a.dwp".into(), changed.clone())]);
                let _ = lint(&bytes, &with::<LintOptions>(|options| options.split = SplitFiles::new(&find)));
            }
        }
    }
}

/// Classes whose members and bases share bytes, are in bits, or have no size.
const MEMBERS: &str = "
struct empty {};
struct V { int v; char c; virtual ~V(); };
struct A : virtual V { int a; };
struct B : virtual V { int b; char d; };
struct C : A, B { char e; };
struct D : empty { empty first; int x; };
struct two : D, V { [[no_unique_address]] empty none; [[no_unique_address]] empty again; char z; };
struct tail { int i; char c; tail(); };
struct reuse : tail { char d; };
struct overlap { [[no_unique_address]] tail t; char u; };
struct __attribute__((packed)) packed { char a; int b : 20; long c; int d : 3; unsigned long long e : 61; };
struct bits { unsigned a : 3; unsigned : 0; unsigned long b : 40; char c : 2; bool d : 1; };
struct flexible { int n; char rest[]; };
struct zero { int n; int none[0]; };
union both { char c; double d; flexible *p; long double l; };
struct pm { int C::*data; void (C::*code)(int); int &r; int &&rr; decltype(nullptr) n; };
struct alignas(32) aligned { char c; alignas(16) int i; };
struct s { static int count; static const long size = 4; int i; enum : char { red } colour; };
struct anonymous { union { int i; char c[7]; }; struct { short s; } inner; };
C c; two t; reuse r; overlap o; packed p; bits b; flexible f; zero z; both u; pm *q; aligned al; s ss; anonymous an;
int s::count = 1; V::~V() {} tail::tail() {}
int main() { return p.b + b.b + f.n + c.e; }
";

#[test]
fn members_of_compilers_are_inside_their_types() {
    let mut wrong = Vec::new();
    for tool in [Tool::new("g++", "g++"), Tool::new("clang++-19", "clang-19")] {
        for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            let options = [version, "-std=c++20", "-O0", "-w"];
            let Some(bytes) = object_of(tool, "a.cc", MEMBERS, &options) else { return };
            let report = lint(&bytes, &LintOptions::default()).expect("it is read");
            let above = report.findings.iter().filter(|finding| finding.level > Level::Note);
            wrong.extend(above.map(|finding| format!("{}: {version}: {finding:?}", tool.name)));
        }
    }
    assert!(wrong.is_empty(), "{} findings\n{}", wrong.len(), wrong.join("\n"));
}
