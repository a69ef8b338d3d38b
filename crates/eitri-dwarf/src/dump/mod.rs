//! Prints facts as text, for readers and reviewed files; and evaluations and stopped waves as text and figures.

mod descriptions;
mod figure;
mod frames;
mod index;
mod lanes;
mod lines;
mod lists;
mod macros;
#[doc(hidden)]
pub mod names;
mod nvidia;
mod out;
mod steps;
mod text;
mod watch;

pub use figure::{figure, lane_chart};
pub use lanes::{LaneStop, Lanes, SourceLine, Standing, lanes};
pub use steps::{Step, Steps, steps};
pub use text::{DumpOptions, dump};
pub use watch::Asked;

use std::io;

use out::Out;

use crate::error::Result;
use crate::op::Dialect;
use crate::read::{Dwarf, Object};
use crate::target::Target;

/// Prints the debug sections of an object file: [`dump`] of the facts that [`read`](crate::read) finds.
///
/// Without a target, the target named in the file is used. Expressions are decoded in LLVM's dialect, which includes
/// all operations of standard DWARF.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`].
pub fn print(object: &[u8], target: Option<&Target>) -> Result<String> {
    let mut out = Out::kept();
    let object = Object::read_with(object, None, target)?;
    print_into(&mut out, &object, None, target, Dialect::Llvm, DumpOptions::default())?;
    Ok(out.finish()?)
}

/// Prints the debug sections of an object file to a writer, in a given dialect, with options: a file does not name its
/// dialect. Memory does not grow with the length of the text.
///
/// With `dwo`, the split units of that file are printed, with the addresses and lines of the object that contains their
/// skeletons.
///
/// # Errors
/// The errors of [`print()`] and [`Dwarf::read_split`]; [`ErrorKind::Io`](crate::error::ErrorKind::Io), the first error
/// of the writer.
pub fn print_to(
    out: &mut dyn io::Write,
    object: &[u8],
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: Dialect,
    options: DumpOptions,
) -> Result<()> {
    let object = Object::read_with(object, None, target)?;
    print_object_to(out, &object, dwo, target, dialect, options)
}

/// Prints the debug sections of an object as [`print_to`] does. The object can have a
/// [supplementary file](Object::set_supplementary).
///
/// # Errors
/// The errors of [`print_to`].
pub fn print_object_to(
    out: &mut dyn io::Write,
    object: &Object<'_>,
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: Dialect,
    options: DumpOptions,
) -> Result<()> {
    let mut out = Out::to(out);
    let printed = print_into(&mut out, object, dwo, target, dialect, options);
    out.finish()?;
    printed
}

fn print_into(
    out: &mut Out<'_>,
    object: &Object<'_>,
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: Dialect,
    options: DumpOptions,
) -> Result<()> {
    let dwarf = Dwarf::read_readable(object, dialect, 1)?;
    let found = if target.is_none() { object.target(None) } else { None };
    let target = target.or(found.as_ref());
    if let Some(dwo) = dwo {
        let dwo = Object::read_with(dwo, None, target)?;
        let split = Dwarf::read_readable_split(&dwarf, &dwo)?;
        text::addresses(out, object);
        text::print(out, &dwo, &split, target, options);
        return whole([&dwarf, &split]);
    }
    // A file can contain both the skeletons and the split units.
    let split = Dwarf::read_readable_split(&dwarf, object)?;
    text::print(out, object, &dwarf, target, options);
    if !dwarf.sections().is_split && !split.units().is_empty() {
        out.push('\n');
        text::print(out, object, &split, target, options);
    }
    match dwarf.sections().is_split {
        // The units of a file of split units were read as the object's.
        true => whole([&dwarf]),
        false => whole([&dwarf, &split]),
    }
}

/// Returns the first error of the units that were printed: each error stands instead of its part.
fn whole<const N: usize>(files: [&Dwarf<'_>; N]) -> Result<()> {
    match files.into_iter().flat_map(Dwarf::errors).next() {
        None => Ok(()),
        Some(first) => Err(first.clone()),
    }
}
