//! Prints facts as text, for readers and reviewed files; and evaluations and stopped waves as text and figures.
//!
//! `text.rs` prints units and entries, and calls the other modules for what entries refer to (`lists.rs`, `lines.rs`,
//! `macros.rs`) and for the sections that stand alone (`frames.rs`, `index.rs`, `nvidia.rs`). All modules write to `Out`
//! (`out.rs`), which passes blocks on to a writer, so that memory does not grow with the text. A part that cannot be read
//! is printed as its error, and the rest is printed as usual. Two rules bound the length of the text: a list that many
//! entries share is printed once, and long frame rows are printed as changes after some limit.
//!
//! `steps.rs` records an evaluation step by step (`watch.rs` records the queries to the machine), `descriptions.rs` puts
//! locations into words, and `figure` draws the same steps as SVG. `lanes.rs` finds where a wave's lanes stand.
//!
//! ```
//! # fn main() -> eitri_dwarf::Result<()> {
//! # let bytes = include_bytes!("../../data/squares.o");
//! let text = eitri_dwarf::dump::print(bytes, None)?;
//! assert!(text.contains("DW_TAG_compile_unit"));
//! # Ok(())
//! # }
//! ```

mod abbreviations;
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
pub use lanes::{LaneStop, Lanes, SourcePosition, Standing, lanes};
pub use steps::{PrintedStep, Steps, steps, steps_in};
pub use text::{DumpOptions, dump};
pub use watch::Asked;

use std::io;

use out::Out;

use crate::error::Result;
use crate::eval::{DebugInfo, Location};
use crate::op::Dialect;
use crate::read::{Dwarf, Object, PcNotation, ReadOptions};
use crate::target::Target;

/// Returns a location as text for a person: `v3 + 20 bytes`, `memory 0x7000`. With a target, registers and address spaces have
/// names. [`Location`]'s own text is shorter and exact.
///
/// ```
/// use eitri_dwarf::dump;
/// use eitri_dwarf::eval::Location;
/// use eitri_dwarf::op::Reg;
/// use eitri_dwarf::target::Target;
///
/// // Register 1539 is v3, whose lanes have 32 bits each.
/// let target = Target::named("amdgpu-gfx1030-wave32")?;
/// let location = Location::register(Reg(1539), 1024).moved(5 * 32)?;
/// assert_eq!(dump::location(&location, Some(&target)), "v3 + 20 bytes");
/// assert_eq!(location.to_string(), "reg:1539+160");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn location(location: &Location, target: Option<&Target>) -> String {
    descriptions::Descriptions { target, pcs: PcNotation::default() }.location(location)
}

/// Prints an object file's debug sections: [`dump`] of the facts that [`read`](crate::read) finds.
///
/// If no target is given, the file's own target is used, with the wave size that its kernels or functions state. Expressions are decoded in the
/// dialect that they have.
///
/// # Errors
/// The errors that [`Object::read`] and [`Dwarf::read`] return.
pub fn print(object: &[u8], target: Option<&Target>) -> Result<String> {
    let mut out = Out::kept();
    let object = Object::read_with(object, None, target)?;
    print_into(&mut out, &object, None, target, None, DumpOptions::default())?;
    Ok(out.finish()?)
}

/// Prints an object file's debug sections to a writer, in a given dialect, because a file does not name its dialect, or in that
/// which its expressions have ([`ReadOptions::dialect`]).
/// Memory does not grow with the length of the text.
///
/// With `dwo`, the split units in that file are printed, with the addresses and lines of the object that contains their
/// skeletons.
///
/// # Errors
/// The errors that [`print()`] and [`Dwarf::read_split`] return; [`ErrorKind::Io`](crate::error::ErrorKind::Io), the
/// writer's first error.
pub fn print_to(
    out: &mut dyn io::Write,
    object: &[u8],
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: impl Into<Option<Dialect>>,
    options: DumpOptions,
) -> Result<()> {
    let object = Object::read_with(object, None, target)?;
    print_object_to(out, &object, dwo, target, dialect, options)
}

/// Prints an object's debug sections as [`print_to`] does. The object can have a [supplementary
/// file](Object::set_supplementary).
///
/// # Errors
/// The errors that [`print_to`] returns.
pub fn print_object_to(
    out: &mut dyn io::Write,
    object: &Object<'_>,
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: impl Into<Option<Dialect>>,
    options: DumpOptions,
) -> Result<()> {
    let mut out = Out::to(out);
    let printed = print_into(&mut out, object, dwo, target, dialect.into(), options);
    out.finish()?;
    printed
}

fn print_into(
    out: &mut Out<'_>,
    object: &Object<'_>,
    dwo: Option<&[u8]>,
    target: Option<&Target>,
    dialect: Option<Dialect>,
    options: DumpOptions,
) -> Result<()> {
    let dwarf = Dwarf::read_with(object, &ReadOptions::new().dialect(dialect).readable())?;
    let own_target = |dwarf: &Dwarf<'_>| match target {
        None => DebugInfo::new(dwarf).target(object),
        Some(target) => Some(target.clone()),
    };
    if let Some(dwo) = dwo {
        let header_target = object.target(None);
        let dwo = Object::read_with(dwo, None, target.or(header_target.as_ref()))?;
        let split = Dwarf::read_split_with(&dwarf, &dwo, &ReadOptions::new().readable())?;
        let target = own_target(&split);
        let target = target.as_ref();
        text::addresses(out, object);
        text::print(out, &dwo, &split, target, options);
        return whole([&dwarf, &split]);
    }
    // A file can contain both the skeletons and the split units.
    let split = Dwarf::read_split_with(&dwarf, object, &ReadOptions::new().readable())?;
    let target = own_target(&dwarf).or_else(|| own_target(&split));
    let target = target.as_ref();
    text::print(out, object, &dwarf, target, options);
    if !dwarf.sections().is_split && !split.units().is_empty() {
        out.push('\n');
        text::print(out, object, &split, target, options);
    }
    // The units in a file of split units were read as the object's units.
    if dwarf.sections().is_split { whole([&dwarf]) } else { whole([&dwarf, &split]) }
}

/// Returns the first error in the printed units: each error is printed where its part would be.
fn whole<const N: usize>(files: [&Dwarf<'_>; N]) -> Result<()> {
    match files.into_iter().flat_map(Dwarf::errors).next() {
        None => Ok(()),
        Some(first) => Err(first.clone()),
    }
}
