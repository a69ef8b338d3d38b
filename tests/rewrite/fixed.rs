//! `--fix`: what lint proves wrong is written as it was meant, as far as the code proves it, and otherwise not at all.

use std::path::{Path, PathBuf};

use eitri::import::{ImportOptions, import};
use eitri::lint::{Level, LintCode, LintOptions, lint};
use eitri::model::Loc;
use eitri::rewrite::{RewriteChange, Rewritten, meant_locations};

use super::kept::{compiled, gdb};
use super::{loaded, rewritten};
use crate::common::ROOT;
use crate::common::tools::{Folder, Tool};

/// Returns the committed objects of AMD's GPUs.
fn objects() -> Vec<PathBuf> {
    let mut all = Vec::new();
    for folder in ["amd", "fixed", "llvm19", "llvm22", "triton"] {
        let folder = Path::new(ROOT).join("tests/objects").join(folder);
        for file in folder.read_dir().expect("a folder") {
            let file = file.expect("a file").path();
            if file.extension().is_some_and(|name| name == "o" || name == "hsaco") {
                all.push(file);
            }
        }
    }
    all.sort();
    all
}

fn object(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(ROOT).join("tests/objects").join(name)).expect("a file")
}

fn fixed(bytes: &[u8]) -> Rewritten {
    rewritten(bytes, |options| options.fix = true).expect("it is fixed")
}

/// Returns the changes about a variable as text.
fn changes(rewritten: &Rewritten, variable: &str) -> Vec<String> {
    let changes = rewritten.changes.iter().filter_map(|change| match change {
        RewriteChange::Fixed(change) if change.variable.as_deref() == Some(variable) => Some(change),
        _ => None,
    });
    changes.map(ToString::to_string).collect()
}

/// Codes about frames that are described: a fix leaves these as they are.
const FRAMES: [LintCode; 4] = [
    LintCode::RuleOutlivesSave,
    LintCode::SavedWithoutRule,
    LintCode::SavedInPart,
    LintCode::EntryExecUnknown,
];

/// After a fix, lint finds no error and no vector register without a lane, a second fix changes nothing, and the code is
/// the same. The frames of AMD's compiler stay, and all others are those that the fix has written.
#[test]
fn fixed_objects_have_no_errors_and_stay() {
    let mut count = 0;
    for file in objects() {
        let name = file.display().to_string();
        let bytes = std::fs::read(&file).expect("a file");
        let first = rewritten(&bytes, |options| options.fix = true);
        let first = first.unwrap_or_else(|error| panic!("{name}: {error}"));
        loaded::are_equal(&name, &bytes, &first.object);
        let report = lint(&first.object, &LintOptions::default()).expect("it is read");
        let is_from_amd = file.parent().is_some_and(|folder| folder.ends_with("amd"));
        for finding in &report.findings {
            if is_from_amd && FRAMES.contains(&finding.code) {
                continue;
            }
            let is_wrong = finding.level == Level::Error
                || matches!(finding.code, LintCode::NoLane | LintCode::LanesNotWritten);
            assert!(!is_wrong, "{name}: {finding:#?}");
        }
        let second = rewritten(&first.object, |options| options.fix = true);
        let second = second.unwrap_or_else(|error| panic!("{name}, again: {error}"));
        assert!(second.changes.is_empty(), "{name}: {:#?}", second.changes);
        assert!(second.object == first.object, "{name}: a second fix changes bytes");
        count += 1;
    }
    assert!(count > 70, "{count} objects");
}

/// AMD's compiler writes locations on the stack, which are right, except for lanes in which their register was not written:
/// a fix ends these, and adds the parameters that have no location.
#[test]
fn locations_of_amd_objects_stay() {
    let mut count = 0;
    let mut ends = 0;
    for file in objects().into_iter().filter(|file| file.parent().is_some_and(|at| at.ends_with("amd"))) {
        let bytes = std::fs::read(&file).expect("a file");
        let after = fixed(&bytes);
        for change in &after.changes {
            let RewriteChange::Fixed(change) = change else { panic!("{}: {change}", file.display()) };
            if change.code == LintCode::LanesNotWritten {
                ends += 1;
                continue;
            }
            assert_eq!(change.code, LintCode::RecoverableUnlocated, "{}: {change}", file.display());
            assert!(change.before.is_none(), "{}: {change}", file.display());
        }
        count += 1;
    }
    assert!(count > 50, "{count} objects");
    // Three variables of two kernels, for three processors.
    assert_eq!(ends, 9);
}

/// By hand, from the disassembly:
///
/// ```text
/// 1600 s_load_dword s2, s[4:5], 0x4            1644 s_waitcnt lgkmcnt(0)
/// 1608 s_load_dwordx2 s[0:1], s[6:7], 0x10     1668 global_load_dword v2, v[2:3], off
/// 1614 s_waitcnt lgkmcnt(0)                    1670 global_load_dword v3, v[0:1], off
/// 162c s_and_saveexec_b32 s1, vcc_lo           1678 s_waitcnt vmcnt(0)
/// 1634 s_load_dwordx4 s[4:7], s[6:7], null     167c v_fmac_f32 v3, s0, v2
/// ```
///
/// `xi` and `yi` are in v2 and v3 once both loads are waited for, at 0x167c, and the sum `r` is in v3 from 0x1680 on. The
/// kernel's arguments are in memory at s[6:7] until 0x1634, which overwrites the pointer. `a` and `n` are in s0 and s1 after
/// the first wait; 0x162c overwrites s1. `x` and `y` are in s[4:7] after the second wait, up to 0x1688, to which 0x1630 can branch
/// before they are loaded.
#[test]
fn saxpy_is_fixed_as_its_code_proves() {
    let after = fixed(&object("llvm22/k01_saxpy.gfx1030.O2.hsaco"));
    let register = "bregx v2 0; lit1; swap; xderef -> regx v2; push_lane; lit4; mul; offset";
    assert_eq!(
        changes(&after, "xi"),
        [format!("register-as-memory: saxpy xi [0x1670, 0x1688): {register} [0x167c, 0x1688)")]
    );
    let register = register.replace("v2", "v3");
    assert_eq!(
        changes(&after, "yi"),
        [format!("register-as-memory: saxpy yi [0x1678, 0x1680): {register} [0x167c, 0x1680)")]
    );
    assert_eq!(changes(&after, "r"), [format!("register-as-memory: saxpy r [0x1680, 0x1688): {register}")]);
    let pointer = "regx s6; deref_size 4; regx s7; deref_size 4; constu 32; shl; or";
    let parameter =
        |name: &str, to: &str| format!("recoverable-unlocated: saxpy {name} [0x1600, {to}): nothing");
    assert_eq!(
        changes(&after, "x"),
        [format!(
            "{} -> {pointer} [0x1600, 0x1634), regx s4; piece 4; regx s5; piece 4 [0x1648, 0x1688)",
            parameter("x", "0x1688")
        )]
    );
    assert_eq!(
        changes(&after, "a"),
        [format!(
            "{} -> {pointer}; plus_uconst 16 [0x1600, 0x1618), regx s0 [0x1618, 0x168c)",
            parameter("a", "0x168c")
        )]
    );
    assert_eq!(
        changes(&after, "n"),
        [format!(
            "{} -> {pointer}; plus_uconst 20 [0x1600, 0x1618), regx s1 [0x1618, 0x162c), {pointer}; plus_uconst 20 \
             [0x162c, 0x1634)",
            parameter("n", "0x1634")
        )]
    );
}

/// By hand: 0x16f8 sets v5 to `half` in the lanes of the `else` side, 0x16e0 to `3 * x + 1` in the other lanes, and 0x1700
/// lets all of them run. LLVM says that v5 is `half` up to 0x1734, in whatever lane.
///
/// ```text
/// 16d8 s_and_saveexec_b32 s7, vcc_lo           16f4 s_and_not1_saveexec_b32 s7, s7
/// 16dc s_xor_b32 s7, exec_lo, s7               16f8 v_lshrrev_b32 v5, 1, v0
/// 16e0 v_mad_u64_u32 v[5:6], null, v0, 3, 1    1700 s_or_b32 exec_lo, exec_lo, s7
/// ```
///
/// `peak` is in v2 in the whole loop: 0x1710 computes its new value from v2, in the lanes that run.
#[test]
fn location_ends_where_lanes_run_that_waited() {
    let after = fixed(&object("fixed/k05_loopbreak.gfx1100.O2.hsaco"));
    let half = changes(&after, "half_");
    assert_eq!(half.len(), 2, "{half:#?}");
    assert!(
        half[0].ends_with("regx v0; push_lane; lit4; mul; offset; deref_size 4; lit1; shr; stack_value"),
        "{half:#?}"
    );
    assert!(half[1].ends_with("regx v5; push_lane; lit4; mul; offset [0x16fc, 0x1704)"), "{half:#?}");
    let peak = changes(&after, "peak");
    assert!(
        peak[1].ends_with(
            "[0x16ac, 0x178c): bregx v2 0; lit1; swap; xderef -> regx v2; push_lane; lit4; mul; offset"
        ),
        "{peak:#?}"
    );
}

/// By hand: in `mid`, 0x1698 sets v[2:3] to `i * 4`. LLVM says that v2 is `i` and v3 is `k` from 0x16a8 on, where another
/// instruction is between.
///
/// ```text
/// 1670 v_mov_b32 v4, v3                        16a0 v_writelane_b32 v6, s31, 1
/// 1698 v_lshlrev_b64 v[2:3], 2, v[2:3]         16d0 s_swappc_b64 s[30:31], s[4:5]   (leaf, which changes v0 to v2)
/// ```
///
/// `leaf` does not change v3, v5 and v9, which hold `a`, `b` and `base` during the calls.
#[test]
fn location_begins_at_its_instruction_and_survives_calls() {
    let after = fixed(&object("fixed/k06_calls.gfx1100.O2.hsaco"));
    assert!(changes(&after, "i")[0].ends_with("optimized out"), "{:#?}", changes(&after, "i"));
    let k = changes(&after, "k");
    let of_mid: Vec<_> = k.iter().filter(|change| change.contains(" mid ")).collect();
    assert!(of_mid[0].ends_with("regx v4; push_lane; lit4; mul; offset"), "{of_mid:#?}");
    assert!(of_mid[1].ends_with("optimized out"), "{of_mid:#?}");
    assert!(changes(&after, "b")[0].ends_with("regx v5; push_lane; lit4; mul; offset"));
    assert!(changes(&after, "a")[0].ends_with("regx v3; push_lane; lit4; mul; offset [0x16c8, 0x16f0)"));
    // `mid` saves the return address in lanes 0 and 1 of v6 at 0x1678 and 0x16a0; 0x170c loads the caller's v6.
    let frames: Vec<String> = after.changes.iter().map(ToString::to_string).collect();
    let mid = frames.iter().find(|change| change.starts_with("no-cfa: mid")).expect("a frame");
    assert!(mid.contains("CFA: s32 5 shl in the wave's scratch [0x1654, 0x1684)"), "{mid}");
    assert!(mid.contains("CFA: s32 -16 5 shl in the wave's scratch [0x1684, 0x1704)"), "{mid}");
    assert!(mid.contains("pc: v6 lane 0 v6 lane 1 [0x16a8, 0x1714)"), "{mid}");
}

/// A finding's meaning is a location of the model.
/// gcc writes an address in a segment as the number alone. The variable is not at that address, and the number is not its
/// value: gdb finds neither.
#[test]
fn address_in_a_segment_is_not_a_value() {
    const SOURCE: &str = "struct block { char pad[16]; struct block *me; int flags; };\n\
        extern void sink(int);\n\
        void f(void) {\n\
        \x20 struct block *me = *(struct block *__seg_fs *)16;\n\
        \x20 int old = __atomic_load_n(&me->flags, 0);\n\
        \x20 while (!__atomic_compare_exchange_n(&me->flags, &old, old & ~2, 1, 2, 0)) ;\n\
        \x20 sink(old);\n\
        }\n";
    for version in ["-gdwarf-5", "-gdwarf-4", "-gdwarf-3"] {
        let folder = Folder::new();
        let arguments = [version, "-O2", "-c"];
        let Some(bytes) = compiled(&folder, Tool::new("gcc", "gcc"), ("a.c", SOURCE), &arguments) else {
            return;
        };
        let report = lint(&bytes, &LintOptions::default()).expect("it is diagnosed");
        let found: Vec<_> = report.findings.iter().map(|finding| finding.code).collect();
        assert!(found.contains(&LintCode::ConstantAsAddress), "{version}: {found:?}");
        let fixed = fixed(&bytes);
        let changes = changes(&fixed, "me");
        assert!(
            !changes.is_empty() && changes.iter().all(|change| change.contains("lit16 -> optimized out")),
            "{version}: {changes:#?}"
        );
        std::fs::write(folder.path().join("after"), &fixed.object).expect("an object");
        let Some(shown) = gdb(&folder, "after", &["info scope f"]) else { return };
        assert!(shown.contains("Symbol me is optimized out."), "{version}: {shown}");
    }
}

#[test]
fn meant_location_is_a_location_of_the_model() {
    let bytes = object("llvm22/k01_saxpy.gfx1030.O2.hsaco");
    let imported = import(&bytes, &ImportOptions::default()).expect("it is imported");
    let v2 = imported.module.target().vgpr(2).expect("a register");
    let report = lint(&bytes, &LintOptions::default()).expect("it is read");
    let finding = report.findings.iter().find(|finding| finding.variable.as_deref() == Some("xi"));
    let finding = finding.expect("LLVM's form is a finding");
    assert_eq!(finding.meant.as_ref().map(ToString::to_string).as_deref(), Some("the value in v2"));
    let variable = imported.entries.variables(finding.entry.expect("an entry")).next().expect("a variable");
    let meant = meant_locations(finding, &imported.module, variable).expect("the model has it");
    assert_eq!(meant, [(Some(0x1670..0x1688), Loc::per_lane(v2))]);
}
