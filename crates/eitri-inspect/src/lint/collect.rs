//! Collects the findings about consecutive units that the caller wants.

use hashbrown::HashMap;

use super::codes::LintCode;
use super::finding::{LintFinding, LintReport};
use eitri_dwarf::error::PcText;
use eitri_dwarf::read::PcNotation;
#[doc(hidden)]
pub use eitri_dwarf::read::{Recurring, StringId, StringIds};

/// Findings that are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Keeps every finding, with texts.
    All,
    /// The first finding in each topic, with texts, and the number of further findings.
    Topics,
    /// Findings whose texts are to be written.
    Deferred,
}

/// Function around a finding, by number. Functions with equal names in units with equal names share a number.
pub(super) type FunctionId = u32;

/// Names of a unit and of a function in it.
type ScopeNames<'r> = (Option<&'r str>, Option<&'r [u8]>);

/// What makes findings alike: code, function and variable.
type Topic = (LintCode, FunctionId, Option<StringId>);

/// First finding in a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum First {
    /// Index of the finding.
    Found(u32),
    /// Index of the unit. The texts are written later.
    Deferred(u32),
}

/// Collected findings.
#[derive(Debug)]
pub(super) struct Collected<'r> {
    /// Counts beside the findings.
    pub(super) report: LintReport,
    findings: Vec<LintFinding>,
    wanted: Wanted,
    /// Notation of pcs.
    pcs: PcNotation<'r>,
    functions: HashMap<ScopeNames<'r>, FunctionId>,
    /// Topic numbers. A topic has the number of its first finding.
    topics: Recurring<Topic>,
    /// First finding in each topic.
    firsts: Vec<First>,
    /// Finding counts, by topic.
    counts: Vec<usize>,
    pub(super) names: StringIds<'r>,
    /// The last scope that declared each name, by the name's number, and the number of scopes.
    last_scopes: (Vec<u32>, u32),
}

impl<'r> Collected<'r> {
    pub(super) fn new(wanted: Wanted, pcs: PcNotation<'r>) -> Self {
        Self {
            report: LintReport::default(),
            findings: Vec::new(),
            wanted,
            pcs,
            functions: HashMap::new(),
            topics: Recurring::default(),
            firsts: Vec::new(),
            counts: Vec::new(),
            names: StringIds::default(),
            last_scopes: (Vec::new(), 0),
        }
    }

    /// Returns the number of a function, or of the unit if there is no function.
    pub(super) fn function(&mut self, names: ScopeNames<'r>) -> FunctionId {
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
        code: LintCode,
        (unit, function): (FunctionId, FunctionId),
        variable: Option<StringId>,
    ) -> bool {
        if self.wanted == Wanted::All {
            return true;
        }
        let topic = match code {
            LintCode::XderefAsLocation => (code, unit, None),
            _ => (code, function, variable),
        };
        if self.wanted == Wanted::Deferred {
            let first = self.topics.find(topic).and_then(|number| self.firsts.get(number));
            return matches!(first, Some(First::Deferred(_)));
        }
        let (number, is_new) = self.topics.add(topic);
        if is_new {
            self.counts.push(1)
        } else {
            self.counts[number] += 1
        }
        is_new
    }

    pub(super) fn add(&mut self, mut finding: LintFinding) {
        let pcs = finding.pcs.as_ref().map(|pcs| self.pcs.pcs(pcs));
        finding.function_pcs = pcs.filter(|pcs| pcs.in_function().is_some()).map(PcText::into_owned);
        // There are fewer topics than entries.
        let first = First::Found(self.findings.len() as u32);
        match self.wanted {
            Wanted::All => {}
            Wanted::Topics => self.firsts.push(first),
            // The topic is the last that was looked for.
            Wanted::Deferred => self.firsts[self.topics.last()] = first,
        }
        self.findings.push(finding);
    }

    /// Adds a finding in a unit, by index, whose texts can be written later.
    pub(super) fn defer(&mut self, unit: usize) {
        self.firsts.push(First::Deferred(unit as u32));
    }

    /// Returns the topics in another collection, by number, with the function and name numbers that they have here.
    fn topics(&mut self, others: &Self) -> Vec<Topic> {
        let mut functions = vec![0; others.functions.len()];
        for (names, number) in &others.functions {
            functions[*number as usize] = self.function(*names);
        }
        let names: Vec<_> = others.names.bytes().iter().map(|bytes| self.names.of_bytes(bytes)).collect();
        let topic = |&(code, function, variable): &Topic| {
            (code, functions[function as usize], variable.map(|name: StringId| names[name as usize]))
        };
        others.topics.keys().iter().map(topic).collect()
    }

    /// Appends findings about later units: adds new topics, and counts the rest.
    pub(super) fn append(&mut self, later: Self) {
        let topics = self.topics(&later);
        let mut findings = later.findings.into_iter();
        for ((topic, count), first) in topics.into_iter().zip(later.counts).zip(later.firsts) {
            let finding = if matches!(first, First::Found(_)) { findings.next() } else { None };
            let (number, is_new) = self.topics.add(topic);
            if !is_new {
                self.counts[number] += count;
                continue;
            }
            self.counts.push(count);
            match (finding, first) {
                (Some(finding), _) => self.add(finding),
                (None, first) => self.firsts.push(first),
            }
        }
        self.report.append(later.report);
    }

    /// Returns the units with findings whose texts are to be written, in order. Other units are not wanted from
    /// then on.
    pub(super) fn deferred(&mut self) -> Vec<usize> {
        self.wanted = Wanted::Deferred;
        let unit = |first: &First| match first {
            First::Found(_) => None,
            First::Deferred(unit) => Some(*unit as usize),
        };
        let mut units: Vec<_> = self.firsts.iter().filter_map(unit).collect();
        units.dedup();
        units
    }

    /// Returns the report.
    pub(super) fn finish(mut self) -> LintReport {
        // Texts that were written again are at the end.
        if !self.firsts.is_sorted() {
            let mut findings: Vec<_> = self.findings.into_iter().map(Some).collect();
            let finding = |first: &First| match first {
                First::Found(index) => findings.get_mut(*index as usize)?.take(),
                First::Deferred(_) => None,
            };
            self.findings = self.firsts.iter().filter_map(finding).collect();
        }
        for (finding, count) in self.findings.iter_mut().zip(self.counts) {
            finding.count = count;
        }
        self.report.findings = self.findings;
        self.report
    }
}
