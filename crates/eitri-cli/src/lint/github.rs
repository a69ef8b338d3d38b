//! GitHub workflow commands.

use std::collections::BTreeSet;

use eitri::error::Count;
use eitri::lint::path::plain;
use eitri::lint::{Level, LintCode, LintFinding};

use super::text;
use crate::color::escaped;

/// Maximum number of errors, of warnings, and of notices that GitHub shows for a step (actions/toolkit,
/// docs/problem-matchers.md). It shows 50 for a job.
const MOST: usize = 10;

/// Workflow commands that GitHub shows.
#[derive(Debug, Default)]
pub struct Annotations {
    levels: [Annotated; Level::ALL.len()],
}

/// Findings with one level.
#[derive(Debug, Default)]
struct Annotated {
    count: usize,
    codes: BTreeSet<LintCode>,
    /// Codes and expression shapes so far.
    kinds: BTreeSet<(LintCode, Option<String>)>,
    /// Lines for the first finding with each code, then with each shape, and for further findings.
    lines: [Vec<String>; 3],
}

impl Annotations {
    /// Adds a finding in an object.
    pub fn add(&mut self, object: &str, finding: &LintFinding) {
        let level = &mut self.levels[finding.level as usize];
        level.count += 1;
        if level.lines[0].len() == MOST {
            return;
        }
        let is_new_code = level.codes.insert(finding.code);
        let is_new_kind = level.kinds.insert((finding.code, finding.shape()));
        let rank = if is_new_code { 0 } else { 1 + usize::from(!is_new_kind) };
        let lines = &mut level.lines[rank];
        if lines.len() < MOST {
            lines.push(line(object, finding));
        }
    }

    /// Returns the lines, errors first. Before other findings, there is one with each code, and then one with each shape. A
    /// last line counts the findings that are left out.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut left_out = Vec::new();
        for (level, annotated) in Level::ALL.iter().zip(&self.levels).rev() {
            annotated.lines.iter().flatten().take(MOST).for_each(|line| out += line);
            if let Some(count) = annotated.count.checked_sub(MOST).filter(|count| *count > 0) {
                left_out.push(format!("{count} of {}", Count(annotated.count, level.name())));
            }
        }
        if !left_out.is_empty() {
            out += &format!(
                "not printed: {}: GitHub shows {MOST} of each level for a step; --format sarif has all findings\n",
                left_out.join(", ")
            );
        }
        out
    }
}

/// Returns the line for a finding in an object.
fn line(object: &str, finding: &LintFinding) -> String {
    let command = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let declared = finding.declared.as_ref().filter(|declared| !declared.0.is_empty());
    let (file, line) = match declared {
        Some((file, 0)) => (&**file, String::new()),
        Some((file, line)) => (&**file, format!(",line={line}")),
        None => (object, String::new()),
    };
    let message = format!("{object}: {}", text::message(finding));
    let file = property(&plain(file));
    let title = property(finding.code.name());
    format!("::{command} file={file}{line},title={title}::{}\n", data(&message))
}

fn data(text: &str) -> String {
    // A line break is printed in the message; other control characters would reach the terminal that shows the log.
    let lines: Vec<_> = text.split('\n').map(|line| escaped(line).replace('%', "%25")).collect();
    lines.join("%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
