//! The command: arguments and exit codes only.

#![forbid(unsafe_code)]

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use eitri::dump::{DumpOptions, print_as, print_split};
use eitri::op;
use eitri::target::Target;

/// Debug information of GPU code.
///
/// Exit codes: 0, or 2 where the input or the arguments cannot be used.
#[derive(Parser)]
#[command(name = "eitri")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print what the debug sections of an object file say.
    Dump {
        /// The object file; `-` is standard input.
        file: PathBuf,
        /// Also print section offsets, forms and encodings.
        #[arg(short, long)]
        verbose: bool,
        /// A file of split units (`.dwo`) whose skeletons are in the object file: print these units, with the
        /// addresses and lines that the object file has.
        #[arg(long, value_name = "DWO")]
        split: Option<PathBuf>,
        /// Name registers as this target does, `amdgpu-gfx1030-wave32` for one. What the file says is used
        /// if this is not given.
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
        /// How vendor operations are encoded: nothing in a file says so.
        #[arg(long, value_enum, default_value_t = Dialect::Llvm)]
        dialect: Dialect,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Dialect {
    /// `DW_OP_LLVM_user` and a sub-operation.
    Llvm,
    /// One byte, as older AMD debuggers have them.
    Legacy,
    /// None: DWARF 5 alone.
    Dwarf5,
}

impl From<Dialect> for op::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Llvm => Self::Llvm,
            Dialect::Legacy => Self::Legacy,
            Dialect::Dwarf5 => Self::Dwarf5,
        }
    }
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let Command::Dump { file, .. } = &command;
    let file = file.display().to_string();
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("eitri: {file}: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> eitri::Result<()> {
    match command {
        Command::Dump { file, verbose, split, target, dialect } => {
            let target = target.as_deref().map(Target::named).transpose()?;
            let (target, dialect, options) = (target.as_ref(), dialect.into(), DumpOptions { verbose });
            let bytes = input(&file)?;
            print(&match split {
                Some(split) => print_split(&bytes, &input(&split)?, target, dialect, options)?,
                None => print_as(&bytes, target, dialect, options)?,
            })
        }
    }
}

fn input(file: &PathBuf) -> eitri::Result<Vec<u8>> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    Ok(std::fs::read(file)?)
}

/// Writes to standard output. That nobody reads it to the end is no error.
fn print(text: &str) -> eitri::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
