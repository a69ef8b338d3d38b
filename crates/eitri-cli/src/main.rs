//! The command: arguments and exit codes only. Each command has a file: its arguments, and what it does with them.

#![forbid(unsafe_code)]

mod arguments;
mod check;
mod color;
mod companions;
mod conform;
mod containers;
mod contents;
mod described;
mod dump;
mod emit;
mod evaluate;
mod explain;
mod hints;
mod import;
mod inputs;
mod kinds;
mod lane_groups;
mod lanes;
mod lint;
mod locate;
mod modules;
mod output;
mod parts;
mod program;
mod progress;
mod question;
mod report;
mod rewrite;
mod sources;
mod split;
mod stats;
mod targets;
mod threads;

use std::fmt::Display;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use arguments::Arguments;
use clap::Parser;
use color::escaped;
use eitri::Error;
use output::{open, say};

/// Differences, failed vectors or a failed evaluation.
const FINDINGS: u8 = 1;
/// Unusable input or arguments.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let Arguments { command, color } = Arguments::parse();
    color.choose();
    command.run().unwrap_or_else(|failure| {
        failure.print();
        ExitCode::from(UNUSABLE)
    })
}

/// Message for unusable input.
struct Failure(String);

impl Failure {
    /// A message on a single line: a line break in a name does not end it.
    fn line(text: impl Display) -> Self {
        Self(escaped(&text.to_string()).into())
    }

    fn print(&self) {
        say(Some("eitri:"), &self.0);
    }

    /// Appends a hint, if there is a hint.
    fn and(self, hint: &str) -> Self {
        if hint.is_empty() { self } else { Self(format!("{}\n{hint}", self.0)) }
    }
}

/// Adds the file to an error.
fn in_file(file: &Path) -> impl Fn(Error) -> Failure {
    move |error| {
        let name = if file.as_os_str() == "-" { "standard input".into() } else { file.display().to_string() };
        Failure::line(format_args!("{name}: {error}")).and(hints::list_of(&error))
    }
}

/// An error without a file.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::line(&error).and(hints::list_of(&error))
    }
}

/// The exit code for a command that found nothing, or something.
fn exit_code(is_clean: bool) -> ExitCode {
    if is_clean { ExitCode::SUCCESS } else { ExitCode::from(FINDINGS) }
}

/// Prints the failures for several files.
fn outcome(fails: bool, failures: &[Failure]) -> Result<ExitCode, Failure> {
    failures.iter().for_each(Failure::print);
    Ok(if failures.is_empty() { exit_code(!fails) } else { ExitCode::from(UNUSABLE) })
}

/// Reads a file, or standard input.
fn input(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if file.as_os_str() != "-" {
            open(file)?.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        io::stdin().lock().read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| in_file(file)(error.into()))
}
