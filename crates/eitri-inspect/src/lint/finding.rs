//! Findings, and the report that has them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::codes::{Level, LintCode};
use super::details::Details;
use super::fingerprint;
use super::inlined::InlinedCalls;
use super::meant::Meant;
use super::path;
use eitri_dwarf::error::{Error, PcText};
use eitri_dwarf::read::PcNotation;
#[doc(hidden)]
pub use eitri_dwarf::read::Recurring;

/// An expression with a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expression {
    /// The operations as text.
    pub text: String,
    /// Byte range in `text` that is at fault.
    pub fault: Range<usize>,
}

/// A mistake in debug information, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintFinding {
    /// Kind of mistake.
    pub code: LintCode,
    /// Severity.
    pub level: Level,
    /// Name of the compilation unit, or of its split unit's file.
    pub unit: Option<Arc<str>>,
    /// Name of the split file that contains the unit; `None` if the object contains it. Sections whose names end in
    /// `.dwo` are in that file, and other sections in the object.
    pub split: Option<Arc<str>>,
    /// Function name.
    pub function: Option<Arc<str>>,
    /// Inlined calls around the variable.
    pub inlined: InlinedCalls,
    /// Name of the variable or parameter.
    pub variable: Option<String>,
    /// File, as the line table names it, and line where the variable is declared, or else the function.
    pub declared: Option<(Arc<str>, u64)>,
    /// Folder in which the unit was compiled: `DW_AT_comp_dir`.
    pub folder: Option<Arc<str>>,
    /// Pcs that the finding is about: those of the location, or those of the code.
    pub pcs: Option<Range<u64>>,
    /// The same pcs from the start of a function's code, in a cubin, where the reader assigns the addresses.
    pub function_pcs: Option<PcText<'static>>,
    /// Section that contains the mistake.
    pub section: Cow<'static, str>,
    /// Mistake's offset in the section, in bytes.
    pub offset: u64,
    /// Offset of the variable's entry, or else of the function's, in bytes.
    pub entry: Option<u64>,
    /// The expression.
    pub expression: Option<Expression>,
    /// What the information says as written.
    pub written: String,
    /// Intended meaning, where it can be inferred.
    pub meant: Option<Meant>,
    /// Facts in the file that prove the finding.
    pub evidence: Vec<String>,
    /// How many findings this finding stands for: 1, unless [`LintOptions::fold`](super::LintOptions::fold) is set.
    pub count: usize,
}

/// Code, unit, function and variable. Findings in one topic differ only in pcs and expression. Findings about
/// operations that every reader has to know are a single topic in each unit.
pub type Topic<'f> = (LintCode, Option<&'f str>, Option<&'f str>, Option<&'f str>);

/// Findings about a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintReport {
    /// Findings, in file order.
    pub findings: Vec<LintFinding>,
    /// Errors in units, attributes and lists that cannot be read. Each is also a finding.
    pub unreadable: Vec<Error>,
    /// Number of functions with code.
    pub functions: usize,
    /// Functions in [`LintOptions::only`](super::LintOptions::only) that the file contains.
    pub named: Vec<String>,
    /// Errors for functions that the file lacks, with the nearest names.
    pub unknown: Vec<Error>,
    /// Number of location entries for variables: expressions, and location list entries.
    pub entries: usize,
    /// Paths of the file's units, as [`LintFinding::unit_path`] returns them: also of units without findings.
    pub units: Vec<Arc<str>>,
}

impl LintReport {
    /// Returns how many findings have a code.
    pub fn count(&self, code: LintCode) -> usize {
        self.findings.iter().filter(|finding| finding.code == code).map(|finding| finding.count).sum()
    }

    /// Replaces the findings in each topic by the first, with their count.
    pub fn fold(&mut self) {
        let mut folded = self.counts_by_topic().into_iter();
        self.findings.retain_mut(|finding| match folded.next() {
            Some(Some(count)) => {
                finding.count = count;
                true
            }
            _ => false,
        });
    }

    /// Returns the first finding of each topic, with the number of findings in the topic.
    pub(super) fn by_topic(&self) -> impl Iterator<Item = (&LintFinding, usize)> {
        let counts = self.counts_by_topic();
        self.findings.iter().zip(counts).filter_map(|(finding, count)| Some((finding, count?)))
    }

    /// Returns the number of findings in its topic for each first finding of a topic, and `None` for the others.
    fn counts_by_topic(&self) -> Vec<Option<usize>> {
        let mut topics = Recurring::default();
        let mut counts = Vec::new();
        let mut numbers = Vec::with_capacity(self.findings.len());
        for finding in &self.findings {
            let (number, is_new) = topics.add(finding.topic());
            if is_new {
                counts.push(finding.count)
            } else {
                counts[number] += finding.count
            }
            numbers.push(is_new.then_some(number));
        }
        numbers.into_iter().map(|number| Some(counts[number?])).collect()
    }

    /// Appends the report on later units.
    pub(super) fn append(&mut self, later: Self) {
        if self.findings.is_empty() {
            self.findings = later.findings
        } else {
            self.findings.extend(later.findings)
        }
        self.unreadable.extend(later.unreadable);
        self.functions += later.functions;
        self.units.extend(later.units);
        self.entries += later.entries;
        for name in later.named {
            if !self.named.contains(&name) {
                self.named.push(name);
            }
        }
    }

    /// Returns the heaviest level among the findings.
    pub fn worst(&self) -> Option<Level> {
        self.findings.iter().map(|finding| finding.level).max()
    }
}

impl LintFinding {
    /// Returns a finding about no unit, function or variable.
    pub(super) fn new(
        code: LintCode,
        section: impl Into<Cow<'static, str>>,
        offset: u64,
        Details { written, meant, evidence, .. }: Details,
    ) -> Self {
        Self {
            code,
            level: code.level(),
            unit: None,
            split: None,
            function: None,
            inlined: InlinedCalls::default(),
            variable: None,
            declared: None,
            folder: None,
            pcs: None,
            function_pcs: None,
            section: section.into(),
            offset,
            entry: None,
            expression: None,
            written,
            meant,
            evidence,
            count: 1,
        }
    }

    /// Returns a finding about a byte in a file without sections, such as a SPIR-V module, and about no unit, function or
    /// variable.
    #[doc(hidden)]
    pub fn of_module(code: LintCode, offset: u64, written: String, evidence: Vec<String>) -> Self {
        Self::new(code, "module", offset, Details::new(written).evidence(evidence))
    }

    /// Returns the pcs as text: those of the function in a cubin, and else addresses.
    pub fn pc_text(&self) -> Option<PcText<'_>> {
        let addresses = || self.pcs.as_ref().map(|pcs| PcNotation::default().pcs(pcs));
        self.function_pcs.clone().or_else(addresses)
    }

    /// Returns what the finding is about.
    pub fn topic(&self) -> Topic<'_> {
        let unit = self.unit.as_deref();
        match self.code {
            LintCode::XderefAsLocation => (self.code, unit, None, None),
            code => (code, unit, self.function.as_deref(), self.variable.as_deref()),
        }
    }

    /// Returns the expression's shape: its operations without operands, separated by `; `. Register numbers that are part
    /// of an opcode and sizes of constants are left out (`breg7 8` is `breg`, `const2u 300` is `const`), and a nested
    /// expression is in parentheses. `None` if the finding has no expression.
    pub fn shape(&self) -> Option<String> {
        self.expression.as_ref().map(|expression| fingerprint::shape(&expression.text))
    }

    /// Returns the unit's file name without folders, which differ between machines; empty if the unit has no name.
    pub fn unit_file(&self) -> &str {
        let unit = self.unit.as_deref().unwrap_or_default();
        unit.rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// Returns the path of the unit: its name, joined with the [folder](Self::folder) if it is relative, without `.` and `..`.
    /// `None` if the finding is about no unit, or the unit has no name.
    pub fn unit_path(&self) -> Option<Cow<'_, str>> {
        path::joined(self.folder.as_deref(), self.unit.as_deref()?)
    }

    /// Returns the path of the file with the declaration: joined with the [folder](Self::folder) if it is relative, without
    /// `.` and `..`. `None` if the file has no name.
    pub fn declared_path(&self) -> Option<Cow<'_, str>> {
        path::joined(self.folder.as_deref(), &self.declared.as_ref()?.0)
    }

    /// Returns a number that identifies the finding in another build of the same source, also after changes elsewhere in
    /// the source: it depends on the code, the [unit's file name](Self::unit_file), the names of functions and variable,
    /// and the expression's [shape](Self::shape), but not on registers, addresses, offsets, lines or folders.
    pub fn fingerprint(&self) -> u64 {
        let shape = self.shape().unwrap_or_default();
        let inlined = self.inlined.names().join("/");
        fingerprint::hash(&[
            self.code.name(),
            self.unit_file(),
            self.function.as_deref().unwrap_or_default(),
            &inlined,
            self.variable.as_deref().unwrap_or_default(),
            &shape,
        ])
    }
}
