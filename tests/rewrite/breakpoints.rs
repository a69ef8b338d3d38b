//! Sequences of rows: compilers have a sequence for a section, and gdb skips a row with the line of the row before it in the
//! sequence. A breakpoint has the same locations before and after.

use super::deduped::linked;
use super::kept::{compiled, gdb, twice};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Functions begin in the line in which the function before them ends.
const LINES: &str = "#define PAIR(n) int n##1(int x) { return x + 1; } int n##2(int x) { return x * 2; }
PAIR(f)
int g(int x) { if (x) return f1(x); return f2(x); } int h(int x) { return g(x) - 1; }
__attribute__((cold)) int rare(int x) { return x; } int often(int x) { return rare(x); }
int main(int c, char **v) { return h(c) + f1(3) + often(c); }
";

const COROUTINE: &str = "#include <coroutine>
struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
};
volatile int sink;
Task run(int n) {
  int local = n * 2;
  sink = local;
  co_await std::suspend_always{};
  sink = local + 1;
}
int main(int c, char **) { auto t = run(c); t.h.resume(); t.h.resume(); t.h.destroy(); return sink & 1; }
";

/// Requires that breakpoints and the number of sequences stay.
fn has_same_breakpoints(folder: &Folder, name: &str, commands: &[&str]) {
    let sequences = |file| {
        let ran = DWARFDUMP.run_in(folder.path(), &["--debug-line", file])?;
        Some(ran.out.matches("end_sequence").count())
    };
    let (Some(before), Some(after)) = (sequences("before"), sequences("after")) else { return };
    assert_eq!(before, after, "{name}");
    let commands: Vec<&str> = commands.iter().copied().chain(["info breakpoints"]).collect();
    let Some(before) = gdb(folder, "./before", &commands) else { return };
    let Some(after) = gdb(folder, "./after", &commands) else { return };
    assert!(before.contains("Breakpoint 1 at"), "{name}: {before}");
    pretty_assertions::assert_eq!(before, after, "{name}");
}

#[test]
fn functions_of_a_section_share_a_sequence() {
    for compiler in [GCC, CLANG] {
        for flags in [["-gdwarf-5", "-O0"], ["-gdwarf-4", "-O0"], ["-gdwarf-5", "-O2"], ["-gdwarf-3", "-O1"]]
        {
            let name = format!("{} {flags:?}", compiler.name);
            let folder = Folder::new();
            let Some(bytes) = linked(&folder, compiler, &flags, &[("a.c", LINES)]) else { continue };
            twice(&folder, &bytes);
            has_same_breakpoints(
                &folder,
                &name,
                &["break a.c:2", "break a.c:3", "break a.c:4", "break a.c:5"],
            );
            // In a relocatable object, the functions are at symbols.
            let folder = Folder::new();
            let arguments = [&flags[..], &["-c"]].concat();
            let Some(bytes) = compiled(&folder, compiler, ("a.c", LINES), &arguments) else { continue };
            twice(&folder, &bytes);
            has_same_breakpoints(
                &folder,
                &name,
                &["break a.c:2", "break a.c:3", "break a.c:4", "break a.c:5"],
            );
        }
    }
}

#[test]
fn parts_of_coroutines_share_a_sequence() {
    for level in ["-O0", "-O1"] {
        let folder = Folder::new();
        let Some(bytes) = linked(&folder, GXX, &["-std=c++20", "-g", level], &[("a.cc", COROUTINE)]) else {
            return;
        };
        twice(&folder, &bytes);
        has_same_breakpoints(&folder, level, &["break a.cc:13", "break a.cc:17", "break run"]);
    }
}
