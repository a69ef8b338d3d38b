//! Everything that the command prints, and the files that it writes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use eitri::emit::elf::write_file;

use super::color::{COLORS, acts_on_terminal, escaped, has_colors, paint_error};
use super::progress::beside;
use super::{Failure, hints};

/// Form of a printed text, which decides what characters that a terminal can act on are escaped. Names in an object
/// come from its producer, who need not be a friend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text lines.
    Text,
    /// Text lines with the colours that [`paint`] adds.
    Painted,
    /// JSON: the characters are in strings.
    Json,
}

impl Form {
    /// Returns the text without characters that a terminal can act on.
    fn clean(self, text: &str) -> Cow<'_, str> {
        // Without an early end, many bytes are compared at a time.
        let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) | (byte == b'\n') | (byte == b'\t');
        if text.bytes().fold(true, |is_plain_text, byte| is_plain_text & is_plain(byte)) {
            return text.into();
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        loop {
            let (plain, other) =
                rest.split_at(rest.bytes().position(|byte| !is_plain(byte)).unwrap_or(rest.len()));
            out.push_str(plain);
            rest = other;
            let Some(char) = rest.chars().next() else { break };
            let color = COLORS.iter().find(|color| rest.starts_with(**color));
            if let Some(color) = color.filter(|_| self == Self::Painted) {
                out.push_str(color);
                rest = &rest[color.len()..];
                continue;
            }
            match char {
                '\n' | '\t' => out.push(char),
                char if !acts_on_terminal(char) => out.push(char),
                char if self == Self::Json => {
                    char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
                }
                char => out.extend(char.escape_debug()),
            }
            rest = &rest[char.len_utf8()..];
        }
        out.into()
    }
}

/// Prints text on standard output. Nothing is printed after the first failure.
pub struct Printer {
    out: BufWriter<StdoutLock<'static>>,
    form: Form,
    result: io::Result<()>,
}

impl Printer {
    pub fn new(form: Form) -> Self {
        // If the command uses no colours, all colours come from a name.
        let form = if form == Form::Painted && !has_colors(&io::stdout()) { Form::Text } else { form };
        Self { out: BufWriter::new(io::stdout().lock()), form, result: Ok(()) }
    }

    pub fn put(&mut self, text: &str) {
        if self.result.is_ok() {
            self.result = self.out.write_all(self.form.clean(text).as_bytes());
        }
    }

    /// Prints what a function writes.
    pub fn put_written(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.result.is_ok() {
            // Small parts are printed together.
            let mut blocks = BufWriter::new(&mut *self);
            let written = write(&mut blocks).and_then(|()| blocks.flush());
            drop(blocks);
            self.result = written;
        }
    }

    /// Whether nothing is printed any more.
    pub fn has_failed(&self) -> bool {
        self.result.is_err()
    }

    /// Ends the output. A closed pipe is not an error: its reader has seen enough.
    pub fn finish(mut self) -> eitri::Result<()> {
        unless_closed(self.result.and_then(|()| self.out.flush()))
    }
}

/// Text in blocks that do not divide a character.
impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Text is usually valid, which the plain conversion finds out much faster than the lossy conversion.
        let text = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        self.out.write_all(self.form.clean(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn unless_closed(result: io::Result<()>) -> eitri::Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Prints a text on standard output.
pub fn print(form: Form, text: &str) -> eitri::Result<()> {
    let mut printer = Printer::new(form);
    printer.put(text);
    printer.finish()
}

/// Prints a report, with a colour for each finding's kind at its line's start.
pub fn print_findings(report: &impl Display) -> eitri::Result<()> {
    let report = report.to_string();
    let mut printer = Printer::new(Form::Painted);
    for line in report.split('\n') {
        let line = Form::Text.clean(line);
        let kind = line.split_once(": ").filter(|_| !line.starts_with(char::is_numeric));
        match kind {
            Some((kind, rest)) => {
                printer.put(&paint_error(&io::stdout(), kind));
                printer.put(": ");
                printer.put(rest);
            }
            None => printer.put(&line),
        }
        printer.put("\n");
    }
    printer.finish()
}

/// Prints lines on standard error, after a coloured word, if there is one. A closed standard error is not an error for
/// the command.
pub fn say(word: Option<&str>, text: impl Display) {
    let word = word.map_or_else(String::new, |word| paint_error(&io::stderr(), word) + " ");
    let text = text.to_string();
    beside(|| {
        let _ = writeln!(io::stderr(), "{word}{}", Form::Text.clean(&text));
    });
}

/// Prints a line on standard error: a line break in a name does not end it.
pub fn say_line(text: impl Display) {
    say(None, escaped(&text.to_string()));
}

/// Prints lines on standard error, of which there can be as many as a file has entries.
pub fn say_lines(lines: impl IntoIterator<Item = impl Display>) {
    let mut out = BufWriter::new(io::stderr());
    for line in lines {
        let _ = writeln!(out, "{}", Form::Text.clean(&escaped(&line.to_string())));
    }
    let _ = out.flush();
}

/// Files that were read.
static INPUTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Opens a file to be read. No output replaces it then.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).insert(path.canonicalize()?);
    }
    Ok(file)
}

/// Writes files in order, or no file if any would replace an input or another of them; `-` is standard output.
pub fn write_files(files: &[(&Path, &[u8])]) -> Result<(), Failure> {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_input = |path: &Path| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
    if let Some((path, _)) = files.iter().find(|file| is_input(file.0)) {
        return Err(Failure::line(format_args!("{}: the output would replace an input", path.display()))
            .and(hints::OTHER_OUTPUT));
    }
    let twice = files.iter().enumerate().find(|(index, (path, _))| {
        let is_same = |other: &Path| *path == other || is_one_file(path, other);
        path.as_os_str() != "-" && files[..*index].iter().any(|(other, _)| is_same(other))
    });
    if let Some((_, (path, _))) = twice {
        return Err(Failure::line(format_args!("{}: two outputs have this name", path.display()))
            .and(hints::OTHER_OUTPUT));
    }
    for (path, bytes) in files {
        if path.as_os_str() == "-" {
            unless_closed(io::stdout().lock().write_all(bytes))?;
        } else {
            write_file(path, bytes)?;
        }
    }
    Ok(())
}

/// Whether two paths lead to a file, which need not exist.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let resolved = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(path.canonicalize().unwrap_or(folder.join(path.file_name()?)))
    };
    resolved(one).is_some_and(|one| resolved(other) == Some(one))
}
