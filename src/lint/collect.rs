//! Findings of consecutive units, as far as the caller wants them.

use std::cell::Cell;

use hashbrown::HashMap;

use super::codes::Code;
use super::finding::{Finding, Level, Report};

/// Places of location entries: sorted offsets in each section, with the index behind the one that was found last.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<(&'static str, Vec<u64>, Cell<usize>)>);

impl Places {
    fn add(&mut self, (section, offset): (&'static str, u64)) {
        match self.0.iter_mut().find(|one| one.0 == section) {
            Some((_, offsets, _)) => offsets.push(offset),
            None => self.0.push((section, vec![offset], Cell::default())),
        }
    }

    pub(crate) fn contains(&self, (section, offset): (&'static str, u64)) -> bool {
        let Some((_, offsets, next)) = self.0.iter().find(|one| one.0 == section) else { return false };
        // Most entries are asked for in their order.
        if offsets.get(next.get()).is_some_and(|next| *next == offset) {
            next.set(next.get() + 1);
            return true;
        }
        let found = offsets.binary_search(&offset);
        if let Ok(found) = found {
            next.set(found + 1);
        }
        found.is_ok()
    }

    /// Returns all places of several parts.
    pub(super) fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for (section, offsets, next) in parts.flat_map(|part| part.0) {
            match all.0.iter_mut().find(|one| one.0 == section) {
                Some(known) => known.1.extend(offsets),
                None => all.0.push((section, offsets, next)),
            }
        }
        for (_, offsets, _) in &mut all.0 {
            offsets.sort_unstable();
            offsets.dedup();
        }
        all
    }
}

impl FromIterator<(&'static str, u64)> for Places {
    fn from_iter<I: IntoIterator<Item = (&'static str, u64)>>(places: I) -> Self {
        let mut all = Self::default();
        places.into_iter().for_each(|place| all.add(place));
        Self::joined([all])
    }
}

/// Findings that are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All, with texts.
    All,
    /// The first of each topic, with texts, and the number of the others.
    Topics,
    /// The places of the entries with errors.
    WrongEntries,
}

/// Function around a finding, by number: one for all functions of one name in units of one name.
pub(super) type FunctionId = u32;

/// Names of a unit and of a function in it.
type Names<'r> = (Option<&'r str>, Option<&'r [u8]>);

/// Collected findings.
#[derive(Debug)]
pub(super) struct Collected<'r> {
    pub(super) report: Report,
    pub(super) wrong: Places,
    wanted: Wanted,
    functions: HashMap<Names<'r>, FunctionId>,
    /// Numbers of the first findings of each topic: code, function, variable.
    topics: HashMap<(Code, FunctionId, Option<&'r [u8]>), usize>,
}

impl<'r> Collected<'r> {
    pub(super) fn new(wanted: Wanted) -> Self {
        let (functions, topics) = (HashMap::new(), HashMap::new());
        Self { report: Report::default(), wrong: Places::default(), wanted, functions, topics }
    }

    pub(super) fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Returns the number of a function, or of the unit outside of functions.
    pub(super) fn function(&mut self, names: Names<'r>) -> FunctionId {
        let next = self.functions.len() as FunctionId;
        *self.functions.entry(names).or_insert(next)
    }

    /// Counts a finding, or returns `true` if it has to be [added](Self::add) with its texts.
    pub(super) fn wants(
        &mut self,
        code: Code,
        (unit, function): (FunctionId, FunctionId),
        variable: Option<&'r [u8]>,
    ) -> bool {
        if self.wanted != Wanted::Topics {
            return self.wanted == Wanted::All;
        }
        let topic = match code {
            Code::XderefAsLocation => (code, unit, None),
            _ => (code, function, variable),
        };
        let next = self.report.findings.len();
        let first = *self.topics.entry(topic).or_insert(next);
        if let Some(finding) = self.report.findings.get_mut(first) {
            finding.count += 1;
        }
        first == next
    }

    pub(super) fn add(&mut self, finding: Finding) {
        self.report.findings.push(finding);
    }

    /// Records the place of an entry with a finding.
    pub(super) fn mark(&mut self, code: Code, place: (&'static str, u64)) {
        if self.wanted == Wanted::WrongEntries && code.level() == Level::Error {
            self.wrong.add(place);
        }
    }
}
