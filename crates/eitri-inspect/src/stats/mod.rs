//! Measures debug information from any producer: in how much code variables have a location.
//!
//! [`Statistics::numbers`] returns the names and values that `llvm-dwarfdump --statistics` prints, version 9.
//! [`Coverage::sound`] omits the entries in which [`lint()`](crate::lint::lint()) finds an error.
//!
//! ```
//! use eitri_inspect::stats::{StatsOptions, stats};
//!
//! # let bytes = include_bytes!("../../data/squares.o");
//! let statistics = stats(bytes, &StatsOptions::default())?;
//! // Of the bytes of code in which the variables are in scope, 2 have no location for `total`:
//! // 0x18 and 0x19.
//! let coverage = statistics.variables.coverage;
//! assert_eq!((coverage.located, coverage.scope), (149, 151));
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod attributes;
mod compare;
mod coverage;
mod expressions;
mod format;
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
pub use coverage::{Coverage, FunctionCoverage, Group, HISTOGRAM, UnitCoverage, VariableCoverage, percent};
pub use lines::LineCounts;
pub use lists::Repeated;
pub use sizes::SectionSizes;
pub(crate) use statistics::distinct;
pub use statistics::{Statistics, StatsOptions};
pub use variable_lines::{
    BaseLines, Build, ReadableLines, VariableLines, readable_variable_lines, variable_lines,
};

use core::sync::atomic::AtomicUsize;

use hashbrown::DefaultHashBuilder;

use self::origins::InputSections;
use self::part::{Resolved, UnitCounts};
use crate::lint;
use crate::walk::LinePrograms;
use eitri_dwarf::error::Result;
use eitri_dwarf::read::threads::{self, Units};
use eitri_dwarf::read::{Dwarf, Object, ReadOptions, Unit};

/// Measures an object file's debug information. [`Statistics::unreadable`] lists the errors in unreadable parts.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_with`], and errors from the finder in [`StatsOptions::split`].
///
/// # Example
///
/// ```
/// # use eitri_inspect::stats::{StatsOptions, stats};
/// # let bytes = include_bytes!("../../data/squares.o");
/// let mut options = StatsOptions::default();
/// // Without the time and memory for what only the totals need.
/// options.sound = false;
/// options.variables = false;
/// for function in &stats(bytes, &options)?.functions {
///     let coverage = function.coverage;
///     println!("{}: {} of {}", function.symbol_name(), coverage.located, coverage.scope);
/// }
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn stats(bytes: &[u8], options: &StatsOptions<'_>) -> Result<Statistics> {
    let object = Object::read_with(bytes, options.supplementary, None)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().threads(options.threads).readable())?;
    let facts = options.sound.then(|| lint::Facts::new(&object, &dwarf, options.threads)).transpose()?;
    let measure = |split: &[Dwarf<'_>]| measure(&object, facts.as_ref(), &dwarf, split, options);
    let mut statistics = options.split.with(&object, &dwarf, measure)?;
    statistics.format = format::name(&object);
    for section in object.sections() {
        if section.is_code() {
            statistics.code = statistics.code.saturating_add(section.size);
        }
        let is_debug = section.name.starts_with(".debug") || section.name == ".gdb_index";
        if is_debug {
            match statistics.sections.iter_mut().find(|known| known.0 == section.name) {
                Some(known) => known.1 = known.1.saturating_add(section.stored),
                None => statistics.sections.push((section.name.clone().into_owned(), section.stored)),
            }
        }
    }
    Ok(statistics)
}

/// Measures an object's units, and its split units. `facts` is `Some` if the sound part is measured.
///
/// # Errors
/// Errors from the finder in [`StatsOptions::split`].
pub(crate) fn measure<'r>(
    object: &Object<'_>,
    facts: Option<&'r lint::Facts<'r, '_>>,
    dwarf: &'r Dwarf<'r>,
    split: &'r [Dwarf<'r>],
    options: &StatsOptions<'_>,
) -> Result<Statistics> {
    let mut resolved = units(facts, dwarf, &InputSections::new(object), options);
    for dwarf in split {
        let mut resolved_file = units(facts, dwarf, &InputSections::default(), options);
        let unreadable = std::mem::take(&mut resolved_file.statistics.unreadable);
        resolved_file.statistics.unreadable = options.split.take_unreadable(dwarf, unreadable)?;
        resolved.append(resolved_file);
    }
    let mut statistics = resolved.finish();
    let object_units = std::iter::once(dwarf).chain(split).filter(|dwarf| dwarf.split_file().is_none());
    let frames = facts.iter().flat_map(|facts| &facts.frames).flat_map(|frames| &frames.errors);
    let unreadable = std::mem::take(&mut statistics.unreadable);
    let errors = object_units.flat_map(Dwarf::errors).chain(frames).cloned().chain(unreadable);
    statistics.unreadable = distinct(errors);
    // The units in a package share its strings.
    let files = split.chunk_by(|file, next| file.split_file() == next.split_file()).filter_map(<[_]>::first);
    for dwarf in std::iter::once(dwarf).chain(files) {
        statistics.contents.strings += sizes::strings(dwarf);
    }
    Ok(statistics)
}

fn units<'r>(
    facts: Option<&'r lint::Facts<'r, '_>>,
    dwarf: &'r Dwarf<'r>,
    sections: &InputSections,
    options: &StatsOptions<'_>,
) -> Resolved<'r> {
    let file = facts.map(|facts| lint::File::new(facts, dwarf));
    let programs = LinePrograms::new(dwarf);
    let threads = options.threads;
    let hasher = DefaultHashBuilder::default();
    let begin = |units: &[Unit<'_>]| {
        let entries = units.iter().map(|unit| dwarf.entries_of(unit).size_hint().0);
        UnitCounts::new(&hasher, entries.sum())
    };
    let count = |part: &mut UnitCounts<'r>, units: Units<'_>| {
        units::count(part, dwarf, file.as_ref(), units, sections, &programs, options.variables)
    };
    let (mut parts, covered) = threads::share(dwarf.units(), threads, begin, count);
    let lists: Vec<_> = parts.iter_mut().map(|part| std::mem::take(&mut part.contents.lists)).collect();
    let join = || {
        let mut parts = parts.into_iter();
        let mut joined = parts.next().unwrap_or_else(|| begin(&[]));
        let mut covered = covered.into_iter();
        let first = covered.next().unwrap_or_default();
        let statistics = &mut joined.statistics;
        (statistics.functions, statistics.units, statistics.unreadable) =
            (first.functions, first.units, first.unreadable);
        for part_results in covered {
            statistics.functions.extend(part_results.functions);
            statistics.units.extend(part_results.units);
            statistics.unreadable.extend(part_results.unreadable);
        }
        parts.for_each(|part| joined.append(part));
        joined.resolve(dwarf, sections)
    };
    let next = AtomicUsize::new(0);
    let repeated = |threads| lists::repeated(&lists, &next, dwarf, threads);
    let (joined, others) =
        threads::both(threads, || (join(), repeated(1)), || repeated(threads.saturating_sub(1)));
    let (mut resolved, own) = joined;
    resolved.statistics.contents.lists += own;
    resolved.statistics.contents.lists += others;
    resolved
}
