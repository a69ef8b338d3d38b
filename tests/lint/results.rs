//! Results that functions return in memory, arrays that were moved to LDS, pointers, results of calls, and registers that
//! have several values.

use std::path::Path;

use eitri::lint::{LintFinding, LintOptions, lint};

/// Returns the findings of an object about the places of a variable in a function.
fn findings(object: &str, function: &str, variable: &str) -> Vec<LintFinding> {
    let path = Path::new(crate::common::ROOT).join("tests/objects/llvm19").join(object);
    let report =
        lint(&std::fs::read(path).expect("an object"), &LintOptions::default()).expect("the object is read");
    let is_of = |finding: &LintFinding| {
        finding.function.as_deref() == Some(function)
            && finding.variable.as_deref() == Some(variable)
            && finding.expression.is_some()
    };
    report.findings.into_iter().filter(is_of).collect()
}

fn names(findings: &[LintFinding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.name()).collect()
}

/// A function that returns more than 16 registers has the address of its result in a register: the variable's value is
/// not in it, and the type is too large for that. Then the address is in a slot, which is read in the default space.
#[test]
fn results_in_memory_are_at_an_address() {
    let found = findings("k20_results.gfx1030.O0.hsaco", "make", "r");
    assert_eq!(names(&found), ["xderef-as-location", "xderef-as-location", "slot-space-lost"]);
    assert_eq!(found[2].written, "memory in the default space at s33+16 has the number");
    assert_eq!(found[2].meant.as_deref(), Some("scratch at s33+16 has it"));
    assert_eq!(names(&findings("k20_results.gfx1030.O2.hsaco", "make", "r")), ["xderef-as-location"]);
    assert_eq!(names(&findings("h20_results.gfx1030.O0.hsaco", "make", "r")), ["slot-space-lost"]);
}

/// An array in LDS, described as memory in scratch: 0x1c60 of the object is `ds_write_b128 v0, v[4:7]`.
#[test]
fn arrays_in_lds_are_not_the_value_of_a_register() {
    let found = findings("k20_results.gfx1030.O2.hsaco", "arrays", "table");
    assert_eq!(names(&found), ["register-as-memory"]);
    assert_eq!(found[0].meant.as_deref(), Some("memory in LDS at v0"));
    let uses = |text: &String| text.contains("ds_write_b128 uses v0 as an address in LDS");
    assert!(found[0].evidence.iter().any(uses), "{:?}", found[0].evidence);
}

/// A pointer into scratch: `bregx v0 28; lit1; swap; xderef; stack_value` has no slot, although 0x23c of the object,
/// `buffer_load_dword v1, v0`, and others use v0 as an address. LLVM adds `stack_value` where it computes a value.
/// By the source, `end` is 8 `int` behind the argument, 32 bytes; `p` is 7 `int` behind it for the last one.
#[test]
fn values_computed_from_an_address_are_no_slots() {
    for (variable, offset, by) in [("p", 0x274, 28), ("end", 0x238, 32)] {
        let found = findings("k21_pointers.gfx90a.O2.o", "walk", variable);
        let last = found.last().expect("a finding");
        assert_eq!(
            (last.code.name(), last.pcs.as_ref().map(|pcs| pcs.start - 0x10000)),
            ("register-as-memory", Some(offset))
        );
        assert_eq!(last.written, format!("the value at v0+{by} in space 1 (generic)"));
    }
}

/// An array in LDS, 256 bytes behind v16: 0x114 of the object is `ds_store_2addr_b32 v16, v0, v1 offset0:64 offset1:65`, and
/// 64 elements of 4 bytes are 256.
#[test]
fn addresses_in_lds_have_an_offset() {
    let found = findings("k21_pointers.gfx1100.O1.o", "ptrs", "m");
    assert_eq!(names(&found), ["register-as-memory", "storage-too-short"]);
    assert_eq!(found[0].meant.as_deref(), Some("memory in LDS at v16+256"));
}

/// The first instruction that sets v14 is the one at the start of the range, and the dispatch sets v0.
#[test]
fn no_instruction_sets_the_register_of_a_kernel() {
    let found = findings("k21_pointers.gfx90a.O2.o", "ptrs", "l");
    assert_eq!(found[0].evidence[0], "no instruction before 0x10010 sets v14, nor does the dispatch");
}

/// A loop begins at 0x1a38: 0x1c90 is `s_branch` to it. 0x1b28, `v_mov_b32 v48`, sets v48 in it, and 0x1b3c,
/// `global_load_ushort v48`, unless `s_cbranch_execz` at 0x1b30 skips it.
#[test]
fn instructions_of_a_loop_set_registers_for_its_start() {
    let found = findings("../triton/matmul.gfx942.hsaco", "matmul", "a");
    let starts = |one: &&LintFinding| one.pcs.as_ref().is_some_and(|pcs| pcs.start == 0x1a54);
    let first = found.iter().find(starts).expect("a finding");
    assert_eq!(
        first.evidence[1],
        "0x1b28: v_mov_b32 v48 or 0x1b3c: global_load_ushort v48 sets v48, and a branch leads back"
    );
}

/// The result of a call is in v0: 0xcc of the object is `s_swappc_b64`, and `v_add_f32 v0` at 0xc4 sets the argument.
#[test]
fn calls_can_set_registers() {
    let path = Path::new(crate::common::ROOT).join("tests/objects/containers/k01_k06.a");
    let bytes = std::fs::read(path).expect("an archive");
    let members = eitri::read::containers::members(&bytes).expect("it is read").expect("members");
    let calls = members.iter().find(|member| member.name.starts_with("k06_calls")).expect("the member");
    let report =
        lint(calls.bytes.as_deref().expect("contents"), &LintOptions::default()).expect("it is read");
    let of = |function: &str, variable: &str| {
        let is_of = |one: &&LintFinding| {
            (one.function.as_deref(), one.variable.as_deref()) == (Some(function), Some(variable))
        };
        let mut found = report.findings.iter().filter(is_of).filter(|one| one.expression.is_some());
        found.next_back().expect("a finding").evidence[0].clone()
    };
    assert_eq!(
        of("mid", "c"),
        "0x100c4: v_add_f32 v0 sets v0, and the function called at 0x100cc can set it"
    );
    assert_eq!(
        of("calls", "z"),
        "0x1027c: v_mov_b32 v0 sets v0, and the function called at 0x102bc can set it"
    );
}

/// The argument `n` is in v3, which has a constant in all lanes later.
#[test]
fn arguments_differ_between_lanes() {
    assert_eq!(names(&findings("h20_results.gfx1030.O1.hsaco", "make", "n")), ["no-lane"]);
}

/// An index as the difference of an address of the lane and s32: `v_lshrrev_b32 v2, 5, s32` divides s32 by the lanes, and
/// the expression does not.
#[test]
fn differences_of_addresses_have_one_unit() {
    let found = findings("h20_results.gfx1030.O1.hsaco", "turn", "i");
    assert!(names(&found).iter().filter(|name| **name == "slot-wave-scaled").count() == 2, "{found:?}");
}

/// An entry that refers to 8 bytes after the common one is left out, and its function has no frame. The other entries are
/// read: they have no rules.
#[test]
fn malformed_frames_are_findings() {
    let path = Path::new(crate::common::ROOT).join("tests/objects/llvm19/k06_calls.gfx1100.O0.hsaco");
    let object = std::fs::read(path).expect("an object");
    let frames = eitri::read::Object::read(&object)
        .expect("it is read")
        .section(".debug_frame")
        .expect("it")
        .data
        .to_vec();
    let mut changed = frames.clone();
    // The reference to the common entry is after the length of the entry at 0x10.
    changed[0x14] = 8;
    let changed = crate::lint::made::replaced(&object, &frames, &changed);
    let report = lint(&changed, &LintOptions::default()).expect("the object is read");
    let found: Vec<_> = report.findings.iter().filter(|one| one.code.name() == "no-cfa").collect();
    assert_eq!(found.len(), 3);
    let evidence = "frame description entry: 0x8 is not the offset of a common information entry";
    let first: Vec<_> =
        found.iter().map(|one| one.evidence.iter().any(|text| text.contains(evidence))).collect();
    assert_eq!(first, [true, false, false], "{found:?}");
    let unreadable: Vec<_> = report.findings.iter().filter(|one| one.code.name() == "unreadable").collect();
    assert!(
        matches!(unreadable[..], [one] if one.section == ".debug_frame" && one.offset == 0x10),
        "{unreadable:?}"
    );
    // The length of the first entry is beyond the section.
    let mut changed = frames.clone();
    changed[2] = 1;
    let report = lint(&crate::lint::made::replaced(&object, &frames, &changed), &LintOptions::default())
        .expect("it is read");
    let found = report.findings.iter().filter(|one| one.code.name() == "no-cfa");
    let is_named = |text: &String| text.starts_with(".debug_frame cannot be read");
    assert_eq!(found.filter(|one| one.evidence.iter().any(is_named)).count(), 3);
}

/// Address classes of pointer types, as llvm-dwarfdump-19 prints them: 1 and 2 of clang, 1 of Triton. NVIDIA's classes
/// are numbers of NVIDIA's own table.
#[test]
fn address_classes_of_amd_have_two_meanings() {
    let objects = Path::new(crate::common::ROOT).join("tests/objects");
    for (object, expected) in [
        ("llvm19/k21_pointers.gfx1100.O1.o", &["DW_AT_address_class is 1", "DW_AT_address_class is 2"][..]),
        ("triton/add.gfx942.hsaco", &["DW_AT_address_class is 1"]),
        ("triton/add.sm_90.cubin", &[]),
    ] {
        let bytes = std::fs::read(objects.join(object)).expect("an object");
        let report = lint(&bytes, &LintOptions::default()).expect("the object is read");
        let ambiguous = report.findings.iter().filter(|finding| finding.code.name() == "ambiguous-attribute");
        let written: Vec<&str> = ambiguous.map(|finding| finding.written.as_str()).collect();
        assert_eq!(written, expected, "{object}");
    }
}
