//! `emit`: a description written as debug information in an object, in PTX, or in a module.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::ValueEnum;
use eitri::check::{CheckFinding, check_code, check_ptx};
use eitri::emit::elf::{self, AttachOptions, Existing, ObjectCode, attach_with, new_object_with};
use eitri::emit::ptx;
use eitri::error::ErrorKind;
use eitri::lower::{Consumer, Lowered, Policy, lower};
use eitri::model::{Module, Warning, WarningKind};

use super::arguments::Reader;
use super::contents::Contents;
use super::described::describe;
use super::modules;
use super::output::{say_line, write_files};
use super::split::file_name;
use super::{Failure, containers, hints, in_file, input, kinds};

/// Arguments for `emit`.
#[derive(Debug, Args)]
pub struct EmitArguments {
    /// Description; `-` is standard input.
    description: PathBuf,
    /// Object file with the code, relocatable or linked, to which the debug sections are added; for `cuda-gdb`, the PTX
    /// text. Without this option, the output is a relocatable object that contains only debug sections, with undefined
    /// symbols.
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, requires = "object", value_name = "TEXT")]
    member: Option<String>,
    /// SPIR-V module without debug instructions, to which the description's instructions are added: its key `spirv` has
    /// the ids and positions.
    #[arg(long, value_name = "MODULE", conflicts_with_all = ["object", "replace", "keep_lines"])]
    spirv: Option<PathBuf>,
    /// Reader for the SPIR-V module. The default is `vulkan` for a shader, otherwise `opencl`.
    #[arg(long, value_name = "READER", requires = "spirv", value_parser = eitri::spirv::Mode::NAMES)]
    spirv_for: Option<String>,
    #[command(flatten)]
    reader: Reader,
    /// Omit information that the consumer's format cannot express, and list it on standard error.
    #[arg(long)]
    partial: bool,
    /// Suppress warnings of this kind: `shared-bits`, variables in the same bits at the same pc; `no-frame`, functions
    /// without frame rules; `doubtful-register`, PTX registers that are wider than the variable or set after the start
    /// of the pc range; `outside-scope`, live ranges outside the variable's block; `side-order`, an `else` before its
    /// `then`; `shared-code`, functions with common code; `no-code`, functions of 0 bytes, and kernels without code;
    /// `type-size`, numbers of unusual sizes; `overlapping-members`; `swapped-words`, a return address in the wrong order;
    /// `unscaled-frame`, a frame at a register with bytes of one lane; `unsaved-base`, a moved frame register without a
    /// rule; `called-kernel`; `undescribed-calls`, calls without `describes_calls`; `duplicate-call`;
    /// `duplicate-argument`; `callee-without-code`; `slot-outside-frame`; `larger-than-type`, parts after the variable's
    /// end; `half-registers`, numbers in 32 bits of larger registers; `global-in-register`; `late-row`, pcs before the first
    /// row; `duplicate-variable`; `overlapping-scopes`. Can be repeated.
    #[arg(long, value_name = "KIND", value_parser = WarningKind::ALL.map(WarningKind::name))]
    allow: Vec<String>,
    /// Remove the object's debug sections first.
    #[arg(long, requires = "object")]
    replace: bool,
    /// Keep the line tables of a cubin, such as those of `nvcc -lineinfo`, with the PTX text, and remove its other debug
    /// sections first. The description's files must be those of the line table.
    #[arg(long, requires = "object", conflicts_with = "replace")]
    keep_lines: bool,
    #[command(flatten)]
    compression: Compression,
    /// Output file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl EmitArguments {
    pub fn run(self) -> Result<ExitCode, Failure> {
        if let Some(module) = &self.spirv {
            return self.module(module);
        }
        let Self { description, reader, partial, output, .. } = &self;
        let mut module = describe(description)?;
        let consumer = reader.consumer(module.target())?;
        if consumer.is_split {
            module.name_split_units(&file_name(output)?)?;
        }
        let hint = (!partial).then_some("--partial omits it, and lists it");
        let written = lower(&module, &consumer, Policy::partial(*partial))
            .map_err(hints::if_refused(description, hint))?;
        let (bytes, warnings) = if consumer.has_line_directives {
            self.ptx(&module, &written)?
        } else {
            (self.object(&module, &written)?, Vec::new())
        };
        self.warn(&consumer, module.warnings().into_iter().chain(warnings));
        for omission in &written.omissions {
            say_line(format_args!("omitted: {omission}"));
        }
        let split = self.split_files(&module, &written)?;
        // The object is written last: the files that it refers to exist then.
        let files = split.iter().map(|(file, bytes)| (&**file, &**bytes));
        write_files(&files.chain([(&**output, &*bytes)]).collect::<Vec<_>>())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Writes a module's debug instructions.
    fn module(&self, module: &Path) -> Result<ExitCode, Failure> {
        let attached = modules::emit(&self.description, module, self.spirv_for.as_deref())?;
        if let Some(first) = attached.omissions.first().filter(|_| !self.partial) {
            let omitted = Failure::line(format_args!("{}: omitted: {first}", self.description.display()));
            return Err(omitted.and("--partial omits it, and lists it"));
        }
        attached.finish(&self.output)
    }

    fn existing(&self) -> Existing {
        match (self.replace, self.keep_lines) {
            (true, _) => Existing::Replace,
            (_, true) => Existing::KeepLines,
            _ => Existing::Refuse,
        }
    }

    /// Returns the PTX text with the debug information, and warnings about registers in the text.
    fn ptx(&self, module: &Module, written: &Lowered) -> Result<(Vec<u8>, Vec<Warning>), Failure> {
        if self.keep_lines {
            return Err(Failure("--keep-lines is for cubins: this is a PTX text".into()));
        }
        let object = self.object.as_deref();
        let text = ptx_text(object)?;
        let how = {
            let mut options = ptx::PtxAttachOptions::default();
            options.existing = self.existing();
            options.lines = written.lines.as_ref();
            options
        };
        let of_object = hints::if_there(object.unwrap_or(Path::new("-")));
        let report = check_ptx(module, &text).map_err(&of_object)?;
        refuse(&self.description, &report.findings)?;
        let bytes =
            ptx::attach(&text, module.target(), &written.sections, &how).map_err(of_object)?.into_bytes();
        Ok((bytes, report.warnings))
    }

    /// Returns the object with the debug information.
    fn object(&self, module: &Module, written: &Lowered) -> Result<Vec<u8>, Failure> {
        let target = module.target();
        let sections = &written.sections;
        let compression = self.compression.method();
        let Some(file) = &self.object else {
            return Ok(new_object_with(target, &ObjectCode::elsewhere(sections), sections, compression)?);
        };
        let bytes = match &self.member {
            Some(member) => containers::single("emit", file, Some(member))?.1,
            None => Contents::read(file)?,
        };
        if let Some(failure) = kinds::refused(file, "", &bytes) {
            return Err(failure);
        }
        check_code(module, &bytes).map_err(in_file(file))?;
        let how = {
            let mut options = AttachOptions::default();
            options.existing = self.existing();
            options.compression = compression;
            options
        };
        attach_with(&bytes, target, sections, &how).map_err(hints::if_there(file))
    }

    /// Prints the warnings that are not allowed.
    fn warn(&self, consumer: &Consumer, warnings: impl Iterator<Item = Warning>) {
        // Without a section for them, frames come from somewhere else: for PTX, from ptxas.
        let has_frames = consumer.frames.debug_frame || consumer.frames.eh_frame;
        for warning in warnings {
            let kind = warning.kind();
            let is_of_object = has_frames || kind != WarningKind::NoFrame;
            if is_of_object && !self.allow.iter().any(|allowed| allowed == kind.name()) {
                say_line(warning);
            }
        }
    }

    /// Returns the split-unit files, beside the output.
    fn split_files(&self, module: &Module, written: &Lowered) -> Result<Vec<(PathBuf, Vec<u8>)>, Failure> {
        let split = written.split_files(module.target())?.into_iter().map(|(name, bytes)| {
            let file = self.output.with_file_name(name);
            // `./a` equals `a`.
            if self.output.components().eq(file.components()) {
                let output = self.output.display();
                return Err(Failure::line(format_args!(
                    "{output} would be written over by the file of a split unit"
                )));
            }
            Ok((file, bytes))
        });
        split.collect()
    }
}

/// Reads the PTX text to which debug information is added.
fn ptx_text(object: Option<&Path>) -> Result<String, Failure> {
    let problem = "the consumer reads PTX, but there is no PTX text; expected --object";
    let file = object.ok_or_else(|| Failure(problem.into()))?;
    let text = String::from_utf8(input(file)?).ok().filter(|text| ptx::is_ptx(text.as_bytes()));
    text.ok_or_else(|| in_file(file)(ErrorKind::BadArgument(problem.into()).into()))
}

/// Refuses a description with findings, and lists them.
fn refuse(description: &Path, findings: &[CheckFinding]) -> Result<(), Failure> {
    let line = |finding| Failure::line(format_args!("{}: {finding}", description.display())).0;
    let lines: Vec<String> = findings.iter().map(line).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure(lines.join("\n"))) }
}

/// Debug section compression.
#[derive(Debug, Args)]
struct Compression {
    /// Compress the debug sections. The default method is `zlib`, which every reader that decompresses sections
    /// supports.
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true,
          default_missing_value = "zlib", default_value = "none", hide_possible_values = false)]
    compress_debug_sections: Algorithm,
}
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Algorithm {
    None,
    Zlib,
    Zstd,
}

impl Compression {
    fn method(&self) -> elf::Compression {
        match self.compress_debug_sections {
            Algorithm::None => elf::Compression::None,
            Algorithm::Zlib => elf::Compression::Zlib,
            Algorithm::Zstd => elf::Compression::Zstd,
        }
    }
}
