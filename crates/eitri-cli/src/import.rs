//! `import`: an object's debug information as a description.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::import::{ImportOptions, ImportedDwarf, import};
use eitri::model::Module;
use eitri::read::SplitFiles;

use super::output::{say_line, say_lines, write_files};
use super::progress::Progress;
use super::split::{SplitArguments, SplitFolder};
use super::threads::threads;
use super::{Failure, containers, exit_code, in_file, outcome, targets};

/// Arguments for `import`.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Object files, or archives or bundles with a chosen member, for one description; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    #[command(flatten)]
    split: SplitArguments,
    /// Import only this function, by name or linkage name, and what it refers to. Can be repeated.
    #[arg(long, value_name = "FUNCTION")]
    only: Vec<String>,
    /// Target, such as `amdgpu-gfx1030-wave32`, or a `.json` file with a target. The default is the file's target.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Exit with code 1, and write no file, if a fact is not imported.
    #[arg(long)]
    strict: bool,
    /// Print the number of facts that are not imported, by reason, instead of each fact.
    #[arg(long)]
    summary: bool,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl ImportArguments {
    pub fn run(&self) -> Result<ExitCode, Failure> {
        let split = self.split.read()?;
        let mut all: Option<(&Path, Module)> = None;
        let mut is_complete = true;
        for file in &self.files {
            let imported = self.import(file, &split)?;
            is_complete &= imported.unimported.is_empty();
            self.list(file, &imported);
            all = Some(match all {
                None => (file, imported.module),
                Some((first, mut module)) => {
                    module.append(&imported.module).map_err(|error| {
                        let files = format!("{} and {}", first.display(), file.display());
                        in_file(Path::new(&files))(error)
                    })?;
                    (first, module)
                }
            });
        }
        if self.strict && !is_complete {
            return Ok(exit_code(false));
        }
        let text = all.map(|(_, module)| module.to_json()).unwrap_or_default();
        write_files(&[(&self.output, text.as_bytes())])?;
        let mut failures = split.failures();
        if failures.is_empty() {
            failures = split.unused();
        }
        outcome(false, &failures)
    }

    /// Imports a file.
    fn import(&self, file: &Path, split: &SplitFolder) -> Result<ImportedDwarf, Failure> {
        let _progress = Progress::begin("import", file);
        let described = containers::single_described(file, self.member.as_deref())?;
        let find = split.beside(file);
        let options = {
            let mut options = ImportOptions::default();
            options.target = self.target.as_deref().map(targets::named).transpose()?;
            options.only.clone_from(&self.only);
            options.split = SplitFiles::new(&find);
            options.supplementary = described.supplementary();
            options.threads = threads();
            options
        };
        import(&described.bytes, &options).map_err(in_file(Path::new(&described.name)))
    }

    /// Lists what is not imported of a file. The file is named where there are several.
    fn list(&self, file: &Path, imported: &ImportedDwarf) {
        let name = if self.files.len() > 1 { format!("{}: ", file.display()) } else { String::new() };
        if !self.summary {
            let facts = imported.unimported.iter();
            say_lines(facts.map(|fact| format!("not imported: {name}{fact}")));
            return;
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for fact in &imported.unimported {
            *counts.entry(fact.reason.name()).or_default() += 1;
        }
        for (reason, count) in counts {
            say_line(format_args!("not imported: {name}{count} {reason}"));
        }
    }
}
