//! Locations that go on after lanes are switched on in which their register was not written. The expected pcs are read from
//! `llvm-objdump`'s text; those of k05 and k04 were seen in an execution of the kernels, too.

use std::path::Path;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lint::{Level, LintCode, LintFinding, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::{Dialect, Encoding, text};
use eitri::read::{Dwarf, Object};
use eitri::rewrite::{RewriteOptions, rewrite};
use eitri::target::Target;

use super::made::{AMD, object_with};

/// Where the code of an object that is not linked is assumed to be.
const START: u64 = 0x1_0000;

/// The element of v3 in the current lane.
const ELEMENT: &str = "regx v3; push_lane; lit4; mul; offset";

fn bytes(expression: &str) -> Vec<u8> {
    let target = Target::named(AMD).expect("a target");
    let expression = text::parse(expression, Encoding::new(8, Dialect::Llvm), Some(&target));
    expression.expect("an expression").bytes().to_vec()
}

/// Returns an object in which v3 is set before a branch, and in the lanes that take it: the variable is in v3 from there
/// to `end`, and the instruction at 0x10 can switch the other lanes on.
pub fn switched(at_0x10: u32, end: u64) -> Vec<u8> {
    located(at_0x10, 0x3406_0282, &[(0x10, end, ELEMENT)])
}

/// The same with another instruction at 0x0c, and other locations.
fn located(at_0x10: u32, at_0x0c: u32, locations: &[(u64, u64, &str)]) -> Vec<u8> {
    let code = [
        0x3606_0281, // 00  v_and_b32_e32 v3, 1, v1
        0x7d88_0084, // 04  v_cmp_gt_u32_e32 vcc_lo, 4, v0
        0xbe85_3c6a, // 08  s_and_saveexec_b32 s5, vcc_lo
        at_0x0c,     // 0c  v_lshlrev_b32_e32 v3, 2, v1
        at_0x10,     // 10
        0xbf80_0000, // 14  s_nop 0
        0xbf80_0000, // 18  s_nop 0
        0xbf81_0000, // 1c  s_endpgm
    ];
    let code: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
    let locations: Vec<_> =
        locations.iter().map(|(start, end, expression)| (*start, *end, bytes(expression))).collect();
    let locations: Vec<_> =
        locations.iter().map(|(start, end, expression)| (*start, *end, &expression[..])).collect();
    object_with(AMD, 32, &locations, &code)
}

fn findings(object: &[u8]) -> Vec<LintFinding> {
    let mut findings = lint(object, &LintOptions::default()).expect("it is read").findings;
    findings.retain(|finding| finding.code == LintCode::LanesNotWritten);
    findings
}

fn found(object: &[u8]) -> Vec<(String, u64, u64)> {
    let findings = findings(object).into_iter();
    let finding = |finding: LintFinding| {
        let pcs = finding.pcs.expect("pcs");
        (finding.variable.unwrap_or_default(), pcs.start, pcs.end)
    };
    findings.map(finding).collect()
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join(name)).expect("an object")
}

/// `s_or_b32 exec_lo, exec_lo, s5`, after which both sides of the branch run.
const OR: u32 = 0x887e_057e;
/// `s_andn2_saveexec_b32 s5, s5`, after which the other side runs.
const FLIP: u32 = 0xbe85_3f05;

#[test]
fn other_side_of_a_branch_has_the_older_result() {
    assert_eq!(found(&switched(FLIP, 0x20)), [("x".into(), START + 0x14, START + 0x20)]);
    // The range ends where the other lanes run.
    assert_eq!(found(&switched(FLIP, 0x14)), []);
    // The lanes of `v_lshlrev_b32` run, too, and nothing says where the variable is in the other lanes.
    assert_eq!(found(&switched(OR, 0x20)), []);
}

#[test]
fn location_elsewhere_in_the_other_lanes_is_proof() {
    let elsewhere = "regx v1; push_lane; lit4; mul; offset";
    let before = |start| [(start, 0x0c, elsewhere), (0x10, 0x20, ELEMENT)];
    assert_eq!(found(&located(OR, 0x3406_0282, &before(4))), [("x".into(), START + 0x14, START + 0x20)]);
    // The variable was in v3 in all lanes.
    let same = [(4, 0x0c, ELEMENT), (0x10, 0x20, ELEMENT)];
    assert_eq!(found(&located(OR, 0x3406_0282, &same)), []);
    // `v_and_b32_e32 v3, 1, v1` again: both sides can have computed the same.
    assert_eq!(found(&located(OR, 0x3606_0281, &before(4))), []);
}

/// The same operation on both sides of a branch has the same result only on the same operands.
#[test]
fn same_operation_on_other_operands_has_another_result() {
    let both = |at_0x0c| found(&located(FLIP, at_0x0c, &[(0x10, 0x20, ELEMENT)]));
    let finding = [("x".into(), START + 0x14, START + 0x20)];
    // `v_and_b32_e32 v3, 1, v1`, as before the branch.
    assert_eq!(both(0x3606_0281), []);
    // `v_and_b32_e32 v3, 2, v1`, and `v_and_b32_e32 v3, 1, v2`.
    assert_eq!(both(0x3606_0282), finding);
    assert_eq!(both(0x3606_0481), finding);
}

#[test]
fn whole_wave_code_switches_no_lanes_of_the_program_on() {
    // `s_or_saveexec_b32 s5, -1` and `s_mov_b32 exec_lo, -1`.
    for all in [0xbe85_3dc1, 0xbefe_03c1] {
        assert_eq!(found(&switched(all, 0x20)), []);
    }
    // `s_mov_b32 exec_lo, s6`: an unknown mask.
    assert_eq!(found(&switched(0xbefe_0306, 0x20)), []);
}

#[test]
fn evidence_names_the_write_and_the_switch() {
    let findings = findings(&switched(FLIP, 0x20));
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(finding.level, Level::Warning);
    assert_eq!(finding.written, "v3 in all active lanes from 0x10014 on");
    assert_eq!(
        finding.evidence,
        [
            "0x1000c: v_lshlrev_b32 v3 sets v3 in the lanes that are active before 0x10010",
            "0x10010: s_andn2_saveexec_b32 s5, exec switches other lanes on",
            "0x10000: v_and_b32 v3 set v3 in these lanes last",
            "at 0x10014 no active lane has what 0x1000c wrote",
        ]
    );
}

#[test]
fn compiler_for_amd_has_three_at_each_processor() {
    let expected = [
        ("k05_loopbreak.gfx1030.O2", vec![("x", 0x17e4, 0x1814), ("half_", 0x17e4, 0x1810)]),
        ("k05_loopbreak.gfx1100.O2", vec![("x", 0x1804, 0x1838), ("half_", 0x1804, 0x1834)]),
        ("k05_loopbreak.gfx942.O2", vec![("x", 0x17f0, 0x1820), ("half_", 0x17f0, 0x181c)]),
        ("k04_diverge.gfx1030.O2", vec![("r", 0x1868, 0x1870)]),
        ("k04_diverge.gfx1100.O2", vec![("r", 0x188c, 0x1894)]),
        ("k04_diverge.gfx942.O2", vec![("r", 0x1874, 0x187c)]),
    ];
    let mut count = 0;
    for path in std::fs::read_dir(Path::new(crate::common::ROOT).join("tests/objects/amd")).expect("a folder")
    {
        let path = path.expect("a file").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let known = expected.iter().find(|known| known.0 == name).map(|known| known.1.clone());
        let found = found(&std::fs::read(&path).expect("an object"));
        let found: Vec<_> = found.iter().map(|(name, start, end)| (&name[..], *start, *end)).collect();
        assert_eq!(found, known.unwrap_or_default(), "{name}");
        count += 1;
    }
    assert_eq!(count, 54);
}

/// Objects of LLVM 19 and 22 with the same kernels: their locations are in memory or in whole registers, and end before.
#[test]
fn other_compilers_have_none() {
    for folder in ["llvm19", "llvm22", "triton"] {
        let folder = Path::new(crate::common::ROOT).join("tests/objects").join(folder);
        for path in std::fs::read_dir(folder).expect("a folder") {
            let path = path.expect("a file").path();
            assert_eq!(found(&std::fs::read(&path).expect("an object")), [], "{}", path.display());
        }
    }
}

/// A fix removes the pcs that the finding is about, and leaves the rest of the range.
#[test]
fn fix_ends_the_location_where_lanes_are_switched_on() {
    let object = file("tests/objects/amd/k05_loopbreak.gfx1100.O2.hsaco");
    let mut options = RewriteOptions::default();
    options.fix = true;
    let fixed = rewrite(&object, &options).expect("it is rewritten").object;
    assert_eq!(found(&fixed), []);
    let read = Object::read(&fixed).expect("an object");
    let dwarf = Dwarf::read(&read).expect("debug information");
    let half = dwarf.entries().find(|entry| entry.name().is_some_and(|name| name == "half_"));
    let list =
        half.expect("half_").locations(gimli::constants::DW_AT_location).expect("a list").expect("a list");
    let list: Vec<_> = list.iter().map(|entry| (entry.start, entry.end)).collect();
    assert_eq!(list, [(0x17c8, 0x17fc), (0x17fc, 0x1804)]);
}

/// Variables with ranges of addresses and vector registers.
type Described = (&'static str, Vec<(u64, u64, u16)>);

/// Describes the function at 0x1700 of one of AMD's objects for gfx1100 by hand.
fn described(kernel: &str, size: u64, variables: &[Described]) -> Vec<u8> {
    let object = file(&format!("tests/objects/amd/{kernel}.gfx1100.O2.hsaco"));
    let read = Object::read(&object).expect("an object");
    let text = read.sections().iter().find(|section| section.name == ".text").expect("code");
    let start = (0x1700 - text.address) as usize;
    let code = text.data[start..start + size as usize].to_vec();
    let target = Target::named("amdgpu-gfx1100-wave32").expect("a target");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("kernel.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let function = m.function(unit, "f").expect("a function").code("f", size).kernel().id();
    for (name, ranges) in variables {
        let mut variable = m.variable(function, name, int).expect("a variable");
        for (start, end, number) in ranges {
            let register = Loc::per_lane(target.vgpr(*number).expect("a register"));
            variable.live(start - 0x1700..end - 0x1700, register).expect("a range");
        }
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::rocgdb(), Policy::Strict).expect("it is lowered");
    let code = ObjectCode::text(code).with_function("f", 0, size);
    new_object(&target, &code, &written.sections).expect("an object")
}

/// `k01`: lanes are switched off once, and stay off.
fn saxpy() -> Vec<Described> {
    vec![
        ("i", vec![(0x172c, 0x175c, 2)]),
        ("xi", vec![(0x178c, 0x179c, 2)]),
        ("yi", vec![(0x178c, 0x1790, 3)]),
        ("r", vec![(0x1790, 0x179c, 3)]),
    ]
}

/// `k04`: each side of a branch has its ranges, and a join those of both sides. `r_end` is where the range of `r` ends that
/// begins at 0x1888, and `d_end` where that of `d` ends.
fn diverge(r_end: u64, d_end: u64) -> Vec<Described> {
    let r = [
        (0x1804, 0x1808),
        (0x180c, 0x1814),
        (0x1838, 0x1840),
        (0x1888, r_end),
        (0x18ac, 0x18b4),
        (0x18dc, 0x1910),
    ];
    vec![
        ("i", vec![(0x172c, 0x18fc, 2)]),
        ("v", vec![(0x1778, 0x178c, 1), (0x1840, 0x184c, 1)]),
        ("r", r.into_iter().map(|(start, end)| (start, end, 0)).collect()),
        ("d", vec![(0x178c, d_end, 1)]),
        ("e", vec![(0x17fc, 0x1804, 0)]),
        ("a", vec![(0x184c, 0x186c, 1), (0x18b4, 0x18c8, 1)]),
        ("b", vec![(0x186c, 0x18b4, 1)]),
        ("c", vec![(0x18bc, 0x18dc, 0)]),
    ]
}

#[test]
fn kernels_described_by_hand_have_none() {
    assert_eq!(found(&described("k01_saxpy", 0x9c, &saxpy())), []);
    assert_eq!(found(&described("k04_diverge", 0x210, &diverge(0x188c, 0x1840))), []);
}

#[test]
fn ranges_of_a_hand_that_are_too_long_are_found() {
    let found = |r_end, d_end| found(&described("k04_diverge", 0x210, &diverge(r_end, d_end)));
    let at = |pc: u64| START + pc - 0x1700;
    assert_eq!(found(0x1890, 0x1840), [("r".into(), at(0x188c), at(0x1890))]);
    // The lanes of `else` have `v`.
    assert_eq!(found(0x188c, 0x1844), [("d".into(), at(0x1840), at(0x1844))]);
}
