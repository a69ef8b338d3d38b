//! PTX reader: functions with instruction positions, and debug directives with their positions in the text.
//!
//! The reader knows NVIDIA's PTX grammar only at the level of statements: instructions, labels, directives, blocks and
//! register declarations. In operands it looks only for register names and branch targets, so that it accepts
//! instructions which are newer than this crate.

mod flow;
mod lexer;
mod registers;
mod section;
mod text;
pub use flow::Flow;
pub use lexer::{error_at, line_of};
pub use registers::{Declarations, RegisterKind, Registers};
pub(crate) use section::DebugSection;
pub use text::{Function, Loc, Place, Span, Text};

/// Prefix for labels that eitri adds.
pub const LABEL: &str = "$L__eitri_";

/// Returns whether bytes are PTX: whether the first word after blanks and comments is the version directive.
pub fn is_ptx(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        let (comment, end) = match rest {
            [b'/', b'/', comment @ ..] => (comment, &b"\n"[..]),
            [b'/', b'*', comment @ ..] => (comment, &b"*/"[..]),
            _ => return rest.starts_with(b".version"),
        };
        let Some(length) = comment.windows(end.len()).position(|bytes| bytes == end) else { return false };
        rest = &comment[length + end.len()..];
    }
}

#[cfg(test)]
mod tests;
