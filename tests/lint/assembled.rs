//! Frames and lanes of functions in assembly language, with call frame information by the assembler's directives.

use eitri::lint::{LintCode, LintOptions, lint};

use super::compiled::object_of;
use super::tools::Tool;

const CLANG: Tool = Tool::new("clang-19", "clang-19");

/// Directives before a function's code: no stack, and the return address in s30 and s31.
const ENTRY: &str = "
.cfi_sections .debug_frame
.cfi_def_cfa 64, 0
.cfi_escape 0x10,0x10,0x8,0x90,0x3e,0x93,0x4,0x90,0x3f,0x93,0x4
";

/// Abbreviations: a unit, a subprogram, a variable with a list, and a base type.
const ABBREVIATIONS: &str = "
.section .debug_abbrev,\"\",@progbits
.byte 1,0x11,1,0x03,8,0x11,1,0x12,6,0x13,5,0,0
.byte 2,0x2e,1,0x03,8,0x11,1,0x12,6,0,0
.byte 3,0x34,0,0x03,8,0x49,0x13,0x02,0x17,0,0
.byte 4,0x24,0,0x03,8,0x0b,0x0b,0x3e,0x0b,0,0
.byte 0
";

/// The locations of a variable: start, end, and the operand of `regx`.
type Locations<'l> = &'l [(&'l str, &'l str, u64)];

/// Returns assembly with a function `f`. If there are locations, it has a variable `x`.
fn source(code: &str, locations: Locations<'_>) -> String {
    let variable =
        if locations.is_empty() { "" } else { ".byte 3\n.asciz \"x\"\n.long .Lint-.Linfo\n.long .Lx\n" };
    let list: String = locations
        .iter()
        .map(|(start, end, reg)| {
            let (low, high) = (reg & 0x7f | 0x80, reg >> 7);
            format!(".byte 8\n.quad {start}\n.uleb128 {end}-{start}\n.uleb128 3\n.byte 0x90,{low},{high}\n")
        })
        .collect();
    format!(
        ".text\n.globl f\n.p2align 8\n.type f,@function\nf:\n.Lbegin:\n.cfi_startproc\n{ENTRY}{code}\n.cfi_endproc\n\
         .Lend:\n.size f,.Lend-.Lbegin\n{ABBREVIATIONS}\
         .section .debug_info,\"\",@progbits\n.Linfo: .long .Linfo_end-.Linfo_start\n.Linfo_start: .short 5\n\
         .byte 1,8\n.long .debug_abbrev\n.byte 1\n.asciz \"t.cl\"\n.quad .Lbegin\n.long .Lend-.Lbegin\n.short 0x1d\n\
         .Lint: .byte 4\n.asciz \"int\"\n.byte 4,5\n\
         .byte 2\n.asciz \"f\"\n.quad .Lbegin\n.long .Lend-.Lbegin\n{variable}.byte 0,0\n.Linfo_end:\n\
         .section .debug_loclists,\"\",@progbits\n.long .Llist_end-.Llist\n.Llist: .short 5\n.byte 8,0\n.long 0\n\
         .Lx:\n{list}.byte 0\n.Llist_end:\n"
    )
}

/// Findings about frames and lanes, as code and meaning; `None` without the assembler.
fn found(processor: &str, code: &str, locations: Locations<'_>) -> Option<Vec<String>> {
    let processor = format!("-mcpu={processor}");
    let arguments = ["-target", "amdgcn-amd-amdhsa", &processor];
    let object = object_of(CLANG, "f.s", &source(code, locations), &arguments)?;
    let codes = [
        LintCode::RuleOutlivesSave,
        LintCode::SavedWithoutRule,
        LintCode::SavedInPart,
        LintCode::EntryExecUnknown,
        LintCode::LanesNotWritten,
    ];
    let findings = lint(&object, &LintOptions::default()).expect("it is read").findings.into_iter();
    let findings = findings.filter(|finding| codes.contains(&finding.code));
    Some(findings.map(|finding| format!("{}: {}", finding.code.name(), finding.written)).collect())
}

#[track_caller]
fn expect(processor: &str, code: &str, expected: &[&str]) {
    if let Some(found) = found(processor, code, &[]) {
        assert_eq!(found, expected, "{code}");
    }
}

#[test]
fn register_stored_whole_and_spilled_later_is_saved_whole() {
    // v40 is restored twice, and the body stores it to a slot of its own.
    let code = "
        s_or_saveexec_b32 s4, -1
        .cfi_undefined 36
        scratch_store_b32 off, v40, s32
        s_mov_b32 exec_lo, s4
        .cfi_offset 1576, 0
        v_mov_b32 v40, v0
        .cfi_undefined 1536
        scratch_store_b32 off, v40, s32 offset:4
        v_add_f32 v0, v40, v40
        s_cbranch_scc1 .L2
        .cfi_remember_state
        s_or_saveexec_b32 s4, -1
        scratch_load_b32 v40, off, s32
        s_mov_b32 exec_lo, s4
        .cfi_same_value 1576
        s_setpc_b64 s[30:31]
        .L2:
        .cfi_restore_state
        v_mul_f32 v0, v0, v40
        s_or_saveexec_b32 s4, -1
        scratch_load_b32 v40, off, s32
        s_mov_b32 exec_lo, s4
        .cfi_same_value 1576
        s_setpc_b64 s[30:31]";
    expect("gfx1100", code, &[]);
    // Without whole-wave mode for the first store.
    let part = code.replacen("s_or_saveexec_b32 s4, -1", "s_mov_b32 s4, exec_lo", 1);
    expect("gfx1100", &part, &["saved-in-part: 1 vector register in memory as a whole: `v40`"]);
}

#[test]
fn register_stored_by_both_halves_of_the_lanes_is_saved_whole() {
    let code = "
        scratch_store_b32 off, v40, s32
        s_xor_saveexec_b32 s4, -1
        .cfi_undefined 36
        scratch_store_b32 off, v40, s32
        s_mov_b32 exec_lo, s4
        .cfi_offset 1576, 0
        v_mov_b32 v40, v0
        .cfi_undefined 1536
        v_add_f32 v0, v40, v40
        scratch_load_b32 v40, off, s32
        s_xor_saveexec_b32 s4, -1
        scratch_load_b32 v40, off, s32
        s_mov_b32 exec_lo, s4
        .cfi_same_value 1576
        s_setpc_b64 s[30:31]";
    expect("gfx1100", code, &[]);
    let half = code.replacen("scratch_store_b32 off, v40, s32", "s_nop 0", 1);
    expect("gfx1100", &half, &["saved-in-part: 1 vector register in memory as a whole: `v40`"]);
}

#[test]
fn each_change_of_a_register_needs_a_rule() {
    let code = "
        v_mov_b32 v1, v0
        .cfi_undefined 1537
        s_nop 0
        .cfi_same_value 1537
        v_add_f32 v1, v1, v0
        s_nop 0
        s_setpc_b64 s[30:31]";
    expect("gfx1100", code, &["saved-without-rule: no rule for 1 changed register: `v1`"]);
    expect("gfx1100", &code.replace(".cfi_same_value 1537", ""), &[]);
}

#[test]
fn load_gives_back_only_what_was_stored() {
    let load = "
        scratch_load_b32 v5, off, s32 offset:8
        s_waitcnt vmcnt(0)
        s_setpc_b64 s[30:31]";
    expect("gfx1100", load, &["saved-without-rule: no rule for 1 changed register: `v5`"]);
    expect("gfx1100", &format!("scratch_store_b32 off, v5, s32 offset:8\n{load}"), &[]);
}

#[test]
fn high_half_of_vcc_belongs_to_vcc() {
    let code = "
        s_mov_b32 vcc_hi, s0
        s_nop 0
        s_setpc_b64 s[30:31]";
    expect("gfx90a", code, &["saved-without-rule: no rule for 1 changed register: `vcc`"]);
}

#[test]
fn register_that_is_given_its_value_back_is_not_overwritten() {
    let code = "
        .cfi_undefined 1537
        v_writelane_b32 v1, s30, 0
        v_writelane_b32 v1, s31, 1
        s_nop 0
        v_readlane_b32 s30, v1, 0
        v_readlane_b32 s31, v1, 1
        s_nop 0
        s_setpc_b64 s[30:31]";
    expect("gfx1100", code, &[]);
    let without = code.replace("v_writelane_b32 v1, s30, 0", "s_nop 0");
    expect(
        "gfx1100",
        &without,
        &[
            "rule-outlives-save: 1 rule from overwritten registers: `pc`",
            "saved-without-rule: no rule for 1 changed register: `s30`",
        ],
    );
}

#[test]
fn code_that_does_not_return_is_judged_before() {
    let code = "
        v_mov_b32 v1, v0
        s_cbranch_scc1 .Lq
        s_setpc_b64 s[30:31]
        .Lq:
        .cfi_undefined 16
        s_endpgm";
    expect("gfx1100", code, &["saved-without-rule: no rule for 1 changed register: `v1`"]);
    // A function without a caller.
    expect("gfx1100", &format!(".cfi_undefined 16\n{code}"), &[]);
}

#[test]
fn whole_wave_code_has_another_exec_than_at_the_entry() {
    // v41 is in memory in the lanes of `exec` at the entry: `regx v41; bregx CFA 0; call_frame_entry_reg exec;
    // select_bit_piece`.
    let code = "
        scratch_store_b32 off, v41, s32
        .cfi_escape 0x10,0xa9,0xc,0xd,0x90,0xa9,0xc,0x92,0x40,0x0,0xe9,0x7,0x1,0xe9,0xc,0x20,0x20
        v_mov_b32 v41, v0
        s_or_saveexec_b32 s4, -1
        .cfi_undefined 36
        s_nop 0
        s_mov_b32 exec_lo, s4
        scratch_load_b32 v41, off, s32
        .cfi_same_value 1577
        s_setpc_b64 s[30:31]";
    let expected = ["entry-exec-unknown: 1 rule by exec at the entry, which is not known: `v41`"];
    expect("gfx1100", code, &expected);
    let narrow = code.replace("s_or_saveexec_b32 s4, -1", "s_and_saveexec_b32 s4, 0");
    expect("gfx1100", &narrow, &expected);
    expect("gfx1100", &code.replace("s_or_saveexec_b32 s4, -1", "s_mov_b32 s4, exec_lo"), &[]);
}

#[test]
fn copy_is_no_older_result_whichever_instruction_makes_it() {
    // The variable is in v7 before the branch, and in v3 after it, to which one of these copies it.
    for copy in [
        "v_mov_b32 v3, v7",
        "v_pk_mov_b32 v[2:3], v[6:7], v[6:7] op_sel:[0,1]",
        "v_or_b32 v3, 0, v7",
        "v_lshrrev_b32 v3, 0, v7",
        "v_max_f32 v3, v7, v7",
        "v_perm_b32 v3, v1, v7, s6",
        "v_alignbit_b32 v3, v1, v7, 0",
        "v_lshl_add_u32 v3, v7, 0, s6",
        "ds_bpermute_b32 v3, v1, v7",
        "ds_read_b32 v3, v1",
        "flat_load_dword v3, v[8:9]",
    ] {
        let code = format!(
            "
            v_and_b32 v7, 1, v1
            .L0: {copy}
            v_cmp_gt_u32 vcc, 4, v0
            s_and_saveexec_b64 s[4:5], vcc
            .Lwrite: v_lshlrev_b32 v3, 2, v3
            .Lon: s_or_b64 exec, exec, s[4:5]
            s_nop 0
            s_nop 0
            .Lz: s_endpgm"
        );
        let locations = [(".L0", ".Lwrite", 2567), (".Lon", ".Lz", 2563)];
        let lanes = |found: Vec<String>| found.into_iter().any(|text| text.starts_with("lanes-not-written"));
        let Some(findings) = found("gfx90a", &code, &locations) else { return };
        assert!(!lanes(findings), "{copy}");
        // What has nothing to do with the variable is older.
        let other = code.replace(copy, "v_and_b32 v3, 1, v1");
        assert!(lanes(found("gfx90a", &other, &locations).expect("the assembler")), "{copy}");
    }
}
