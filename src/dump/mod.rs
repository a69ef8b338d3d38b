//! Facts as text, for people and for reviewed files; evaluations and stopped waves as text and as pictures.

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

/// The debug sections of an object file as text: [`dump`] of what [`read`](crate::read) finds in it.
///
/// Without a target, the one that the file names is taken. Expressions are taken to be in the dialect of
/// LLVM, which has all operations of standard DWARF.
///
/// # Errors
/// Those of [`Object::read`] and [`Dwarf::read`].
pub fn print(object: &[u8], target: Option<&Target>) -> Result<String> {
    print_as(object, target, Dialect::Llvm, DumpOptions::default())
}

/// The same in another dialect, and with options: nothing in a file names its dialect.
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
    // One file can have skeletons and the split units as well.
    let split = Dwarf::read_split(&dwarf, &object)?;
    if !dwarf.sections().is_split && !split.units().is_empty() {
        text.push('\n');
        text.push_str(&dump(&object, &split, target, options));
    }
    Ok(text)
}

/// The split units of `dwo` as text, with the addresses and lines of the object that has their skeletons.
///
/// # Errors
/// Those of [`Object::read`], [`Dwarf::read`] and [`Dwarf::read_split`].
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
