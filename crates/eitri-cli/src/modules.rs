//! `attach` and `strip`: debug instructions added to SPIR-V modules, and removed from them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::error::{ErrorKind, Present};
use eitri::omission::Omission;
use eitri::spirv::{self, Binding, Checked, DescribedModule, Mode, ModuleSource};

use super::output::{say, say_line, write_files};
use super::{FINDINGS, Failure, in_file, input};

/// Arguments for `attach`.
#[derive(Debug, Args)]
pub struct AttachArguments {
    /// SPIR-V module; `-` is standard input.
    module: PathBuf,
    /// The output's reader. The default is `opencl` for a module with the addressing model `Physical32` or `Physical64`
    /// or the memory model `OpenCL`, otherwise `vulkan`.
    #[arg(long = "for", value_name = "READER", value_parser = eitri::spirv::Mode::NAMES)]
    reader: Option<String>,
    /// Source file, whose path and text the debug instructions get. The default is what `OpSource` has.
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// Source language number in SPIR-V, such as 10 for WGSL. The default is the number in `OpSource`.
    #[arg(long, value_name = "NUMBER")]
    language: Option<u32>,
    /// Remove the module's debug instructions first.
    #[arg(long)]
    replace: bool,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Arguments for `strip`.
#[derive(Debug, Args)]
pub struct StripArguments {
    /// SPIR-V module; `-` is standard input.
    module: PathBuf,
    /// Remove also types, constants and extensions that nothing uses after that.
    #[arg(long)]
    all: bool,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// A module with debug instructions.
pub struct Attached {
    bytes: Vec<u8>,
    pub omissions: Vec<Omission>,
    checked: Checked,
}

impl Attached {
    /// Lists what the module lacks, and writes the module if it was read back as described.
    pub fn finish(&self, output: &Path) -> Result<ExitCode, Failure> {
        for omission in &self.omissions {
            say_line(format_args!("omitted: {omission}"));
        }
        if !self.checked.is_clean() {
            say(None, &self.checked);
            return Ok(ExitCode::from(FINDINGS));
        }
        write_files(&[(output, &self.bytes)])?;
        Ok(ExitCode::SUCCESS)
    }
}

impl AttachArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        attach(&self)?.finish(&self.output)
    }
}

impl StripArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { module, all, output } = self;
        let words = words(&module)?;
        let stripped = if all { spirv::strip_unused(&words) } else { spirv::strip(&words) };
        write_files(&[(&output, &spirv::to_bytes(&stripped.map_err(in_file(&module))?))])?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Describes a module and attaches the description.
fn attach(request: &AttachArguments) -> Result<Attached, Failure> {
    let file = &request.module;
    let words = words(file)?;
    let facts = spirv::read(&words).map_err(in_file(file))?;
    if let Some(name) = facts.set_name().filter(|_| !request.replace) {
        let instructions = Present::Instructions(name.into());
        let there = in_file(file)(ErrorKind::AlreadyPresent(instructions).into());
        return Err(there.and("--replace removes them first"));
    }
    let text = |path: &Path| {
        String::from_utf8(input(path)?)
            .map_err(|_| in_file(path)(ErrorKind::BadArgument("source is not UTF-8 text".into()).into()))
    };
    let source = {
        let mut source = ModuleSource::default();
        source.path = request.source.as_ref().map(|path| path.display().to_string());
        source.text = request.source.as_deref().map(text).transpose()?;
        source.language = request.language;
        source
    };
    drop(facts);
    let described = spirv::describe(&words, &source).map_err(in_file(file))?;
    drop(words);
    let DescribedModule { words, module, binding, mut omissions, .. } = described;
    let mode = Mode::chosen(request.reader.as_deref(), module.target())?;
    let attached = spirv::attach(&words, &module, &binding, &mode).map_err(in_file(file))?;
    drop(words);
    let checked = attached.check(&module, &binding, &mode).map_err(in_file(file))?;
    omissions.extend(attached.omissions);
    Ok(Attached { bytes: spirv::to_bytes(&attached.words), omissions, checked })
}

/// Attaches a description with its binding to a module.
pub fn emit(description: &Path, module: &Path, reader: Option<&str>) -> Result<Attached, Failure> {
    let words = words(module)?;
    let (described, binding) =
        Binding::from_json(input(description)?, &words).map_err(in_file(description))?;
    let mode = Mode::chosen(reader, described.target())?;
    let attached = spirv::attach(&words, &described, &binding, &mode).map_err(in_file(module))?;
    let checked = attached.check(&described, &binding, &mode).map_err(in_file(module))?;
    Ok(Attached { bytes: spirv::to_bytes(&attached.words), omissions: attached.omissions, checked })
}

/// Returns the words of the module in a file.
fn words(file: &Path) -> Result<Vec<u32>, Failure> {
    spirv::from_bytes(&input(file)?).map_err(in_file(file))
}
