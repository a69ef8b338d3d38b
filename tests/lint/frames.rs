//! Frames of AMD's functions against their instructions. The expected findings are read from `llvm-objdump`'s text and
//! from the rows that `llvm-dwarfdump` prints; the frames without findings are described by hand from the same text.

use std::path::Path;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lint::{LintCode, LintFinding, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module, Val};
use eitri::read::Object;
use eitri::target::{SpaceId, Target};

use super::made::AMD;

/// The frame of `add` in `examples/frames.rs`, and what can be wrong about it.
pub struct Own {
    /// Pc at which the rule for the return address in v40 ends.
    pub return_end: u64,
    /// Whether the stack pointer has a rule.
    pub has_stack_pointer: bool,
    /// Whether v41, which is stored in the active lanes, is selected by a mask.
    pub has_mask: bool,
    /// Instruction at 0x2c.
    pub before_call: u32,
}

/// Returns an object with a function for gfx1030, and its frame, which a change can make wrong.
pub fn own(change: impl Fn(&mut Own)) -> Vec<u8> {
    let mut own = Own { return_end: 0x4c, has_stack_pointer: true, has_mask: true, before_call: 0x7e52_0300 };
    change(&mut own);
    let code = [
        0xbe84_3dc1, // 00  s_or_saveexec_b32 s4, -1
        0xe070_0000, // 04  buffer_store_dword v40, off, s[0:3], s32
        0x2000_2800,
        0xbefe_0304, // 0c  s_mov_b32 exec_lo, s4
        0xe070_0004, // 10  buffer_store_dword v41, off, s[0:3], s32 offset:4
        0x2000_2900,
        0xd761_0028, // 18  v_writelane_b32 v40, s30, 0
        0x0001_001e,
        0xd761_0028, // 20  v_writelane_b32 v40, s31, 1
        0x0001_021f,
        0xb7a0_0100,     // 28  s_addk_i32 s32, 0x100
        own.before_call, // 2c  v_mov_b32 v41, v0
        0xbb1e_0010,     // 30  s_call_b64 s[30:31], 0x74
        0x0600_5300,     // 34  v_add_f32 v0, v0, v41
        0xb7a0_ff00,     // 38  s_addk_i32 s32, -0x100
        0xd760_001f,     // 3c  v_readlane_b32 s31, v40, 1
        0x0001_0328,
        0xd760_001e, // 44  v_readlane_b32 s30, v40, 0
        0x0001_0128,
        0xe030_0004, // 4c  buffer_load_dword v41, off, s[0:3], s32 offset:4
        0x2000_2900,
        0xbe84_3dc1, // 54  s_or_saveexec_b32 s4, -1
        0xe030_0000, // 58  buffer_load_dword v40, off, s[0:3], s32
        0x2000_2800,
        0xbefe_0304, // 60  s_mov_b32 exec_lo, s4
        0xbf8c_3f70, // 64  s_waitcnt vmcnt(0)
        0xbe80_201e, // 68  s_setpc_b64 s[30:31]
    ];
    let code = code.into_iter().flat_map(u32::to_le_bytes).collect();
    object(AMD, code, |m| {
        let function = m.unit("sum.cl");
        let add = m.function(function, "f")?.code("f", 0x6c).id();
        let [s4, s30, s31, s32] = [4, 30, 31, 32].map(|number| m.target().sgpr(number).expect("a register"));
        let [v40, v41] = [40, 41].map(|number| m.target().vgpr(number).expect("a register"));
        let pc = m.target().register_named("pc")?;
        let exec = m.target().register_named("exec")?;
        let stack = |bytes| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32).plus(bytes));
        let mut frame = m.frame(add)?;
        frame
            .cfa(0x00..0x2c, stack(0))?
            .cfa(0x2c..0x3c, stack(-0x100))?
            .cfa(0x3c..0x6c, stack(0))?
            .extent(0..0x100)?
            .return_address(0x00..0x28, s30, s31)?
            .saved(0x28..own.return_end, pc, Loc::lanes([(v40, 0), (v40, 1)]))?
            .saved_in_lane(0x28..0x4c, s30, v40, 0)?
            .saved_in_lane(0x28..0x4c, s31, v40, 1)?
            .saved_to_scratch(0x18..0x68, v40, 0, None)?
            .saved_to_scratch(0x30..0x68, v41, 4, own.has_mask.then(|| Val::entry_value(exec)))?
            .saved(0x04..0x10, exec, Loc::register(s4))?
            .saved(0x58..0x64, exec, Loc::register(s4))?
            .undefined(0x04..0x6c, s4)?;
        if own.return_end == 0x4c {
            frame.return_address(0x4c..0x6c, s30, s31)?;
        }
        if own.has_stack_pointer {
            frame.saved(0x2c..0x3c, s32, Loc::value(Val::register(s32).plus(-0x100)))?;
        }
        Ok(())
    })
}

/// Lowers a description of a function `f` with this code.
fn object(target: &str, code: Vec<u8>, describe: impl FnOnce(&mut Builder) -> eitri::Result<()>) -> Vec<u8> {
    let target = Target::named(target).expect("a target");
    let mut m = Builder::new(target);
    describe(&mut m).expect("a description");
    let module: Module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::rocgdb(), Policy::Strict).expect("it is lowered");
    let bytes = code.len() as u64;
    let code = ObjectCode::text(code).with_function("f", 0, bytes);
    new_object(module.target(), &code, &written.sections).expect("an object")
}

const CODES: [LintCode; 4] = [
    LintCode::RuleOutlivesSave,
    LintCode::SavedWithoutRule,
    LintCode::SavedInPart,
    LintCode::EntryExecUnknown,
];

fn findings(object: &[u8]) -> Vec<LintFinding> {
    let mut findings = lint(object, &LintOptions::default()).expect("it is read").findings;
    findings.retain(|finding| CODES.contains(&finding.code));
    findings
}

/// The findings as function, code and meaning.
fn found(object: &[u8]) -> Vec<String> {
    let text = |finding: LintFinding| {
        format!("{} {}: {}", finding.function.unwrap_or_default(), finding.code.name(), finding.written)
    };
    findings(object).into_iter().map(text).collect()
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join(name)).expect("an object")
}

const K15: &str = "tests/lint/data/k15_calls.gfx1100.O2.hsaco";

#[test]
fn right_frame_has_no_finding() {
    assert!(found(&own(|_| {})).is_empty());
}

#[test]
fn each_mistake_is_found_with_its_instructions() {
    let evidence = |change: &dyn Fn(&mut Own)| {
        let findings = findings(&own(change));
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        (finding.code, finding.evidence.clone())
    };
    let (code, facts) = evidence(&|own| own.return_end = 0x6c);
    assert_eq!(code, LintCode::RuleOutlivesSave);
    assert_eq!(
        facts,
        ["0x10058: buffer_load_dword v40 overwrites v40, lane 0", "the rule for pc reads it until 0x1006c"]
    );
    let (code, facts) = evidence(&|own| own.has_stack_pointer = false);
    assert_eq!(code, LintCode::SavedWithoutRule);
    assert_eq!(facts, ["0x10028: s_addk_i32 s32 changes s32"]);
    let (code, facts) = evidence(&|own| own.has_mask = false);
    assert_eq!(code, LintCode::SavedInPart);
    assert_eq!(
        facts,
        ["0x10010: buffer_store_dword stores v41, but not in the lanes that are off at the function's entry"]
    );
    // `s_and_b32 exec_lo, exec_lo, 1`.
    // `s_and_b32 exec_lo, exec_lo, 0`.
    let (code, facts) = evidence(&|own| own.before_call = 0x877e_807e);
    assert_eq!(code, LintCode::EntryExecUnknown);
    assert_eq!(
        facts,
        [
            "0x1002c: s_and_b32 exec switches lanes off, which are off at 0x10030",
            "no rule for exec at 0x10030"
        ]
    );
}

/// Of seven vector registers that are stored in a clause, the last has a rule.
#[test]
fn clause_of_stores_with_a_single_rule_is_found() {
    assert_eq!(
        found(&file(K15)),
        [
            "leaf saved-without-rule: no rule for 1 changed register: `vcc`",
            "mid rule-outlives-save: 16 rules from overwritten registers: `pc, s33–s39, s48–s55`",
            "mid saved-without-rule: no rule for 11 changed registers: `v40–v45, s30–s33, vcc`",
            "mid entry-exec-unknown: 1 rule by exec at the entry, which is not known: `v46`",
        ]
    );
}

#[test]
fn return_address_in_a_register_that_is_read_back_is_found() {
    let findings = findings(&file("tests/objects/amd/k14_spill.gfx1100.O2.hsaco"));
    let outliving: Vec<_> =
        findings.iter().filter(|finding| finding.code == LintCode::RuleOutlivesSave).collect();
    let [finding] = &outliving[..] else { panic!("{outliving:?}") };
    assert_eq!(
        finding.evidence,
        ["0x25ec: scratch_load_b32 v40 overwrites v40, lane 0", "the rule for pc reads it until 0x2604"]
    );
}

#[test]
fn register_that_is_stored_in_waiting_lanes_is_found() {
    for (name, store) in [
        ("k06_calls.gfx1030.O2", "0x1790: buffer_store_dword stores v7"),
        ("k06_calls.gfx1100.O2", "0x1790: scratch_store_b32 stores v7"),
        ("k06_calls.gfx942.O2", "0x1790: scratch_store_dword stores v6"),
    ] {
        let findings = findings(&file(&format!("tests/objects/amd/{name}.hsaco")));
        let parts: Vec<_> = findings.iter().filter(|finding| finding.code == LintCode::SavedInPart).collect();
        let [finding] = &parts[..] else { panic!("{name}: {parts:?}") };
        let expected = format!("{store}, but not in the lanes that are on at the function's entry");
        assert_eq!(finding.evidence, [expected], "{name}");
    }
}

/// `mid` as its instructions save it. Pcs count from 0x1a80 of the object.
#[test]
fn function_described_by_hand_has_no_finding() {
    let k15 = file(K15);
    let read = Object::read(&k15).expect("an object");
    let text = read.sections().iter().find(|section| section.name == ".text").expect("code");
    let start = (0x1a80 - text.address) as usize;
    let code = text.data[start..start + 0x320].to_vec();
    let object = object("amdgpu-gfx1100-wave32", code, |m| {
        let unit = m.unit("k15_calls.cl");
        let mid = m.function(unit, "f")?.code("f", 0x320).id();
        let gpu = m.target().clone();
        let sgpr = |number| gpu.sgpr(number).expect("a register");
        let vgpr = |number| gpu.vgpr(number).expect("a register");
        let pc = gpu.register_named("pc")?;
        let exec = gpu.register_named("exec")?;
        let [s0, s1, s30, s31, s32, s33, s54] = [0, 1, 30, 31, 32, 33, 54].map(sgpr);
        let v47 = vgpr(47);
        let mut frame = m.frame(mid)?;
        frame
            .cfa_in_scratch(0x000..0x00c, s32, 0)?
            .cfa_in_scratch(0x00c..0x318, s33, 0)?
            .cfa_in_scratch(0x318..0x320, s32, 0)?
            // s33 is in s0, in lane 16 of v47, and in s0 again.
            .saved(0x00c..0x024, s33, Loc::register(s0))?
            .saved_in_lane(0x024..0x304, s33, v47, 16)?
            .saved(0x304..0x318, s33, Loc::register(s0))?
            // s33 is what s32 was.
            .saved(0x00c..0x318, s32, Loc::value(Val::register(s33)))?
            // All lanes run, in the prologue and in the epilogue; lanes that leave the loop are in s54.
            .saved(0x010..0x01c, exec, Loc::register(s1))?
            .saved(0x1c0..0x230, exec, Loc::value(Val::register(exec).or(Val::register(s54))))?
            .saved(0x308..0x314, exec, Loc::register(s1))?
            .saved_to_scratch(0x018..0x310, v47, 28, None)?
            .return_address(0x000..0x0e4, s30, s31)?
            .saved(0x0e4..0x244, pc, Loc::lanes([(v47, 14), (v47, 15)]))?
            .return_address(0x244..0x320, s30, s31)?;
        for (lane, number) in (34..40).chain(48..56).chain(30..32).enumerate() {
            frame.saved_in_lane(0x0e4..0x310, sgpr(number), v47, lane as u32)?;
        }
        for number in 40..47 {
            let slot = 4 * (46 - i64::from(number));
            frame.saved_to_scratch(0x064..0x2b8, vgpr(number), slot, Some(Val::entry_value(exec)))?;
        }
        Ok(())
    });
    assert!(found(&object).is_empty(), "{:#?}", findings(&object));
}

/// Kernels have no caller, and registers without a rule of other compilers' objects are theirs: no object without frames
/// has a finding.
#[test]
fn objects_without_frames_have_none() {
    for folder in ["llvm19", "llvm22", "triton"] {
        for path in std::fs::read_dir(Path::new(crate::common::ROOT).join("tests/objects").join(folder))
            .expect("files")
        {
            let path = path.expect("a file").path();
            assert!(found(&std::fs::read(&path).expect("an object")).is_empty(), "{}", path.display());
        }
    }
}
