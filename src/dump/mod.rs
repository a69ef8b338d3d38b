//! Prints facts as text, for readers and reviewed files; and evaluations and stopped waves as text and figures.

mod figure;
mod frames;
mod index;
mod lanes;
mod lines;
mod lists;
mod macros;
pub(crate) mod names;
mod steps;
mod text;
mod watch;
mod words;

pub use figure::{figure, lane_chart};
pub use lanes::{LaneStop, Lanes, SourceLine, Standing, lanes};
pub use steps::{Step, Steps, steps};
pub use text::{DumpOptions, dump};
pub use watch::Asked;

use crate::error::Result;
use crate::op::{Dialect, DraftCodes};
use crate::read::{Dwarf, Object};
use crate::target::Target;

/// Prints the debug sections of an object file: [`dump`] of the facts that [`read`](crate::read) finds.
///
/// Without a target, the target named in the file is used. Expressions are decoded in LLVM's dialect, which includes
/// all operations of standard DWARF.
///
/// # Errors
/// As [`Object::read`] and [`Dwarf::read`].
pub fn print(object: &[u8], target: Option<&Target>) -> Result<String> {
    print_as(object, target, Dialect::Llvm, DumpOptions::default())
}

/// Prints the debug sections in a given dialect, with options: a file does not name its dialect.
///
/// # Errors
/// As [`print()`].
pub fn print_as(
    object: &[u8],
    target: Option<&Target>,
    dialect: Dialect,
    options: DumpOptions,
) -> Result<String> {
    let object = Object::read(object)?;
    let dwarf = Dwarf::read_as(&object, dialect, DraftCodes::NONE)?;
    let found = if target.is_none() { object.target(None) } else { None };
    let target = target.or(found.as_ref());
    let mut text = dump(&object, &dwarf, target, options);
    // A file can contain both the skeletons and the split units.
    let split = Dwarf::read_split(&dwarf, &object)?;
    if !dwarf.sections().is_split && !split.units().is_empty() {
        text.push('\n');
        text.push_str(&dump(&object, &split, target, options));
    }
    Ok(text)
}

/// Prints the split units of `dwo`, with the addresses and lines of the object that contains their skeletons.
///
/// # Errors
/// As [`Object::read`], [`Dwarf::read`] and [`Dwarf::read_split`].
pub fn print_split(
    object: &[u8],
    dwo: &[u8],
    target: Option<&Target>,
    dialect: Dialect,
    options: DumpOptions,
) -> Result<String> {
    let (object, dwo) = (Object::read(object)?, Object::read(dwo)?);
    let main = Dwarf::read_as(&object, dialect, DraftCodes::NONE)?;
    let split = Dwarf::read_split(&main, &dwo)?;
    let found = if target.is_none() { object.target(None) } else { None };
    Ok(text::addresses(&object) + &dump(&dwo, &split, target.or(found.as_ref()), options))
}
