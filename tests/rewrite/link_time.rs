//! Link-time optimization: the code of a function is in another unit than its types and variables. gdb reads the types in a
//! function without code for an instance that refers to the function, and shows the same before and after.

use eitri::gimli::constants as dw;
use eitri::read::{Dwarf, Object};

use super::debugged::shows_the_same;
use super::deduped::linked;
use super::kept::{gdb, twice};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");

const CPP: [(&str, &str); 3] = [
    (
        "a.cc",
        "#include \"h.h\"
volatile int sink;
namespace deep { int level = 3; }
struct Acc {
  int total;
  Acc(int t) : total(t) {}
  template <class F> int each(F f) { int r = 0; for (int i = 0; i < total; i++) r += f(i); return r; }
};
__attribute__((noinline)) int work(int n) {
  enum Local { RED, GREEN = 5 };
  struct Pair { int one; Local two; int sum() const { return one + two; } };
  Pair p = {n, GREEN};
  Acc acc(n + 2);
  auto scale = [&](int x) { return x * p.one + p.sum(); };
  int r = acc.each(scale);
  sink = r;
  __asm__ volatile(\"nop\");
  return helper(r) + p.sum();
}
int main(int c, char **) { Acc a(c); int r = work(c + 3) + shared(c); sink = a.total + r + deep::level; return sink & 1; }
",
    ),
    (
        "b.cc",
        "#include \"h.h\"
extern volatile int sink;
struct Box { int v; struct In { short q; } in; int get(int k) { return v + k + in.q; } };
int helper(int n) {
  union U { int i; float f; } u; u.i = n;
  Box b = {n, {3}};
  for (int i = 0; i < n; i++) { Box c = {i, {short(i)}}; sink = c.get(i); }
  int q = shared(b.get(u.i));
  sink = q;
  return q;
}
__attribute__((noinline)) int shared(int x) {
  static int calls;
  struct S { int a, b; };
  S s = {x, ++calls};
  sink = s.a + s.b;
  __asm__ volatile(\"nop\");
  if (s.a == 77) goto out;
  sink = s.a;
out:
  return s.a * s.b;
}
",
    ),
    ("h.h", "int shared(int x); int helper(int n);\n"),
];

const C: [(&str, &str); 3] = [
    (
        "a.c",
        "#include \"h.h\"
int level = 3;
int main(int count, char **values) {
  struct point { int x, y; } p = {count, 2};
  enum { LOW, HIGH = 9 } mark = HIGH;
  return run(p.x, mark) + helper(&p.x, p.y) + level;
}
",
    ),
    (
        "b.c",
        "#include \"h.h\"
volatile int sink;
struct node { struct node *next; int value; };
static int heavy(struct node *list, int key) {
  union { int i; float f; } u = {key};
  int sum = 0;
  for (struct node *at = list; at; at = at->next) { int twice = at->value * 2; sum += twice; sink = sum; }
  return sum + u.i;
}
__attribute__((noinline)) int run(int x, int key) {
  typedef struct { int lo, hi; } pair;
  pair both = {x, key};
  struct node last = {0, key}, first = {&last, x};
  sink = both.lo;
  __asm__ volatile(\"nop\");
  return heavy(&first, 3) + both.hi;
}
__attribute__((noinline)) int helper(int *p, int n) { static int calls; sink = *p + ++calls; return sink * n; }
",
    ),
    ("h.h", "int run(int x, int key); int helper(int *p, int n);\n"),
];

/// Compiles, rewrites twice, and compares what gdb shows. Returns the lost facts and what gdb shows.
fn compared(name: &str, folder: &Folder, bytes: &[u8], lines: &[&str]) -> Option<(Vec<String>, String)> {
    let lost = twice(folder, bytes);
    let breaks: Vec<String> = lines.iter().map(|line| format!("break {line}")).collect();
    let mut commands: Vec<&str> = breaks.iter().map(String::as_str).chain(["run"]).collect();
    for _ in 0..8 {
        commands.extend(["bt", "info args", "info locals", "up", "info locals", "continue"]);
    }
    let shown = shows_the_same(folder, name, &commands)?;
    Some((lost, shown))
}

/// Requires that gdb knows the same symbols of functions.
fn has_symbols(folder: &Folder, name: &str, functions: &[&str]) {
    for function in functions {
        let symbols = |program| {
            let shown = gdb(folder, program, &[&format!("info scope {function}")])?;
            let symbols = shown.lines().filter_map(|line| line.strip_prefix("Symbol ")?.split(' ').next());
            let mut symbols: Vec<String> = symbols.map(str::to_owned).collect();
            symbols.sort();
            Some(symbols)
        };
        let (Some(before), Some(after)) = (symbols("./before"), symbols("./after")) else { return };
        assert!(!before.is_empty(), "{name}: {function}");
        assert_eq!(before, after, "{name}: {function}");
    }
}

/// Units of the code with entries of types or of functions that do not refer to a function of the source's unit.
fn copies(bytes: &[u8]) -> Vec<String> {
    let object = Object::read(bytes).expect("it is read");
    let dwarf = Dwarf::read(&object).expect("it is read");
    let units = dwarf.units().iter().filter(|unit| unit.name.as_deref() == Some("<artificial>"));
    let entries = units.flat_map(|unit| dwarf.entries_of(unit));
    let copies = entries.filter(|entry| match entry.tag() {
        dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine => entry
            .reference(dw::DW_AT_abstract_origin)
            .is_none_or(|origin| origin.unit().offset == entry.unit().offset),
        tag => matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_enumeration_type | dw::DW_TAG_union_type),
    });
    copies.map(|entry| format!("{} {}", entry.tag(), entry.name().unwrap_or_default())).collect()
}

#[test]
fn local_types_of_cpp_are_those_of_the_source() {
    for (version, level) in
        [("-gdwarf-5", "-O2"), ("-gdwarf-4", "-O2"), ("-gdwarf-5", "-O0"), ("-gdwarf-3", "-O1")]
    {
        let name = format!("{version} {level}");
        let folder = Folder::new();
        let Some(bytes) = linked(&folder, GXX, &["-flto", version, level], &CPP) else { return };
        assert_eq!(copies(&bytes), [""; 0], "{name}");
        let lines = ["work", "shared", "a.cc:17", "b.cc:9", "b.cc:17"];
        let Some((lost, shown)) = compared(&name, &folder, &bytes, &lines) else { return };
        let after = std::fs::read(folder.path().join("after")).expect("an object");
        assert_eq!(copies(&after), [""; 0], "{name}");
        assert!(lost.iter().all(|fact| !fact.contains("abstract_origin")), "{name}: {lost:#?}");
        for text in ["two = GREEN", "RED = RED"] {
            assert!(level == "-O0" || shown.contains(text), "{name}: no {text:?} in {shown}");
        }
        let types = [
            "ptype work",
            "ptype Acc",
            "ptype Box",
            "print deep::level",
            "ptype deep::level",
            "break *work",
            "run",
            "ptype p",
            "ptype scale",
            "ptype acc",
            "ptype struct Pair",
            "ptype Local",
            "ptype acc.each<work(int)::<lambda(int)> >",
        ];
        shows_the_same(&folder, &name, &types);
        has_symbols(&folder, &name, &["work", "shared", "helper"]);
        // gdb looks up the file of a function of another unit by its number in the unit of the code.
        let Some(functions) = gdb(&folder, "./after", &["info functions -n ."]) else { return };
        let file = |name: &str| functions.find(&format!("{name}:\n")).unwrap_or(usize::MAX);
        let [main, shared] = ["main(", "shared("].map(|name| functions.find(name).expect("a function"));
        assert!(file("a.cc") < main && main < file("b.cc") && file("b.cc") < shared, "{name}: {functions}");
    }
}

#[test]
fn local_types_of_c_are_those_of_the_source() {
    for (version, level) in
        [("-gdwarf-5", "-O2"), ("-gdwarf-4", "-O2"), ("-gdwarf-2", "-O1"), ("-gdwarf-5", "-O0")]
    {
        let name = format!("{version} {level}");
        let folder = Folder::new();
        let Some(bytes) = linked(&folder, GCC, &["-flto", version, level], &C) else { return };
        let lines = ["run", "helper", "b.c:7", "b.c:8"];
        let Some((lost, shown)) = compared(&name, &folder, &bytes, &lines) else { return };
        let after = std::fs::read(folder.path().join("after")).expect("an object");
        assert_eq!(copies(&after), [""; 0], "{name}");
        assert!(lost.iter().all(|fact| !fact.contains("abstract_origin")), "{name}: {lost:#?}");
        assert!(shown.contains("both = {lo = 1, hi = 9}") || level == "-O2", "{name}: {shown}");
        let types = [
            "print level",
            "ptype level",
            "ptype run",
            "break *run",
            "run",
            "ptype both",
            "ptype first",
            "whatis both",
            "up",
            "ptype p",
            "ptype mark",
        ];
        shows_the_same(&folder, &name, &types);
        has_symbols(&folder, &name, &["run", "heavy", "main"]);
    }
}

/// Units with types and inlined functions that the other unit needs.
const CYCLE: [(&str, &str); 2] = [
    (
        "a.cc",
        "struct OnlyA { int p, q; int sum() const { return p + q; } };
struct FromB; int use_b(const FromB *b, int k); FromB *make_b(int);
__attribute__((always_inline)) int tiny_a(int x) { OnlyA o{x, 2}; int s = o.sum() * 3; return s; }
int use_a(const OnlyA *a, int k) { int r = a->p * k + a->q; { int inner = r + 1; r += inner; } return r; }
OnlyA *make_a(int k) { static OnlyA a{k, 1}; return &a; }
namespace deep {
struct Z { int z; template <class T> T up(T t) { T u = t + z; return u; } };
int zed(int k) { Z z{k}; return z.up(k); }
}
int tiny_b(int x);
volatile int sink;
int main(int argc, char **) { FromB *b = make_b(argc); int u = use_b(b, 3) + tiny_b(argc); sink = u; return u & 1; }
",
    ),
    (
        "b.cc",
        "struct FromB { double d; int e; int mul(int k) const { return (int)d * k + e; } };
struct OnlyA; int use_a(const OnlyA *a, int k); OnlyA *make_a(int); int tiny_a(int);
namespace deep { int zed(int); }
__attribute__((always_inline)) int tiny_b(int x) { FromB f{2.5, x}; int s = f.mul(x) + tiny_a(x); return s; }
int use_b(const FromB *b, int k) { int r = b->mul(k); r += use_a(make_a(k), r) + deep::zed(r); return r; }
FromB *make_b(int k) { static FromB b{1.5, k}; b.e += tiny_a(k); return &b; }
",
    ),
];

#[test]
fn units_of_clang_refer_to_each_other_in_a_cycle() {
    let clang = Tool::new("clang++-19", "clang-19");
    for (version, how, level) in [
        ("-gdwarf-5", "-flto=full", "-O2"),
        ("-gdwarf-5", "-flto=thin", "-O2"),
        ("-gdwarf-4", "-flto=full", "-O1"),
        ("-gdwarf-4", "-flto=thin", "-O3"),
    ] {
        let name = format!("{version} {how} {level}");
        let folder = Folder::new();
        let arguments = ["-fuse-ld=lld", how, version, level];
        let Some(bytes) = linked(&folder, clang, &arguments, &CYCLE) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| fact.contains("DW_AT_inline")), "{name}: {lost:#?}");
        let mut commands = vec!["break main", "run"];
        for _ in 0..40 {
            commands.extend(["bt", "info args", "info locals", "stepi"]);
        }
        commands.extend([
            "ptype OnlyA",
            "ptype FromB",
            "ptype deep::Z",
            "ptype use_a",
            "info line deep::zed",
        ]);
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("int p;") && shown.contains("double d;"), "{name}: {shown}");
    }
}
