//! Programs that compilers make in the test, for a CPU.

use std::path::Path;

use eitri::read::{Dwarf, Object};
use eitri::rewrite::RewriteOptions;

use super::{keeps_facts, rewritten};
use crate::common::tools::{Folder, Tool, skip};
use crate::import::foreign::PROGRAMS;

const GCC: Tool = Tool::new("gcc", "gcc");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const GDB: Tool = Tool::new("gdb", "gdb");

/// Objects of five compilers keep their facts.
#[test]
fn facts_of_compiled_programs_are_kept() {
    for program in PROGRAMS {
        let Some(bytes) = program.compiled(&Folder::new()) else { continue };
        keeps_facts(&program.to_string(), &bytes);
    }
}

/// A type with an attribute without a field, as g++ names the structure of `mbstate_t` for the linker, stays in its unit
/// with the types that contain it.
#[test]
fn types_with_other_attributes_stay_beside_type_units() {
    let folder = Folder::new();
    folder.file("a.cc", "#include <stdio.h>\nint main() { fpos_t p; return fgetpos(stdin, &p); }\n");
    let arguments = ["-g", "-O0", "-fdebug-types-section", "-c", "-o", "a.o", "a.cc"];
    let Some(ran) = Tool::new("g++", "g++").run_in(folder.path(), &arguments) else { return };
    assert!(ran.succeeded, "{ran}");
    let bytes = std::fs::read(folder.path().join("a.o")).expect("an object");
    folder.file("new.o", rewritten(&bytes, |_| {}).expect("it is rewritten").object);
    let dwarfdump = Tool::new("llvm-dwarfdump-19", "llvm-19");
    let Some(ran) = dwarfdump.run_in(folder.path(), &["--debug-info", "new.o"]) else { return };
    for line in ["DW_AT_linkage_name\t(\"11__mbstate_t\")", "DW_AT_name\t(\"_G_fpos_t\")"] {
        assert!(ran.out.contains(line), "no {line}: {ran}");
    }
}

const SOURCE: &str = r#"#include <stdio.h>
#include <stdlib.h>
enum color { RED, GREEN = 5, BLUE };
struct node { int value; struct node *next; unsigned flag : 3; double weight; char name[8]; };
static struct node *push(struct node *list, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = list;
    node->flag = value & 7;
    node->weight = value / 2.0;
    snprintf(node->name, sizeof node->name, "n%d", value);
    return node;
}
static int sum(const struct node *list) {
    int total = 0;
    for (const struct node *at = list; at; at = at->next) {
        int part = at->value * 2;
        total += part;
    }
    return total;
}
int squares[4] = {1, 4, 9, 16};
static inline int twice(int number) { int result = number + number; return result; }
int main(int count, char **arguments) {
    struct node *list = NULL;
    enum color color = GREEN;
    for (int index = 0; index < 4; index++) {
        int square = squares[index];
        list = push(list, square + twice(index));
        color = square > 4 ? BLUE : RED;
    }
    int total = sum(list);
    union { float real; unsigned bits; } both = {1.5f};
    printf("%d %d %u %s\n", total, (int)color, both.bits, arguments[0] ? "x" : "y");
    return count - 1;
}
"#;

/// What gdb prints at 20 stops: the frames, the arguments and the locals. gdb is somebody else's reader.
fn stops(folder: &Path, program: &str) -> Option<Vec<String>> {
    let mut commands = String::from("set pagination off\nset print frame-arguments all\n");
    for line in [7, 12, 15, 17, 23, 29, 32, 34] {
        commands += &format!("break a.c:{line}\n");
    }
    commands += "run\n";
    for stop in 0..20 {
        commands += &format!("echo stop {stop}\\n\nbt\ninfo args\ninfo locals\n");
        commands += "p squares\np sizeof(struct node)\nptype struct node\ninfo frame\ncontinue\n";
    }
    std::fs::write(folder.join("commands"), commands).expect("a file");
    let path = format!("./{program}");
    let ran = GDB.run_in(folder, &["-nx", "-batch", "-x", "commands", &path])?;
    if ran.errors.contains("ptrace") || ran.out.contains("Cannot create process") {
        skip("gdb is not permitted to run a program");
        return None;
    }
    let stops: Vec<_> = ran.out.split("stop ").skip(1).map(|text| text.replace(program, "PROGRAM")).collect();
    assert_eq!(stops.len(), 20, "{ran}");
    Some(stops)
}

/// gdb prints equal values before and after, in linked programs of two compilers.
#[test]
fn gdb_prints_equal_values_at_20_stops() {
    for (compiler, arguments) in [
        (GCC, ["-g3", "-O0"]),
        (GCC, ["-g", "-O1"]),
        (GCC, ["-gdwarf-4", "-O0"]),
        (CLANG, ["-g", "-O0"]),
        (CLANG, ["-gdwarf-4", "-O0"]),
    ] {
        let folder = Folder::new();
        folder.file("a.c", SOURCE);
        let all = [arguments[0], arguments[1], "-o", "before", "a.c"];
        let Some(ran) = compiler.run_in(folder.path(), &all) else { continue };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let name = format!("{} {arguments:?}", compiler.name);
        let rewritten = keeps_facts(&name, &bytes);
        let program = folder.path().join("after_");
        std::fs::copy(folder.path().join("before"), &program).expect("a copy with the permissions");
        std::fs::write(&program, &rewritten.object).expect("a program");
        let Some(before) = stops(folder.path(), "before") else { return };
        let Some(after) = stops(folder.path(), "after_") else { return };
        for (before, after) in before.iter().zip(&after) {
            pretty_assertions::assert_eq!(before, after, "{name}");
        }
        // The values are there: gdb names the array and the list.
        assert!(
            before.iter().any(|stop| stop.contains("{1, 4, 9, 16}") && stop.contains("list = ")),
            "{name}"
        );
    }
}

const DEAD: &str = r"
struct inner { long b; };
struct only_dead { int a; struct inner in; };
struct shared { int x; };
typedef struct only_dead dead_t;
int dead_global[4];
int dead(dead_t *p, struct shared *s) {
    int loc = p->a + s->x;
    for (int i = 0; i < loc; i++) { long q = i; dead_global[i & 3] += q; }
    return loc;
}
int live(struct shared *s) { int twice = s->x * 2; return twice; }
int main(void) { struct shared s = {3}; return live(&s) - 6; }
";

/// In a program at address 0, a dropped function seems to have the code there. The symbol table says which one has it.
#[test]
fn dropped_functions_of_a_program_at_address_0_have_no_code() {
    const DROPPED: &str = "volatile int sink;\n\
        __attribute__((noinline)) int used(int a) { return a * 2; }\n\
        __attribute__((noinline)) int dropped(int b) {\n\
          for (int i = 0; i < b; i++) { sink += i; sink *= 3; sink -= b; sink ^= i; sink += i; sink *= 3; }\n\
          return b * 3;\n\
        }\n\
        void _start(void) { sink = used(3); for (;;); }\n";
    for (compiler, version) in [(GCC, "-gdwarf-5"), (GCC, "-gdwarf-4"), (CLANG, "-gdwarf-5")] {
        let name = format!("{} {version}", compiler.name);
        let folder = Folder::new();
        folder.file("a.c", DROPPED);
        let arguments =
            ["-O1", "-ffunction-sections", "-ffreestanding", "-nostdlib", "-static", "-o", "a", "a.c"];
        let at_zero = [version, "-Wl,-Ttext=0", "-Wl,--gc-sections", "-Wl,--build-id=none"];
        let Some(ran) = compiler.run_in(folder.path(), &[&at_zero[..], &arguments].concat()) else {
            continue;
        };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("a")).expect("a program");
        for is_gc in [false, true] {
            let after = rewritten(&bytes, |options| options.gc = is_gc);
            let after = after.unwrap_or_else(|error| panic!("{name}: {error}"));
            super::loaded::are_equal(&name, &bytes, &after.object);
            let object = Object::read(&after.object).expect("a program");
            let dwarf = Dwarf::read(&object).expect("entries");
            let functions = dwarf.entries().filter(|entry| entry.tag() == gimli::DW_TAG_subprogram);
            let found: Vec<_> = functions
                .map(|entry| (entry.name().expect("a name").into_owned(), entry.ranges().expect("pcs")))
                .collect();
            for (function, pcs) in &found {
                match function.as_str() {
                    "dropped" => assert!(pcs.is_empty() && !is_gc, "{name}: {found:#x?}"),
                    _ => {
                        let symbol = object.symbol(function).expect("a symbol");
                        assert_eq!(pcs[..], [symbol.address..symbol.address + symbol.size], "{name}");
                    }
                }
            }
            assert_eq!(found.len(), if is_gc { 2 } else { 3 }, "{name}: {found:#x?}");
            let again = rewritten(&after.object, |options| options.gc = is_gc).expect("it is rewritten");
            assert!(again.object == after.object, "{name}: a second rewrite changes it");
        }
    }
}

/// Functions and data that the linker dropped go, with the types that only they have; what is left is the same. The linker
/// leaves their addresses at 0.
#[test]
fn code_that_is_not_in_a_program_is_removed() {
    const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
    for (compiler, version) in [(GCC, "-gdwarf-5"), (GCC, "-gdwarf-4"), (CLANG, "-gdwarf-5")] {
        let folder = Folder::new();
        folder.file("a.c", DEAD);
        let arguments =
            [version, "-O0", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-o", "a", "a.c"];
        let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("a")).expect("a program");
        let name = format!("{} {version}", compiler.name);
        let plain = rewritten(&bytes, |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
        let gone =
            rewritten(&bytes, |options| options.gc = true).unwrap_or_else(|error| panic!("{name}: {error}"));
        super::loaded::are_equal(&name, &bytes, &gone.object);
        let again = rewritten(&gone.object, |options| options.gc = true).expect("it is rewritten");
        assert!(again.object == gone.object && again.changes.is_empty(), "{name}");
        std::fs::write(folder.path().join("plain"), &plain.object).expect("a file");
        std::fs::write(folder.path().join("gone"), &gone.object).expect("a file");
        let run = |arguments: &[&str]| DWARFDUMP.run_in(folder.path(), arguments);
        let Some(ran) = run(&["--verify", "gone"]) else { return };
        assert!(ran.succeeded && ran.out.contains("No errors."), "{name}: {ran}");
        let names = |file: &str| -> Option<Vec<String>> {
            let ran = run(&["--debug-info", file])?;
            let names = ran.out.lines().filter_map(|line| line.trim().strip_prefix("DW_AT_name\t(\""));
            Some(names.map(|name| name.trim_end_matches("\")").to_owned()).collect())
        };
        let (Some(plain), Some(gone)) = (names("plain"), names("gone")) else { return };
        let removed = ["inner", "only_dead", "dead_t", "dead_global", "dead", "loc", "q", "b", "in"];
        for name in removed {
            assert!(plain.iter().any(|known| known == name), "{name}");
            assert!(!gone.iter().any(|known| known == name), "{name} is left");
        }
        for name in ["shared", "x", "live", "twice", "main", "s", "int"] {
            assert!(gone.iter().any(|known| known == name), "{name} is gone");
        }
    }
}

/// Names are found in the index of the rewritten object: LLVM verifies it against the entries.
#[test]
fn name_index_is_verified() {
    const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
    for compiler in [GCC, CLANG] {
        let folder = Folder::new();
        folder.file("a.c", SOURCE);
        // gdb needs no addresses to find the code of a single unit.
        folder
            .file("b.c", "struct other { int first; }; int second(struct other *at) { return at->first; }\n");
        let arguments = ["-g", "-O1", "-o", "a", "a.c", "b.c"];
        let Some(ran) = compiler.run_in(folder.path(), &arguments) else { continue };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("a")).expect("a program");
        let named = rewritten(&bytes, |options: &mut RewriteOptions<'_>| options.names = true);
        std::fs::write(folder.path().join("named"), named.expect("it is rewritten").object).expect("a file");
        let run = |arguments: &[&str]| DWARFDUMP.run_in(folder.path(), arguments);
        let Some(ran) = run(&["--verify", "named"]) else { return };
        // In gcc's output, the tool has errors of calls in inlined calls, before and after.
        assert!(
            ran.out.contains("Verifying .debug_names") && !ran.out.contains("error: Name Index"),
            "{ran}"
        );
        assert!(ran.out.contains("No errors.") || compiler.name == "gcc", "{ran}");
        // gdb finds code and types beside the index.
        let asked = ["-nx", "-batch", "-ex", "info line main", "-ex", "ptype struct node", "named"];
        if let Some(found) = GDB.run_in(folder.path(), &asked) {
            let has_both =
                found.out.contains("of \"a.c\" starts at") && found.out.contains("struct node *next;");
            assert!(has_both, "{found}");
        }
        let Some(ran) = run(&["--debug-names", "named"]) else { return };
        // lldb finds types and functions by the index.
        let lookups = ["-b", "-o", "image lookup -t node", "-o", "image lookup -n push", "named"];
        if let Some(found) = Tool::new("lldb-19", "lldb-19").run_in(folder.path(), &lookups) {
            let has_type = found.out.contains("name = \"node\", byte-size = 40");
            assert!(has_type && found.out.contains("[inlined] push at a.c:6"), "{found}");
        }
        for name in ["push", "sum", "squares", "node", "main", "color"] {
            assert!(ran.out.contains(&format!("\"{name}\"")), "{name}: {ran}");
        }
    }
}
