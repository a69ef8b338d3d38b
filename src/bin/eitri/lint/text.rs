//! Text for people: findings grouped by function and code.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::stdout;
use std::path::Path;

use eitri::lint::{Code, Finding, Level};
use hashbrown::HashMap;

use super::Judged;
use crate::color::{Paint, has_colors, painted};

/// Returns the list of codes.
pub fn codes() -> String {
    let mut out = String::new();
    for code in Code::ALL {
        let _ = writeln!(out, "{:22} {:8} {}", code.name(), code.level().name(), code.page().title);
    }
    out
}

/// Returns the page of a code.
pub fn page(code: Code) -> String {
    let page = code.page();
    format!(
        "{}: {}\n\nLevel: {}\n\n{}\n\nExample: {}\n\nInstead: {}\n\nText: {}\n",
        code.name(),
        page.title,
        code.level().name(),
        page.why,
        page.example,
        page.instead,
        page.text
    )
}

/// Returns a finding in one sentence with its evidence.
pub fn message(finding: &Finding) -> String {
    let mut text = String::new();
    if let Some(variable) = &finding.variable {
        let _ = write!(text, "`{variable}`: ");
    } else if let Some(function) = &finding.function {
        let _ = write!(text, "`{function}`: ");
    }
    text.push_str(&finding.written);
    if let Some(expression) = &finding.expression {
        let _ = write!(text, " ({})", expression.text);
    }
    if let Some(meant) = &finding.meant {
        let _ = write!(text, "; meant: {meant}");
    }
    for evidence in &finding.evidence {
        let _ = write!(text, "; {evidence}");
    }
    text
}

/// A count with its noun.
fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// Text and facts that its parts have in common.
struct Text {
    out: String,
    is_coloured: bool,
    /// Lines of source files, by path.
    sources: HashMap<String, Option<Vec<String>>>,
}

pub fn print(all: &[Judged]) -> String {
    let mut text = Text { out: String::new(), is_coloured: has_colors(&stdout()), sources: HashMap::new() };
    let mut counts = BTreeMap::<Code, (Level, usize)>::new();
    let (mut functions, mut entries) = (0, 0);
    for one in all {
        functions += one.report.functions;
        entries += one.report.entries;
        for finding in &one.report.findings {
            let count = counts.entry(finding.code).or_insert((finding.level, 0));
            count.1 += finding.count;
        }
        text.file(one);
    }
    for (code, (level, count)) in &counts {
        let name = text.of_level(*level, &format!("{:22}", code.name()));
        let _ = writeln!(text.out, "{name} {:8} {count:6}", level.name());
    }
    let count = |level| counts.values().filter(|count| count.0 == level).map(|count| count.1).sum::<usize>();
    let _ = writeln!(
        text.out,
        "{}, {}, {} in {} with {}",
        counted(count(Level::Error), "error"),
        counted(count(Level::Warning), "warning"),
        counted(count(Level::Note), "note"),
        counted(functions, "function"),
        counted(entries, "location entry"),
    );
    text.out
}

impl Text {
    /// Returns a text in the colour of a level.
    fn of_level(&self, level: Level, text: &str) -> String {
        painted(self.is_coloured, color(level), text)
    }

    fn file(&mut self, one: &Judged) {
        let findings = &one.report.findings[..one.shown];
        let mut equal = HashMap::new();
        let mut groups: Vec<(Option<&str>, Vec<&Finding>)> = Vec::new();
        let mut places = HashMap::new();
        for finding in findings {
            let count = equal.entry(finding.topic()).or_insert(0usize);
            *count += finding.count;
            if *count > finding.count {
                continue;
            }
            let function = finding.function.as_deref();
            let place = *places.entry((function, finding.unit.as_deref())).or_insert_with(|| {
                groups.push((function, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push(finding);
        }
        for (function, mut group) in groups {
            let unit = group.first().and_then(|finding| finding.unit.as_deref()).unwrap_or("no unit");
            let head = match function {
                Some(function) => format!("{}: {unit}: function `{function}`", one.name),
                None => format!("{}: {unit}", one.name),
            };
            let _ = writeln!(self.out, "{}", painted(self.is_coloured, Paint::Heading, &head));
            group.sort_by_key(|finding| (std::cmp::Reverse(finding.level), finding.code));
            let mut last = None;
            for finding in group {
                if last.replace(finding.code) != Some(finding.code) {
                    let level = format!("{}[{}]", finding.level.name(), finding.code.name());
                    let level = self.of_level(finding.level, &level);
                    let _ = writeln!(self.out, "  {level}: {}", finding.code.page().title);
                }
                let count = equal.get(&finding.topic()).copied().unwrap_or(1);
                self.finding(finding, count);
            }
            self.out.push('\n');
        }
        let hidden = one.report.findings.len() - one.shown;
        if hidden > 0 {
            let _ = writeln!(self.out, "{}: {} not printed", one.name, counted(hidden, "finding"));
        }
    }

    fn finding(&mut self, finding: &Finding, count: usize) {
        let Self { out, is_coloured, sources } = self;
        let mut head = finding.variable.clone().unwrap_or_else(|| "(the function)".into());
        if finding.variable.is_none() && finding.function.is_none() {
            head = "(the unit)".into();
        }
        for inlined in &finding.inlined {
            let _ = write!(head, ", inlined `{inlined}`");
        }
        if let Some(pcs) = &finding.pcs {
            let _ = write!(head, " [{:#x}, {:#x})", pcs.start, pcs.end);
        }
        let _ = write!(out, "    {head}");
        let _ = writeln!(out, "  {}+{:#x}", finding.section, finding.offset);
        if let Some((file, line)) = &finding.declared {
            let text = source(sources, file, *line);
            let text = text.map_or_else(String::new, |text| format!(" | {}", text.trim()));
            let _ = writeln!(out, "      {file}:{line}{text}");
        }
        if let Some(expression) = &finding.expression {
            let _ = writeln!(out, "      {}", expression.text);
            let before = expression.text.get(..expression.fault.start).map_or(0, |text| text.chars().count());
            let length = expression.text.get(expression.fault.clone()).map_or(1, |text| text.chars().count());
            let caret = painted(*is_coloured, color(finding.level), &"^".repeat(length.max(1)));
            let _ = writeln!(out, "      {}{caret}", " ".repeat(before));
        }
        let _ = writeln!(out, "      written: {}", finding.written);
        if let Some(meant) = &finding.meant {
            let _ = writeln!(out, "      meant: {meant}");
        }
        for evidence in &finding.evidence {
            let _ = writeln!(out, "      evidence: {evidence}");
        }
        if count > 1 {
            let _ = writeln!(out, "      and {} more", count - 1);
        }
    }
}

fn color(level: Level) -> Paint {
    match level {
        Level::Error => Paint::Error,
        Level::Warning => Paint::Warning,
        Level::Note => Paint::Note,
    }
}

/// Returns a line of a source file, if the file is there.
fn source<'s>(
    sources: &'s mut HashMap<String, Option<Vec<String>>>,
    file: &str,
    line: u64,
) -> Option<&'s str> {
    let lines = sources.entry_ref(file).or_insert_with(|| {
        let text = std::fs::read_to_string(Path::new(file)).ok()?;
        Some(text.lines().map(String::from).collect())
    });
    let index = usize::try_from(line.checked_sub(1)?).ok()?;
    lines.as_ref()?.get(index).map(String::as_str)
}
