//! Findings as text for people, grouped by function and code.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::iter::repeat_n;
use std::sync::Arc;

use hashbrown::HashMap;

use super::codes::{Level, LintCode};
use super::finding::{LintFinding, LintReport};
use eitri_dwarf::error::Count;

/// Starts of the colours of headings, errors, warnings and notes, and the end of a colour. ECMA-48, SGR.
#[doc(hidden)]
pub type Colors = [&'static str; 5];

/// Text without colours.
const PLAIN: Colors = [""; 5];

fn color(colors: &Colors, level: Level) -> [&'static str; 2] {
    let [_, error, warning, note, end] = *colors;
    let start = match level {
        Level::Error => error,
        Level::Warning => warning,
        Level::Note => note,
    };
    [start, end]
}

/// Whether a terminal can act on a character instead of printing it.
#[doc(hidden)]
pub fn acts_on_terminal(char: char) -> bool {
    !matches!(char, '"' | '\'' | '\\') && char.escape_debug().len() > 1
}

/// Escapes unprintable characters in a text from a file, because a terminal can act on them.
#[doc(hidden)]
pub fn escaped(text: &str) -> Cow<'_, str> {
    // Without an early end, many bytes are compared at a time.
    if text.bytes().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(&byte)) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            char if acts_on_terminal(char) => out.extend(char.escape_debug()),
            char => out.push(char),
        }
    }
    out.into()
}

/// Findings in a function, each with the number of findings that it stands for.
#[doc(hidden)]
#[derive(Debug)]
pub struct LintGroup<'f> {
    function: Option<&'f str>,
    unit: Option<&'f str>,
    findings: Vec<(&'f LintFinding, usize)>,
}

impl<'f> LintGroup<'f> {
    /// Returns the findings in each function, in the order of the first findings. Each has its count.
    #[doc(hidden)]
    pub fn groups(findings: impl IntoIterator<Item = (&'f LintFinding, usize)>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut places = HashMap::new();
        let mut last: Option<(&LintFinding, usize)> = None;
        for (finding, count) in findings {
            let known = last.filter(|(last, _)| {
                is_same(&last.function, &finding.function) && is_same(&last.unit, &finding.unit)
            });
            let place = match known {
                Some((_, place)) => place,
                None => *places.entry((&finding.function, &finding.unit)).or_insert_with(|| {
                    let [function, unit] = [finding.function.as_deref(), finding.unit.as_deref()];
                    groups.push(Self { function, unit, findings: Vec::new() });
                    groups.len() - 1
                }),
            };
            last = Some((finding, place));
            groups[place].findings.push((finding, count));
        }
        for group in &mut groups {
            group.findings.sort_by_key(|(finding, _)| (Reverse(finding.level), finding.code));
        }
        groups
    }
}

/// Whether two names are equal. A function's findings share a string.
fn is_same(one: &Option<Arc<str>>, other: &Option<Arc<str>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Options of the text.
#[doc(hidden)]
pub struct LintText<'s> {
    /// Name of the object, which begins each heading.
    pub object: Option<&'s str>,
    /// Colours.
    pub colors: Colors,
    /// Returns the name of the file that a finding declares, and the line in it, if the file is there.
    pub source: &'s mut dyn FnMut(&LintFinding) -> (String, Option<String>),
}

impl fmt::Debug for LintText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LintText").field("object", &self.object).finish_non_exhaustive()
    }
}

impl LintText<'_> {
    /// Writes a group: a heading, and the findings by code.
    ///
    /// # Errors
    /// The errors of `out`; writing to a string does not fail.
    #[doc(hidden)]
    pub fn group(&mut self, out: &mut dyn Write, group: &LintGroup<'_>) -> fmt::Result {
        let object = self.object.map_or_else(String::new, |object| format!("{object}: "));
        let unit = group.unit.unwrap_or("no unit");
        let head = match group.function {
            Some(function) => format!("{object}{unit}: function `{function}`"),
            None => format!("{object}{unit}"),
        };
        let [heading, .., end] = self.colors;
        writeln!(out, "{heading}{}{end}", escaped(&head))?;
        let mut last = None;
        for &(finding, count) in &group.findings {
            if last.replace(finding.code) != Some(finding.code) {
                let [start, end] = color(&self.colors, finding.level);
                let [level, code] = [finding.level.name(), finding.code.name()];
                writeln!(out, "  {start}{level}[{code}]{end}: {}", finding.code.page().title)?;
            }
            self.finding(out, finding, count)?;
        }
        Ok(())
    }

    fn finding(&mut self, out: &mut dyn Write, finding: &LintFinding, count: usize) -> fmt::Result {
        let head = match (&finding.variable, &finding.function) {
            (Some(variable), _) => variable,
            (None, Some(_)) => "(the function)",
            (None, None) if finding.unit.is_none() => "(the object)",
            (None, None) => "(the unit)",
        };
        write!(out, "    {}", escaped(head))?;
        for inlined in finding.inlined.names() {
            write!(out, ", inlined `{}`", escaped(inlined))?;
        }
        if let Some(pcs) = finding.pc_text() {
            write!(out, " {}", escaped(&pcs.to_string()))?;
        }
        write!(out, "  {}+{:#x}", finding.section, finding.offset)?;
        if let Some(file) = finding.split.as_ref().filter(|_| finding.section.ends_with(".dwo")) {
            write!(out, " in {}", escaped(file))?;
        }
        out.write_char('\n')?;
        if let Some((_, line)) = &finding.declared {
            let (file, text) = (self.source)(finding);
            write!(out, "      {}", escaped(&file))?;
            // Line 0 is no line: DWARF 5 section 2.14.
            if *line > 0 {
                write!(out, ":{line}")?;
            }
            if let Some(text) = text {
                write!(out, " | {}", escaped(&text.trim().replace('\t', " ")))?;
            }
            out.write_char('\n')?;
        }
        if let Some(expression) = &finding.expression {
            writeln!(out, "      {}", expression.text)?;
            let before = expression.text.get(..expression.fault.start).map_or(0, |text| text.chars().count());
            let length = expression.text.get(expression.fault.clone()).map_or(1, |text| text.chars().count());
            let [start, end] = color(&self.colors, finding.level);
            let spaces: String = repeat_n(' ', before).collect();
            let marks: String = repeat_n('^', length.max(1)).collect();
            writeln!(out, "      {spaces}{start}{marks}{end}")?;
        }
        writeln!(out, "      written: {}", escaped(&finding.written))?;
        if let Some(meant) = &finding.meant {
            writeln!(out, "      meant: {}", escaped(meant))?;
        }
        for evidence in &finding.evidence {
            writeln!(out, "      evidence: {}", escaped(evidence))?;
        }
        if count > 1 {
            writeln!(out, "      and {} more", count - 1)?;
        }
        Ok(())
    }
}

/// Counts for one or several objects: findings by code, functions and location entries.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct LintTotals {
    counts: BTreeMap<LintCode, (Level, usize)>,
    functions: usize,
    entries: usize,
}

impl LintTotals {
    /// Adds an object.
    #[doc(hidden)]
    pub fn add(&mut self, report: &LintReport) {
        self.functions += report.functions;
        self.entries += report.entries;
        report.findings.iter().for_each(|finding| self.add_finding(finding));
    }

    /// Counts a finding, with all findings that it stands for.
    #[doc(hidden)]
    pub fn add_finding(&mut self, finding: &LintFinding) {
        self.counts.entry(finding.code).or_insert((finding.level, 0)).1 += finding.count;
    }

    /// Writes a line for each code, and the sums.
    ///
    /// # Errors
    /// The errors of `out`; writing to a string does not fail.
    #[doc(hidden)]
    pub fn write(&self, out: &mut dyn Write, colors: &Colors) -> fmt::Result {
        for (code, (level, count)) in &self.counts {
            let [start, end] = color(colors, *level);
            writeln!(out, "{start}{:23}{end} {:8} {count:6}", code.name(), level.name())?;
        }
        let levels = self.counts.values();
        let count =
            |level| levels.clone().filter(|count| count.0 == level).map(|count| count.1).sum::<usize>();
        let [errors, warnings, notes] = [Level::Error, Level::Warning, Level::Note].map(count);
        let [errors, warnings] = [Count(errors, "error"), Count(warnings, "warning")];
        let [notes, functions] = [Count(notes, "note"), Count(self.functions, "function")];
        let entries = Count(self.entries, "location entry");
        write!(out, "{errors}, {warnings}, {notes} in {functions} with {entries}")
    }
}

/// The finding as the command prints it: unit and function, code, location, and the evidence, on several lines.
impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write(&mut text, &LintGroup::groups([(self, self.count)]))?;
        f.write_str(text.trim_end())
    }
}

/// The report as the command prints it, without the name of the object and lines of its sources: the first finding of each
/// [topic](LintFinding::topic), grouped by function, and the numbers of findings.
impl fmt::Display for LintReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, &LintGroup::groups(self.by_topic()))?;
        let mut totals = LintTotals::default();
        totals.add(self);
        totals.write(f, &PLAIN)
    }
}

/// Writes groups, each with an empty line after it.
fn write(out: &mut dyn Write, groups: &[LintGroup<'_>]) -> fmt::Result {
    let mut source =
        |finding: &LintFinding| (finding.declared_path().map_or_else(String::new, Cow::into_owned), None);
    let mut text = LintText { object: None, colors: PLAIN, source: &mut source };
    for group in groups {
        text.group(out, group)?;
        out.write_char('\n')?;
    }
    Ok(())
}
