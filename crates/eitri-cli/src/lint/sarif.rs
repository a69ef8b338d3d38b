//! SARIF 2.1.0.

use eitri::lint::{Level, LintCode, LintFinding};
use serde_json::{Value, json};

use super::text;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// Position at which results go in a log without results.
const RESULTS: &str = "\"results\": []";

/// Returns the log before the results, and after them.
pub fn frame() -> (String, String) {
    let rules: Vec<Value> = LintCode::ALL.iter().map(|code| rule(*code)).collect();
    let driver = json!({
        "name": "eitri",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": []}],
    });
    let log = format!("{log:#}\n");
    let (before, after) = log.split_once(RESULTS).expect("the log has a list of results");
    (format!("{before}\"results\": ["), format!("]{after}"))
}

/// Returns a result with the indentation that it has in the log.
pub fn line(object: &str, finding: &LintFinding) -> String {
    let result = format!("{:#}", result(object, finding));
    format!("\n{INDENT}{}", result.replace('\n', &format!("\n{INDENT}")))
}

/// Result indentation.
const INDENT: &str = "        ";

/// Indentation at the end of the result list.
pub const END: &str = "\n      ";

fn level(level: Level) -> &'static str {
    level.name()
}

fn rule(code: LintCode) -> Value {
    let page = code.page();
    json!({
        "id": code.name(),
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.why},
        "help": {"text": text::page(code)},
        "defaultConfiguration": {"level": level(code.level())},
    })
}

fn result(object: &str, finding: &LintFinding) -> Value {
    let index = LintCode::ALL.iter().position(|code| *code == finding.code);
    let mut physical = json!({"artifactLocation": {"uri": uri(object)}});
    if let Some((file, line)) = finding.declared.as_ref().filter(|declared| !declared.0.is_empty()) {
        physical = json!({"artifactLocation": {"uri": uri(file)}});
        if *line > 0 {
            physical["region"] = json!({"startLine": line});
        }
    }
    let mut location = json!({"physicalLocation": physical});
    let inside = finding.inlined.names().into_iter().chain(finding.variable.as_deref());
    let name: Vec<&str> = finding.function.as_deref().into_iter().chain(inside).collect();
    if !name.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": name.join("::")}]);
    }
    let mut properties = json!({"object": object, "section": finding.section, "offset": finding.offset});
    if let Some(file) = &finding.split {
        properties["split"] = json!(**file);
    }
    json!({
        "ruleId": finding.code.name(),
        "ruleIndex": index,
        "level": level(finding.level),
        "message": {"text": text::message(finding)},
        "locations": [location],
        "partialFingerprints": {"eitri/v1": format!("{:016x}", finding.fingerprint())},
        "properties": properties,
    })
}

/// Percent-encodes what a URI reference cannot have.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
