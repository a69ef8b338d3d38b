//! Settings from the command line and the configuration; the command line takes precedence.

use std::path::{Path, PathBuf};

use eitri::lint::{Level, LintFinding};

use super::baseline::Baseline;
use super::choice::{Action, Actions, Choices};
use super::config::{Config, Names};
use super::fail::FailOn;
use super::paths::Paths;
use super::{LintArguments, REQUIRED, Reads};
use crate::{Failure, inputs};

/// Settings for one run.
#[derive(Debug)]
pub struct Settings {
    files: Vec<PathBuf>,
    /// Whether the command line names files beside those of the configuration, which a baseline is about.
    pub is_subset: bool,
    baseline: Option<PathBuf>,
    /// Actions of the command line, and of the configuration.
    actions: [Actions; 2],
    /// Least level for which the exit code is 1.
    pub fail_on: FailOn,
    /// Names of source files.
    pub paths: Paths,
}

impl Settings {
    pub fn read(arguments: &LintArguments) -> Result<Self, Failure> {
        let is_named = !arguments.files.is_empty();
        let names = if is_named { Names::OnCommandLine } else { Names::InConfig };
        let config = Config::read(arguments.config.as_deref(), names)?;
        let mut own = Actions::default();
        let report = Action::Report;
        let chosen = [
            (&arguments.allow, Action::Omit),
            (&arguments.deny, report(Level::Error)),
            (&arguments.warn, report(Level::Warning)),
        ];
        for (choices, action) in chosen {
            // The first of several actions counts.
            for chosen in Choices::joined(choices) {
                let _ = own.add(chosen, action);
            }
        }
        if arguments.require {
            own.add(&REQUIRED, report(Level::Error));
        }
        Ok(Self {
            is_subset: is_named && !config.files.is_empty(),
            files: if is_named { arguments.files.clone() } else { config.files },
            baseline: arguments.baseline.clone().or(config.baseline),
            actions: [own, config.actions],
            fail_on: arguments.fail_on.or(config.fail_on).unwrap_or(FailOn::Level(Level::Error)),
            paths: Paths::new(&config.prefix_map, &arguments.prefix_map),
        })
    }

    /// Returns the files that are read, and failures.
    pub fn files(&self) -> Result<(Vec<PathBuf>, Vec<Failure>), Failure> {
        if self.files.is_empty() {
            let problem = "no file is given: expected FILE, or `paths` in the table `lint` of eitri.toml";
            return Err(Failure(problem.into()));
        }
        Ok(inputs::files(&self.files, Reads::Modules))
    }

    /// Reads the baseline, if there is one.
    pub fn baseline(&self, is_updated: bool) -> Result<Option<Baseline>, Failure> {
        match &self.baseline {
            Some(file) if is_updated && file == Path::new("-") => {
                Err(Failure("--update-baseline: standard input cannot be updated".into()))
            }
            Some(file) => Baseline::read(file, is_updated).map(Some),
            None if is_updated => {
                Err(Failure("--update-baseline: expected --baseline, or `baseline` in eitri.toml".into()))
            }
            None => Ok(None),
        }
    }

    /// Sets a finding's level. Returns whether it is reported.
    pub fn keeps(&self, finding: &mut LintFinding) -> bool {
        let [own, config] = &self.actions;
        // A code on the command line precedes all; a level there is about the level that the configuration gives.
        if own.of_code(finding.code).is_none() {
            match config.action(finding) {
                Some(Action::Omit) => return false,
                Some(Action::Report(level)) => finding.level = level,
                None => {}
            }
        }
        match own.action(finding) {
            Some(Action::Omit) => false,
            Some(Action::Report(level)) => {
                finding.level = level;
                true
            }
            None => true,
        }
    }
}
