//! Text colours on a terminal, and text from files, which cannot change them.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;

/// The user's choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

static CHOICE: OnceLock<Color> = OnceLock::new();

impl Color {
    /// Makes the choice for all output from the program.
    pub fn choose(self) {
        let _ = CHOICE.set(self);
    }
}

/// Colour for a part of the output.
#[derive(Debug, Clone, Copy)]
pub enum Paint {
    Heading,
    Error,
    Warning,
    Note,
}

/// Returns a coloured text, if the stream that it is printed to has colours. ECMA-48, SGR.
pub fn paint(to: &impl IsTerminal, paint: Paint, text: &str) -> String {
    painted(has_colors(to), paint, text)
}

/// Whether a stream has colours.
pub fn has_colors(stream: &impl IsTerminal) -> bool {
    match CHOICE.get() {
        Some(Color::Always) => true,
        Some(Color::Never) => false,
        // An empty variable is as none: no-color.org.
        Some(Color::Auto) | None => {
            stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// Returns a text in a colour if `is_coloured` is set.
pub fn painted(is_coloured: bool, paint: Paint, text: &str) -> String {
    let [start, end] = escapes(is_coloured, paint);
    format!("{start}{text}{end}")
}

/// Returns what starts and ends a colour if `is_coloured` is set.
pub fn escapes(is_coloured: bool, paint: Paint) -> [&'static str; 2] {
    let [heading, error, warning, note, end] = COLORS;
    let start = match paint {
        _ if !is_coloured => return ["", ""],
        Paint::Heading => heading,
        Paint::Error => error,
        Paint::Warning => warning,
        Paint::Note => note,
    };
    [start, end]
}

/// Starts and ends of colours.
pub const COLORS: [&str; 5] = ["\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m", "\x1b[0m"];

/// Whether a terminal can act on a character instead of printing it.
pub fn acts_on_terminal(char: char) -> bool {
    !matches!(char, '"' | '\'' | '\\') && char.escape_debug().len() > 1
}

/// Escapes unprintable characters in a text from a file, because a terminal can act on them.
pub fn escaped(text: &str) -> Cow<'_, str> {
    // Without an early end, many bytes are compared at a time.
    if text.bytes().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(&byte)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if acts_on_terminal(char) => out.extend(char.escape_debug()),
            char => out.push(char),
        }
    }
    out.into()
}
