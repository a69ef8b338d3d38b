//! One JSON object per finding and line.

use eitri::json::write_finding;
use eitri::lint::LintFinding;

/// Returns the line for a finding in an object.
pub fn line(object: &str, finding: &LintFinding) -> String {
    write_finding(finding, object) + "\n"
}
