//! Text of PTX: functions with the positions of their instructions, and debug directives with their places in the text.
//!
//! The grammar is that of NVIDIA's PTX ISA, as far as statements go: instructions, labels, directives, blocks, and
//! declarations of registers. Of operands, the names of registers and the targets of branches are interpreted.

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

/// Prefix of the labels that eitri adds.
pub const LABEL: &str = "$L__eitri_";

/// Returns whether bytes are PTX: after blanks and comments, they begin with the directive of the version.
pub fn is_ptx(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        let (comment, end) = match rest {
            [b'/', b'/', comment @ ..] => (comment, &b"\n"[..]),
            [b'/', b'*', comment @ ..] => (comment, &b"*/"[..]),
            _ => return rest.starts_with(b".version"),
        };
        let Some(at) = comment.windows(end.len()).position(|here| here == end) else { return false };
        rest = &comment[at + end.len()..];
    }
}

#[cfg(test)]
mod tests;
