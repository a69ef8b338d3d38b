//! Variables of blocks whose code was removed.

use eitri::read::{CurrentLocation, Dwarf, Object};

use super::{CC, LLDB, compile};
use crate::common::tools::Folder;

/// The block around the second `k` has no code: gcc keeps it without pcs.
const SOURCE: &str = "
volatile int sink;
__attribute__((noinline)) int f(int k, int n) {
    sink = k;
    { char k = 1; if (k > 2) sink = k; }
    sink = n;
    return k;
}
int main(int count, char **words) { return f(count, 2); }
";

#[test]
fn variable_of_a_removed_block_does_not_shadow_a_located_variable() {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O1"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pc = dwarf.address_in("f", 0).expect("the function");
    let found = dwarf.variables_at(pc);
    let of_block: Vec<_> = found.variables.iter().filter(|one| one.name().as_deref() == Some("k")).collect();
    let is_located = |location: &CurrentLocation<'_>| {
        matches!(location, CurrentLocation::Expression(_) | CurrentLocation::Entries(_))
    };
    let shadowed: Vec<_> =
        of_block.iter().map(|variable| (is_located(&variable.location), variable.is_shadowed)).collect();
    assert_eq!(shadowed.len(), 2, "gcc describes both: {of_block:?}");
    assert!(shadowed.contains(&(true, false)), "{shadowed:?}");
    assert!(shadowed.iter().all(|&(is_located, is_shadowed)| is_located != is_shadowed), "{shadowed:?}");
    let named = dwarf.variable_named("k", Some(pc)).expect("a variable");
    assert!(is_located(&named.location), "{named:?}");

    // lldb lists the parameter alone: an int.
    let arguments = ["-b", "-o", "breakpoint set -n f", "-o", "run", "-o", "frame variable"];
    let Some(ran) = LLDB.run_in(folder.path(), &[&arguments[..], &["program"]].concat()) else { return };
    if !ran.out.contains("stop reason = breakpoint") {
        crate::common::tools::skip("lldb may not trace programs here");
        return;
    }
    let listed = ran.out.lines().filter(|line| line.contains(") k = "));
    let listed: Vec<_> = listed.map(str::trim).collect();
    assert_eq!(listed, ["(int) k = 1"], "{ran}");
    assert_eq!(named.ty().expect("a type").type_name(), "int");
}

#[test]
fn variable_of_a_removed_block_is_listed_if_it_is_alone() {
    let folder = Folder::new();
    folder.file(
        "a.c",
        SOURCE.replace("char k = 1; if (k > 2) sink = k;", "char other = 1; if (other > 2) sink = other;"),
    );
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O1"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pc = dwarf.address_in("f", 0).expect("the function");
    let other = dwarf.variable_named("other", Some(pc)).expect("a variable");
    assert!(!other.is_shadowed);
}

/// The caller of an inlined function is another frame, in which a debugger shows the caller's variable.
#[test]
fn variable_of_an_inlined_function_does_not_shadow_the_callers() {
    let folder = Folder::new();
    folder.file(
        "a.c",
        "volatile int sink;
        static inline __attribute__((always_inline)) int twice(int k) { sink = k; { int k = sink; sink = k; } return 2 * k; }
        __attribute__((noinline)) int f(int k) { sink = k; return twice(k + 1) + k; }
        int main(void) { return f(1); }",
    );
    let Some(program) = compile(CC, &folder, &["a.c"], &["-O0"]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let pc = dwarf.address_in("f", 0).expect("the function");
    let mut most = Vec::new();
    for pc in pc..pc + 0x80 {
        let found = dwarf.variables_at(pc);
        let named = found.variables.iter().filter(|one| one.name().as_deref() == Some("k"));
        let shadowed: Vec<bool> = named.map(|variable| variable.is_shadowed).collect();
        if shadowed.len() > most.len() {
            most = shadowed;
        }
    }
    // The block's, the parameter around it, and the caller's.
    assert_eq!(most, [false, true, false]);
}
