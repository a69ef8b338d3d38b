//! Facts of a compiler's assembly that were changed by hand, as llvm-dwarfdump judges them, too.

use eitri::lint::{LintCode, LintOptions, lint};

use super::compiled::object_of;
use super::tools::{Folder, Tool};

const CLANG: Tool = Tool::new("clang-19", "clang-19");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

const SOURCE: &str = "struct pt { int x; short y; int arr[3]; };
int one(struct pt *p) { int x = p->x * 3; return x + p->arr[1]; }
int two(int b) { int y = b; for (int i = 0; i < b; i++) y += i * y; return y; }
int main(int c, char **v) { struct pt p = {c, 2, {1, 2, 3}}; return one(&p) + two(c); }
";

/// Findings in an object, and what `llvm-dwarfdump --verify` says, if the last text between `before` and `after` in the units
/// becomes `new`. clang's assembly has the attributes' names in comments.
fn judged((before, after): (&str, &str), new: &str) -> Option<(Vec<LintCode>, String)> {
    let folder = Folder::new();
    folder.file("a.c", SOURCE);
    let options = ["-gdwarf-4", "-O1", "-fno-inline", "-S", "-fverbose-asm", "a.c", "-o", "a.s"];
    let ran = CLANG.run_in(folder.path(), &options)?;
    assert!(ran.succeeded, "{ran}");
    let text = std::fs::read_to_string(folder.path().join("a.s")).expect("assembly");
    let units = text.find(".debug_info").expect("units");
    let end = units + text[units..].rfind(after).unwrap_or_else(|| panic!("{after}: {text}"));
    let start = text[..end].rfind(before).expect("the start") + before.len();
    let changed = [&text[..start], new, &text[end..]].concat();
    folder.file("a.s", changed);
    let ran = CLANG.run_in(folder.path(), &["-c", "a.s", "-o", "a.o"])?;
    assert!(ran.succeeded, "{ran}");
    let said = DWARFDUMP.run_in(folder.path(), &["--verify", "a.o"])?.to_string();
    let bytes = std::fs::read(folder.path().join("a.o")).expect("an object");
    let report = lint(&bytes, &LintOptions::default()).expect("it is read");
    Some((report.findings.iter().map(|finding| finding.code).collect(), said))
}

/// DWARF 5 section 2.14: the number is that of a file in the line table.
#[test]
fn file_numbers_past_the_line_table_are_found() {
    let Some((found, said)) = judged((".byte\t", "# DW_AT_decl_file"), "99 ") else { return };
    assert!(said.contains("Invalid file index in DW_AT_decl_file occurred 1 time"), "{said}");
    assert_eq!(found, [LintCode::BadReference]);
    // 0 is no file.
    let Some((found, _)) = judged((".byte\t", "# DW_AT_decl_file"), "0 ") else { return };
    assert_eq!(found, []);
}

/// DWARF 5 section 3.4.1: a call site refers to a function. 0x0b is the offset of the unit's entry.
#[test]
fn call_of_a_unit_is_found() {
    let Some((found, said)) = judged((".long\t", "# DW_AT_abstract_origin"), "0x0b ") else { return };
    assert!(said.contains("Incompatible DW_AT_abstract_origin tag reference"), "{said}");
    assert_eq!(found, [LintCode::BadReference]);
}

/// DWARF 5 section 5.7.6: the structure has 20 bytes. llvm-dwarfdump does not compare them.
#[test]
fn member_beyond_its_structure_is_found() {
    for (offset, expected) in
        [("8 ", vec![]), ("9 ", vec![LintCode::MemberBeyondType]), ("200 ", vec![LintCode::MemberBeyondType])]
    {
        let Some((found, _)) = judged((".byte\t", "# DW_AT_data_member_location"), offset) else { return };
        assert_eq!(found, expected, "{offset}");
    }
}

/// DWARF 5 section 2.17: the first function's code ends in the second function, whose symbol is not that of the first.
#[test]
fn function_that_runs_into_the_next_is_found() {
    // The comment of the attribute follows the size.
    let Some((found, said)) = judged((".long\t", ".Lfunc_end0-.Lfunc_begin0"), "16+") else { return };
    assert!(said.contains("overlapping address ranges"), "{said}");
    assert_eq!(found, [LintCode::ExtentNotCode]);
}

const ARGUMENTS: &str = "kernel void ks(global int *o, uchar a, short b, short c, uchar d, char4 e) {
  o[0] = a + b + c + d + e.x; o[1] = b * 2;
}";

/// Arguments begin at multiples of their sizes in the kernarg segment, as in OpenCL C structures: 0, 8, 10, 12, 14, 16.
#[test]
fn kernel_arguments_at_any_offset_are_recovered() {
    let options =
        ["-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib", "-g", "-O2"];
    let Some(bytes) = object_of(CLANG, "a.cl", ARGUMENTS, &options) else { return };
    let report = lint(&bytes, &LintOptions::default()).expect("it is read");
    let found = report.findings.iter().filter(|finding| finding.code == LintCode::RecoverableUnlocated);
    let found: Vec<_> = found
        .map(|finding| (finding.variable.clone().unwrap_or_default(), finding.evidence[0].clone()))
        .map(|(name, evidence)| format!("{name}: {}", evidence.split(", is in").next().unwrap_or_default()))
        .collect();
    let expected = [
        ("o", "0x0", "8 bytes"),
        ("a", "0x8", "1 byte"),
        ("b", "0xa", "2 bytes"),
        ("c", "0xc", "2 bytes"),
        ("d", "0xe", "1 byte"),
        ("e", "0x10", "4 bytes"),
    ];
    let expected: Vec<_> = expected
        .map(|(name, offset, size)| format!("{name}: the kernel argument at {offset}, which has {size}"))
        .into();
    assert_eq!(found, expected);
}
