//! Counts of consecutive units, which can be joined.

use gimli::constants as dw;
use hashbrown::DefaultHashBuilder;

use super::lines::Lines;
use super::origins::{self, Abstract, InputSections, Origins};
use super::sizes::Tally;
use super::source::Source;
use super::statistics::Statistics;
use eitri_dwarf::read::Dwarf;

/// Counts of several units, in any order.
#[derive(Debug)]
pub(super) struct Part<'r> {
    /// Counts, with the functions and units that are counted at a time.
    pub(super) found: Statistics,
    pub(super) source: Source<'r>,
    pub(super) lines: Lines,
    pub(super) contents: Tally,
    /// Variables of abstract instances.
    pub(super) abstracts: Origins,
    /// Concrete instances whose abstract instance is in another unit, by index.
    pub(super) across: Vec<(usize, u64)>,
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
        let mut statistics = self.found;
        let start = |index| {
            let entry = dwarf.entry_with_index(index);
            entry.map_or(0, |entry| sections.start(entry.unit().offset))
        };
        for (index, origin) in self.across {
            match self.abstracts.get(&origin) {
                Some(all) => missing(dwarf, (index, start(index)), all.clone(), &mut statistics),
                None => statistics.unresolved += 1,
            }
        }
        statistics.contents = self.contents.contents();
        Resolved { found: statistics, source: self.source, lines: self.lines }
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

/// Counts the abstract variables that have no location in a concrete instance, given by its index and the start of its
/// section.
pub(super) fn missing(
    dwarf: &Dwarf<'_>,
    (index, start): (usize, u64),
    mut all: Vec<Abstract>,
    found: &mut Statistics,
) {
    let Some(entry) = dwarf.entry_with_index(index) else { return };
    origins::remove_located(entry, start, &mut all);
    count_missing(&all, found);
}

/// Counts variables without a location.
pub(super) fn count_missing(all: &[Abstract], found: &mut Statistics) {
    for (_, tag) in all {
        found.variables.process_missing();
        match *tag {
            dw::DW_TAG_formal_parameter => found.params.process_missing(),
            _ => found.locals.process_missing(),
        }
    }
}
