//! Raw expressions of entities other than variables: `check` does not compare them, and lists them as unproven.

use eitri::check::{CheckReport, Obstacle};
use eitri::lower::Consumer;
use eitri::model::Module;

use crate::sabotage::{object, sections};

const START: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl", "language": "OpenCL"}},
{"base_type": {"unit": "a.cl", "name": "int", "encoding": "signed", "bits": 32}}"#;

const K: &str = r#"{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}}"#;

/// A statement after the function, with `RAW` in it, and the items that cannot be compared.
type Case = (&'static str, &'static [&'static str]);

#[rustfmt::skip] // A table.
const CASES: &[Case] = &[
    (r#"{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "other", "bytes": 64}, "frame_base": RAW}}"#, &["DW_AT_frame_base"]),
    (r#"{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "other", "bytes": 64}, "static_link": RAW}}"#, &["DW_AT_static_link"]),
    (r#"{"call": {"in": "k", "returns_to": 20, "id": "C"}}, {"argument": {"call": "C", "location": RAW}}"#, &["DW_AT_location of an argument"]),
    (r#"{"procedure": {"unit": "a.cl", "id": "p", "loc": RAW}}"#, &["procedure0"]),
    (r#"{"procedure": {"unit": "a.cl", "id": "p", "loc": RAW}}, {"function": {"in": "a.cl", "name": "f", "code": {"symbol": "other", "bytes": 64}, "frame_base": {"call": "p"}}}"#, &["DW_AT_frame_base", "procedure0"]),
    (r#"{"region": {"in": "k", "kind": "then", "pcs": [8, 16], "waits_at": 16, "masks": [[0, 64, RAW]]}}"#, &["DW_AT_LLVM_lane_pc"]),
    (r#"{"template": {"function": "k", "name": "N", "argument": {"value": ["int", RAW]}}}"#, &["DW_TAG_template_value_parameter `N`"]),
];

fn module(statements: &str, register: &str) -> Module {
    let raw = format!(r#"{{"expr": {{"text": "regx {register}", "dialect": "llvm"}}}}"#);
    let statements = statements.replace("RAW", &raw);
    Module::from_json(format!("{START}, {K}, {statements}]}}"))
        .unwrap_or_else(|e| panic!("{statements}: {e}"))
}

fn check(truth: &Module, written: &Module) -> CheckReport {
    let consumer = Consumer::llvm();
    eitri::check(truth, &consumer, &[], &object(truth, &sections(written, &consumer))).unwrap()
}

fn unproven(report: &CheckReport) -> Vec<&str> {
    report.unproven.iter().map(|one| one.what.as_deref().unwrap_or_default()).collect()
}

#[test]
fn raw_expressions_are_listed_whatever_has_them() {
    for &(statements, what) in CASES {
        for register in ["s8", "s9"] {
            let report = check(&module(statements, "s8"), &module(statements, register));
            assert!(report.is_clean(), "{statements}: {report}");
            assert_eq!(unproven(&report), what, "{statements}: {report}");
            assert!(report.unproven.iter().all(|one| one.variable.is_none() && one.why == Obstacle::Raw));
            let is_in_regions = statements.contains("region");
            assert!(is_in_regions || report.locations == 0, "{statements}: {report}");
        }
    }
}

#[test]
fn raw_rules_of_a_frame_are_listed() {
    const FRAME: &str = r#"{"frame": {"function": "k", "rules": [
        [0, 64, "cfa", {"memory": ["private_wave", {"register": "s32"}]}], [8, 60, "s33", RAW]],
        "return_address": [[0, 64, "s30", "s31"]]}}"#;
    let report = check(&module(FRAME, "s8"), &module(FRAME, "s9"));
    assert!(report.is_clean(), "{report}");
    let [one] = &report.unproven[..] else { panic!("{report}") };
    let at = (one.at.function.as_deref(), one.at.column.as_deref(), one.at.pcs.clone());
    assert_eq!(at, (Some("k"), Some("s33"), Some(8..9)));
    assert_eq!(one.why, Obstacle::Raw);
}
