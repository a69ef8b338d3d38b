//! Debug information in texts in PTX, NVIDIA's assembly language.
//!
//! ptxas keeps such a text's entries, relocates them, and generates the line tables, the frames, and the map from PTX
//! registers to machine registers. ptxas refuses `debug` with optimization: a variable's locations are exact in the
//! code that it generates at `-O0` from PTX that a front end has optimized.
//!
//! A pc in a PTX function is a *position*: an instruction's number in the body, in the text's order, counted from 0.
//! Labels, `.loc`, declarations, braces and other directives are not instructions. A function with *n* instructions has
//! *n* as its size.
//!
//! ```
//! use eitri::emit::ptx;
//!
//! let text = "\
//! .version 7.8
//! .target sm_80
//! .address_size 64
//! .visible .entry twice(.param .u32 twice_param_0)
//! {
//!     .reg .b32 %r<3>;
//!     ld.param.u32 %r1, [twice_param_0];
//!     add.u32 %r2, %r1, %r1;
//!     ret;
//! }
//! ";
//! // Three instructions: the function's size, with positions 0, 1 and 2.
//! assert_eq!(ptx::functions(text)?, [("twice", 3)]);
//! # Ok::<(), eitri::Error>(())
//! ```

mod attach;
mod detach;
mod labels;
mod lines;
mod sections;
mod text;

pub use attach::{PtxAttachOptions, attach};
pub use detach::detach;
pub use lines::{FunctionLines, InlinedCall, Lines, PtxLineRow, SourcePlace};

pub use super::elf::Existing;
use crate::error::Result;

/// Returns whether an input is PTX: after blanks and comments, it begins with the version's directive.
pub fn is_ptx(bytes: &[u8]) -> bool {
    crate::ptx::is_ptx(bytes)
}

/// Returns each function's instruction count, by name.
///
/// # Errors
/// [`Syntax`](crate::error::ErrorKind::Syntax), with line and column.
pub fn functions(text: &str) -> Result<Vec<(&str, u64)>> {
    let text = crate::ptx::Text::read(text)?;
    Ok(text.functions.iter().map(|function| (function.name, function.instructions.len() as u64)).collect())
}
