//! `conform`: conformance vectors.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::conform::{ConformReport, VectorFile};

use super::output::{Form, print, print_findings};
use super::progress::Progress;
use super::{Failure, exit_code, in_file, input};

/// Arguments for `conform`.
#[derive(Debug, Args)]
pub struct ConformArguments {
    /// Vector files; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Output format. `text` is for people and can change.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as `--format json`.
    #[arg(long, hide = true)]
    json: bool,
    /// Run only vectors whose name contains this text.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
}

impl ConformArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { files, format, json, only } = self;
        let read = |path: &PathBuf| VectorFile::from_json(input(path)?).map_err(in_file(path));
        let read = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
        let mut report = ConformReport::default();
        let progress = Progress::several("conform", files.len());
        for (path, file) in files.iter().zip(&read) {
            progress.file(path);
            let name = (files.len() > 1).then(|| path.display().to_string());
            file.run(&only, name.as_deref(), &mut report);
        }
        drop(progress);
        if json || format == Format::Json {
            print(Form::Json, &report.to_json())?;
        } else {
            print_findings(&report)?;
        }
        Ok(exit_code(report.is_clean()))
    }
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Vectors that fail, and the counts.
    Text,
    /// One JSON object per vector and line, with `name`, `outcome` and `found`.
    Json,
}
