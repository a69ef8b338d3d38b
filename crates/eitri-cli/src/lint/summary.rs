//! Findings grouped by code and expression shape.

use std::cmp::Reverse;
use std::fmt::Write;
use std::io::stdout;

use eitri::error::Count;
use eitri::json::write_finding;
use eitri::lint::{Level, LintCode, LintFinding};
use hashbrown::HashMap;
use serde_json::{Value, json};

use super::paths::Paths;
use crate::color::{colors, escaped};

/// Number of findings from which the text ends with the summary.
pub const MANY: usize = 50;

/// Groups of findings.
#[derive(Debug, Default)]
pub struct Summary {
    groups: HashMap<(Level, LintCode, Option<String>), Group>,
    /// Number of objects so far.
    objects: usize,
}

/// Findings with one level, code and shape.
#[derive(Debug)]
struct Group {
    findings: usize,
    objects: usize,
    /// The last object that has such a finding.
    last: usize,
    /// The first finding with its object.
    example: (String, LintFinding),
}

/// Groups with a code, with their shapes.
type Shapes<'s> = Vec<(Option<&'s str>, &'s Group)>;

impl Summary {
    /// Begins an object.
    pub fn begin(&mut self) {
        self.objects += 1;
    }

    /// Counts a finding in the object, with all findings that it stands for.
    pub fn add(&mut self, object: &str, finding: &LintFinding) {
        let key = (finding.level, finding.code, finding.shape());
        let group = self.groups.entry(key).or_insert_with(|| Group {
            findings: 0,
            objects: 0,
            last: 0,
            example: (object.to_owned(), finding.clone()),
        });
        group.findings += finding.count;
        if group.last != self.objects {
            group.last = self.objects;
            group.objects += 1;
        }
    }

    /// Returns the codes, the heaviest and then the most frequent first, with their groups, the most frequent first.
    fn sorted(&self) -> Vec<(Level, LintCode, Shapes<'_>)> {
        let mut codes: HashMap<(Level, LintCode), Shapes<'_>> = HashMap::new();
        for ((level, code, shape), group) in &self.groups {
            codes.entry((*level, *code)).or_default().push((shape.as_deref(), group));
        }
        let mut codes: Vec<_> =
            codes.into_iter().map(|((level, code), groups)| (level, code, groups)).collect();
        let sum =
            |groups: &[(Option<&str>, &Group)]| groups.iter().map(|(_, group)| group.findings).sum::<usize>();
        codes.sort_by_key(|(level, code, groups)| (Reverse(*level), Reverse(sum(groups)), *code));
        for (_, _, groups) in &mut codes {
            groups.sort_by_key(|(shape, group)| (Reverse(group.findings), *shape));
        }
        codes
    }

    /// Returns the groups as text.
    pub fn text(&self, paths: &Paths) -> String {
        let mut out = String::new();
        let [_, error, warning, note, end] = colors(&stdout());
        for (level, code, groups) in self.sorted() {
            let start = match level {
                Level::Error => error,
                Level::Warning => warning,
                Level::Note => note,
            };
            // Writing to a string does not fail.
            let _ = writeln!(out, "{start}{}[{}]{end}: {}", level.name(), code.name(), code.page().title);
            for (shape, group) in groups {
                let objects = Count(group.objects, "object");
                let shape = shape.unwrap_or("no expression");
                let _ = writeln!(out, "  {:6} in {objects}: {}", group.findings, escaped(shape));
                let (object, finding) = &group.example;
                let _ = writeln!(out, "         {}", escaped(&example(object, finding, paths)));
            }
        }
        out
    }

    /// Returns the groups as JSON objects, each on a line.
    pub fn lines(&self, paths: &Paths) -> String {
        let mut out = String::new();
        for (level, code, groups) in self.sorted() {
            for (shape, group) in groups {
                let (object, finding) = &group.example;
                let mut finding = finding.clone();
                paths.rename(&mut finding);
                let example: Value =
                    serde_json::from_str(&write_finding(&finding, object)).expect("a finding is JSON");
                let line = json!({
                    "version": 3,
                    "code": code.name(),
                    "level": level.name(),
                    "shape": shape,
                    "count": group.findings,
                    "objects": group.objects,
                    "example": example,
                });
                let _ = writeln!(out, "{line}");
            }
        }
        out
    }
}

/// Returns a finding on a line: object, names, declaration, expression.
fn example(object: &str, finding: &LintFinding, paths: &Paths) -> String {
    let mut text = format!("{object}:");
    let start = text.len();
    if let Some(variable) = &finding.variable {
        let _ = write!(text, " `{variable}`");
    }
    if let Some(function) = &finding.function {
        let _ = write!(text, " in `{function}`");
    }
    if let Some((_, line)) = finding.declared.as_ref().filter(|declared| !declared.0.is_empty()) {
        let _ = write!(text, ", {}:{line}", paths.name(finding));
    }
    if let Some(pcs) = finding.pc_text() {
        let _ = write!(text, ", {pcs}");
    }
    let separator = if text.len() > start { ": " } else { " " };
    text.push_str(separator);
    text.push_str(finding.expression.as_ref().map_or(&finding.written, |expression| &expression.text));
    text
}
