//! One JSON object per finding and line.

use eitri::lint::Finding;
use serde_json::{Value, json};

/// Returns the line of a finding in an object.
pub fn line(object: &str, finding: &Finding) -> String {
    let expression = finding.expression.as_ref().map(|expression| {
        json!({"text": expression.text, "fault": [expression.fault.start, expression.fault.end]})
    });
    let value = json!({
        "version": 1,
        "file": object,
        "code": finding.code.name(),
        "level": finding.level.name(),
        "unit": finding.unit,
        "function": finding.function,
        "inlined": finding.inlined,
        "variable": finding.variable,
        "declared": finding.declared.as_ref().map(|(file, line)| json!({"file": file, "line": line})),
        "pcs": finding.pcs.as_ref().map(|pcs| [hexadecimal(pcs.start), hexadecimal(pcs.end)]),
        "section": finding.section,
        "offset": finding.offset,
        "expression": expression,
        "written": finding.written,
        "meant": finding.meant,
        "evidence": finding.evidence,
        "fingerprint": format!("{:016x}", finding.fingerprint()),
    });
    format!("{value}\n")
}

fn hexadecimal(number: u64) -> String {
    format!("{number:#x}")
}

/// Returns the fingerprint of a line that [`line`] made.
pub fn fingerprint(line: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(line).ok()?;
    u64::from_str_radix(value.get("fingerprint")?.as_str()?, 16).ok()
}
