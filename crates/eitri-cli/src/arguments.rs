//! Program arguments, and arguments that several commands have.

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use eitri::consumer::{Additions, Consumer};
use eitri::op;
use eitri::target::Target;

use super::check::CheckArguments;
use super::color::Color;
use super::conform::ConformArguments;
use super::dump::DumpArguments;
use super::emit::EmitArguments;
use super::evaluate::EvalArguments;
use super::explain::{EXPLAINED, ExplainArguments};
use super::import::ImportArguments;
use super::lint::LintArguments;
use super::locate::LocateArguments;
use super::modules::{AttachArguments, StripArguments};
use super::program::{CompletionsArguments, ManArguments, SchemaArguments};
use super::report::ReportArguments;
use super::rewrite::RewriteArguments;
use super::stats::StatsArguments;
use super::targets::TargetsArguments;
use super::{Failure, outcome};

/// Write, check, print and explain debug information for GPU code.
///
/// Exit codes: 0 for success; 1 if `check` found a difference, `lint` a mistake, `stats` a part below `--fail-below`, a
/// `conform` vector failed, or an evaluation by `eval` or `explain` failed; 2 if the input or the arguments cannot be
/// used.
#[derive(Debug, Parser)]
#[command(name = "eitri", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Use colours: `auto` uses them on a terminal, unless the variable `NO_COLOR` is set and not empty.
    #[arg(long, value_enum, global = true, value_name = "WHEN", default_value_t = Color::Auto)]
    pub color: Color,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a description's debug information to an object file.
    ///
    /// Information that the consumer's format cannot express is an error. With --partial it is omitted, and listed on
    /// standard error.
    #[command(after_help = "Example: eitri emit scale.json --object scale_code.o --for llvm -o scale.o\n\
                            Example: eitri emit d.json --object k.ptx --for cuda-gdb -o out.ptx")]
    Emit(EmitArguments),
    /// Compare an object file's debug information with a description, or check a SPIR-V module by itself.
    ///
    /// Each difference is printed. Raw expressions in the description cannot be compared, and are listed as unproven.
    /// Split-unit files are read from the object's folder, by the names in the object.
    ///
    /// If ptxas made a cubin from PTX for `cuda-gdb`, the cubin is compared through the PTX lines, and the number of
    /// pcs at which the debugger finds each variable is printed.
    ///
    /// In a SPIR-V module, every debug instruction is checked by the rules in its specification.
    #[command(after_help = "Example: eitri check scale.json scale.o --for llvm\n\
                            Example: eitri check kernel.spv")]
    Check(CheckArguments),
    /// Derive variable locations from a description's `code` statements, which declare how instructions change storage
    /// and what values variables have.
    ///
    /// The output is the description with these locations. Assigned values that some path of a lane does not define are
    /// listed on standard error; such a variable has no location there.
    #[command(after_help = "Example: eitri locate kernel.json -o located.json")]
    Locate(LocateArguments),
    /// Write the description of an object file's debug information.
    ///
    /// Files from any producer are accepted. Facts that a description cannot hold, or that contradict other facts, are
    /// listed on standard error.
    #[command(after_help = "Example: eitri import kernel.hsaco -o kernel.json\n\
                            Example: eitri import a.o --only scale --strict -o scale.json")]
    Import(ImportArguments),
    /// Write an object file's debug information again, for the same or another consumer.
    ///
    /// Files from any producer are accepted. Code and all loaded bytes stay identical; debug sections are replaced. The
    /// result is read back and compared before it is written. Facts that the output lacks are listed.
    #[command(after_help = "Example: eitri rewrite kernel.hsaco --for rocgdb-legacy -o legacy.hsaco\n\
                            Example: eitri rewrite kernel.hsaco --dry-run")]
    Rewrite(RewriteArguments),
    /// Print an object file's debug sections, or a SPIR-V module's debug instructions.
    ///
    /// Files from any producer are accepted. An object that is not linked gets assumed section addresses, which are
    /// printed first.
    #[command(after_help = "Example: eitri dump scale.o\nExample: eitri dump kernel.spv")]
    Dump(DumpArguments),
    /// Add debug instructions to a SPIR-V module, from its own names, types, lines and control flow.
    ///
    /// Compile without optimization, with names and lines: naga, DXC and glslang write them if asked for debug
    /// information. Properties that the instruction set cannot express are listed on standard error. The output is read
    /// back and compared with the description; exit code 1 if they differ.
    #[command(after_help = "Example: eitri attach shader.spv --source shader.wgsl --for vulkan -o debug.spv")]
    Attach(AttachArguments),
    /// Remove debug instructions and lines from a SPIR-V module, whichever producer wrote them.
    ///
    /// Names, types, constants and `OpSource` stay. With `--all`, types and constants that nothing uses are removed
    /// too, and so are the extensions for debug instructions.
    #[command(after_help = "Example: eitri strip debug.spv -o shader.spv")]
    Strip(StripArguments),
    /// Check the debug information of object files and SPIR-V modules, without a description.
    ///
    /// Each finding is printed with its evidence: the instruction that set a register, the symbol that is missing, the
    /// rows of a frame. Objects for AMD GPUs, NVIDIA GPUs and CPUs are accepted, and SPIR-V modules, from any producer.
    #[command(after_help = "Example: eitri lint kernel.hsaco\n\
                            Example: eitri lint *.hsaco --format sarif --fail-on warning\n\
                            Example: eitri lint --explain register-as-memory")]
    Lint(LintArguments),
    /// Measure in which part of the code object files' variables have a location.
    ///
    /// `sound` omits the locations in which `lint` finds an error. JSON has the numbers that llvm-dwarfdump's
    /// statistics have, version 9, under the same names.
    #[command(after_help = "Example: eitri stats kernel.hsaco\n\
                            Example: eitri stats *.hsaco --format json\n\
                            Example: eitri stats new.hsaco --against old.hsaco --fail-below 98\n\
                            Example: eitri stats O2.hsaco --lines --against O0.hsaco")]
    Stats(StatsArguments),
    /// Write a page that shows an object file's debug information.
    ///
    /// The page is an HTML file without references to other files: for each function a timeline of its variables, with
    /// the expressions, their steps, and `lint`'s findings.
    #[command(after_help = "Example: eitri report kernel.hsaco -o report.html\n\
                            Example: eitri report kernel.hsaco --disassembly kernel.s --source src -o report.html")]
    Report(ReportArguments),
    /// Run conformance vectors with the built-in evaluator.
    ///
    /// Each vector that fails is printed with its name, the expected result and the found result. The last line has the
    /// counts.
    #[command(after_help = "Example: eitri conform goldens/conformance/*.json --only piece")]
    Conform(ConformArguments),
    /// Evaluate an expression, or the location of a variable in a file, on a stopped machine.
    ///
    /// The result is printed in the conformance format's notation (`location reg:v3+160, bytes 05 45 85 c5`), and so is
    /// an error, with its operation and rule. With `--lane all`, each line has neighbouring lanes with equal contents,
    /// and their location if it is equal too.
    #[command(after_help = "\
        Example: eitri eval 'regx v3; push_lane; lit4; mul; offset' --machine machine.json --read 32\n\
        Example: eitri eval --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json\n\
        Example: eitri eval --var x --pc scale+0x8 --lane all scale.o --machine machine.json --format json")]
    Eval(EvalArguments),
    /// Evaluate step by step, or print the position of each lane in a wave.
    ///
    /// Each step is printed with its operation, the stack after it, and the bits that were read. For a wave, the active
    /// lanes are printed, and the pcs at which the other lanes wait.
    #[command(after_help = "\
        Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg\n\
        Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json\n\
        Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg",
        after_long_help = EXPLAINED)]
    Explain(ExplainArguments),
    /// List the targets, or a target's registers and address spaces.
    #[command(after_help = "Example: eitri targets amdgpu-gfx1030-wave32")]
    Targets(TargetsArguments),
    /// Write a format's JSON Schema to standard output, for editors and generators.
    #[command(after_help = "Example: eitri schema description >description.schema.json")]
    Schema(SchemaArguments),
    /// Write a shell's completions to standard output.
    #[command(
        after_help = "Example: eitri completions bash >~/.local/share/bash-completion/completions/eitri"
    )]
    Completions(CompletionsArguments),
    /// Write a manual page to standard output.
    #[command(after_help = "Example: eitri man emit >eitri-emit.1")]
    Man(ManArguments),
}

impl Command {
    /// Runs the command, and returns the exit code.
    pub fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Emit(emit) => emit.run(),
            Self::Check(check) => check.run(),
            Self::Locate(locate) => locate.run(),
            Self::Import(import) => import.run(),
            Self::Rewrite(rewrite) => rewrite.run(),
            Self::Dump(dump) => dump.run(),
            Self::Attach(attach) => attach.run(),
            Self::Strip(strip) => strip.run(),
            Self::Lint(lint) => {
                let (fails, failures) = lint.run()?;
                outcome(fails, &failures)
            }
            Self::Stats(stats) => {
                let (fails, failures) = stats.run()?;
                outcome(fails, &failures)
            }
            Self::Report(report) => report.run(),
            Self::Conform(conform) => conform.run(),
            Self::Eval(eval) => eval.run(),
            Self::Explain(explain) => explain.run(),
            Self::Targets(targets) => targets.run(),
            Self::Schema(schema) => schema.run(),
            Self::Completions(completions) => completions.run(),
            Self::Man(man) => man.run(),
        }
    }
}

/// Consumer that reads the object.
#[derive(Debug, Args)]
pub struct Reader {
    /// Consumer that reads the object. The default is `cuda-gdb` on NVIDIA's targets, `dwarf5` on CPUs, and `llvm` on all other targets.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES)]
    name: Option<String>,
    /// Use the 64-bit DWARF format.
    #[arg(long)]
    dwarf64: bool,
    /// Add DWARF 5's name index (`.debug_names`).
    #[arg(long)]
    names: bool,
    /// Add the name tables from before DWARF 5 (`.debug_pubnames`, `.debug_pubtypes`).
    #[arg(long)]
    pubnames: bool,
    /// Add the address range table (`.debug_aranges`).
    #[arg(long)]
    aranges: bool,
    /// Put named structures and enumerations into type units, in DWARF 4 and 5.
    #[arg(long)]
    type_units: bool,
    /// Split DWARF 5 units: the parts without relocations go to files beside the object. The default names beside
    /// `out.o` are `out.dwo` for a single unit, and `out-a.dwo` for the unit `src/a.c` among several.
    #[arg(long)]
    pub split_dwarf: bool,
}

impl Reader {
    /// Returns the object's consumer for a target.
    pub fn consumer(&self, target: &Target) -> eitri::Result<Consumer> {
        let Self { ref name, dwarf64, names, pubnames, aranges, type_units, split_dwarf } = *self;
        let additions = Additions { dwarf64, names, pubnames, aranges, type_units, split: split_dwarf };
        Ok(Consumer::chosen(name.as_deref(), target)?.with(additions))
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Dialect {
    /// `DW_OP_LLVM_user` and a sub-operation.
    Llvm,
    /// One-byte operations for older AMD debuggers.
    Legacy,
    /// DWARF 5 without vendor operations.
    Dwarf5,
    /// Operations accepted for DWARF 6.
    Dwarf6,
}

impl From<Dialect> for op::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Llvm => Self::Llvm,
            Dialect::Legacy => Self::Legacy,
            Dialect::Dwarf5 => Self::Dwarf5,
            Dialect::Dwarf6 => Self::Dwarf6,
        }
    }
}
