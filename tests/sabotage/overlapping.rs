//! Undescribed units, functions and rows that overlap described code, which are more than additions.

use eitri::check::{CheckReport, FindingKind};
use eitri::lower::Consumer;
use eitri::model::Module;

use crate::sabotage::{assert_is_words, object, sections};

const START: &str = r#"{"eitri": 1, "target": "amdgpu-gfx1030-wave32", "describe": [
{"unit": {"name": "a.cl", "language": "OpenCL"}},
{"function": {"in": "a.cl", "name": "k", "code": {"symbol": "k", "bytes": 64}}},
{"rows": {"function": "k", "rows": [[0, "a.cl", 2], [8, "a.cl", 3]]}},
{"function": {"in": "a.cl", "name": "f", "code": {"symbol": "k", "offset": 80, "bytes": 16}}}"#;

fn module(more: &str) -> Module {
    Module::from_json(format!("{START}{more}]}}")).unwrap_or_else(|error| panic!("{more}: {error}"))
}

/// Kinds of findings, without [`Kind::Extra`].
fn found(more: &str) -> (Vec<FindingKind>, CheckReport) {
    let truth = module("");
    let consumer = Consumer::llvm();
    let written = sections(&module(more), &consumer);
    let report = eitri::check(&truth, &consumer, &[], &object(&truth, &written)).unwrap();
    assert!(!report.is_clean(), "{more}");
    assert_is_words(&report);
    let report = report.without(FindingKind::Extra);
    let mut kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    (kinds, report)
}

/// JSON of another unit, with a function of 16 bytes at an offset from a symbol, with or without rows.
fn unit(symbol: &str, offset: u64, has_rows: bool) -> String {
    let unit = r#", {"unit": {"name": "b.cl", "language": "OpenCL"}}"#;
    let code = format!(r#"{{"symbol": "{symbol}", "offset": {offset}, "bytes": 16}}"#);
    let function = format!(r#", {{"function": {{"in": "b.cl", "name": "g", "code": {code}}}}}"#);
    let rows = r#", {"rows": {"function": "g", "rows": [[0, "b.cl", 77]]}}"#;
    format!("{unit}{function}{}", if has_rows { rows } else { "" })
}

#[test]
fn entries_over_described_code_are_found() {
    let function = r#", {"function": {"in": "a.cl", "name": "g", "code": {"symbol": "k", "bytes": 64}}}"#;
    let rows = r#", {"rows": {"function": "g", "rows": [[0, "a.cl", 77]]}}"#;
    for (more, kinds) in [
        (unit("k", 0, true), &[FindingKind::Code, FindingKind::Line][..]),
        (unit("k", 48, true), &[FindingKind::Code, FindingKind::Line]),
        (unit("k", 48, false), &[FindingKind::Code]),
        // After the last byte of the function.
        (unit("k", 64, true), &[]),
        (unit("k", 96, true), &[]),
        (unit("data", 0, true), &[]),
        // Rows of a function without described rows.
        (r#", {"rows": {"function": "f", "rows": [[0, "a.cl", 77]]}}"#.to_owned(), &[FindingKind::Line]),
        (function.to_owned(), &[FindingKind::Code]),
        (format!("{function}{rows}"), &[FindingKind::Code, FindingKind::Line]),
    ] {
        let (found, report) = found(&more);
        assert_eq!(found, kinds, "{more}: {report}");
    }
}
