//! Measures the debug information of any producer: the part of the code in which variables have a location.
//!
//! [`Statistics::numbers`] has the names and values of `llvm-dwarfdump --statistics`, version 9.
//! [`Coverage::sound`] omits the entries in which [`lint()`](crate::lint::lint()) finds an error.
//!
//! ```
//! # fn main() -> eitri_dwarf::Result<()> {
//! # let bytes = include_bytes!("../../../../examples/data/uspill.o");
//! let found = eitri_inspect::stats::stats(bytes, &eitri_inspect::stats::Options::default())?;
//! let coverage = found.variables.coverage;
//! println!("{} of {} bytes, {} sound", coverage.located, coverage.scope, coverage.sound);
//! # Ok(())
//! # }
//! ```

mod attributes;
mod compare;
mod coverage;
mod expressions;
mod forms;
mod lines;
mod lists;
mod numbers;
mod origins;
mod part;
mod sizes;
mod source;
mod statistics;
mod units;
mod variable_lines;
mod visitor;

pub use compare::{Change, compare};
pub use coverage::{Coverage, FunctionCoverage, Group, HISTOGRAM, UnitCoverage, VariableCoverage};
pub use lines::LineCounts;
pub use lists::Repeated;
pub use sizes::Contents;
pub(crate) use statistics::distinct;
pub use statistics::{Options, Statistics};
pub use variable_lines::{
    BaseLines, Build, ReadableLines, VariableLines, readable_variable_lines, variable_lines,
};

use core::sync::atomic::AtomicUsize;

use hashbrown::DefaultHashBuilder;

use self::origins::InputSections;
use self::part::{Part, Resolved};
use crate::lint;
use eitri_dwarf::error::Result;
use eitri_dwarf::op::Dialect;
use eitri_dwarf::read::threads::{self, Units};
use eitri_dwarf::read::{Dwarf, Object, Unit};

/// Measures the debug information of an object file. [`Statistics::unreadable`] lists errors of unreadable parts.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_readable`], and those of the finder of [`Options::split`].
pub fn stats(bytes: &[u8], options: &Options<'_>) -> Result<Statistics> {
    let object = Object::read_with(bytes, options.supplementary, None)?;
    let dwarf = Dwarf::read_readable(&object, Dialect::Llvm, options.threads)?;
    let facts = options.sound.then(|| lint::Facts::new(&object, &dwarf, options.threads)).transpose()?;
    let measure = |split: &[Dwarf<'_>]| measure(&object, facts.as_ref(), &dwarf, split, options);
    let mut statistics = options.split.with(&object, &dwarf, measure)?;
    for section in object.sections() {
        if section.is_code() {
            statistics.code += section.size;
        }
        let is_debug = section.name.starts_with(".debug") || section.name == ".gdb_index";
        if is_debug {
            match statistics.sections.iter_mut().find(|one| one.0 == section.name) {
                Some(one) => one.1 += section.stored,
                None => statistics.sections.push((section.name.clone().into_owned(), section.stored)),
            }
        }
    }
    Ok(statistics)
}

/// Measures the units of an object, and its split units. `facts` is `Some` if the sound part is measured.
///
/// # Errors
/// The errors of the finder in [`Options::split`].
pub(crate) fn measure<'r>(
    object: &Object<'_>,
    facts: Option<&'r lint::Facts<'r, '_>>,
    dwarf: &'r Dwarf<'r>,
    split: &'r [Dwarf<'r>],
    options: &Options<'_>,
) -> Result<Statistics> {
    let mut resolved = units(facts, dwarf, &InputSections::of(object), options);
    for dwarf in split {
        let mut of_file = units(facts, dwarf, &InputSections::default(), options);
        let unreadable = std::mem::take(&mut of_file.found.unreadable);
        of_file.found.unreadable = options.split.take_unreadable(dwarf, unreadable)?;
        resolved.append(of_file);
    }
    let mut statistics = resolved.finish();
    let of_object = std::iter::once(dwarf).chain(split).filter(|dwarf| dwarf.split_file().is_none());
    let frames = facts.iter().flat_map(|facts| &facts.frames).flat_map(|frames| &frames.errors);
    let unreadable = std::mem::take(&mut statistics.unreadable);
    let errors = of_object.flat_map(Dwarf::errors).chain(frames).cloned().chain(unreadable);
    statistics.unreadable = distinct(errors);
    // The units of a package have its strings in common.
    let files = split.chunk_by(|one, next| one.split_file() == next.split_file()).filter_map(<[_]>::first);
    for dwarf in std::iter::once(dwarf).chain(files) {
        statistics.contents.strings += sizes::strings(dwarf);
    }
    Ok(statistics)
}

fn units<'r>(
    facts: Option<&'r lint::Facts<'r, '_>>,
    dwarf: &'r Dwarf<'r>,
    sections: &InputSections,
    options: &Options<'_>,
) -> Resolved<'r> {
    let file = facts.map(|facts| lint::File::new(facts, dwarf));
    let threads = options.threads;
    let hasher = DefaultHashBuilder::default();
    let begin = |units: &[Unit<'_>]| {
        let entries = units.iter().map(|unit| dwarf.entries_of(unit).size_hint().0);
        Part::new(&hasher, entries.sum())
    };
    let count = |part: &mut Part<'r>, units: Units<'_>| {
        units::count(part, dwarf, file.as_ref(), units, sections, options.variables)
    };
    let (mut parts, covered) = threads::share(dwarf.units(), threads, begin, count);
    let lists: Vec<_> = parts.iter_mut().map(|part| std::mem::take(&mut part.contents.lists)).collect();
    let join = || {
        let mut parts = parts.into_iter();
        let mut joined = parts.next().unwrap_or_else(|| begin(&[]));
        let mut covered = covered.into_iter();
        let first = covered.next().unwrap_or_default();
        let found = &mut joined.found;
        (found.functions, found.units, found.unreadable) = (first.functions, first.units, first.unreadable);
        for one in covered {
            found.functions.extend(one.functions);
            found.units.extend(one.units);
            found.unreadable.extend(one.unreadable);
        }
        parts.for_each(|part| joined.append(part));
        joined.resolve(dwarf, sections)
    };
    let next = AtomicUsize::new(0);
    let repeated = |threads| lists::repeated(&lists, &next, dwarf, threads);
    let (joined, others) =
        threads::both(threads, || (join(), repeated(1)), || repeated(threads.saturating_sub(1)));
    let (mut resolved, own) = joined;
    resolved.found.contents.lists += own;
    resolved.found.contents.lists += others;
    resolved
}
