//! Debug information in a text of PTX, NVIDIA's assembly language.
//!
//! ptxas keeps the entries of such a text, relocates them, and makes the line tables, the frames, and the map from the
//! registers of PTX to those of the machine. ptxas refuses `debug` with optimization: a variable's locations are exact
//! in the code that it makes at `-O0` from PTX that a front end has optimized.
//!
//! The pc of a function of PTX is a *position*: the number of an instruction in its body, in the order of the text,
//! counted from 0. Labels, `.loc`, declarations, braces and other directives are not instructions. A function of *n*
//! instructions has *n* as its size.

mod attach;
mod detach;
mod lines;
mod sections;

pub use attach::{Attach, attach};
pub use detach::detach;
pub use lines::{FunctionLines, InlinedCall, LineRow, Lines, SourcePlace};

pub use super::elf::Existing;
use crate::error::{ErrorKind, Identity, Result};
use crate::target::Target;

/// `EM_CUDA`.
const CUDA: u16 = 190;

/// Writes a number. Formatting would take most of the time of a section.
fn decimal(out: &mut String, number: u64) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Number of decimal digits.
const fn digits(number: u64) -> usize {
    match number {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        _ => 3 + digits(number / 1000),
    }
}

/// Refuses a target whose code is not PTX.
fn check_target(target: &Target) -> Result<()> {
    if target.elf().machine == CUDA {
        return Ok(());
    }
    let expected = Identity::Machine(target.elf().machine);
    let target = target.name().into();
    Err(ErrorKind::WrongTarget { target, expected, actual: Identity::Ptx }.into())
}

/// Returns whether an input is PTX: after blanks and comments, it begins with the directive of the version.
pub fn is_ptx(bytes: &[u8]) -> bool {
    crate::ptx::is_ptx(bytes)
}

/// Returns the number of instructions of each function of a text, by name.
///
/// # Errors
/// [`Syntax`](ErrorKind::Syntax), with line and column.
pub fn functions(text: &str) -> Result<Vec<(&str, u64)>> {
    let text = crate::ptx::Text::read(text)?;
    Ok(text.functions.iter().map(|function| (function.name, function.instructions.len() as u64)).collect())
}
