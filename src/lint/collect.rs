//! Findings of consecutive units, as far as the caller wants them.

use hashbrown::HashMap;

use super::codes::Code;
use super::finding::{Finding, Report};
use super::recurring::Recurring;
use crate::read::{StringId, StringIds};

/// Findings that are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All, with texts.
    All,
    /// The first of each topic, with texts, and the number of the others.
    Topics,
    /// The same, with [deferred](Finding::is_deferred) texts in units that have the name of one before these units.
    NewTopics,
}

/// Function around a finding, by number: one for all functions of one name in units of one name.
pub(super) type FunctionId = u32;

/// Names of a unit and of a function in it.
type Names<'r> = (Option<&'r str>, Option<&'r [u8]>);

/// Collected findings.
#[derive(Debug)]
pub(super) struct Collected<'r> {
    pub(super) report: Report,
    wanted: Wanted,
    functions: HashMap<Names<'r>, FunctionId>,
    /// Numbers of the topics, which are those of their first findings: code, function, variable.
    topics: Recurring<(Code, FunctionId, Option<StringId>)>,
    /// Number of findings of each topic.
    counts: Vec<usize>,
    pub(super) names: StringIds<'r>,
    /// The scope that had each name last, by the number of the name, and the number of scopes.
    last_scopes: (Vec<u32>, u32),
}

impl<'r> Collected<'r> {
    pub(super) fn new(wanted: Wanted) -> Self {
        Self {
            report: Report::default(),
            wanted,
            functions: HashMap::new(),
            topics: Recurring::default(),
            counts: Vec::new(),
            names: StringIds::default(),
            last_scopes: (Vec::new(), 0),
        }
    }

    /// Returns the number of a function, or of the unit outside of functions.
    pub(super) fn function(&mut self, names: Names<'r>) -> FunctionId {
        let next = self.functions.len() as FunctionId;
        *self.functions.entry(names).or_insert(next)
    }

    /// Whether the names in a scope are different.
    pub(super) fn differ(&mut self, mut names: impl Iterator<Item = StringId>) -> bool {
        let (last, scopes) = &mut self.last_scopes;
        *scopes += 1;
        last.resize(self.names.bytes().len(), 0);
        names.all(|name| std::mem::replace(&mut last[name as usize], *scopes) != *scopes)
    }

    /// Counts a finding, or returns `true` if it has to be [added](Self::add) with its texts.
    pub(super) fn wants(
        &mut self,
        code: Code,
        (unit, function): (FunctionId, FunctionId),
        variable: Option<StringId>,
    ) -> bool {
        if self.wanted == Wanted::All {
            return true;
        }
        let topic = match code {
            Code::XderefAsLocation => (code, unit, None),
            _ => (code, function, variable),
        };
        let (number, is_new) = self.topics.add(topic);
        match is_new {
            true => self.counts.push(1),
            false => self.counts[number] += 1,
        }
        is_new
    }

    pub(super) fn add(&mut self, finding: Finding) {
        self.report.findings.push(finding);
    }

    /// Returns the report.
    pub(super) fn finish(mut self) -> Report {
        for (finding, count) in self.report.findings.iter_mut().zip(self.counts) {
            finding.count = count;
        }
        self.report
    }
}
