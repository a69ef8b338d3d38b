//! Objects of any producer: findings, and the page about an object.

use std::borrow::Cow;

use eitri::contents;
use eitri::error::{Count, ErrorKind};
use eitri::eval::DebugInfo;
use eitri::json::write_finding;
use eitri::lint::{LintFinding, LintOptions, LintReport};
use eitri::read::containers::readable_members;
use eitri::read::{Dwarf, Object, ReadOptions};
use eitri::report::{ReportOptions, readable_report};
use eitri::spirv::is_module;
use eitri::{Error, Result};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// An object in a file, as the page's script writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The object's name in findings and on the page.
    name: String,
    /// Number of the member in a container.
    member: Option<usize>,
}

impl Question {
    fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text)
            .map_err(|error| bad_argument(format!("the question is not in the form of the page: {error}")))
    }

    /// Returns the object: the contents, or a container's member.
    fn object<'c>(&self, contents: &'c [u8]) -> Result<Cow<'c, [u8]>> {
        let Some(number) = self.member else { return Ok(contents.into()) };
        let members = readable_members(contents).map(|(members, _)| members).unwrap_or_default();
        let count = members.len();
        let Some(member) = members.into_iter().nth(number) else {
            let members = Count(count, "member");
            return Err(bad_argument(format!("member {number} is out of range; the file has {members}")));
        };
        let elsewhere =
            || bad_argument(format!("the contents of `{}` are not in the file, or compressed", self.name));
        member.bytes.ok_or_else(elsewhere)
    }
}

/// Returns the names of a container's members; an empty list for an object.
pub fn members(file: &[u8]) -> Result<String> {
    let (members, errors) = readable_members(file).unwrap_or_default();
    let members: Vec<_> = members
        .iter()
        .map(|member| json!({"name": member.name, "bytes": member.bytes.as_ref().map(|bytes| bytes.len())}))
        .collect();
    Ok(json!({"members": members, "unreadable": texts(&errors)}).to_string())
}

/// Diagnoses an object. The first finding about a topic stands for all of them, with their number.
pub fn lint(question: &str, contents: &[u8]) -> Result<String> {
    let question = Question::read(question)?;
    let bytes = question.object(contents)?;
    let mut options = LintOptions::default();
    options.fold = true;
    let LintReport { findings, unreadable, functions, entries, .. } = contents::lint(&bytes, &options)?;
    let written = |finding: &LintFinding| {
        let finding_json = RawValue::from_string(write_finding(finding, &question.name));
        Ok(json!({"count": finding.count, "finding": finding_json?}))
    };
    let findings = findings.iter().map(written).collect::<serde_json::Result<Vec<_>>>();
    let findings = findings.map_err(|error| bad_argument(error.to_string()))?;
    Ok(json!({
        "target": if is_module(&bytes) { Some("SPIR-V".into()) } else { target(&bytes) },
        // A module has no page.
        "is_drawn": !is_module(&bytes),
        "functions": functions,
        "entries": entries,
        "findings": findings,
        "unreadable": texts(&unreadable),
    })
    .to_string())
}

/// Draws the page about an object.
pub fn report(question: &str, contents: &[u8]) -> Result<String> {
    let question = Question::read(question)?;
    let bytes = question.object(contents)?;
    let mut options = ReportOptions::default();
    options.name = &question.name;
    // An unreadable part is a finding on the page.
    readable_report(&bytes, &options).map(|(page, _)| page)
}

/// Returns the name of an object's target, if it is known.
fn target(bytes: &[u8]) -> Option<String> {
    let object = Object::read(bytes).ok()?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).ok()?;
    DebugInfo::new(&dwarf).target(&object).map(|target| target.name().to_owned())
}

fn texts(errors: &[Error]) -> Vec<String> {
    errors.iter().map(Error::to_string).collect()
}

fn bad_argument(problem: String) -> Error {
    ErrorKind::BadArgument(problem).into()
}
