//! Findings that are printed one by one, while the next units are judged.

use std::io::{self, BufWriter, StdoutLock, Write};

use eitri::lint::Finding;

use super::{Format, github, json, sarif};

/// Output in a format for programs.
pub struct Stream {
    out: BufWriter<StdoutLock<'static>>,
    format: Format,
    /// End of a log of SARIF.
    end: String,
    count: usize,
    /// First failure: nothing is printed after it.
    result: io::Result<()>,
}

impl Stream {
    /// Begins the output; `None` for text, which is grouped.
    pub fn begin(format: Format) -> Option<Self> {
        let (begin, end) = match format {
            Format::Text => return None,
            Format::Json | Format::Github => (String::new(), String::new()),
            Format::Sarif => sarif::frame(),
        };
        let out = BufWriter::new(io::stdout().lock());
        let mut stream = Self { out, format, end, count: 0, result: Ok(()) };
        stream.write(&begin);
        Some(stream)
    }

    fn write(&mut self, text: &str) {
        if self.result.is_ok() {
            self.result = self.out.write_all(text.as_bytes());
        }
    }

    /// Prints a finding in an object.
    pub fn finding(&mut self, object: &str, finding: &Finding) {
        if self.result.is_err() {
            return;
        }
        if self.format == Format::Sarif && self.count > 0 {
            self.write(",");
        }
        self.count += 1;
        self.write(&match self.format {
            Format::Sarif => sarif::line(object, finding),
            Format::Github => github::line(object, finding),
            _ => json::line(object, finding),
        });
    }

    /// Ends the output. A closed pipe is not an error.
    pub fn end(mut self) -> eitri::Result<()> {
        if self.count > 0 && self.format == Format::Sarif {
            self.write(sarif::END);
        }
        let end = std::mem::take(&mut self.end);
        self.write(&end);
        match self.result.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => Ok(result?),
        }
    }
}
