//! SARIF 2.1.0.

use eitri::lint::{Level, LintCode, LintFinding};
use serde_json::{Value, json};

use super::paths::uri;
use super::text;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json";

/// Position at which results go in a log without results.
const RESULTS: &str = "\"results\": []";

/// Name of the folder to which relative URIs belong.
const BASE: &str = "SRCROOT";

/// Returns the log before the results, and after them. Relative URIs belong to the folder `here`.
pub fn frame(here: Option<&str>) -> (String, String) {
    let rules: Vec<Value> = LintCode::ALL.iter().map(|code| rule(*code)).collect();
    let driver = json!({
        "name": "eitri",
        "version": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let mut base = json!({"description": {"text": "the folder in which the command ran"}});
    if let Some(here) = here {
        // Relative URIs are resolved against a URI that ends with a slash.
        base["uri"] = json!(folder(here));
    }
    let run = json!({
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {BASE: base},
        "results": [],
    });
    let log = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    let log = format!("{log:#}\n");
    let (before, after) = log.split_once(RESULTS).expect("the log has a list of results");
    (format!("{before}\"results\": ["), format!("]{after}"))
}

/// Returns the URI of a folder, which is written without a separator at its end.
fn folder(path: &str) -> String {
    if path.is_empty() { "file:///".into() } else { uri(path).0 + "/" }
}

/// Returns a result with the indentation that it has in the log.
pub fn line(object: &str, finding: &LintFinding, has_baseline: bool) -> String {
    let mut result = result(object, finding);
    if has_baseline {
        // Known findings are left out.
        result["baselineState"] = json!("new");
    }
    let result = format!("{result:#}");
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
    let mut physical = json!({"artifactLocation": artifact(object)});
    if let Some((file, line)) = finding.declared.as_ref().filter(|declared| !declared.0.is_empty()) {
        physical = json!({"artifactLocation": artifact(file)});
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
    if let Some(pcs) = &finding.pcs {
        properties["pcs"] = json!([format!("{:#x}", pcs.start), format!("{:#x}", pcs.end)]);
    }
    if let Some(pcs) = &finding.function_pcs {
        properties["functionPcs"] = json!(pcs.to_string());
    }
    if let Some(file) = &finding.split {
        properties["split"] = json!(**file);
    }
    json!({
        "ruleId": finding.code.name(),
        "ruleIndex": index,
        "level": level(finding.level),
        "message": {"text": format!("{object}: {}", text::message(finding))},
        "locations": [location],
        "partialFingerprints": {"eitri/v2": format!("{:016x}", finding.fingerprint())},
        "properties": properties,
    })
}

/// Returns a file's location: a URI, relative to the folder in which the command ran if the path is.
fn artifact(path: &str) -> Value {
    match uri(path) {
        (uri, true) => json!({"uri": uri, "uriBaseId": BASE}),
        (uri, false) => json!({"uri": uri}),
    }
}

#[cfg(test)]
mod tests {
    use super::folder;

    /// The URI of the root has an empty authority: RFC 8089, section 2.
    #[test]
    fn folders_end_with_a_slash() {
        assert_eq!(folder(""), "file:///");
        assert_eq!(folder("/a/.b"), "file:///a/.b/");
    }
}
