//! GitHub workflow commands.

use eitri::lint::{Level, LintFinding};

use super::text;
use crate::color::escaped;

/// Returns the line for a finding in an object.
pub fn line(object: &str, finding: &LintFinding) -> String {
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
    let file = property(file);
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
