//! Workflow commands of GitHub.

use std::fmt::Write as _;

use eitri::lint::Level;

use super::{Judged, text};

pub fn print(all: &[Judged]) -> String {
    let mut out = String::new();
    for one in all {
        for finding in &one.report.findings[..one.shown] {
            let command = match finding.level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Note => "notice",
            };
            let (file, line) = match &finding.declared {
                Some((file, line)) => (file.as_str(), format!(",line={line}")),
                None => (one.name.as_str(), String::new()),
            };
            let message = format!("{}: {}", one.name, text::message(finding));
            let _ = writeln!(
                out,
                "::{command} file={}{line},title={}::{}",
                property(file),
                property(finding.code.name()),
                data(&message)
            );
        }
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
