//! Text colours on a terminal, and text from files, which cannot change them.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ValueEnum;
use eitri::lint::Colors;
pub use eitri::lint::{acts_on_terminal, escaped};

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

/// Returns a text in the colour of errors, if the stream that it is printed to has colours.
pub fn paint_error(to: &impl IsTerminal, text: &str) -> String {
    let [_, start, .., end] = colors(to);
    format!("{start}{text}{end}")
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

/// Returns the colours of a stream: none, or [`COLORS`].
pub fn colors(stream: &impl IsTerminal) -> Colors {
    if has_colors(stream) { COLORS } else { Colors::default() }
}

/// Starts of the colours of headings, errors, warnings and notes, and the end of a colour. ECMA-48, SGR.
pub const COLORS: Colors = ["\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;36m", "\x1b[0m"];
