//! Command-line arguments.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use eitri::emit::elf;
use eitri::eval;
use eitri::lower::{Consumer, Policy};
use eitri::model::WarningKind;
use eitri::op;
use eitri::schema::Schema;
use eitri::target::Target;
use eitri::track;

use super::color::Color;
use super::lint::LintArguments;
use super::report::ReportArguments;
use super::split::SplitArguments;
use super::stats::StatsArguments;

/// Write, check, print and explain the debug information of GPU code.
///
/// Exit codes: 0 for success; 1 if `check` found a difference, `lint` a mistake, `stats` a part below `--fail-below`, a
/// vector of `conform` failed, or an evaluation of `eval` or `explain` failed; 2 if the input or the arguments cannot be
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
    /// Write the debug information of a description to an object file.
    ///
    /// Information that the consumer's format cannot express is an error. With --partial it is omitted, and listed on
    /// standard error.
    #[command(after_help = "Example: eitri emit scale.json --object scale_code.o --for llvm -o scale.o\n\
                            Example: eitri emit d.json --object k.ptx --for cuda-gdb -o out.ptx")]
    Emit {
        /// Description; `-` is standard input.
        description: PathBuf,
        /// Object file with the code, relocatable or linked, to which the debug sections are added; for `cuda-gdb`, the
        /// text of the PTX. Without this option, the output is a relocatable object of the debug sections alone, with
        /// undefined symbols.
        #[arg(long, value_name = "FILE")]
        object: Option<PathBuf>,
        /// Choose the member of an archive or bundle whose name contains this text.
        #[arg(long, requires = "object", value_name = "TEXT")]
        member: Option<String>,
        /// SPIR-V module without debug instructions, to which those of the description are added: its key `spirv` has
        /// the ids and positions.
        #[cfg(feature = "spirv")]
        #[arg(long, value_name = "MODULE", conflicts_with_all = ["object", "replace"])]
        spirv: Option<PathBuf>,
        /// Reader of the SPIR-V module. The default is `vulkan` for a shader, otherwise `opencl`.
        #[cfg(feature = "spirv")]
        #[arg(long, value_name = "READER", requires = "spirv", value_parser = eitri::spirv::Mode::NAMES)]
        spirv_for: Option<String>,
        #[command(flatten)]
        reader: Reader,
        /// Omit information that the consumer's format cannot express, and list it on standard error.
        #[arg(long)]
        partial: bool,
        /// Suppress warnings of this kind: `shared-bits`, variables in the same bits at one pc; `no-frame`, functions
        /// without frame rules; `doubtful-register`, PTX registers that are wider than the variable or set after the
        /// start of the pc range. Can be repeated.
        #[arg(long, value_name = "KIND", value_parser = WarningKind::ALL.map(WarningKind::name))]
        allow: Vec<String>,
        /// Remove the debug sections of the object first.
        #[arg(long, requires = "object")]
        replace: bool,
        #[command(flatten)]
        compression: Compression,
        /// Output file; `-` is standard output.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Compare the debug information of an object file with a description, or check a SPIR-V module by itself.
    ///
    /// Each difference is printed. Raw expressions of the description cannot be compared, and are listed as unproven.
    /// Files of split units are read from the folder of the object, by their names in it.
    ///
    /// A cubin that ptxas made of PTX for `cuda-gdb` is compared by way of the lines of the PTX, and the number of pcs
    /// at which the debugger finds each variable is printed.
    ///
    /// In a SPIR-V module, every debug instruction is checked by the rules of its specification.
    #[command(after_help = "Example: eitri check scale.json scale.o --for llvm\n\
                            Example: eitri check kernel.spv")]
    Check {
        /// Description or SPIR-V module; `-` is standard input.
        #[arg(value_name = "DESCRIPTION|MODULE")]
        description: PathBuf,
        /// Object file, with a description; `-` is standard input.
        object: Option<PathBuf>,
        /// Choose the member of an archive or bundle whose name contains this text.
        #[arg(long, requires = "object", value_name = "TEXT")]
        member: Option<String>,
        #[command(flatten)]
        reader: Reader,
        /// Accept omissions of --partial: information that the consumer's format cannot express may be missing.
        #[arg(long, requires = "object")]
        partial: bool,
        /// Suppress findings of this kind: `extra`, units, types, files and frames that the description does not have.
        #[arg(long, requires = "object", value_name = "KIND", value_parser = ["extra"])]
        allow: Vec<String>,
        /// Judge the locations of the description too, by its statements `code`.
        #[arg(long, requires = "object")]
        code: bool,
    },
    /// Derive the locations of variables from statements `code` of a description, which declare the effects of
    /// instructions on storage and the values of variables.
    ///
    /// The output is the description with these locations. Assignments of values that some path of a lane does not
    /// define are listed on standard error; such a variable has no location there.
    #[command(after_help = "Example: eitri locate kernel.json -o located.json")]
    Locate {
        /// Description; `-` is standard input.
        description: PathBuf,
        /// Locations of a variable that has several at once.
        #[arg(long, value_enum, default_value_t = Keep::All)]
        keep: Keep,
        /// Output file; `-` is standard output.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Print the debug sections of an object file, or the debug instructions of a SPIR-V module.
    ///
    /// Files of any producer are accepted. An object that is not linked gets assumed section addresses, which are
    /// printed first.
    #[command(after_help = "Example: eitri dump scale.o\nExample: eitri dump kernel.spv")]
    Dump {
        /// Object file, archive or offload bundle of object files, or SPIR-V module; `-` is standard input.
        file: PathBuf,
        /// Print only members of archives and bundles whose name contains this text.
        #[arg(long, value_name = "TEXT")]
        member: Option<String>,
        /// Print section offsets, forms and encodings too; for a module, the word at which each instruction begins.
        #[arg(short, long)]
        verbose: bool,
        /// File of split units (`.dwo`) with their skeleton units in the object file: print these units, with the
        /// addresses and lines of the object file.
        #[arg(long, value_name = "DWO")]
        split: Option<PathBuf>,
        /// Target whose register names are printed, such as `amdgpu-gfx1030-wave32`, or a file `.json` with one: a
        /// description, or the value of its key `target`. The default is the target of the file.
        #[arg(long, value_name = "TARGET")]
        target: Option<String>,
        /// Encoding of vendor operations, which a file does not record.
        #[arg(long, value_enum, default_value_t = Dialect::Llvm)]
        dialect: Dialect,
    },
    /// Add debug instructions to a SPIR-V module, from its own names, types, lines and control flow.
    ///
    /// Compile without optimization, with names and lines: naga, DXC and glslang write them if asked for debug
    /// information. Properties that the instruction set cannot express are listed on standard error. The output is read
    /// back and compared with the description; exit code 1 if they differ.
    #[cfg(feature = "spirv")]
    #[command(after_help = "Example: eitri attach shader.spv --source shader.wgsl --for vulkan -o debug.spv")]
    Attach {
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
    },
    /// Remove the debug instructions and lines of any producer from a SPIR-V module.
    ///
    /// Names, types, constants and `OpSource` stay. With `--all`, types and constants that nothing uses are removed, too, as
    /// are the extensions of debug instructions.
    #[cfg(feature = "spirv")]
    #[command(after_help = "Example: eitri strip debug.spv -o shader.spv")]
    Strip {
        /// SPIR-V module; `-` is standard input.
        module: PathBuf,
        /// Remove also types, constants and extensions that nothing uses after that.
        #[arg(long)]
        all: bool,
        /// Output file; `-` is standard output.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Judge the debug information of object files, without a description.
    ///
    /// Each finding is printed with its evidence: the instruction that set a register, the symbol that is missing, the
    /// rows of a frame. Objects of any producer for AMD GPUs, NVIDIA's GPUs and CPUs are accepted.
    #[command(after_help = "Example: eitri lint kernel.hsaco\n\
                            Example: eitri lint *.hsaco --format sarif --fail-on warning\n\
                            Example: eitri lint --explain register-as-memory")]
    Lint {
        #[command(flatten)]
        lint: LintArguments,
    },
    /// Measure the part of the code in which the variables of object files have a location.
    ///
    /// `sound` omits the locations in which `lint` finds an error. JSON has the numbers of the statistics of
    /// llvm-dwarfdump, version 9, under the same names.
    #[command(after_help = "Example: eitri stats kernel.hsaco\n\
                            Example: eitri stats *.hsaco --format json\n\
                            Example: eitri stats new.hsaco --against old.hsaco --fail-below 98\n\
                            Example: eitri stats O2.hsaco --lines --against O0.hsaco")]
    Stats {
        #[command(flatten)]
        stats: StatsArguments,
    },
    /// Write a page that shows the debug information of an object file.
    ///
    /// The page is one HTML file without references to others: for each function a timeline of its variables, with the
    /// expressions, their steps, and the findings of `lint`.
    #[command(after_help = "Example: eitri report kernel.hsaco -o report.html\n\
                            Example: eitri report kernel.hsaco --disassembly kernel.s --source src -o report.html")]
    Report {
        #[command(flatten)]
        report: ReportArguments,
    },
    /// Run conformance vectors with the built-in evaluator.
    ///
    /// Each vector that fails is printed with its name, the expected result and the found result. The last line has the
    /// counts.
    #[command(after_help = "Example: eitri conform goldens/conformance/*.json --only piece")]
    Conform {
        /// Files of vectors; `-` is standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Format of the output. `text` is for people and can change.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// The same as `--format json`.
        #[arg(long, hide = true)]
        json: bool,
        /// Run only vectors whose name contains this text.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        only: String,
    },
    /// Evaluate an expression, or the location of a variable of a file, on a stopped machine.
    ///
    /// The result is printed in the notation of the conformance format (`location reg:v3+160, bytes 05 45 85 c5`), and
    /// so is an error, with its operation and rule.
    #[command(after_help = "\
        Example: eitri eval 'regx v3; push_lane; lit4; mul; offset' --machine machine.json --read 32\n\
        Example: eitri eval --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json")]
    Eval {
        #[command(flatten)]
        question: Question,
    },
    /// Evaluate step by step, or print the position of each lane of a wave.
    ///
    /// Each step is printed with its operation, the stack after it, and the bits that were read. For a wave, the active
    /// lanes are printed, and the pcs at which the other lanes wait.
    #[command(after_help = "\
        Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg\n\
        Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json\n\
        Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg",
        after_long_help = EXPLAINED)]
    Explain {
        #[command(flatten)]
        question: Question,
        /// Print the position of each lane of a wave, by the debug information of an object file, in the innermost
        /// function at the first stop. --machine can be repeated.
        #[arg(long, requires = "machine",
              conflicts_with_all = ["var", "kind", "initial", "pc", "frame", "lane", "read", "consumer"])]
        lanes: bool,
        /// Function for --lanes: the innermost function at the first stop, or one of its callers.
        #[arg(long, value_name = "NAME", requires = "lanes")]
        function: Option<String>,
        /// Draw a figure too: a panel for each step, with the stack and the storages; with --lanes, a column for each
        /// stop.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// List the targets, or the registers and address spaces of one.
    #[command(after_help = "Example: eitri targets amdgpu-gfx1030-wave32")]
    Targets {
        /// Target, or a file `.json` with one.
        #[arg(value_name = "TARGET")]
        name: Option<String>,
    },
    /// Write the JSON Schema of a format to standard output, for editors and generators.
    #[command(after_help = "Example: eitri schema description >description.schema.json")]
    Schema {
        /// Format: a description, stopped machines, conformance vectors, or a finding of `lint`.
        #[arg(value_parser = Schema::NAMES)]
        format: String,
    },
    /// Write the completions of a shell to standard output.
    #[command(
        after_help = "Example: eitri completions bash >~/.local/share/bash-completion/completions/eitri"
    )]
    Completions {
        /// Shell.
        shell: Shell,
    },
    /// Write a manual page to standard output.
    #[command(after_help = "Example: eitri man emit >eitri-emit.1")]
    Man {
        /// Command of the page. The default is the overview of all commands.
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// End of the help of `explain`.
const EXPLAINED: &str = "\
Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg
Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json
Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg

With --lanes, the machines are stops of one wave, in order. Each has its pc, and the registers that contain masks, the \
least significant byte first. Each stop is a file, or an element of the `stops` of one file, which add to its \
`machine`:

  {\"target\": \"amdgpu-gfx1030-wave32\", \"stops\": [
      {\"pc\": \"0x10008\", \"registers\": {\"exec\": \"0f 00 00 00\", \"s4\": \"f0 00 00 00\"}},
      {\"pc\": \"0x10014\", \"registers\": {\"exec\": \"f0 00 00 00\", \"s4\": \"0f 00 00 00\"}}
  ]}

Addresses are those that `eitri dump` prints for the object. The pc is not repeated as a register.";

/// Expression or variable to evaluate, and its context.
#[derive(Debug, Args)]
pub struct Question {
    /// Expression, as text in the notation of `dump` or in hexadecimal; for a variable or lanes, the object file, where
    /// `-` is standard input.
    #[arg(value_name = "EXPR|FILE", allow_hyphen_values = true)]
    pub subject: String,
    /// Variable of the file: this name in the innermost scope at the pc. The unit is the outermost scope.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kind", "initial"])]
    pub var: Option<String>,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub member: Option<String>,
    #[command(flatten)]
    pub split: SplitArguments,
    /// Program location of the frame, instead of the machine's: an address, or a function of the file and an offset in
    /// bytes (`scale+0x8`).
    #[arg(long, value_name = "ADDRESS")]
    pub pc: Option<Pc>,
    /// Stopped machine: a JSON file with the object `machine` of the conformance format, and the object `target` if no
    /// other option gives a target. The default is a machine without known registers and memory.
    #[arg(long, value_name = "FILE")]
    pub machine: Vec<PathBuf>,
    /// Target, such as `amdgpu-gfx1030-wave32`, or a file `.json` with one. The default is the target of --machine, and
    /// then that of the object file.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Consumer whose encoding the expression has.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES, conflicts_with = "dialect")]
    pub consumer: Option<String>,
    /// Encoding of vendor operations.
    #[arg(long, value_enum, default_value_t = Dialect::Llvm)]
    pub dialect: Dialect,
    /// Frame, instead of the machine's; 0 is the innermost.
    #[arg(long, value_name = "N")]
    pub frame: Option<u32>,
    /// Current lane, instead of the machine's. The default number of lanes is that of the target.
    #[arg(long, value_name = "N")]
    pub lane: Option<u64>,
    /// Number of bits to read at the resulting location. The default for a variable is the size of its type.
    #[arg(long, value_name = "BITS")]
    pub read: Option<u64>,
    /// Kind of the result.
    #[arg(long, value_enum, default_value_t = Kind::Location)]
    pub kind: Kind,
    /// Element of the initial stack, instead of the machine's: a number of the generic type (`0x1f`), or a location of
    /// the conformance format (`mem:0:0x10`). Can be repeated, the bottom first.
    #[arg(long, value_name = "ELEMENT")]
    pub initial: Vec<String>,
}

/// Program location.
#[derive(Debug, Clone)]
pub enum Pc {
    Address(u64),
    /// An offset in bytes from the start of a function.
    In {
        function: String,
        offset: u64,
    },
}

impl fmt::Display for Pc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => write!(f, "{address:#x}"),
            Self::In { function, offset: 0 } => f.write_str(function),
            Self::In { function, offset } => write!(f, "{function}+{offset:#x}"),
        }
    }
}

impl FromStr for Pc {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with(|char: char| char.is_ascii_digit()) {
            return number(text)
                .map(Self::Address)
                .ok_or("a number of at most 64 bits is expected, like 0x1f");
        }
        let found = text.rsplit_once('+').and_then(|(function, offset)| Some((function, number(offset)?)));
        match found.unwrap_or((text, 0)) {
            ("", _) => Err("an address or a function is expected, like 0x1f or scale+0x8"),
            (function, offset) => Ok(Self::In { function: function.into(), offset }),
        }
    }
}

/// Parses a number with or without `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Location,
    Value,
    Any,
}

impl From<Kind> for eval::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Location => Self::Location,
            Kind::Value => Self::Value,
            Kind::Any => Self::Any,
        }
    }
}

/// ELF machine of NVIDIA's processors.
const EM_CUDA: u16 = 190;

/// Consumer of the object.
#[derive(Debug, Args)]
pub struct Reader {
    /// Consumer of the object. The default is `cuda-gdb` on NVIDIA's targets, and `llvm` on all others.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES)]
    name: Option<String>,
    /// Use the 64-bit DWARF format.
    #[arg(long)]
    dwarf64: bool,
    /// Add the name index of DWARF 5 (`.debug_names`).
    #[arg(long)]
    names: bool,
    /// Add the tables of names from before DWARF 5 (`.debug_pubnames`, `.debug_pubtypes`).
    #[arg(long)]
    pubnames: bool,
    /// Add the table of address ranges (`.debug_aranges`).
    #[arg(long)]
    aranges: bool,
    /// Put named structures and enumerations into type units, of DWARF 4 and 5.
    #[arg(long)]
    type_units: bool,
    /// Split the units of DWARF 5: the parts without relocations are in files beside the object. The default names
    /// beside `out.o` are `out.dwo` for a single unit, and `out-a.dwo` for the unit `src/a.c` of several.
    #[arg(long)]
    pub split_dwarf: bool,
}

impl Reader {
    /// Returns the consumer of an object for a target.
    pub fn consumer(&self, target: &Target) -> eitri::Result<Consumer> {
        let default = if target.elf().machine == EM_CUDA { "cuda-gdb" } else { "llvm" };
        let mut consumer = Consumer::named(self.name.as_deref().unwrap_or(default))?;
        if self.dwarf64 {
            consumer.format = eitri::gimli::Format::Dwarf64;
        }
        consumer.tables.names |= self.names;
        consumer.tables.pubs |= self.pubnames;
        consumer.tables.aranges |= self.aranges;
        consumer.has_type_units |= self.type_units;
        consumer.is_split |= self.split_dwarf;
        Ok(consumer)
    }
}

/// Returns the policy for information that the consumer's format cannot express.
pub fn policy(partial: bool) -> Policy {
    if partial { Policy::Partial } else { Policy::Strict }
}

/// Compression of debug sections.
#[derive(Debug, Args)]
pub struct Compression {
    /// Compress the debug sections. The default method is `zlib`, which every reader of compressed sections supports.
    #[cfg(feature = "compress")]
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true,
          default_missing_value = "zlib", default_value = "none", hide_possible_values = false)]
    compress_debug_sections: Algorithm,
}

#[cfg(feature = "compress")]
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Algorithm {
    None,
    Zlib,
    Zstd,
}

impl From<Compression> for elf::Compression {
    #[cfg(feature = "compress")]
    fn from(compression: Compression) -> Self {
        match compression.compress_debug_sections {
            Algorithm::None => Self::None,
            Algorithm::Zlib => Self::Zlib,
            Algorithm::Zstd => Self::Zstd,
        }
    }

    #[cfg(not(feature = "compress"))]
    fn from(Compression {}: Compression) -> Self {
        Self::None
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Dialect {
    /// `DW_OP_LLVM_user` and a sub-operation.
    Llvm,
    /// One-byte operations of older AMD debuggers.
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

/// Format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Vectors that fail, and the counts.
    Text,
    /// One JSON object per vector and line, with `name`, `outcome` and `found`.
    Json,
}

/// Locations of a variable that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// All locations.
    All,
    /// One at a time: the one that lasts longest.
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
