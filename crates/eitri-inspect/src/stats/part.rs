//! Counts from consecutive units, which can be joined.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::lines::Lines;
use super::origins::{self, Abstract, InputSections, Missing, Origins};
use super::sizes::Tally;
use super::source::Source;
use super::statistics::Statistics;
use eitri_dwarf::read::Dwarf;

/// Counts from several units, in any order.
#[derive(Debug)]
pub(super) struct UnitCounts<'r> {
    /// Counts, with the functions and units that are counted at a time.
    pub(super) statistics: Statistics,
    pub(super) source: Source<'r>,
    pub(super) lines: Lines,
    pub(super) contents: Tally,
    /// Variables in abstract instances.
    pub(super) abstracts: Origins,
    /// Concrete instances whose abstract instance is in another unit, by index.
    pub(super) across: Vec<(usize, u64)>,
}

impl<'r> UnitCounts<'r> {
    /// Creates a part without units, with memory for the location lists in `entries` entries.
    pub(super) fn new(hasher: &DefaultHashBuilder, entries: usize) -> Self {
        Self {
            statistics: Statistics::default(),
            source: Source::new(),
            lines: Lines::default(),
            contents: Tally::new(hasher, entries),
            abstracts: Origins::new(),
            across: Vec::new(),
        }
    }

    /// Adds other units' counts.
    pub(super) fn append(&mut self, other: Self) {
        self.statistics.append(other.statistics);
        self.source.append(other.source);
        self.lines.append(other.lines);
        self.contents.append(other.contents);
        self.abstracts.extend(other.abstracts);
        self.across.extend(other.across);
    }

    /// Resolves the references between the units, which together make up `dwarf`.
    pub(super) fn resolve(self, dwarf: &'r Dwarf<'r>, sections: &InputSections) -> Resolved<'r> {
        let mut statistics = self.statistics;
        let start = |index| {
            let entry = dwarf.entry_with_index(index);
            entry.map_or(0, |entry| sections.start(entry.unit().offset))
        };
        for (index, origin) in self.across {
            match self.abstracts.get(&origin) {
                Some(abstracts) => missing(dwarf, (index, start(index)), abstracts, &mut statistics),
                None => statistics.unresolved += 1,
            }
        }
        statistics.contents = self.contents.contents();
        Resolved { statistics, source: self.source, lines: self.lines }
    }
}

/// Counts from all units in a file.
pub(super) struct Resolved<'r> {
    pub(super) statistics: Statistics,
    source: Source<'r>,
    lines: Lines,
}

impl<'r> Resolved<'r> {
    /// Returns the statistics.
    pub(super) fn finish(self) -> Statistics {
        let Self { mut statistics, source, lines } = self;
        source.count(&mut statistics.counts);
        statistics.lines = lines.counts();
        statistics
    }

    /// Adds another file's counts.
    pub(super) fn append(&mut self, other: Self) {
        self.statistics.append(other.statistics);
        self.source.append(other.source);
        self.lines.append(other.lines);
    }
}

/// Counts the abstract variables that have no location in a concrete instance, which is given by its index and its
/// section's start.
pub(super) fn missing(
    dwarf: &Dwarf<'_>,
    (index, start): (usize, u64),
    instance: &Arc<Abstract>,
    statistics: &mut Statistics,
) {
    let Some(entry) = dwarf.entry_with_index(index) else { return };
    let mut missing = Missing::new(instance);
    origins::remove_located(entry, start, &mut missing);
    count_missing(&missing, statistics);
}

/// Counts variables without a location.
pub(super) fn count_missing(missing: &Missing, statistics: &mut Statistics) {
    let (params, locals) = missing.counts();
    statistics.variables.process_missing(params + locals);
    statistics.params.process_missing(params);
    statistics.locals.process_missing(locals);
}
