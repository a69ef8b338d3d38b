//! Frames of programs for CPUs that compilers rarely write: return addresses in other registers, registers that are saved
//! by expressions, realigned stacks.

use super::debugged::shows_the_same;
use super::{kept, loaded, rewritten};
use crate::common::tools::{Folder, Tool};

const GCC: Tool = Tool::new("gcc", "gcc");
const READELF: Tool = Tool::new("readelf", "binutils");

/// A function whose caller's pc is in `rbx` from its third instruction on, as the common entry's column says.
const RETURN_COLUMN: &str = r"
	.text
	.globl odd
	.type odd,@function
odd:
	.cfi_sections .debug_frame
	.cfi_startproc
	.cfi_return_column 3
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6,-16
	nop
	ret
	.cfi_endproc
	.size odd,.-odd
	.globl even
	.type even,@function
even:
	.cfi_startproc
	nop
	ret
	.cfi_endproc
	.size even,.-even
";

/// Rules with an expression that does not use the canonical frame address, and with a value.
const EXPRESSIONS: &str = r"
	.text
	.globl odd
	.type odd,@function
odd:
	.cfi_sections .debug_frame
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6,-16
	# DW_CFA_expression rbx: breg7 8
	.cfi_escape 0x10,0x3,0x2,0x77,0x8
	# DW_CFA_expression r12: breg7 8; deref; deref; lit8; plus
	.cfi_escape 0x10,0xc,0x6,0x77,0x8,0x6,0x6,0x38,0x22
	nop
	.cfi_val_offset 15,-8
	nop
	.cfi_restore 3
	ret
	.cfi_endproc
	.size odd,.-odd
";

const REALIGNED: &str = r"
typedef double v4 __attribute__((vector_size(32)));
void sink(void *);
int f(int n) { v4 x[4] __attribute__((aligned(64))); char b[n]; sink(x); sink(b); return n; }
int g(int n) { int y __attribute__((aligned(128))) = n; sink(&y); return y; }
";

/// Returns an object that gcc makes of a file.
fn compiled(folder: &Folder, file: &str, source: &str, arguments: &[&str]) -> Option<Vec<u8>> {
    folder.file(file, source);
    let start = ["-g", "-c", "-o", "before.o", file];
    let ran = GCC.run_in(folder.path(), &[&start[..], arguments].concat())?;
    assert!(ran.succeeded, "{ran}");
    Some(std::fs::read(folder.path().join("before.o")).expect("an object"))
}

/// Returns what readelf prints of the frames in `.debug_frame`: a table of the rules by pc, and expressions apart.
fn frames(folder: &Folder, file: &str) -> Option<[String; 2]> {
    let [mut table, mut instructions] = [String::new(), String::new()];
    for (option, out) in
        [("--debug-dump=frames-interp", &mut table), ("--debug-dump=frames", &mut instructions)]
    {
        let ran = READELF.run_in(folder.path(), &["-W", option, file])?;
        let text = ran.out.split("Contents of the ").find(|part| part.starts_with(".debug_frame section"));
        *out = text.unwrap_or_else(|| panic!("no frames: {ran}")).to_owned();
    }
    Some([table, instructions])
}

/// Returns the lines with pcs of a table.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let words = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut rows: Vec<_> = words.filter(|words| words.first().is_some_and(|word| word.len() == 16)).collect();
    // Functions can be in another order.
    rows.sort();
    rows
}

/// Rewrites an object twice: without a loss, and the second time without a change.
fn twice(folder: &Folder, bytes: &[u8]) {
    let first = rewritten(bytes, |_| {}).expect("it is rewritten");
    let lost = first.unimported.iter().map(ToString::to_string);
    let lost: Vec<String> = lost.filter(|fact| !fact.contains("DW_AT_GNU_locviews")).collect();
    assert!(lost.is_empty() && first.omissions.is_empty(), "{lost:#?} {:#?}", first.omissions);
    loaded::are_equal("an object", bytes, &first.object);
    let second = rewritten(&first.object, |_| {}).expect("it is rewritten again");
    assert!(second.object == first.object, "a second rewrite changes bytes: {:#?}", second.sizes);
    folder.file("after.o", first.object);
}

/// The return address of a function in another register stays there, beside a function with the usual column.
#[test]
fn return_column_of_a_frame_is_kept() {
    let folder = Folder::new();
    let Some(bytes) = compiled(&folder, "odd.s", RETURN_COLUMN, &[]) else { return };
    twice(&folder, &bytes);
    for file in ["before.o", "after.o"] {
        let Some([_, instructions]) = frames(&folder, file) else { return };
        let columns: Vec<&str> = instructions
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Return address column: "))
            .collect();
        assert_eq!(columns, ["3", "16"], "{file}: {instructions}");
    }
}

/// A saved register's expression and a value on the caller's side are kept, in a second rewrite, too.
#[test]
fn saved_registers_by_expression_are_kept() {
    let folder = Folder::new();
    let Some(bytes) = compiled(&folder, "odd.s", EXPRESSIONS, &[]) else { return };
    twice(&folder, &bytes);
    let Some([before, _]) = frames(&folder, "before.o") else { return };
    let Some([after, instructions]) = frames(&folder, "after.o") else { return };
    // rbx and r12 by expression, r15 by a value, rbp at an offset.
    assert!(before.contains("vexp") || before.contains("v-8"), "{before}");
    assert_eq!(rows(&before).len(), rows(&after).len(), "{before}\n{after}");
    assert!(instructions.contains("DW_OP_breg7 (rsp): 8"), "{instructions}");
    for count in ["DW_CFA_expression: r3", "DW_CFA_expression: r12", "r15"] {
        assert!(instructions.contains(count), "no {count}: {instructions}");
    }
}

/// A function that realigns its stack saves registers relative to `rbp`, which is the expression's only operand.
#[test]
fn frames_of_realigned_stacks_are_kept() {
    for level in ["-O0", "-O1", "-O2"] {
        let folder = Folder::new();
        let arguments = [level, "-fno-asynchronous-unwind-tables"];
        let Some(bytes) = compiled(&folder, "align.c", REALIGNED, &arguments) else { return };
        twice(&folder, &bytes);
        let Some([before, _]) = frames(&folder, "before.o") else { return };
        let Some([after, instructions]) = frames(&folder, "after.o") else { return };
        pretty_assertions::assert_eq!(rows(&before), rows(&after), "{level}");
        assert!(instructions.contains("DW_OP_breg6 (rbp)"), "{level}: {instructions}");
    }
}

/// Code that an assembler writes without `-g`: neither a function nor a unit's rows have it.
const ALONE: &str = r"
	.cfi_sections .debug_frame
	.text
	.globl other
	.type other,@function
other:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	call inner
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size other,.-other
	.globl third
	.type third,@function
third:
	.cfi_startproc
	sub $24, %rsp
	.cfi_def_cfa_offset 32
	call other
	add $24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size third,.-third
	.section .note.GNU-stack
";

const CALLER: &str = "int third(void);
volatile int n;
int inner(void) { return ++n; }
int main(int c, char **v) { return third() + c; }
";

/// gdb unwinds through code with a frame alone, and finds no unit at its pcs.
#[test]
fn frames_of_code_that_nothing_describes_are_kept() {
    for version in ["-gdwarf-5", "-gdwarf-4", "-gdwarf-2"] {
        let folder = Folder::new();
        folder.file("b.s", ALONE);
        folder.file("a.c", CALLER);
        let Some(ran) = GCC.run_in(folder.path(), &["-c", "-o", "b.o", "b.s"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let flags = [
            version,
            "-O1",
            "-fno-asynchronous-unwind-tables",
            "-fomit-frame-pointer",
            "-o",
            "before",
            "a.c",
            "b.o",
        ];
        let Some(ran) = GCC.run_in(folder.path(), &flags) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let lost = kept::twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains(".debug_frame")), "{version}: {lost:#?}");
        for file in ["before", "after"] {
            let Some(ran) = READELF.run_in(folder.path(), &["--debug-dump=frames", file]) else { return };
            let frames = ran.out.split(".debug_frame").nth(1).expect("frames");
            assert_eq!(frames.matches(" FDE ").count(), 4, "{version} {file}: {ran}");
        }
        let commands =
            ["break inner", "run", "bt", "up", "info frame", "up", "info frame", "info line other"];
        shows_the_same(&folder, version, &commands);
    }
}
