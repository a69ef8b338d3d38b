//! Text for people: codes, messages, and the findings of several objects.

use std::fmt::Write as _;
use std::io::stdout;

use eitri::error::Count;
use eitri::lint::{LintCode, LintFinding, LintGroup, LintText, LintTotals};

use super::Checked;
use super::paths::Paths;
use super::summary::{MANY, Summary};
use crate::color::{colors, escaped};
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

/// Text form of findings.
pub struct Printing<'p> {
    /// Whether each finding stands for its whole topic.
    pub is_folded: bool,
    pub source: &'p SourceArguments,
    pub paths: &'p Paths,
    /// Text at the end: what a baseline says.
    pub last: &'p str,
}

/// Prints the findings in files.
pub fn print(all: Vec<Checked>, printing: &Printing<'_>) -> eitri::Result<()> {
    let Printing { is_folded, source, paths, last } = *printing;
    let colors = colors(&stdout());
    let mut printer = Printer::new(Form::Painted);
    let mut totals = LintTotals::default();
    let mut summary = Summary::default();
    let mut count = 0;
    let is_any = !all.is_empty();
    for mut object in all {
        totals.add(&object.report);
        summary.begin();
        object.report.findings.iter().for_each(|finding| summary.add(&object.name, finding));
        let hidden = object.report.findings.len() - object.shown;
        object.report.findings.truncate(object.shown);
        if !is_folded {
            object.report.fold();
        }
        let findings = &object.report.findings;
        count += findings.len();
        let groups = LintGroup::groups(findings.iter().map(|finding| (finding, finding.count)));
        // A finding has at least two lines.
        let begin = || {
            let mut sources = SourceLines::new(source, &object.file);
            let name = &object.name;
            move |out: &mut String, group: &LintGroup<'_>| {
                let mut declared = |finding: &LintFinding| {
                    let Some((file, line)) = &finding.declared else { return (String::new(), None) };
                    let shown = paths.name(finding);
                    let text = sources.line(&shown, file, *line).map(String::from);
                    (shown, text)
                };
                let mut text = LintText { object: Some(name), colors, source: &mut declared };
                // Writing to a string does not fail.
                let _ = text.group(out, group);
                out.push('\n');
            }
        };
        parts::text(&groups, 2 * findings.len(), begin, |text| printer.put(text));
        if hidden > 0 {
            let hidden = Count(hidden, "finding");
            printer.put(&format!("{}: {hidden} not printed\n", escaped(&object.name)));
        }
        // The process releases the findings when it ends.
        std::mem::forget(object);
    }
    if count > MANY {
        printer.put(&format!("{}\n", summary.text(paths)));
    }
    // Files that cannot be read have failures instead of counts.
    if is_any {
        put_totals(&mut printer, &totals);
    }
    printer.put(last);
    printer.finish()
}

/// Prints the number of findings with each code, and the sums.
pub fn put_totals(printer: &mut Printer, totals: &LintTotals) {
    let mut out = String::new();
    let _ = totals.write(&mut out, &colors(&stdout()));
    printer.put(&format!("{out}\n"));
}
