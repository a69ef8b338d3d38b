//! `attach` and `strip`: debug instructions added to SPIR-V modules, and removed from them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use eitri::error::{ErrorKind, Present};
use eitri::model::Module;
use eitri::omission::Omission;
use eitri::spirv::{self, Binding, Checked, DescribedModule, Mode, Source};

use super::output::{say, say_line, write_files};
use super::{FINDINGS, Failure, input, of};

/// Arguments of `attach`.
#[derive(Debug, Args)]
pub struct AttachArguments {
    /// SPIR-V module; `-` is standard input.
    module: PathBuf,
    /// Reader of the output. The default is `opencl` for a module with the addressing model `Physical32` or `Physical64`
    /// or the memory model `OpenCL`, otherwise `vulkan`.
    #[arg(long = "for", value_name = "READER", value_parser = eitri::spirv::Mode::NAMES)]
    reader: Option<String>,
    /// Source file, whose path and text the debug instructions get. The default is what `OpSource` has.
    #[arg(long, value_name = "FILE")]
    source: Option<PathBuf>,
    /// Number of the source language in SPIR-V, such as 10 for WGSL. The default is that of `OpSource`.
    #[arg(long, value_name = "NUMBER")]
    language: Option<u32>,
    /// Remove the debug instructions of the module first.
    #[arg(long)]
    replace: bool,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Arguments of `strip`.
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
        write_files(&[(&output, &bytes(&stripped.map_err(of(&module))?))])?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Describes a module and attaches the description.
fn attach(request: &AttachArguments) -> Result<Attached, Failure> {
    let file = &request.module;
    let words = words(file)?;
    if let Some(name) = debug_set(&words).map_err(of(file))?.filter(|_| !request.replace) {
        let what = Present::Instructions(name);
        let there = of(file)(ErrorKind::AlreadyPresent(what).into());
        return Err(there.and("--replace removes them first"));
    }
    let text = |path: &Path| {
        String::from_utf8(input(path)?)
            .map_err(|_| of(path)(ErrorKind::BadArgument("a source is text in UTF-8".into()).into()))
    };
    let source = Source {
        path: request.source.as_ref().map(|path| path.display().to_string()),
        text: request.source.as_deref().map(text).transpose()?,
        language: request.language,
    };
    let described = spirv::describe(&words, &source).map_err(of(file))?;
    drop(words);
    let DescribedModule { words, module, binding, mut omissions, .. } = described;
    let mode = mode(request.reader.as_deref(), &module)?;
    let attached = spirv::attach(&words, &module, &binding, &mode).map_err(of(file))?;
    drop(words);
    let checked = attached.check(&module, &binding, &mode).map_err(of(file))?;
    omissions.extend(attached.omissions);
    Ok(Attached { bytes: bytes(&attached.words), omissions, checked })
}

/// The name of a set of debug instructions, known or not, that a module has instructions of.
fn debug_set(words: &[u32]) -> eitri::Result<Option<String>> {
    let facts = spirv::read(words)?;
    let known = facts.iter().next().map(|fact| fact.set.name().to_owned());
    Ok(known.or_else(|| facts.layout().unknown_sets().map(|(_, name, _)| name.to_owned()).next()))
}

/// Attaches a description with its binding to a module.
pub fn emit(description: &Path, module: &Path, reader: Option<&str>) -> Result<Attached, Failure> {
    let words = words(module)?;
    let (described, binding) = Binding::from_json(input(description)?, &words).map_err(of(description))?;
    let mode = mode(reader, &described)?;
    let attached = spirv::attach(&words, &described, &binding, &mode).map_err(of(module))?;
    let checked = attached.check(&described, &binding, &mode).map_err(of(module))?;
    Ok(Attached { bytes: bytes(&attached.words), omissions: attached.omissions, checked })
}

/// The mode of a reader; without one, that of the target.
fn mode(reader: Option<&str>, described: &Module) -> Result<Mode, Failure> {
    Ok(match reader {
        Some(name) => Mode::named(name)?,
        None if described.target().is_shader() => Mode::vulkan(),
        None => Mode::opencl(),
    })
}

/// The words of the module in a file.
fn words(file: &Path) -> Result<Vec<u32>, Failure> {
    spirv::from_bytes(&input(file)?).map_err(of(file))
}

/// Words as bytes, the least significant one first.
fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
