//! Functions with several instances: g++ has two or three of each constructor and destructor, and gcc has clones and parts of
//! functions. gdb shows the same parameters in the same order, the same variables and types.

use super::debugged::shows_the_same;
use super::kept::{compiled, twice};
use crate::common::tools::{Folder, Tool};

const DESTRUCTORS: &str = "
struct V { int v; virtual ~V() { int k = v; { int in = k + 1; v = in; } } V(int x) : v(x) { int c = x; v += c; } };
struct A : virtual V { int a; A(int x) : V(x), a(x) { int d = x; a += d; } virtual ~A() { int l = a; { int m = l + 2; a = m; } } };
struct B : A { B(int x) : V(x), A(x) {} virtual ~B() { v = 0; } };
int run(B *b) { int r = b->a + b->v; delete b; return r; }
int main() { V *v = new V(1); delete v; A *a = new A(2); delete a; return run(new B(3)) > 100; }
";

/// The instances differ: only one has the table of virtual bases, and a block of the source is a block for each part of the
/// code.
#[test]
fn constructors_and_destructors_keep_parameters_and_variables() {
    for (version, level) in [("-gdwarf-5", "-O0"), ("-gdwarf-4", "-O0"), ("-gdwarf-5", "-Og")] {
        let name = format!("{version} {level}");
        let folder = Folder::new();
        let gxx = Tool::new("g++", "g++");
        let Some(bytes) = compiled(&folder, gxx, ("a.cpp", DESTRUCTORS), &[version, level]) else { return };
        let lost = twice(&folder, &bytes);
        let is_known = |fact: &String| fact.contains("locviews") || fact.contains("DW_AT_inline");
        assert!(lost.iter().all(is_known), "{name}: {lost:#?}");
        let mut commands =
            vec!["break V::~V", "break A::~A", "break A::A", "break V::V", "break B::~B", "run"];
        for _ in 0..10 {
            commands.extend(["bt", "info args", "info locals", "stepi", "info locals", "continue"]);
        }
        commands.extend(["ptype V::~V", "ptype A::A", "ptype B::B", "ptype B"]);
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(level != "-O0" || shown.contains("__vtt_parm=0x"), "{name}: {shown}");
        assert!(shown.contains("__in_chrg=<optimized out>"), "{name}: {shown}");
    }
}

const PARTS: &str = "
volatile int sink;
__attribute__((noinline)) void note(int x) { sink += x; }
int power(int base, int exponent) {
  if (exponent < 0) return 0;
  int result = 1;
  for (int i = 0; i < exponent; i++) {
    int factor = base + sink;
    note(factor);
    result *= factor;
    note(result);
  }
  note(result); note(1); note(2); note(3);
  sink = result;
  return result;
}
int some(int n, int e) { return power(n, e) + 1; }
int other(int n, int e) { return power(n, e) + 2; }
int main(int c, char **v) {
  return (power(c, 2) + power(c + 1, -c) + some(c, c) + other(c, 7) + power(c + 4, 7)) > 1000;
}
";

/// gcc moves the rest of a function that often returns at once to a part, which is an instance of the function, too.
#[test]
fn parts_of_functions_keep_variables() {
    let folder = Folder::new();
    let arguments = ["-g", "-O2", "-fno-inline-functions-called-once"];
    let gcc = Tool::new("gcc", "gcc");
    let Some(bytes) = compiled(&folder, gcc, ("a.c", PARTS), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.iter().all(|fact| !fact.contains("abstract_origin")), "{lost:#?}");
    let mut commands = vec!["break power", "break note", "info breakpoints", "run"];
    for _ in 0..30 {
        commands.extend(["bt", "info args", "info locals", "up", "info locals", "continue"]);
    }
    let Some(shown) = shows_the_same(&folder, "parts", &commands) else { return };
    assert!(shown.contains("power (base=base@entry=1, exponent=exponent@entry=2)"), "{shown}");
}

const BLOCKS: &str = "
volatile int sink;
int help(int k) { return k + sink; }
int work(int n) {
  int r = n;
  if (n > 2) { int q = help(n); r += q; { int z = q + sink; r += z; sink = z; } }
  return r;
}
int (*volatile pointer)(int) = work;
int main(int c, char **v) { return (work(c + 3) + pointer(c + 5) + (c > 3 ? work(7) : 0)) == 1; }
";

/// gdb takes the variables of an abstract instance's block for variables of the function, if no block of the code refers to it.
#[test]
fn blocks_of_the_code_refer_to_the_blocks_of_the_abstract_instance() {
    for (compiler, version, level) in
        [("gcc", "-gdwarf-5", "-O2"), ("gcc", "-gdwarf-4", "-O3"), ("g++", "-gdwarf-3", "-O2")]
    {
        let name = format!("{compiler} {version} {level}");
        let folder = Folder::new();
        let arguments = ["-xc", version, level];
        let arguments = if compiler == "g++" { &arguments[1..] } else { &arguments[..] };
        let compiler = Tool::new(compiler, compiler);
        let Some(bytes) = compiled(&folder, compiler, ("a.cc", BLOCKS), arguments) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("abstract_origin")), "{name}: {lost:#?}");
        let mut commands = vec!["break *work", "run"];
        for _ in 0..20 {
            commands.extend(["info locals", "stepi"]);
        }
        let Some(shown) = shows_the_same(&folder, &name, &commands) else { return };
        assert!(shown.contains("\nz = "), "{name}: {shown}");
    }
}

const NESTED: &str = "
volatile int sink;
int outer(int n) {
  int total = 0;
  __attribute__((noinline)) int apart(int x) { total += x; sink = x; return total + n; }
  int both(int x) { total += x; if (x > 0) return both(x - 1) * both(x - 2) + n; sink = total; return total; }
  return apart(n) + both(n + 1);
}
static int inlined(int n) {
  int total = 0;
  __attribute__((noinline)) int apart(int x) { total += x; sink = x; return total + n; }
  int both(int x) { total += x; if (x > 0) return both(x - 1) * both(x - 2) + n; sink = total; return total; }
  return apart(n) + both(n + 1);
}
int main(int c, char **v) { return outer(c) + inlined(c + 2) + outer(c + 5); }
";

/// gcc has the code of a nested function outside the function around it, which can be an abstract instance: gdb reads no
/// code in one. DWARF 5 section 3.3.8.4.
#[test]
fn code_of_nested_functions_is_found() {
    for version in ["-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let gcc = Tool::new("gcc", "gcc");
        let Some(bytes) = compiled(&folder, gcc, ("a.c", NESTED), &[version, "-O2"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("subprogram")), "{version}: {lost:#?}");
        // A rewritten call names the code, so that gdb also finds values at the function's entry.
        let mut commands = vec!["set print entry-values no", "break both", "break apart", "run"];
        commands.extend(["bt", "info frame", "info args", "info locals", "continue"].repeat(8));
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        assert!(shown.contains("both (x=1)") && shown.contains("inlined (n=3)"), "{version}: {shown}");
    }
}
