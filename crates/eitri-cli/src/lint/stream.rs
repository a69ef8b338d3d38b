//! Findings that are printed immediately, while the next units are checked.

use eitri::lint::LintFinding;

use super::github::Annotations;
use super::paths::Paths;
use super::{Format, json, sarif};
use crate::output::{Form, Printer};

/// Output in a format for programs.
pub struct Stream {
    out: Printer,
    format: Format,
    /// End of a SARIF log.
    end: String,
    count: usize,
    /// Whether a baseline omits known findings.
    has_baseline: bool,
    annotations: Annotations,
}

impl Stream {
    /// Begins the output; `None` for text, which is grouped.
    pub fn begin(format: Format, paths: &Paths, has_baseline: bool) -> Option<Self> {
        let (begin, end) = match format {
            Format::Text => return None,
            Format::Json | Format::Github => (String::new(), String::new()),
            Format::Sarif => sarif::frame(paths.here()),
        };
        let form = if format == Format::Github { Form::Text } else { Form::Json };
        let mut out = Printer::new(form);
        out.put(&begin);
        Some(Self { out, format, end, count: 0, has_baseline, annotations: Annotations::default() })
    }

    /// Prints a finding in an object; workflow commands are printed at the end.
    pub fn finding(&mut self, object: &str, finding: &LintFinding) {
        if self.out.has_failed() {
            return;
        }
        if self.format == Format::Sarif && self.count > 0 {
            self.out.put(",");
        }
        self.count += 1;
        self.out.put(&match self.format {
            Format::Sarif => sarif::line(object, finding, self.has_baseline),
            Format::Github => return self.annotations.add(object, finding),
            _ => json::line(object, finding),
        });
    }

    /// Ends the output, with a last line for formats that have lines. A closed pipe is not an error.
    pub fn end(mut self, last: &str) -> eitri::Result<()> {
        self.out.put(&self.annotations.text());
        if self.count > 0 && self.format == Format::Sarif {
            self.out.put(sarif::END);
        }
        self.out.put(&self.end);
        self.out.put(last);
        self.out.finish()
    }
}
