//! `emit`: a description written as debug information in an object, in PTX, or in a module.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::ValueEnum;
use eitri::emit::elf::{self, Existing};
use eitri::emit::ptx;
use eitri::error::ErrorKind;
use eitri::lower::Policy;
use eitri::model::WarningKind;
use eitri::output::{Output, OutputOptions, Prepared};

use super::arguments::Reader;
use super::contents::Contents;
use super::described::describe;
use super::modules;
use super::output::{say_line, write_files};
use super::split::file_name;
use super::{Failure, containers, hints, kinds};

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
    /// row; `duplicate-variable`; `overlapping-scopes`; `symbol-size`, code of another size than its
    /// symbol; `undescribed-code`, functions in code without a description. Can be repeated.
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
        let module = describe(&self.description)?;
        let consumer = self.reader.consumer(module.target())?;
        let name = if consumer.is_split { file_name(&self.output)? } else { String::new() };
        let options = {
            let mut options = OutputOptions::default();
            options.policy = Policy::partial(self.partial);
            options.existing = self.existing();
            options.compression = self.compression.method();
            options.name = &name;
            options
        };
        let hint = (!self.partial).then_some("--partial omits it, and lists it");
        let prepared = Prepared::new(&module, &consumer, &options);
        let output = self.written(prepared.map_err(hints::if_refused(&self.description, hint))?)?;
        for warning in &output.warnings {
            if !self.allow.iter().any(|allowed| allowed == warning.kind().name()) {
                say_line(warning);
            }
        }
        for omission in &output.omissions {
            say_line(format_args!("omitted: {omission}"));
        }
        let split = self.split_files(&output)?;
        // The object is written last: the files that it refers to exist then.
        let files = split.iter().map(|(file, bytes)| (&**file, *bytes));
        write_files(&files.chain([(&*self.output, &*output.bytes)]).collect::<Vec<_>>())?;
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

    /// Writes the lowered description into the object, into the PTX text, or into a new object.
    fn written(&self, prepared: Prepared<'_>) -> Result<Output, Failure> {
        let Some(file) = &self.object else {
            return prepared.into_new(None).map_err(|error| match error.kind() {
                ErrorKind::BadArgument(_) => Failure::from(error).and("--object names it"),
                _ => error.into(),
            });
        };
        let bytes = match &self.member {
            Some(member) => containers::single(file, Some(member))?.1,
            None => Contents::read(file)?,
        };
        if let Some(failure) = kinds::refused(file, "", &bytes) {
            return Err(failure);
        }
        prepared.into_attached(&bytes).map_err(|error| match error.kind() {
            // The description differs from the text.
            ErrorKind::BadArgument(lines) if ptx::is_ptx(&bytes) => {
                let line = |line| Failure::line(format_args!("{}: {line}", self.description.display())).0;
                Failure(lines.lines().map(line).collect::<Vec<_>>().join("\n"))
            }
            _ => hints::if_there(file)(error),
        })
    }

    /// Returns the split-unit files, beside the output.
    fn split_files<'o>(&self, output: &'o Output) -> Result<Vec<(PathBuf, &'o [u8])>, Failure> {
        let split = output.split.iter().map(|(name, bytes)| {
            let file = self.output.with_file_name(name);
            // `./a` equals `a`.
            if self.output.components().eq(file.components()) {
                let output = self.output.display();
                return Err(Failure::line(format_args!(
                    "{output} would be written over by the file of a split unit"
                )));
            }
            Ok((file, &**bytes))
        });
        split.collect()
    }
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
