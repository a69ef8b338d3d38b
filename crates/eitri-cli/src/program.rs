//! `schema`, `completions` and `man`: files about the program.

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use eitri::Error;
use eitri::schema::Schema;

use super::Failure;
use super::arguments::Arguments;
use super::output::{Form, print, write_files};

/// Arguments for `schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Format: a description, stopped machines, conformance vectors, or a `lint` finding.
    #[arg(value_parser = Schema::NAMES)]
    format: String,
}

impl SchemaArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let format = &self.format;
        let schema =
            Schema::named(format).ok_or_else(|| Failure::line(format_args!("no format is `{format}`")))?;
        print(Form::Json, &schema.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Arguments for `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// Shell.
    shell: Shell,
}

impl CompletionsArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "eitri", &mut script);
        write_files(&[(Path::new("-"), &script)])?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Arguments for `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Command that the page describes. The default is the overview of all commands.
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl ManArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        write_files(&[(Path::new("-"), &page(self.command.as_deref())?)])?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the manual page for a command, or for the program.
fn page(name: Option<&str>) -> Result<Vec<u8>, Failure> {
    let mut command = Arguments::command();
    // Subcommands know their parent only after `build`.
    command.build();
    if let Some(name) = name {
        let Some(named) = command.find_subcommand(name).cloned() else {
            // The parser's error has the nearest command.
            return match Arguments::command().try_get_matches_from(["eitri", name]) {
                Err(error) => error.exit(),
                Ok(_) => Err(Failure::line(format_args!(
                    "`man` prints the page of a command: `{name}` is not a command"
                ))),
            };
        };
        command = named;
    }
    let mut page = Vec::new();
    let source = concat!("eitri ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command).source(source).render(&mut page).map_err(Error::from)?;
    page.push(b'\n');
    Ok(page)
}
