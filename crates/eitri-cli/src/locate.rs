//! `locate`: locations derived from what code does.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use eitri::json::locate;
use eitri::track;

use super::described::not_described;
use super::output::{say_line, write_files};
use super::{Failure, hints, in_file, input};

/// Arguments for `locate`.
#[derive(Debug, Args)]
pub struct LocateArguments {
    /// Description; `-` is standard input.
    description: PathBuf,
    /// Locations for a variable that has several at once.
    #[arg(long, value_enum, default_value_t = Keep::All)]
    keep: Keep,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl LocateArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { description, keep, output } = self;
        let text = input(&description)?;
        if hints::is_elf(&text) {
            return Err(not_described(&description));
        }
        let located = locate(&text, keep.into()).map_err(in_file(&description))?;
        for unproven in &located.unproven {
            say_line(format_args!("unproven: {unproven}"));
        }
        write_files(&[(&output, located.text.as_bytes())])?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Locations that are kept for a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Keep {
    /// All locations.
    All,
    /// A single location at a time: the location that lasts longest.
    #[value(name = "one")]
    Single,
}

impl From<Keep> for track::Keep {
    fn from(keep: Keep) -> Self {
        match keep {
            Keep::All => Self::All,
            Keep::Single => Self::Single,
        }
    }
}
