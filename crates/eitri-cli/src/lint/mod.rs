//! `lint`: which findings are reported, formats and the exit code.

mod github;
mod json;
mod sarif;
mod stream;
mod text;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eitri::error::ErrorKind;
use eitri::lint::{Level, LintCode, LintFinding, LintOptions, LintReport, lint, lint_each};
use eitri::read::SplitFiles;
use eitri::spirv::{self, is_module};

use self::stream::Stream;
use super::companions::Described;
use super::output::{Form, print};
use super::progress::Progress;
use super::sources::SourceArguments;
use super::split::SplitArguments;
use super::threads::threads;
use super::{Failure, containers, input};

/// Arguments for `lint`.
#[derive(Debug, Args)]
pub struct LintArguments {
    /// Object files, archives, offload bundles, host objects with bundles in them, and SPIR-V modules; `-` is standard
    /// input.
    #[arg(required_unless_present_any = ["codes", "explain"], value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List the finding codes with their levels.
    #[arg(long)]
    codes: bool,
    /// Explain a code: the mistake, an example, the correct information, and the specification that decides it.
    #[arg(long, value_name = "CODE", value_parser = codes(), hide_possible_values = true)]
    explain: Option<LintCode>,
    /// Make findings with a code, or at a level, errors. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = chosen(), hide_possible_values = true)]
    deny: Vec<Chosen>,
    /// Make findings with a code, or at a level, warnings. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = chosen(), hide_possible_values = true)]
    warn: Vec<Chosen>,
    /// Omit findings with a code, or at a level. Can be repeated.
    #[arg(long, value_name = "CODE|LEVEL", value_parser = chosen(), hide_possible_values = true)]
    allow: Vec<Chosen>,
    /// Omit findings that an earlier output from `--format json` has.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Read only members of archives and bundles whose name, such as `a.hipfb(hipv4-amdgcn-amd-amdhsa--gfx900)`,
    /// contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    split: SplitArguments,
    #[command(flatten)]
    source: SourceArguments,
    /// Report only findings in this function. Can be repeated.
    #[arg(long, value_name = "FUNCTION")]
    only: Vec<String>,
    /// Print at most this number of findings for each file, errors first, then warnings, then notes. All findings are
    /// counted.
    #[arg(long, value_name = "N")]
    max: Option<usize>,
    /// Least finding level for which the exit code is 1.
    #[arg(long, value_name = "LEVEL", default_value = "error", value_parser = levels())]
    fail_on: Level,
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
    /// GitHub workflow commands.
    Github,
}

/// Findings that an argument chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    Code(LintCode),
    Level(Level),
}

/// Parses a name in the list.
fn named<T: Clone + Send + Sync + 'static>(all: Vec<(&'static str, T)>) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|choice| choice.0));
    names.map(move |name| {
        let chosen = all.iter().find(|choice| choice.0 == name);
        chosen.expect("the parser knows the names of the list").1.clone()
    })
}

fn levels() -> impl TypedValueParser<Value = Level> {
    named(Level::ALL.map(|level| (level.name(), level)).to_vec())
}

fn codes() -> impl TypedValueParser<Value = LintCode> {
    named(LintCode::ALL.iter().map(|code| (code.name(), *code)).collect())
}

fn chosen() -> impl TypedValueParser<Value = Chosen> {
    let levels = Level::ALL.into_iter().map(|level| (level.name(), Chosen::Level(level)));
    let codes = LintCode::ALL.iter().map(|code| (code.name(), Chosen::Code(*code)));
    named(levels.chain(codes).collect())
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

impl LintArguments {
    /// Prints the findings. Returns whether a finding reaches the level in `--fail-on`, and the files that cannot be
    /// read.
    pub fn run(&self) -> Result<(bool, Vec<Failure>), Failure> {
        if self.codes || self.explain.is_some() {
            print(Form::Text, &self.explain.map_or_else(text::codes, text::page))?;
            return Ok((false, Vec::new()));
        }
        let mut known = self.baseline()?;
        let threads = threads();
        // Text shows a topic's first finding; a baseline and a limit count each finding.
        let fold = self.format == Format::Text && self.baseline.is_none() && self.max.is_none();
        let options = {
            let mut options = LintOptions::default();
            options.only = self.only.clone();
            options.threads = threads;
            options.fold = fold;
            options
        };
        let split = self.split.read()?;
        let mut objects = Vec::new();
        let mut unknown = Vec::new();
        let mut named = Vec::new();
        let mut stream = Stream::begin(self.format);
        let most = self.max.unwrap_or(usize::MAX);
        let mut worst = None;
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
                let is = self.keeps(finding) && !is_known(&mut known, finding);
                worst = worst.max(is.then_some(finding.level));
                is
            };
            let report = if fold {
                let mut report = diagnosed(bytes, &options)?;
                report.findings.retain_mut(is_reported);
                report
            } else {
                // The first findings at each level, with a limit.
                let mut firsts: [Vec<LintFinding>; Level::ALL.len()] = Default::default();
                let mut findings = Vec::new();
                let report = diagnose_each(bytes, &options, &mut |mut finding| {
                    if !is_reported(&mut finding) {
                        return;
                    }
                    match &mut stream {
                        Some(stream) if self.max.is_none() => stream.finding(name, &finding),
                        Some(_) => {
                            let of_level = &mut firsts[finding.level as usize];
                            if of_level.len() < most {
                                of_level.push(finding);
                            }
                        }
                        None => findings.push(finding),
                    }
                });
                if let Some(stream) = &mut stream {
                    let firsts = firsts.iter().rev().flatten();
                    firsts.take(most).for_each(|finding| stream.finding(name, finding));
                } else if self.max.is_some() {
                    findings.sort_by_key(|finding| Reverse(finding.level));
                }
                let mut report = report?;
                report.findings = findings;
                report
            };
            Ok((file.to_owned(), report))
        };
        let member = self.member.as_deref();
        let begin = |file: &Path| match self.format {
            Format::Text => Progress::begin("lint", file),
            _ => Progress::beside_output("lint", file),
        };
        let mut unreadable = Vec::new();
        let mut failures = containers::each(begin, &self.files, member, read, |name, (file, mut report)| {
            unreadable.extend(report.unreadable.drain(..).map(|error| super::in_file(&file)(error)));
            unknown.append(&mut report.unknown);
            named.append(&mut report.named);
            let shown = most.min(report.findings.len());
            objects.push(Checked { file, name, report, shown });
        });
        // A function that no file has is a wrong argument.
        for name in self.only.iter().filter(|name| !named.contains(name)) {
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
        let fails = worst.is_some_and(|worst| worst >= self.fail_on);
        match stream {
            Some(stream) => stream.end()?,
            None => text::print(objects, fold, &self.source)?,
        }
        Ok((fails, failures))
    }

    /// Sets a finding's level. Returns whether it is reported.
    fn keeps(&self, finding: &mut LintFinding) -> bool {
        let code = Chosen::Code(finding.code);
        let own = Chosen::Level(finding.level);
        for chosen in [code, own] {
            if self.allow.contains(&chosen) {
                return false;
            }
            if self.deny.contains(&chosen) {
                finding.level = Level::Error;
                return true;
            }
            if self.warn.contains(&chosen) {
                finding.level = Level::Warning;
                return true;
            }
        }
        true
    }

    /// Returns the fingerprints in an earlier output, with their numbers.
    fn baseline(&self) -> Result<HashMap<u64, usize>, Failure> {
        let mut known = HashMap::new();
        let Some(file) = &self.baseline else { return Ok(known) };
        let bytes = input(file)?;
        for (index, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let fingerprint = json::fingerprint(line).ok_or_else(|| {
                let number = index + 1;
                let name = file.display();
                Failure::line(format_args!("{name}, line {number}: not a finding from `--format json`"))
            })?;
            *known.entry(fingerprint).or_default() += 1;
        }
        Ok(known)
    }
}

/// Diagnoses an object, or a SPIR-V module.
fn diagnosed(bytes: &[u8], options: &LintOptions<'_>) -> eitri::Result<LintReport> {
    if is_module(bytes) {
        return spirv::lint(&spirv::from_bytes(bytes)?, options);
    }
    lint(bytes, options)
}

/// Diagnoses an object, or a SPIR-V module, and passes each finding to a function.
fn diagnose_each(
    bytes: &[u8],
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> eitri::Result<LintReport> {
    if !is_module(bytes) {
        return lint_each(bytes, options, take);
    }
    let mut report = spirv::lint(&spirv::from_bytes(bytes)?, options)?;
    report.findings.drain(..).for_each(take);
    Ok(report)
}

/// Whether the baseline has the finding; it is then removed from the baseline.
fn is_known(known: &mut HashMap<u64, usize>, finding: &LintFinding) -> bool {
    if known.is_empty() {
        return false;
    }
    let Some(count) = known.get_mut(&finding.fingerprint()).filter(|count| **count > 0) else { return false };
    *count -= 1;
    true
}
