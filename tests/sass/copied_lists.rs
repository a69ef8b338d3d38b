//! Lists and address ranges in Mercury copies of ptxas, which copies a PTX text's sections.

use eitri::lint::{LintFinding, LintOptions, lint};
use object::{Object as _, ObjectSection};
use pretty_assertions::assert_eq;

use super::*;

/// A kernel with a range list, a location list and a table of address ranges. A unit with addresses of 4 bytes, which has
/// no list, can precede its unit.
const KERNEL: &str = "\
.version 8.0
.target sm_80, debug
.address_size 64
.visible .entry k(
.param .u64 k_param_0)
{
.reg .b32 %r<8>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [k_param_0];
$L1: cvta.to.global.u64 %rd2, %rd1;
ld.global.u32 %r1, [%rd2];
$L2: add.s32 %r2, %r1, 7;
mul.lo.s32 %r3, %r2, %r1;
$L3: xor.b32 %r4, %r3, %r2;
st.global.u32 [%rd2], %r4;
$L4: st.global.u32 [%rd2+4], %r3; ret;
$L5:
}
.section .debug_abbrev
{
.b8 1,17,1,3,8,17,1,0,0
.b8 2,36,0,3,8,62,11,11,11,0,0
.b8 3,46,1,3,8,17,1,18,1,0,0
.b8 4,11,1,85,6,0,0
.b8 5,52,0,3,8,73,19,2,6,0,0
.b8 0
}
.section .debug_info
{
FIRST
.b8 66,0,0,0,2,0
.b32 .debug_abbrev
.b8 8,1,107,46,99,117,0,0,0,0,0,0,0,0,0,2,105,110,116,0,5,4,3,107,0
.b64 k
.b64 $L5
.b8 4
.b32 .debug_ranges
.b8 5,118,0
.b32 TYPE
.b32 .debug_loc
.b8 0,0,0
}
.section .debug_loc
{
.b64 $L3
.b64 $L4
.b8 5,0,144,177,228,149,1
.b64 0, 0
}
.section .debug_ranges
{
.b64 $L1
.b64 $L2
.b64 $L3
.b64 $L4
.b64 0, 0
}
.section .debug_aranges
{
.b8 44,0,0,0,2,0
.b32 .debug_info
.b8 8,0,0,0,0,0
.b64 k
.b64 16
.b64 0, 0
}
";

/// Assembles the kernel after a unit, for sm_120, with options; `None` without ptxas.
pub fn assembled(first: &str, options: &[&str]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    let source = folder.file("k.ptx", KERNEL.replace("FIRST", first).replace("TYPE", "25"));
    let object = folder.path().join("k.o");
    let options: Vec<&std::ffi::OsStr> = options.iter().map(std::ffi::OsStr::new).collect();
    let paths = ["-arch=sm_120".as_ref(), "-o".as_ref(), object.as_os_str(), source.as_os_str()];
    PTXAS.run(&[&options[..], &paths].concat())?.clean();
    Some(std::fs::read(object).expect("an object"))
}

/// Findings in one section of the copies.
fn findings(bytes: &[u8], section: &str) -> Vec<String> {
    let report = lint(bytes, &LintOptions::default()).expect("a report");
    let text = |it: &LintFinding| format!("{}: {}", it.code.name(), it.written);
    report.findings.iter().filter(|it| *it.section == *section).map(text).collect()
}

/// Sets the addend of a copy's relocation that begins at an offset of its table.
fn with_addend(bytes: &[u8], table: &str, offset: usize, addend: u64) -> Vec<u8> {
    let file = object::File::parse(bytes).expect("an ELF file");
    let (start, _) = file.section_by_name(table).expect(table).file_range().expect("contents");
    let mut changed = bytes.to_vec();
    changed[start as usize + offset + 16..][..8].copy_from_slice(&addend.to_le_bytes());
    changed
}

/// The bounds in the copy alone are moved behind the function.
#[test]
fn contradicting_bounds_of_copies_are_findings() {
    let Some(bytes) = assembled("", &["-g", "-c"]) else { return };
    for section in [".debug_loc", ".debug_ranges", ".debug_aranges"] {
        let copy = format!(".nv.merc{section}");
        assert_eq!(findings(&bytes, &copy), Vec::<String>::new());
        let changed = with_addend(&bytes, &format!(".nv.merc.rela{section}"), 0, 0x5000);
        let found = findings(&changed, &copy);
        let is_right = |it: &String| it.starts_with("mercury-differs") && it.contains("no function");
        assert!(found.len() == 1 && found.iter().all(is_right), "{section}: {found:?}");
    }
}

/// A list has the address size of the unit that refers to it, whichever unit is the first.
#[test]
fn lists_are_compared_with_the_encoding_of_their_unit() {
    let first = ".b8 18,0,0,0,2,0\n.b32 .debug_abbrev\n.b8 4,1,97,46,99,117,0,0,0,0,0,0";
    let Some(bytes) = assembled(first, &["-g", "-c"]) else { return };
    let object = eitri::read::Object::read(&bytes).expect("a cubin");
    let dwarf = eitri::read::Dwarf::read(&object).expect("entries");
    let sizes: Vec<_> = dwarf.units().iter().map(|unit| unit.encoding.address_bytes).collect();
    assert_eq!(sizes, [4, 8]);
    for section in [".debug_loc", ".debug_ranges"] {
        let copy = format!(".nv.merc{section}");
        assert_eq!(findings(&bytes, &copy), Vec::<String>::new());
        // The last bound of the list.
        let changed = with_addend(&bytes, &format!(".nv.merc.rela{section}"), 0, 0x5000);
        assert_eq!(findings(&changed, &copy).len(), 1, "{section}");
    }
}
