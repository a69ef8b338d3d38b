//! Counts of consecutive units, which can be joined.

use hashbrown::DefaultHashBuilder;

use super::Statistics;
use super::coverage::{Coverage, FunctionCoverage, UnitCoverage};
use super::lines::{self, Lines};
use super::origins::{self, Abstract, InputSections, Origins};
use super::sizes::Tally;
use super::source::Source;
use super::visitor::{Known, Visitor, count_missing};
use crate::lint::{File, Judge};
use eitri_dwarf::error::{At, Error};
use eitri_dwarf::read::Dwarf;
use eitri_dwarf::read::threads::Units;

/// Counts of several units, in any order.
#[derive(Debug)]
pub(super) struct Part<'r> {
    /// Counts, with the functions and units that are counted at a time.
    pub(super) found: Statistics,
    pub(super) source: Source<'r>,
    lines: Lines,
    pub(super) contents: Tally,
    /// Variables of abstract instances.
    pub(super) abstracts: Origins,
    /// Concrete instances whose abstract instance is in another unit, by index.
    across: Vec<(usize, u64)>,
}

/// What is in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Covered {
    /// Functions with code.
    pub(super) functions: Vec<FunctionCoverage>,
    /// Units that have functions with code.
    pub(super) units: Vec<UnitCoverage>,
    /// Errors of line programs, ranges and lists that cannot be read.
    pub(super) unreadable: Vec<Error>,
}

impl<'r> Part<'r> {
    /// Makes a part without units, with memory for the location lists of a number of entries.
    pub(super) fn new(hasher: &DefaultHashBuilder, entries: usize) -> Self {
        Self {
            found: Statistics::default(),
            source: Source::new(),
            lines: Lines::default(),
            contents: Tally::new(hasher, entries),
            abstracts: Origins::new(),
            across: Vec::new(),
        }
    }

    /// Counts the units with these indices. `file` is `Some` if places are judged.
    pub(super) fn units(
        &mut self,
        dwarf: &'r Dwarf<'r>,
        file: Option<&File<'r, '_>>,
        units: Units<'_>,
        sections: &InputSections,
        lists_variables: bool,
    ) -> Covered {
        let mut unreadable = Vec::new();
        let mut known = Known::default();
        for index in units {
            let unit = &dwarf.units()[index];
            let place = || At { unit: unit.name.as_deref().map(String::from), ..At::default() };
            // A split unit has the lines of its skeleton, which are counted there.
            let has_lines = unit.signature.is_none() && !unit.is_split();
            let program = dwarf.lines(unit).unwrap_or_else(|error| {
                unreadable.extend(has_lines.then(|| error.or_at(place())));
                None
            });
            let files = program.as_ref().map(|program| lines::paths(program, unit)).unwrap_or_default();
            if let Some(program) = program.filter(|_| has_lines) {
                let read = self.lines.add(dwarf, &program, &files);
                unreadable.extend(read.err().map(|error| error.or_at(place())));
            }
            let first = self.found.functions.len();
            let judge = file.map(|file| Judge::new(file, unit));
            let mut visitor = Visitor::new(self, judge, &files, &mut known, lists_variables, &mut unreadable);
            visitor.start = sections.start(unit.offset);
            visitor.unit(dwarf, unit);
            let Visitor { waiting, local, start, .. } = visitor;
            for (index, origin) in waiting {
                match local.get(&origin) {
                    Some(all) => missing(dwarf, (index, start), all.clone(), &mut self.found),
                    None => self.across.push((index, origin)),
                }
            }
            let functions = &self.found.functions[first..];
            if !functions.is_empty() {
                let mut coverage = Coverage::default();
                functions.iter().for_each(|function| coverage += function.coverage);
                let name = unit.name.as_deref().map(String::from);
                self.found.units.push(UnitCoverage { name, coverage });
            }
        }
        self.contents.forms(known.forms.finish());
        let found = &mut self.found;
        let (functions, units) = (std::mem::take(&mut found.functions), std::mem::take(&mut found.units));
        Covered { functions, units, unreadable }
    }

    /// Adds the counts of other units.
    pub(super) fn append(&mut self, other: Self) {
        self.found.append(other.found);
        self.source.append(other.source);
        self.lines.append(other.lines);
        self.contents.append(other.contents);
        self.abstracts.extend(other.abstracts);
        self.across.extend(other.across);
    }

    /// Resolves the references between the units, which are all of `dwarf`.
    pub(super) fn resolve(self, dwarf: &'r Dwarf<'r>, sections: &InputSections) -> Resolved<'r> {
        let mut found = self.found;
        let start = |index| {
            let entry = dwarf.entry_with_index(index);
            entry.map_or(0, |entry| sections.start(entry.unit().offset))
        };
        for (index, origin) in self.across {
            match self.abstracts.get(&origin) {
                Some(all) => missing(dwarf, (index, start(index)), all.clone(), &mut found),
                None => found.unresolved += 1,
            }
        }
        found.contents = self.contents.contents();
        Resolved { found, source: self.source, lines: self.lines }
    }
}

/// Counts of all units of a file.
pub(super) struct Resolved<'r> {
    pub(super) found: Statistics,
    source: Source<'r>,
    lines: Lines,
}

impl<'r> Resolved<'r> {
    /// Returns the statistics.
    pub(super) fn finish(self) -> Statistics {
        let Self { mut found, source, lines } = self;
        source.count(&mut found.counts);
        found.lines = lines.counts();
        found
    }

    /// Adds the counts of another file.
    pub(super) fn append(&mut self, other: Self) {
        self.found.append(other.found);
        self.source.append(other.source);
        self.lines.append(other.lines);
    }
}

/// Counts the variables of an abstract instance that have no place in a concrete one, by its index and the start of its
/// section.
fn missing(dwarf: &Dwarf<'_>, (index, start): (usize, u64), mut all: Vec<Abstract>, found: &mut Statistics) {
    let Some(entry) = dwarf.entry_with_index(index) else { return };
    origins::remove_located(entry, start, &mut all);
    count_missing(&all, found);
}
