//! One JSON object per finding and line.

use eitri::json::write_finding;
use eitri::lint::LintFinding;
use serde_json::Value;

/// Returns the line for a finding in an object.
pub fn line(object: &str, finding: &LintFinding) -> String {
    write_finding(finding, object) + "\n"
}

/// Returns the fingerprint in a line that [`line()`] made; `None` also for a line in a different version.
pub fn fingerprint(line: &str) -> Option<u64> {
    let value: Value = serde_json::from_str(line).ok()?;
    value.get("version").filter(|version| **version == 1)?;
    u64::from_str_radix(value.get("fingerprint")?.as_str()?, 16).ok()
}
