//! Results that functions return in memory, arrays that were moved to LDS, and registers that have several values.

use std::path::Path;

use eitri::lint::{Finding, Options, lint};

/// Returns the findings of an object about the places of a variable in a function.
fn findings(object: &str, function: &str, variable: &str) -> Vec<Finding> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/llvm19").join(object);
    let report =
        lint(&std::fs::read(path).expect("an object"), &Options::default()).expect("the object is read");
    let is_of = |finding: &Finding| {
        finding.function.as_deref() == Some(function)
            && finding.variable.as_deref() == Some(variable)
            && finding.expression.is_some()
    };
    report.findings.into_iter().filter(is_of).collect()
}

fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.code.name()).collect()
}

/// A function that returns more than 16 registers has the address of its result in a register: the variable's value is
/// not in it, and the type is too large for that. Then the address is in a slot, which is read in the default space.
#[test]
fn results_in_memory_are_at_an_address() {
    let found = findings("k20_results.gfx1030.O0.hsaco", "make", "r");
    assert_eq!(names(&found), ["xderef-as-location", "xderef-as-location", "slot-space-lost"]);
    assert_eq!(found[2].written, "memory of the default space at s33+16 has the number");
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

/// ptxas 13.5 writes relocatable cubins of sm_90 in which an entry refers to 8 bytes after the common one.
#[test]
fn malformed_frames_are_findings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/llvm19/k06_calls.gfx1100.O0.hsaco");
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
    let changed = crate::made::replaced(&object, &frames, &changed);
    let report = lint(&changed, &Options::default()).expect("the object is read");
    let found: Vec<_> = report.findings.iter().filter(|one| one.code.name() == "no-cfa").collect();
    assert_eq!(found.len(), 3);
    let evidence = "frame description entry: 0x8 is not the offset of a common information entry";
    assert!(found.iter().all(|one| one.evidence[0].contains(evidence)), "{found:?}");
    // The length of the first entry is beyond the section.
    let mut changed = frames.clone();
    changed[2] = 1;
    let report =
        lint(&crate::made::replaced(&object, &frames, &changed), &Options::default()).expect("it is read");
    let found = report.findings.iter().filter(|one| one.code.name() == "no-cfa");
    assert_eq!(found.filter(|one| one.evidence[0].starts_with(".debug_frame cannot be read")).count(), 3);
}
