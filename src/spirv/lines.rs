//! Lines and columns in files with known text. A line or column outside the text is omitted, because a debugger would
//! show the wrong source for it.

use crate::error::{Error, Result};
use crate::model::{FileId, Module, SecondaryMap, SourceLine};
use crate::omission::Reason;

/// Each line's length in bytes, for files with known text.
#[derive(Debug, Default)]
pub(super) struct Texts(SecondaryMap<FileId, Vec<usize>>);

impl Texts {
    /// Adds a file's text, unless the compiled lines differ from the text's lines.
    pub fn add(&mut self, file: FileId, text: &str) {
        if !is_of_other_lines(text) {
            self.0[file] = text.split('\n').map(str::len).collect();
        }
    }

    /// Whether a file's text is known.
    #[inline]
    pub fn has(&self, file: FileId) -> bool {
        self.0.get(file).is_some_and(|lines| !lines.is_empty())
    }

    /// Restricts a line (0: no line) and column to the file's text; also returns the reason if anything was dropped.
    pub fn fit(&self, line: SourceLine) -> (SourceLine, Option<Reason>) {
        if self.has(line.file) && line.line != 0 { fit(&self.0[line.file], line) } else { (line, None) }
    }

    /// Checks that a line and column are in the file's text.
    ///
    /// # Errors
    /// [`BadArgument`](crate::error::ErrorKind::BadArgument) if they are not.
    pub fn check(&self, module: &Module, line: SourceLine) -> Result<()> {
        self.fit(line).1.map_or(Ok(()), |why| Err(Error::bad_argument(why.sentence(module))))
    }
}

fn fit(lines: &[usize], line: SourceLine) -> (SourceLine, Option<Reason>) {
    let SourceLine { file, line: number, column } = line;
    match lines.get(number as usize - 1) {
        None => {
            let why = Reason::LineBeyondText(file, number, lines.len());
            (SourceLine { line: 0, column: 0, ..line }, Some(why))
        }
        // The column after the last byte is valid: it is the line's end.
        Some(&bytes) if column as usize > bytes + 1 => {
            let why = Reason::ColumnBeyondText(file, number, column, bytes);
            (SourceLine { column: 0, ..line }, Some(why))
        }
        Some(_) => (line, None),
    }
}

/// Whether the compiled lines differ from the text's lines: preprocessor output, or a checksum that the LLVM translator
/// writes instead of the text.
fn is_of_other_lines(text: &str) -> bool {
    let is_directive = |line: &str| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        directive
            .is_some_and(|it| it.starts_with("line") || it.starts_with(|digit: char| digit.is_ascii_digit()))
    };
    text.starts_with("//__CSK_") || text.lines().any(is_directive)
}
