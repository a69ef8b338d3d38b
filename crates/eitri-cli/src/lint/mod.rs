//! `lint`: which findings are reported, formats and the exit code.

mod baseline;
mod choice;
mod config;
mod fail;
mod github;
mod json;
mod paths;
mod sarif;
mod settings;
mod stream;
mod summary;
mod text;
mod units;

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eitri::contents::{lint, lint_each};
use eitri::error::ErrorKind;
use eitri::lint::{Level, LintCode, LintFinding, LintOptions, LintReport, LintTotals, NameMatch};
use eitri::read::SplitFiles;

use self::baseline::Baseline;
use self::choice::{Choices, Chosen, Functions, Names};
use self::fail::FailOn;
use self::settings::Settings;
use self::stream::Stream;
use self::summary::Summary;
use self::text::Printing;
use super::companions::Described;
use super::containers::Reads;
use super::output::{Form, Printer, print, say_line};
use super::progress::Progress;
use super::sources::SourceArguments;
use super::split::SplitArguments;
use super::threads::threads;
use super::{Failure, containers};

/// Findings that `--require` makes errors.
const REQUIRED: Chosen = Chosen::Code(LintCode::NoDebugInfo);

/// Arguments for `lint`.
#[derive(Debug, Args)]
pub struct LintArguments {
    /// Object files, archives, offload bundles, host objects with bundles in them, and SPIR-V modules; a folder stands for
    /// those in it, and `-` for standard input. The default is `paths` in the configuration.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List the finding codes with their levels.
    #[arg(long)]
    codes: bool,
    /// Explain a code: the mistake, an example, the correct information, and the specification that decides it.
    #[arg(long, value_name = "CODE", value_parser = codes(), hide_possible_values = true)]
    explain: Option<LintCode>,
    /// Configuration file. The default is `eitri.toml` in the current folder, or in the nearest folder above. Arguments
    /// take precedence over the file.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Make findings with a code, or at a level, errors: a list separated by commas, in which `*` and `?` match parts of
    /// codes. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = Choices::parse)]
    deny: Vec<Choices>,
    /// Make findings with a code, or at a level, warnings: a list as for --deny. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = Choices::parse)]
    warn: Vec<Choices>,
    /// Omit findings with a code, or at a level: a list as for --deny. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = Choices::parse)]
    allow: Vec<Choices>,
    /// Make objects without debug information errors.
    #[arg(long)]
    require: bool,
    /// Omit the findings in a file, and say which are new, which stayed, and which are gone. The file is from
    /// --update-baseline or from an earlier output with `--format json`.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings to the baseline instead of printing them.
    #[arg(long, conflicts_with_all = ["only", "member", "max", "summary"])]
    update_baseline: bool,
    /// Read only members of archives and bundles whose name, such as `a.hipfb(hipv4-amdgcn-amd-amdhsa--gfx900)`,
    /// contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    split: SplitArguments,
    #[command(flatten)]
    source: SourceArguments,
    /// Replace the start A of source files' paths by B. Whole folder names are compared, after relative names were
    /// joined with the folder of the compilation. Can be repeated; the last match counts.
    #[arg(long, value_name = "A=B", value_parser = paths::mapping)]
    prefix_map: Vec<(String, String)>,
    /// Report only findings in these functions: a list separated by commas, in which `*` and `?` match parts of names.
    /// Can be repeated.
    #[arg(long, value_name = "FUNCTION", value_parser = Names::parse)]
    only: Vec<Names>,
    /// Print at most this number of findings for each file, errors first, then warnings, then notes. All findings are
    /// counted.
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Print the number of findings with each code and expression shape, with an example, instead of the findings.
    #[arg(long, conflicts_with = "max")]
    summary: bool,
    /// Least finding level for which the exit code is 1: error, warning, note, or never. [default: error]
    #[arg(long, value_name = "LEVEL", value_parser = fail_levels(), hide_possible_values = true)]
    fail_on: Option<FailOn>,
    /// Output format. `text` is for people and can change.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Findings with evidence, grouped by function.
    Text,
    /// One JSON object per finding and line.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// GitHub workflow commands, at most as many as GitHub shows.
    Github,
}

/// Parses a name in the list.
fn named<T: Clone + Send + Sync + 'static>(all: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|choice| choice.0));
    names.map(move |name| {
        let chosen = all.iter().find(|choice| choice.0 == name);
        chosen.expect("the parser knows the names of the list").1.clone()
    })
}

fn fail_levels() -> impl TypedValueParser<Value = FailOn> {
    named(FailOn::ALL.to_vec())
}

fn codes() -> impl TypedValueParser<Value = LintCode> {
    named(LintCode::ALL.iter().map(|code| (code.name(), *code)).collect())
}

/// Findings in a file that are reported as text.
struct Checked {
    /// Path of the object, or of the container around it.
    file: PathBuf,
    name: String,
    report: LintReport,
    /// Number of findings that are printed.
    shown: usize,
}

/// Treatment of findings.
enum Output {
    /// Text for people, printed at the end.
    Text(Vec<Checked>),
    /// A format for programs.
    Stream(Box<Stream>),
    /// Groups of findings, with the counts of objects.
    Summary(Summary, LintTotals),
    /// Nothing: the baseline has the findings.
    None,
}

impl LintArguments {
    /// Prints the findings. Returns whether a finding reaches the level in `--fail-on`, and the files that cannot be
    /// read.
    pub fn run(&self) -> Result<(bool, Vec<Failure>), Failure> {
        if self.codes || self.explain.is_some() {
            print(Form::Text, &self.explain.map_or_else(text::codes, text::page))?;
            return Ok((false, Vec::new()));
        }
        if self.summary && !matches!(self.format, Format::Text | Format::Json) {
            return Err(Failure("--summary has the formats text and json".into()));
        }
        let settings = Settings::read(self)?;
        let mut baseline = settings.baseline(self.update_baseline)?;
        let has_baseline = baseline.is_some();
        let threads = threads();
        let mut output = match Stream::begin(self.format, &settings.paths, has_baseline) {
            _ if self.update_baseline => Output::None,
            _ if self.summary => Output::Summary(Summary::default(), LintTotals::default()),
            Some(stream) => Output::Stream(Box::new(stream)),
            None => Output::Text(Vec::new()),
        };
        // Text shows a topic's first finding; a baseline and a limit count each finding.
        let fold = matches!(output, Output::Text(_)) && !has_baseline && self.max.is_none();
        let functions = Functions::new(&self.only);
        let is_match = |wanted: &str, name: &str| functions.is_match(wanted, name);
        let options = {
            let mut options = LintOptions::default();
            options.only.clone_from(&functions.names);
            options.matches = NameMatch::new(&is_match);
            options.threads = threads;
            options.fold = fold;
            options
        };
        let split = self.split.read()?;
        let mut unknown = Vec::new();
        let mut named = Vec::new();
        let most = self.max.unwrap_or(usize::MAX);
        let mut worst = None;
        let mut unreadable = Vec::new();
        let read = |file: &Path, object: &Described| {
            let name = &object.name;
            let bytes = &object.bytes;
            let find = split.beside(file);
            let supplementary = object.supplementary();
            let options = {
                let mut options = options.clone();
                options.split = SplitFiles::new(&find);
                options.supplementary = supplementary;
                options
            };
            let mut is_reported = |finding: &mut LintFinding| {
                let is = settings.keeps(finding)
                    && baseline.as_mut().is_none_or(|baseline| baseline.add(name, finding));
                worst = worst.max(is.then_some(finding.level));
                is
            };
            let mut findings = Vec::new();
            let mut report = if fold {
                let mut report = lint(bytes, &options)?;
                report.findings.retain_mut(is_reported);
                findings = std::mem::take(&mut report.findings);
                report
            } else {
                if let Output::Summary(summary, _) = &mut output {
                    summary.begin();
                }
                // The first findings at each level, with a limit.
                let mut firsts: [Vec<LintFinding>; Level::ALL.len()] = Default::default();
                let report = lint_each(bytes, &options, &mut |mut finding| {
                    if !is_reported(&mut finding) {
                        return;
                    }
                    match &mut output {
                        Output::Stream(stream) => {
                            settings.paths.rename(&mut finding);
                            let of_level = &mut firsts[finding.level as usize];
                            if self.max.is_none() {
                                stream.finding(name, &finding);
                            } else if of_level.len() < most {
                                of_level.push(finding);
                            }
                        }
                        Output::Summary(summary, totals) => {
                            summary.add(name, &finding);
                            totals.add_finding(&finding);
                        }
                        Output::Text(_) => findings.push(finding),
                        Output::None => {}
                    }
                });
                if let Output::Stream(stream) = &mut output {
                    let firsts = firsts.iter().rev().flatten();
                    firsts.take(most).for_each(|finding| stream.finding(name, finding));
                }
                if self.max.is_some() {
                    findings.sort_by_key(|finding| Reverse(finding.level));
                }
                report?
            };
            if let Some(baseline) = &mut baseline {
                baseline.add_units(name, &report);
            }
            unreadable.extend(report.unreadable.drain(..).map(|error| super::in_file(file)(error)));
            unknown.append(&mut report.unknown);
            named.append(&mut report.named);
            match &mut output {
                Output::Text(objects) => {
                    let shown = most.min(findings.len());
                    report.findings = findings;
                    objects.push(Checked { file: file.to_owned(), name: name.clone(), report, shown });
                }
                Output::Summary(_, totals) => totals.add(&report),
                Output::Stream(_) | Output::None => {}
            }
            Ok(())
        };
        let (files, mut failures) = settings.files()?;
        let progress = match self.format {
            Format::Json | Format::Sarif if std::io::IsTerminal::is_terminal(&std::io::stdout()) => {
                Progress::hidden()
            }
            _ => Progress::several("lint", files.len()),
        };
        let member = self.member.as_deref();
        failures.extend(containers::each(&progress, (&files, Reads::Modules), member, read, |_, ()| {}));
        drop(progress);
        // A function that no file has is a wrong argument.
        for name in functions.names.iter().filter(|name| !named.contains(name)) {
            let is_of = |error: &&eitri::Error| match error.kind() {
                ErrorKind::UnknownName { name: unknown, .. } => unknown == name,
                _ => false,
            };
            failures.extend(
                unknown.iter().find(is_of).map(|error| Failure::line(format_args!("--only: {error}"))),
            );
        }
        failures.append(&mut unreadable);
        failures.extend(split.failures());
        if failures.is_empty() {
            failures = split.unused();
        }
        let is_part = settings.is_subset || !self.only.is_empty() || member.is_some();
        if let Some(baseline) = baseline.as_mut().filter(|_| is_part) {
            baseline.keep_all();
        }
        self.end(output, &settings, baseline.as_ref(), &failures)?;
        let fails = !self.update_baseline && settings.fail_on.fails(worst);
        Ok((fails, failures))
    }

    /// Prints what is printed at the end, and writes the baseline, unless a file cannot be read.
    fn end(
        &self,
        output: Output,
        settings: &Settings,
        baseline: Option<&Baseline>,
        failures: &[Failure],
    ) -> Result<(), Failure> {
        let last = baseline.map_or_else(String::new, |baseline| match self.format {
            Format::Json => baseline.line(),
            _ => baseline.text(),
        });
        match output {
            Output::Stream(stream) if self.format == Format::Sarif => {
                stream.end("")?;
                last.lines().for_each(say_line);
            }
            Output::Stream(stream) => stream.end(&last)?,
            Output::Text(objects) => {
                let is_folded = baseline.is_none() && self.max.is_none();
                let source = &self.source;
                let paths = &settings.paths;
                text::print(objects, &Printing { is_folded, source, paths, last: &last })?;
            }
            Output::Summary(summary, totals) if self.format == Format::Text => {
                let mut printer = Printer::new(Form::Painted);
                printer.put(&summary.text(&settings.paths));
                text::put_totals(&mut printer, &totals);
                printer.put(&last);
                printer.finish()?;
            }
            Output::Summary(summary, _) => {
                let mut printer = Printer::new(Form::Json);
                printer.put(&summary.lines(&settings.paths));
                printer.put(&last);
                printer.finish()?;
            }
            Output::None => {
                print(if self.format == Format::Json { Form::Json } else { Form::Text }, &last)?;
                if !failures.is_empty() {
                    return Err(Failure(
                        "the baseline is not written, because not all files can be read".into(),
                    ));
                }
                baseline.map(Baseline::update).transpose()?;
            }
        }
        Ok(())
    }
}
