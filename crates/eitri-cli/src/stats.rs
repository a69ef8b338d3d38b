//! `stats`: formats.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use eitri::json::write_statistics;
use eitri::read::SplitFiles;
use eitri::stats::{
    Build, Change, Coverage, FunctionCoverage, ReadableLines, Statistics, StatsOptions, UnitCoverage,
    VariableLines, compare, percent, readable_variable_lines, stats,
};
use serde_json::{Value, json};

use super::color::escaped;
use super::companions::Described;
use super::containers::Reads;
use super::output::{Form, Printer};
use super::progress::Progress;
use super::split::{SplitArguments, SplitOf};
use super::threads::threads;
use super::{Failure, containers, in_file, inputs, parts};

/// Arguments for `stats`.
#[derive(Debug, Args)]
pub struct StatsArguments {
    /// Object files, archives, offload bundles, and host objects with bundles in them; a folder stands for those in it,
    /// and `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Read only members of archives and bundles whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    split: SplitArguments,
    /// Print each variable's source lines instead of bytes: the lines in its scope that have code, and the lines at
    /// which it has a location.
    #[arg(long)]
    lines: bool,
    /// Print the average over an inlined function's instances.
    #[arg(long, requires = "lines")]
    combine_instances: bool,
    /// Compare with a second build: each function's coverage, matched by linkage name; with --lines, the lines at which
    /// an unoptimised build has the variable.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Exit with code 1 if the sound part of all scopes is below this; with --against, if the sound part for all
    /// variables, or for a function, is below this part of the second build's. The part is 0 if no variable has a
    /// scope.
    #[arg(long, value_name = "PERCENT", conflicts_with = "lines", value_parser = percentage)]
    fail_below: Option<f64>,
    /// Output format. `text` is for people and can change.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Coverage for each function and for the file.
    Text,
    /// A JSON object for each file, on a line, with the names in llvm-dwarfdump's statistics.
    Json,
}

impl StatsArguments {
    /// Prints the numbers. Returns whether a number is below `--fail-below`, and the files that cannot be read.
    pub fn run(&self) -> Result<(bool, Vec<Failure>), Failure> {
        let mut fails = false;
        let member = self.member.as_deref();
        let base = match &self.against {
            Some(file) => {
                let _progress = Progress::begin("stats", file);
                Some(containers::single_described(file, member)?)
            }
            None => None,
        };
        let threads = threads();
        let split = self.split.read()?;
        let options = {
            let mut options = StatsOptions::default();
            options.sound = true;
            options.threads = threads;
            options.variables = self.format == Format::Json;
            options
        };
        let of_base = split.beside(self.against.as_deref().unwrap_or(Path::new("-")));
        let (files, mut failures) = inputs::files(&self.files, Reads::Objects);
        let progress = Progress::several("stats", files.len());
        let mut out = Printer::new(if self.format == Format::Json { Form::Json } else { Form::Text });
        failures.extend(if self.lines {
            let mut unreadable = Vec::new();
            let mut is_base_known = false;
            let base_name = base.as_ref().map_or_else(PathBuf::new, |base| PathBuf::from(&base.name));
            let base = base.as_ref().map(|base| build(base, &of_base));
            let read = |file: &Path, object: &Described| {
                let find = split.beside(file);
                let build = build(object, &find);
                readable_variable_lines(build, base, self.combine_instances)
            };
            let take = |name: String, found: ReadableLines| {
                // The second build's errors are the same for each object.
                let of_base = found.unreadable_base.into_iter().filter(|_| !is_base_known);
                unreadable.extend(of_base.map(in_file(&base_name)));
                is_base_known = true;
                unreadable.extend(found.unreadable.into_iter().map(in_file(Path::new(&name))));
                let found = found.variables;
                match self.format {
                    Format::Json => {
                        found
                            .iter()
                            .for_each(|variable| out.put(&format!("{}\n", line_object(&name, variable))));
                    }
                    Format::Text => out.put(&line_text(&name, &found, base.is_some())),
                }
            };
            let mut failures = containers::each(&progress, (&files, Reads::Objects), member, read, take);
            failures.append(&mut unreadable);
            failures
        } else {
            let mut unreadable = Vec::new();
            let base = match &base {
                Some(object @ Described { name, bytes, .. }) => {
                    let supplementary = object.supplementary();
                    let options = {
                        let mut options = options;
                        options.split = SplitFiles::new(&of_base);
                        options.supplementary = supplementary;
                        options
                    };
                    let mut base = stats(bytes, &options).map_err(in_file(Path::new(name)))?;
                    unreadable.extend(base.unreadable.drain(..).map(in_file(Path::new(name))));
                    Some((name, base))
                }
                None => None,
            };
            let read = |file: &Path, object: &Described| {
                let find = split.beside(file);
                let supplementary = object.supplementary();
                stats(&object.bytes, &{
                    let mut options = options;
                    options.split = SplitFiles::new(&find);
                    options.supplementary = supplementary;
                    options
                })
            };
            let mut last = None;
            let take = |name: String, mut found: Statistics| {
                unreadable.extend(found.unreadable.drain(..).map(in_file(Path::new(&name))));
                match &base {
                    None => {
                        let below = self.below(Some(found.variables.coverage.percent().unwrap_or(0.0)));
                        fails |= below.is_some();
                        match self.format {
                            Format::Json => out.put_written(|line| {
                                write_statistics(line, &found, &name, below.is_some())?;
                                writeln!(line)
                            }),
                            Format::Text => out.put(&text(&name, &found, below)),
                        }
                        last = Some(found);
                    }
                    Some((old, base)) => {
                        let changes = compare(base, &found);
                        let changes: Vec<_> = changes
                            .into_iter()
                            .map(|change| (self.below(change.percent()), change))
                            .collect();
                        fails |= changes.iter().any(|marked| marked.0.is_some());
                        match self.format {
                            Format::Json => out.put(&format!("{}\n", change_object(&name, old, &changes))),
                            Format::Text => out.put(&change_text(&name, old, &changes)),
                        }
                    }
                }
            };
            let mut failures = containers::each(&progress, (&files, Reads::Objects), member, read, take);
            failures.append(&mut unreadable);
            // The process releases it when it ends.
            std::mem::forget(last);
            failures
        });
        drop(progress);
        failures.extend(split.failures());
        if failures.is_empty() {
            failures = split.unused();
        }
        out.finish()?;
        Ok((fails, failures))
    }

    /// Returns the least percentage, if a percentage is below it.
    fn below(&self, percent: Option<f64>) -> Option<f64> {
        self.fail_below.filter(|least| percent.is_some_and(|percent| percent < *least))
    }
}

/// Returns an object with its split-unit files.
fn build<'a>(object: &'a Described, find: &'a SplitOf<'_>) -> Build<'a> {
    let split = SplitFiles::new(find);
    let supplementary = object.supplementary();
    Build { bytes: &object.bytes, split, supplementary }
}

fn percentage(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 100 is expected".into())
}

/// Returns the mark for a row that is below the least percentage.
fn mark(below: Option<f64>) -> String {
    below.map_or_else(String::new, |least| format!(", below {least} %"))
}

/// Returns a part in percent, as text.
fn part(bytes: u64, of: u64) -> String {
    percent(bytes, of).map_or_else(|| "-".into(), |percent| format!("{percent:.1} %"))
}

fn change_text(name: &str, old: &str, changes: &[(Option<f64>, Change)]) -> String {
    let name = escaped(name);
    let mut out = format!("{name}\n  against {}\n  {:>8} {:>8} {:>8}\n", escaped(old), "old", "new", "ratio");
    let sound = |coverage: Option<Coverage>| {
        coverage.map_or_else(|| "-".into(), |coverage| part(coverage.sound, coverage.scope))
    };
    for (below, change) in changes.iter().skip(1).chain(&changes[..1]) {
        let ratio = change.percent().map_or_else(|| "-".into(), |percent| format!("{percent:.1} %"));
        let name = change.function.as_deref().map_or_else(|| "all".into(), escaped);
        let old = sound(change.old);
        let new = sound(change.new);
        let mark = mark(*below);
        let _ = writeln!(out, "  {old:>8} {new:>8} {ratio:>8}  {name}{mark}");
    }
    out
}

fn change_object(name: &str, old: &str, changes: &[(Option<f64>, Change)]) -> Value {
    let object = |(below, row): &(Option<f64>, Change)| {
        json!({
            "name": row.function, "old": row.old.map(coverage), "new": row.new.map(coverage),
            "percent": row.percent(), "below": below.is_some(),
        })
    };
    json!({"file": name, "against": old, "functions": changes.iter().map(object).collect::<Vec<_>>()})
}

fn line_text(name: &str, found: &[VariableLines], has_base: bool) -> String {
    let name = escaped(name);
    let mut out = format!("{name}\n  {:>6} {:>8}", "scope", "located");
    if has_base {
        let _ = write!(out, " {:>6} {:>8} {:>8}", "base", "ratio", "present");
    }
    out.push('\n');
    for variable in found {
        let _ =
            write!(out, "  {:>6} {:>8}", lines(variable, variable.scope), lines(variable, variable.located));
        match variable.base.filter(|_| has_base) {
            Some(base) => {
                let ratio = part(variable.located, base.located);
                let present = part(base.present, base.located);
                let _ = write!(out, " {:>6} {ratio:>8} {present:>8}", lines(variable, base.located));
            }
            None if has_base => {
                let _ = write!(out, " {:>6} {:>8} {:>8}", "-", "-", "-");
            }
            None => {}
        }
        let _ = write!(out, "  {}: {}", escaped(&variable.function), escaped(&variable.name));
        if variable.instances > 1 {
            let _ = write!(out, ", {} instances", variable.instances);
        }
        for (file, line) in &variable.calls {
            let _ = write!(out, ", inlined at {}:{line}", escaped(file));
        }
        out.push('\n');
    }
    out
}

/// Returns an average line count as text, with at most two decimals.
fn lines(variable: &VariableLines, sum: u64) -> String {
    let text = format!("{:.2}", variable.average(sum));
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Returns an average line count: a whole number, if it is one.
fn line_number(variable: &VariableLines, sum: u64) -> Value {
    if sum.is_multiple_of(variable.instances) {
        (sum / variable.instances).into()
    } else {
        variable.average(sum).into()
    }
}

fn line_object(name: &str, variable: &VariableLines) -> Value {
    let number = |sum| line_number(variable, sum);
    let position = |(file, line): &(String, u64)| json!({"file": file, "line": line});
    json!({
        "file": name,
        "function": variable.function,
        "calls": variable.calls.iter().map(position).collect::<Vec<_>>(),
        "name": variable.name,
        "declared": position(&variable.declared),
        "instances": variable.instances,
        "scope": number(variable.scope),
        "located": number(variable.located),
        "base": variable.base.map(|base| json!({"located": number(base.located), "present": number(base.present)})),
    })
}

fn coverage(coverage: Coverage) -> Value {
    let Coverage { scope, located, unavailable, entry_values, sound, .. } = coverage;
    json!({
        "scope": scope, "located": located, "unavailable": unavailable, "entry_values": entry_values, "sound": sound,
    })
}

fn text(name: &str, found: &Statistics, below: Option<f64>) -> String {
    let name = escaped(name);
    let mut out = format!("{name}\n  {:>10} {:>8} {:>8}\n", "scope", "located", "sound");
    let begin = || |out: &mut String, one: &FunctionCoverage| line(out, one.coverage, one.symbol_name(), "");
    parts::text(&found.functions, found.functions.len(), begin, |text| out += text);
    // A single unit is the file.
    if found.units.len() > 1 {
        let begin = || {
            |out: &mut String, one: &UnitCoverage| {
                line(out, one.coverage, &format!("unit {}", one.name.as_deref().unwrap_or_default()), "");
            }
        };
        parts::text(&found.units, found.units.len(), begin, |text| out += text);
    }
    let groups = [
        ("all parameters", &found.params, String::new()),
        ("all other variables", &found.locals, String::new()),
        ("all", &found.variables, mark(below)),
    ];
    for (name, group, mark) in groups {
        line(&mut out, group.coverage, name, &mark);
    }
    for (section, bytes) in &found.sections {
        let _ = writeln!(out, "  {bytes:>10} {:>17}  {section}", part(*bytes, found.code));
    }
    let _ = writeln!(out, "  {:>10} {:>17}  code", found.code, "");
    let contents = &found.contents;
    for (name, one) in [("strings", contents.strings), ("lists", contents.lists)] {
        let _ =
            writeln!(out, "  {:>10} {:>17}  {} of {name} that are there twice", one.bytes, "", one.copies);
    }
    let lines = &found.lines;
    let _ =
        writeln!(out, "  {:>10} {:>17}  code without a line", lines.line_0, part(lines.line_0, lines.bytes));
    out
}

fn line(out: &mut String, one: Coverage, name: &str, mark: &str) {
    let part = |bytes| part(bytes, one.scope);
    let name = escaped(name);
    let _ = writeln!(
        out,
        "  {:>10} {:>8} {:>8}  {name}{mark}",
        one.scope,
        part(one.available()),
        part(one.sound)
    );
}
