//! Text for people: findings grouped by function and code.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::stdout;
use std::iter::repeat_n;
use std::sync::Arc;

use eitri::lint::{Level, LintCode, LintFinding};
use hashbrown::HashMap;

use super::Checked;
use crate::color::{Paint, escaped, escapes, has_colors, painted};
use crate::output::{Form, Printer};
use crate::parts;
use crate::sources::{SourceArguments, SourceLines};

/// Returns the list of codes.
pub fn codes() -> String {
    let mut out = String::new();
    for code in LintCode::ALL {
        let _ = writeln!(out, "{:23} {:8} {}", code.name(), code.level().name(), code.page().title);
    }
    out
}

/// Returns a code's page.
pub fn page(code: LintCode) -> String {
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

/// Returns a finding as a sentence with its evidence.
pub fn message(finding: &LintFinding) -> String {
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

/// Findings in a function, with the function and unit names.
type Group<'f> = ((Option<&'f str>, Option<&'f str>), Vec<&'f LintFinding>);

/// Text for some groups, and the facts that they share.
struct Text<'o, 's> {
    out: &'o mut String,
    is_coloured: bool,
    sources: &'o mut SourceLines<'s>,
}

/// Prints the findings in files. `is_folded` is set if each finding stands for its whole topic.
pub fn print(all: Vec<Checked>, is_folded: bool, source: &SourceArguments) -> eitri::Result<()> {
    let mut out = String::new();
    let is_coloured = has_colors(&stdout());
    let mut printer = Printer::new(Form::Painted);
    let mut counts = BTreeMap::<LintCode, (Level, usize)>::new();
    let mut functions = 0;
    let mut entries = 0;
    let is_any = !all.is_empty();
    for mut object in all {
        functions += object.report.functions;
        entries += object.report.entries;
        for finding in &object.report.findings {
            let count = counts.entry(finding.code).or_insert((finding.level, 0));
            count.1 += finding.count;
        }
        let hidden = object.report.findings.len() - object.shown;
        object.report.findings.truncate(object.shown);
        if !is_folded {
            object.report.fold();
        }
        let groups = groups(&object.report.findings);
        // A finding has at least two lines.
        let begin = || {
            let mut sources = SourceLines::new(source, &object.file);
            let name = &object.name;
            move |out: &mut String, group: &Group<'_>| {
                Text { out, is_coloured, sources: &mut sources }.group(name, group);
            }
        };
        parts::text(&groups, 2 * object.report.findings.len(), begin, |text| printer.put(text));
        if hidden > 0 {
            printer.put(&format!(
                "{}: {} not printed
",
                escaped(&object.name),
                counted(hidden, "finding")
            ));
        }
        // The process releases the findings when it ends.
        std::mem::forget(object);
    }
    // Files that cannot be read have failures instead of counts.
    if !is_any {
        return printer.finish();
    }
    for (code, (level, count)) in &counts {
        let name = painted(is_coloured, color(*level), &format!("{:23}", code.name()));
        let _ = writeln!(out, "{name} {:8} {count:6}", level.name());
    }
    let count = |level| counts.values().filter(|count| count.0 == level).map(|count| count.1).sum::<usize>();
    let _ = writeln!(
        out,
        "{}, {}, {} in {} with {}",
        counted(count(Level::Error), "error"),
        counted(count(Level::Warning), "warning"),
        counted(count(Level::Note), "note"),
        counted(functions, "function"),
        counted(entries, "location entry"),
    );
    printer.put(&out);
    printer.finish()
}

/// Returns the findings in each function, in the order of the first findings.
fn groups(findings: &[LintFinding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = HashMap::new();
    let mut last: Option<(&LintFinding, usize)> = None;
    for finding in findings {
        let known = last.filter(|(last, _)| {
            is_same(&last.function, &finding.function) && is_same(&last.unit, &finding.unit)
        });
        let place = match known {
            Some((_, place)) => place,
            None => *places.entry((&finding.function, &finding.unit)).or_insert_with(|| {
                groups.push(((finding.function.as_deref(), finding.unit.as_deref()), Vec::new()));
                groups.len() - 1
            }),
        };
        last = Some((finding, place));
        groups[place].1.push(finding);
    }
    groups
        .iter_mut()
        .for_each(|(_, group)| group.sort_by_key(|finding| (Reverse(finding.level), finding.code)));
    groups
}

/// Whether two names are equal. A function's findings share a string.
fn is_same(one: &Option<Arc<str>>, other: &Option<Arc<str>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other) || one == other,
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl Text<'_, '_> {
    fn group(&mut self, name: &str, ((function, unit), group): &Group<'_>) {
        let unit = unit.unwrap_or("no unit");
        let head = match function {
            Some(function) => format!("{name}: {unit}: function `{function}`"),
            None => format!("{name}: {unit}"),
        };
        let _ = writeln!(self.out, "{}", painted(self.is_coloured, Paint::Heading, &escaped(&head)));
        let mut last = None;
        for finding in group {
            if last.replace(finding.code) != Some(finding.code) {
                let level = format!("{}[{}]", finding.level.name(), finding.code.name());
                let level = painted(self.is_coloured, color(finding.level), &level);
                let _ = writeln!(self.out, "  {level}: {}", finding.code.page().title);
            }
            self.finding(finding);
        }
        self.out.push('\n');
    }

    fn finding(&mut self, finding: &LintFinding) {
        let Self { out, is_coloured, sources } = self;
        let head = match (&finding.variable, &finding.function) {
            (Some(variable), _) => variable,
            (None, Some(_)) => "(the function)",
            (None, None) => "(the unit)",
        };
        let _ = write!(out, "    {}", escaped(head));
        for inlined in finding.inlined.names() {
            let _ = write!(out, ", inlined `{}`", escaped(inlined));
        }
        if let Some(pcs) = &finding.pcs {
            let _ = write!(out, " [{:#x}, {:#x})", pcs.start, pcs.end);
        }
        let _ = write!(out, "  {}+{:#x}", finding.section, finding.offset);
        if let Some(file) = finding.split.as_ref().filter(|_| finding.section.ends_with(".dwo")) {
            let _ = write!(out, " in {}", escaped(file));
        }
        out.push('\n');
        if let Some((file, line)) = &finding.declared {
            let _ = write!(out, "      {}:{line}", escaped(file));
            if let Some(text) = sources.line(file, *line) {
                let _ = write!(out, " | {}", escaped(&text.trim().replace('\t', " ")));
            }
            out.push('\n');
        }
        if let Some(expression) = &finding.expression {
            let _ = writeln!(out, "      {}", expression.text);
            let before = expression.text.get(..expression.fault.start).map_or(0, |text| text.chars().count());
            let length = expression.text.get(expression.fault.clone()).map_or(1, |text| text.chars().count());
            let [start, end] = escapes(*is_coloured, color(finding.level));
            out.push_str("      ");
            out.extend(repeat_n(' ', before));
            out.push_str(start);
            out.extend(repeat_n('^', length.max(1)));
            out.push_str(end);
            out.push('\n');
        }
        let _ = writeln!(out, "      written: {}", escaped(&finding.written));
        if let Some(meant) = &finding.meant {
            let _ = writeln!(out, "      meant: {}", escaped(meant));
        }
        for evidence in &finding.evidence {
            let _ = writeln!(out, "      evidence: {}", escaped(evidence));
        }
        if finding.count > 1 {
            let _ = writeln!(out, "      and {} more", finding.count - 1);
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
