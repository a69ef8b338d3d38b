//! `dump`: debug information as text.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::contents::{PrintOptions, print_to};
use eitri::dump::{DumpOptions, print_object_to};
use eitri::error::ErrorKind;
use eitri::read::Object;
use eitri::spirv::is_module;

use super::arguments::Dialect;
use super::color::escaped;
use super::containers::{self, Reads};
use super::contents::Contents;
use super::output::{Form, Printer};
use super::progress::Progress;
use super::{Failure, companions, hints, in_file, input, outcome, targets};

/// Arguments for `dump`.
#[derive(Debug, Args)]
pub struct DumpArguments {
    /// Object file, archive or offload bundle with object files, or SPIR-V module; `-` is standard input.
    file: PathBuf,
    /// Print only members of archives and bundles whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    member: Option<String>,
    /// Print section offsets, forms and encodings too; for a module, the word at which each instruction begins.
    #[arg(short, long)]
    verbose: bool,
    /// Split-unit file (`.dwo`) whose skeleton units are in the object file: print these units, with the addresses and
    /// lines in the object file.
    #[arg(long, value_name = "DWO")]
    split: Option<PathBuf>,
    /// Print the Mercury copies in a cubin for sm_100 or later: the sections `.nv.merc.*`, from which nvlink and the driver
    /// make the debug sections of the code that they finalize. Their pcs count bytes of Mercury code.
    #[arg(long, conflicts_with = "split")]
    mercury: bool,
    /// Target whose register names are printed, such as `amdgpu-gfx1030-wave32`, or a `.json` file with a target: a
    /// description, or the value of its key `target`. The default is the file's target.
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Encoding for vendor operations, which a file does not record. The default is the encoding that its expressions have.
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
}

impl DumpArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { file, member, verbose, split, mercury, target, dialect } = self;
        let target = target.as_deref().map(targets::named).transpose()?;
        let target = target.as_ref();
        let _progress = Progress::beside_output("dump", &file);
        let bytes = Contents::read(&file)?;
        if is_module(&bytes) && (split.is_some() || target.is_some() || mercury) {
            let problem = "--split, --target and --mercury are for object files: this is a module";
            return Err(Failure(problem.into()));
        }
        if hints::is_json(&bytes) {
            let problem = "this is a description or other JSON; expected an object file or a SPIR-V module";
            return Err(in_file(&file)(ErrorKind::BadArgument(problem.into()).into()));
        }
        let dwo = split.as_deref().map(input).transpose()?;
        let options = {
            let mut options = PrintOptions::default();
            options.verbose = verbose;
            options.dialect = dialect.map(Into::into);
            options.target = target;
            options.split = dwo.as_deref();
            options
        };
        let (objects, mut failures) = containers::inside(&file, bytes, member.as_deref(), Reads::Modules)?;
        let mut out = Printer::new(Form::Text);
        let is_single = objects.len() == 1;
        let mut is_whole = true;
        for object in objects {
            let object = companions::described(&file, object);
            let name = &object.name;
            if !is_single {
                out.put(&format!("{}:\n", escaped(name)));
            }
            let printed = if mercury {
                print_copies(&mut out, &object.bytes, &options)
            } else {
                let mut options = options;
                options.supplementary = object.supplementary();
                print_to(&mut out, &object.bytes, &options)
            };
            match printed {
                // The output's reader has seen enough.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Io { kind: io::ErrorKind::BrokenPipe, .. }) =>
                {
                    break;
                }
                Ok(is_all) => is_whole &= is_all,
                Err(error) => failures.push(in_file(Path::new(name))(error)),
            }
        }
        out.finish()?;
        outcome(!is_whole, &failures)
    }
}

/// Prints the Mercury copies in a cubin.
fn print_copies(out: &mut Printer, bytes: &[u8], options: &PrintOptions<'_>) -> eitri::Result<bool> {
    let copies = Object::read_mercury(bytes)?.ok_or_else(|| {
        let problem = "the object has no sections `.nv.merc.*`; expected a cubin for sm_100 or later";
        eitri::Error::from(ErrorKind::BadArgument(problem.into()))
    })?;
    let mut how = DumpOptions::default();
    how.verbose = options.verbose;
    print_object_to(out, &copies, None, options.target, options.dialect, how)?;
    Ok(true)
}
