//! Findings that are printed immediately, while the next units are checked.

use eitri::lint::LintFinding;

use super::{Format, github, json, sarif};
use crate::output::{Form, Printer};

/// Output in a format for programs.
pub struct Stream {
    out: Printer,
    format: Format,
    /// End of a SARIF log.
    end: String,
    count: usize,
}

impl Stream {
    /// Begins the output; `None` for text, which is grouped.
    pub fn begin(format: Format) -> Option<Self> {
        let (begin, end) = match format {
            Format::Text => return None,
            Format::Json | Format::Github => (String::new(), String::new()),
            Format::Sarif => sarif::frame(),
        };
        let form = if format == Format::Github { Form::Text } else { Form::Json };
        let mut out = Printer::new(form);
        out.put(&begin);
        Some(Self { out, format, end, count: 0 })
    }

    /// Prints a finding in an object.
    pub fn finding(&mut self, object: &str, finding: &LintFinding) {
        if self.out.has_failed() {
            return;
        }
        if self.format == Format::Sarif && self.count > 0 {
            self.out.put(",");
        }
        self.count += 1;
        self.out.put(&match self.format {
            Format::Sarif => sarif::line(object, finding),
            Format::Github => github::line(object, finding),
            _ => json::line(object, finding),
        });
    }

    /// Ends the output. A closed pipe is not an error.
    pub fn end(mut self) -> eitri::Result<()> {
        if self.count > 0 && self.format == Format::Sarif {
            self.out.put(sarif::END);
        }
        self.out.put(&self.end);
        self.out.finish()
    }
}
