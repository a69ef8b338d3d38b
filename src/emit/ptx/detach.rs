//! Removal of debug information from a text.

use crate::error::Result;
use crate::ptx::{LABEL, Span, Text};

/// Removes the debug information of a text of PTX: sections `.debug_*`, `.file` and `.loc`, the option `debug` of
/// `.target`, and the labels of [`attach`](super::attach). A statement that is alone on its line is removed with the
/// line. What `attach` added is removed to the byte.
///
/// # Errors
/// [`Syntax`](crate::error::ErrorKind::Syntax): the text is not PTX.
pub fn detach(text: &str) -> Result<String> {
    let read = Text::read(text)?;
    let mut gone: Vec<Span> = read.stray.clone();
    gone.extend(read.files.iter().map(|file| file.span));
    let debug = read.sections.iter().filter(|section| section.name.starts_with(".debug_"));
    gone.extend(debug.map(|section| section.span));
    for function in &read.functions {
        gone.extend(function.locs.iter().map(|loc| loc.span));
        let own = function.labels.iter().filter(|label| label.name.starts_with(LABEL));
        gone.extend(own.map(|label| label.span));
    }
    let mut gone: Vec<Span> = gone.into_iter().map(|span| with_line(text, span)).chain(read.debug).collect();
    gone.sort_by_key(|span| span.start);
    // Without a newline at the end of a removed last line, the newline before the removed lines is removed.
    if let Some(last) = gone.last().filter(|last| last.end == text.len() && !text.ends_with('\n')) {
        let mut start = last.start;
        for span in gone.iter().rev().skip(1) {
            if span.end < start {
                break;
            }
            start = span.start;
        }
        if text[..start].ends_with('\n') {
            gone.push(Span { start: start - 1, end: text.len() });
            gone.sort_by_key(|span| span.start);
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Span { start, end } in gone {
        out.push_str(&text[done..start.max(done)]);
        done = end.max(done);
    }
    out.push_str(&text[done..]);
    Ok(out)
}

/// Extends a statement to its line if it is alone there, else by the blank after it.
fn with_line(text: &str, Span { start, end }: Span) -> Span {
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let newline = text[end..].find('\n').map(|length| end + length);
    let after = newline.unwrap_or(text.len());
    if !text[line..start].trim().is_empty() || !text[end..after].trim().is_empty() {
        let end = if text[end..].starts_with(' ') { end + 1 } else { end };
        return Span { start, end };
    }
    Span { start: line, end: newline.map_or(text.len(), |newline| newline + 1) }
}
