//! `check`: an object compared with a description, or a module by itself.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::check::{CheckFinding, FindingKind};
use eitri::error::ErrorKind;
use eitri::lower::Policy;
use eitri::model::Module;
use eitri::output::{Comparison, compare, split_names};
use eitri::spirv;
use eitri::track;

use super::arguments::Reader;
use super::described::{described, not_described};
use super::output::{Form, print, print_findings};
use super::progress::Progress;
use super::split::file_name;
use super::{Failure, containers, exit_code, hints, in_file, input};

/// Arguments for `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Description or SPIR-V module; `-` is standard input.
    #[arg(value_name = "DESCRIPTION|MODULE")]
    description: PathBuf,
    /// Object file, with a description; `-` is standard input.
    object: Option<PathBuf>,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, requires = "object", value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    reader: Reader,
    /// Accept the omissions that --partial makes: information that the consumer's format cannot express may be missing.
    #[arg(long, requires = "object")]
    partial: bool,
    /// Suppress findings of this kind: `extra`, units, types, files and frames that the description does not have.
    #[arg(long, requires = "object", value_name = "KIND", value_parser = ["extra"])]
    allow: Vec<String>,
    /// Also check the locations in the description, by its `code` statements.
    #[arg(long, requires = "object")]
    code: bool,
}

impl CheckArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Some(object) = &self.object else { return self.module() };
        let Self { description, partial, code, .. } = &self;
        let text = input(description)?;
        if hints::is_elf(&text) && object.as_os_str() != "-" && hints::is_json(&input(object)?) {
            let first = object.display();
            let second = description.display();
            return Err(not_described(description)
                .and(&format!("the description comes first: eitri check {first} {second}")));
        }
        let progress = Progress::begin("check", object);
        let bytes = containers::single(object, self.member.as_deref())?.1;
        let (module, all) = if *code {
            track::CodeEffects::from_json(&text).map_err(in_file(description))?
        } else {
            (described(description, &text)?, Vec::new())
        };
        let consumer = self.reader.consumer(module.target())?;
        let split = if consumer.is_split { split_files(object, &bytes)? } else { Vec::new() };
        let split: Vec<&[u8]> = split.iter().map(Vec::as_slice).collect();
        // Parts that the consumer cannot express may be missing.
        let hint = (!partial).then_some("--partial is for objects written with it");
        let compared = compare(&module, &consumer, Policy::partial(*partial), &bytes, &split);
        let compared = compared.map_err(|error| match error.kind() {
            ErrorKind::Inexpressible { .. } => hints::if_refused(description, hint)(error),
            _ => in_file(object)(error),
        })?;
        let mut report = match compared {
            Comparison::Report(report) => report,
            Comparison::Coverage(coverage) => {
                print(Form::Text, &format!("{coverage}\n"))?;
                return Ok(exit_code(coverage.is_clean()));
            }
        };
        if !self.allow.is_empty() {
            report = report.without(FindingKind::Extra);
        }
        let reports = track_all(&module, &all).map_err(in_file(description))?;
        report.findings.extend(reports.iter().flat_map(|report| report.stale.iter().map(CheckFinding::from)));
        report
            .findings
            .extend(reports.iter().flat_map(|report| report.regions.iter().map(CheckFinding::from)));
        drop(progress);
        if *code {
            print(Form::Text, &totals(&reports))?;
        }
        print_findings(&report)?;
        Ok(exit_code(report.is_clean()))
    }

    /// Checks a module by itself.
    fn module(&self) -> Result<ExitCode, Failure> {
        let file = &self.description;
        let progress = Progress::begin("check", file);
        let words = module(&input(file)?).map_err(in_file(file))?;
        let report = spirv::validate(&spirv::read(&words).map_err(in_file(file))?);
        drop(progress);
        print_findings(&report)?;
        Ok(exit_code(report.is_clean()))
    }
}

/// Reads the split-unit files that an object refers to, which are beside it.
fn split_files(object: &Path, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    file_name(object)?;
    let names = split_names(bytes).map_err(in_file(object))?;
    names.into_iter().map(|name| input(&object.with_file_name(name))).collect()
}

/// Checks the locations in a description by its statements about code.
fn track_all(module: &Module, all: &[track::CodeEffects]) -> eitri::Result<Vec<track::TrackReport>> {
    all.iter().map(|code| Ok(code.track()?.check(module))).collect()
}

/// Totals for all functions: what is claimed, right and recoverable, and locations that cannot be checked.
fn totals(reports: &[track::TrackReport]) -> String {
    let sum = |count: fn(&track::TrackReport) -> u64| reports.iter().map(count).sum::<u64>();
    let [claimed, right, recoverable] =
        [sum(|report| report.claimed), sum(|report| report.right), sum(|report| report.recoverable)];
    let unchecked = sum(|report| report.unchecked.len() as u64);
    format!("code: {claimed} claimed, {right} right, {recoverable} recoverable, {unchecked} unchecked\n")
}

/// Returns the words of a SPIR-V module, the only input that is checked without a description.
fn module(bytes: &[u8]) -> eitri::Result<Vec<u32>> {
    spirv::from_bytes(bytes).map_err(|error| {
        if spirv::is_module(bytes) {
            return error;
        }
        let problem = "this is not a SPIR-V module; a description is compared with an object: eitri check DESCRIPTION OBJECT";
        ErrorKind::BadArgument(problem.into()).into()
    })
}
