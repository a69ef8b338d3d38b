//! Removing debug information from a PTX text.

use super::text::line_start;
use crate::error::Result;
use crate::ptx::{LABEL, Span, Text};

/// Removes a PTX text's debug information: sections `.debug_*`, `.file` and `.loc`, the option `debug` in `.target`,
/// and the labels from [`attach`](super::attach). A statement that is alone on its line is removed with the line. What
/// `attach` added is removed to the byte.
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
    // If a removed last line has no newline, the newline before the removed lines goes instead.
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
    // Spans can overlap, because a removed line can contain several statements.
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
    let rest = text[end..].trim_start_matches([' ', '\t', '\r', '\x0c']);
    let newline = match rest.strip_prefix('\n') {
        Some(_) => Some(text.len() - rest.len() + 1),
        None => rest.is_empty().then_some(text.len()),
    };
    match line_start(text, start).zip(newline) {
        Some((start, end)) => Span { start, end },
        None if text[end..].starts_with(' ') => Span { start, end: end + 1 },
        None => Span { start, end },
    }
}
