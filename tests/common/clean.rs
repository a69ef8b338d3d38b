//! Objects without findings above a note.

use eitri::lint::{Level, LintCode, LintFinding, LintOptions, lint};

/// Findings above a note, as text. A function without frames has a finding, and had a warning when it was written.
pub fn above_notes(name: &str, bytes: &[u8]) -> Vec<String> {
    let report = lint(bytes, &LintOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    // `uspill.o` of an example is the object without debug information.
    assert!(report.functions > 0 || name.ends_with("/uspill.o"), "{name} has functions");
    let is_frame =
        |one: &LintFinding| one.code == LintCode::NoCfa && one.written == "no call frame information";
    let above = report.findings.iter().filter(|one| one.level > Level::Note && !is_frame(one));
    above.map(|finding| format!("{name}: {finding:?}")).collect()
}
