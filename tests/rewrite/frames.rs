//! Frame descriptions that do not begin and end with functions: assemblers write one for several functions, and clang writes
//! several for a function with a section for each block. gdb finds the same callers before and after a rewrite.

use super::debugged::shows_the_same;
use super::kept::{compiled, twice};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const CLANG: Tool = Tool::new("clang-19", "clang-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

const CALLS: &str = r"
volatile int sink;
__attribute__((noinline)) int deepest(int *place) { sink += *place; return *place + 1; }
__attribute__((noinline)) int first(int a) { int x = a; return deepest(&x) + x; }
__attribute__((noinline)) int second(int a) { int y = a + 1; return 2 * first(y) + deepest(&y); }
int main(int count, char **arguments) {
  if (second(count) > 3) { sink = first(count); if (sink > 2) sink = second(sink); }
  return sink == 1;
}
";

/// Steps into the deepest function three times, and looks at all callers.
const CALLERS: [&str; 11] =
    ["break deepest", "run", "bt", "up", "info frame", "continue", "bt", "continue", "bt", "continue", "bt"];

fn callers_stay(folder: &Folder, name: &str, bytes: &[u8]) -> Option<Vec<String>> {
    let lost = twice(folder, bytes);
    let of_frames: Vec<String> = lost.into_iter().filter(|fact| fact.contains(".debug_frame")).collect();
    let shown = shows_the_same(folder, name, &CALLERS)?;
    assert!(shown.contains("in second (") && shown.contains("in main ("), "{name}: {shown}");
    Some(of_frames)
}

/// gcc's own assembly, in which the end of a frame description and the start of the next are missing.
#[test]
fn a_frame_of_several_functions_is_the_frame_of_each() {
    for level in ["-O1", "-O2", "-O0"] {
        let folder = Folder::new();
        folder.file("calls.c", CALLS);
        // Without padding between functions, which belongs to none.
        let options = ["-g", level, "-fno-asynchronous-unwind-tables", "-fno-align-functions", "-S"];
        let files = ["-o", "calls.s", "calls.c"];
        let Some(ran) = GCC.run_in(folder.path(), &[&options[..], &files].concat()) else { return };
        assert!(ran.succeeded, "{ran}");
        let text = std::fs::read_to_string(folder.path().join("calls.s")).expect("assembly");
        let (start, end) = ("\t.cfi_startproc\n", "\t.cfi_endproc\n");
        // From `deepest` to `second`; `main` can be in another section.
        let text = text.replacen(end, "", 2);
        let (before, after) = text.split_once(start).expect("a first function");
        let joined = [before, start, &after.replacen(start, "", 2)].concat();
        let Some(bytes) = compiled(&folder, GCC, ("joined.s", &joined), &["-no-pie"]) else { return };
        let Some(lost) = callers_stay(&folder, level, &bytes) else { return };
        assert_eq!(lost, [] as [&str; 0], "{level}");
    }
}

/// A frame description in the middle of a function, and another until its end.
#[test]
fn frames_of_parts_of_a_function_are_its_frame() {
    let sections = ["-g", "-O1", "-fno-asynchronous-unwind-tables", "-fbasic-block-sections=all"];
    for more in [&["-no-pie"][..], &["-no-pie", "-gdwarf-4"], &["-fPIE", "-pie"]] {
        let folder = Folder::new();
        let arguments = [&sections[..], more].concat();
        let Some(bytes) = compiled(&folder, CLANG, ("calls.c", CALLS), &arguments) else { return };
        let Some(lost) = callers_stay(&folder, &arguments.join(" "), &bytes) else { return };
        assert_eq!(lost, [] as [&str; 0], "{arguments:?}");
    }
}

/// Ends of the frame descriptions of a file, and the last row of each.
fn ends(folder: &Folder, file: &str) -> Option<Vec<(String, String)>> {
    let ran = DWARFDUMP.run_in(folder.path(), &["--debug-frame", file])?;
    let mut ends: Vec<(String, String)> = Vec::new();
    for line in ran.out.lines() {
        if let Some((_, end)) = line.split_once(" FDE ").and_then(|(_, pcs)| pcs.split_once("...")) {
            ends.push((end.into(), String::new()));
        } else if let Some((last, (_, rules))) = ends.last_mut().zip(line.trim().split_once(": CFA=")) {
            last.1 = rules.into();
        }
    }
    ends.sort();
    Some(ends)
}

/// Code after a function that has the function's frame, but no entry and no rows, becomes code without an entry.
#[test]
fn a_frame_of_more_than_functions_is_kept() {
    let folder = Folder::new();
    folder.file("calls.c", CALLS);
    let options = ["-g", "-O1", "-fno-asynchronous-unwind-tables", "-S", "-o", "calls.s", "calls.c"];
    let Some(ran) = GCC.run_in(folder.path(), &options) else { return };
    assert!(ran.succeeded, "{ran}");
    let text = std::fs::read_to_string(folder.path().join("calls.s")).expect("assembly");
    let (before, after) = text.split_once("\t.cfi_endproc\n").expect("an end");
    // After the label that ends the function's code.
    let (label, rest) = after.split_once('\n').expect("a label");
    let longer = [before, label, "\n\tnop\n\tnop\n\t.cfi_endproc\n", rest].concat();
    let Some(bytes) = compiled(&folder, GCC, ("longer.s", &longer), &["-no-pie"]) else { return };
    let Some(lost) = callers_stay(&folder, "longer", &bytes) else { return };
    assert_eq!(lost, [""; 0]);
    let (Some(expected), Some(actual)) = (ends(&folder, "before"), ends(&folder, "after")) else { return };
    assert!(expected.iter().all(|end| actual.contains(end)), "{expected:#?}, then {actual:#?}");
    assert_eq!(actual.len(), expected.len() + 1, "{actual:#?}");
}
