//! `report`: the page's files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::read::SplitFiles;
use eitri::report::{ReportOptions, readable_report};

use super::output::write_files;
use super::progress::Progress;
use super::sources::SourceArguments;
use super::split::SplitArguments;
use super::{Failure, containers, in_file, input, outcome};

/// Arguments for `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Object file, or an archive or bundle with a chosen member; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    split: SplitArguments,
    /// Output from a disassembler for the object: llvm-objdump, objdump, nvdisasm or cuobjdump. The instructions are
    /// shown at their pcs.
    #[arg(long, value_name = "FILE")]
    disassembly: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArguments,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl ReportArguments {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let (page, failures) = self.page()?;
        write_files(&[(&self.output, page.as_bytes())])?;
        outcome(false, &failures)
    }

    /// Returns the page, and errors for parts of the object and of split-unit files that cannot be read.
    fn page(&self) -> Result<(String, Vec<Failure>), Failure> {
        let disassembly = match &self.disassembly {
            Some(file) => Some(String::from_utf8_lossy(&input(file)?).into_owned()),
            None => None,
        };
        let source = |path: &str| self.source.text(path);
        let _progress = Progress::begin("report", &self.file);
        let described = containers::single_described(&self.file, self.member.as_deref())?;
        let name = &described.name;
        let split = self.split.read()?;
        let find = split.beside(&self.file);
        let options = {
            let mut options = ReportOptions::default();
            options.name = name;
            options.disassembly = disassembly.as_deref();
            options.source = Some(&source);
            options.split = SplitFiles::new(&find);
            options.supplementary = described.supplementary();
            options
        };
        let (page, unreadable) =
            readable_report(&described.bytes, &options).map_err(in_file(Path::new(name)))?;
        let mut failures: Vec<_> = unreadable.into_iter().map(in_file(Path::new(name))).collect();
        failures.extend(split.failures());
        if failures.is_empty() {
            failures = split.unused();
        }
        Ok((page, failures))
    }
}
