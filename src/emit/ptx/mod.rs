//! Debug information in a text of PTX, NVIDIA's assembly language.
//!
//! ptxas keeps the entries of such a text, relocates them, and makes the line tables, the frames, and the map from the
//! registers of PTX to those of the machine. ptxas refuses `debug` with optimization: a variable's locations are exact
//! in the code that it makes at `-O0` from PTX that a front end has optimized.
//!
//! The pc of a function of PTX is a *position*: the number of an instruction in its body, in the text's order,
//! counted from 0. Labels, `.loc`, declarations, braces and other directives are not instructions. A function of *n*
//! instructions has *n* as its size.

mod attach;
mod detach;
mod labels;
mod lines;
mod sections;
mod text;

pub use attach::{Attach, attach};
pub use detach::detach;
pub use lines::{FunctionLines, InlinedCall, LineRow, Lines, SourcePlace};

pub use super::elf::Existing;
use crate::error::Result;

/// Returns whether an input is PTX: after blanks and comments, it begins with the version's directive.
pub fn is_ptx(bytes: &[u8]) -> bool {
    crate::ptx::is_ptx(bytes)
}

/// Returns the number of instructions of each function of a text, by name.
///
/// # Errors
/// [`Syntax`](crate::error::ErrorKind::Syntax), with line and column.
pub fn functions(text: &str) -> Result<Vec<(&str, u64)>> {
    let text = crate::ptx::Text::read(text)?;
    Ok(text.functions.iter().map(|function| (function.name, function.instructions.len() as u64)).collect())
}
