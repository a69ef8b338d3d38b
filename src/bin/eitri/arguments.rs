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

/// Debug information of GPU code: written from a description, checked against it, printed, explained.
///
/// Exit codes: 0; 1 if `check` found a difference, a vector of `conform` failed, or an evaluation of `eval` or
/// `explain` failed; 2 if the input or the arguments cannot be used.
#[derive(Debug, Parser)]
#[command(name = "eitri", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write the debug information for a description to an object file.
    ///
    /// Parts that the consumer cannot express are an error. With --partial they are omitted, and listed on standard
    /// error.
    #[command(after_help = "Example: eitri emit scale.json --object scale_code.o --for llvm -o scale.o")]
    Emit {
        /// The description; `-` is standard input.
        description: PathBuf,
        /// The object file with the code, relocatable or linked, to which the debug sections are added. Without it, a
        /// relocatable object with debug sections only is made, whose symbols are external.
        #[arg(long, value_name = "FILE")]
        object: Option<PathBuf>,
        #[command(flatten)]
        reader: Reader,
        /// Leave out what the consumer cannot be told, and list it on standard error.
        #[arg(long)]
        partial: bool,
        /// Print no warnings of this kind: `shared-bits`, variables in the same bits at one pc; `no-frame`, functions
        /// without rules for their frame. Can be given several times.
        #[arg(long, value_name = "KIND", value_parser = WarningKind::ALL.map(WarningKind::name))]
        allow: Vec<String>,
        /// Remove existing debug sections from the object first.
        #[arg(long, requires = "object")]
        replace: bool,
        #[command(flatten)]
        compression: Compression,
        /// The file to write; `-` is standard output.
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Compare the debug information of an object file with a description; or validate a SPIR-V module.
    ///
    /// Each difference is printed. Raw expressions of the description cannot be compared, and are listed as unproven.
    /// The object names the files of its split units, which are read from its folder.
    ///
    /// In a SPIR-V module, every debug instruction is checked against the rules of its specification.
    #[command(after_help = "Example: eitri check scale.json scale.o --for llvm\n\
                            Example: eitri check kernel.spv")]
    Check {
        /// The description, or a SPIR-V module; `-` is standard input.
        #[arg(value_name = "DESCRIPTION|MODULE")]
        description: PathBuf,
        /// The object file, together with a description; `-` is standard input.
        object: Option<PathBuf>,
        #[command(flatten)]
        reader: Reader,
        /// The object was written with --partial: what the consumer cannot be told may be missing.
        #[arg(long, requires = "object")]
        partial: bool,
        /// Print no findings of this kind: `extra`, units, types, files and frames that are not described.
        #[arg(long, requires = "object", value_name = "KIND", value_parser = ["extra"])]
        allow: Vec<String>,
    },
    /// Print the debug sections of an object file, or the debug instructions of a SPIR-V module.
    ///
    /// The file can come from any producer. Sections of an object that is not linked get assumed addresses, which are
    /// printed first.
    #[command(after_help = "Example: eitri dump scale.o\nExample: eitri dump kernel.spv")]
    Dump {
        /// The object file or the module; `-` is standard input.
        file: PathBuf,
        /// Also print section offsets, forms and encodings; for a module, the word where each instruction begins.
        #[arg(short, long)]
        verbose: bool,
        /// A file of split units (`.dwo`) whose skeletons are in the object file: print these units, with the
        /// addresses and lines of the object file.
        #[arg(long, value_name = "DWO")]
        split: Option<PathBuf>,
        /// Name registers as in this target, such as `amdgpu-gfx1030-wave32`. The default is the target named in the
        /// file.
        #[arg(long, value_name = "NAME")]
        target: Option<String>,
        /// The encoding of vendor operations, which a file does not name.
        #[arg(long, value_enum, default_value_t = Dialect::Llvm)]
        dialect: Dialect,
    },
    /// Run conformance vectors with the built-in evaluator.
    ///
    /// Each vector that does not pass is printed: its name, the expectation, the result. The last line has the counts.
    #[command(after_help = "Example: eitri conform goldens/conformance/*.json --only piece")]
    Conform {
        /// The files of vectors; `-` is standard input.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print a JSON object for each vector, one per line: `name`, `outcome`, `found`.
        #[arg(long)]
        json: bool,
        /// Run the vectors whose name contains this text.
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        only: String,
    },
    /// Evaluate an expression, or the location of a variable of a file, on a stopped machine.
    ///
    /// The result is printed in the notation of the conformance format (`location reg:v3+160, bytes 05 45 85 c5`), and
    /// so is the reason for a missing result, with the operation and the rule.
    #[command(after_help = "\
        Example: eitri eval 'regx v3; push_lane; lit4; mul; offset' --machine machine.json --read 32\n\
        Example: eitri eval --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json")]
    Eval {
        #[command(flatten)]
        question: Question,
    },
    /// Evaluate step by step, or print the positions of a wave's lanes.
    ///
    /// Each step is printed with its operation, the stack after it, and the bits that were read; for a wave, the
    /// active lanes and the positions of waiting lanes.
    #[command(after_help = "\
        Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg\n\
        Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json\n\
        Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg",
        after_long_help = EXPLAINED)]
    Explain {
        #[command(flatten)]
        question: Question,
        /// Print the positions of a wave's lanes by the debug information of an object file, in the innermost function
        /// at the first stop. --machine can be given several times.
        #[arg(long, requires = "machine",
              conflicts_with_all = ["var", "kind", "initial", "pc", "frame", "lane", "read", "consumer"])]
        lanes: bool,
        /// With --lanes, in the innermost frame of this function.
        #[arg(long, value_name = "NAME", requires = "lanes")]
        function: Option<String>,
        /// Also draw a figure: a panel for each step, with the stack and the storages; with --lanes a column for each
        /// stop.
        #[arg(long, value_name = "FILE")]
        svg: Option<PathBuf>,
    },
    /// List the targets, or the registers and address spaces of one.
    #[command(after_help = "Example: eitri targets amdgpu-gfx1030-wave32")]
    Targets {
        /// The target.
        #[arg(value_name = "TARGET")]
        name: Option<String>,
    },
    /// Write the JSON Schema of a format to standard output, for editors and generators.
    #[command(after_help = "Example: eitri schema description >description.schema.json")]
    Schema {
        /// The format: a description, a file with one or several stopped machines, or a file of conformance vectors.
        #[arg(value_parser = Schema::NAMES)]
        format: String,
    },
    /// Write completions for a shell to standard output.
    #[command(
        after_help = "Example: eitri completions bash >~/.local/share/bash-completion/completions/eitri"
    )]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Write a manual page to standard output.
    #[command(after_help = "Example: eitri man emit >eitri-emit.1")]
    Man {
        /// The command described on the page. By default the page describes the program.
        #[arg(value_name = "COMMAND")]
        command: Option<String>,
    },
}

/// End of the help of `explain`.
const EXPLAINED: &str = "\
Example: eitri explain 'regx v3; push_lane; lit4; mul; offset' --machine wave.json --svg a.svg
Example: eitri explain --var x --pc scale+0x8 --lane 5 scale.o --machine machine.json
Example: eitri explain --lanes kernel.o --machine stops.json --svg lanes.svg

With --lanes, the machines are stops of one wave, in order. Each has its pc, and the registers that masks are in, the \
least significant byte first. They are in files of their own, or are the `stops` of one, which add to what its \
`machine` has:

  {\"target\": \"amdgpu-gfx1030-wave32\", \"stops\": [
      {\"pc\": \"0x10008\", \"registers\": {\"exec\": \"0f 00 00 00\", \"s4\": \"f0 00 00 00\"}},
      {\"pc\": \"0x10014\", \"registers\": {\"exec\": \"f0 00 00 00\", \"s4\": \"0f 00 00 00\"}}
  ]}

Addresses are as `eitri dump` prints them for the object. The pc does not have to be given as a register, too.";

/// The evaluated expression or variable, and the machine.
#[derive(Debug, Args)]
pub struct Question {
    /// The expression, as text in the notation of `dump`, or in hexadecimal; for a variable or lanes the object file,
    /// where `-` is standard input.
    #[arg(value_name = "EXPR|FILE", allow_hyphen_values = true)]
    pub subject: String,
    /// The variable of the file that is visible under this name at the pc.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kind", "initial"])]
    pub var: Option<String>,
    /// The program location of the frame, instead of the machine's: an address, or a function of the file plus an
    /// offset in bytes (`scale+0x8`).
    #[arg(long, value_name = "ADDRESS")]
    pub pc: Option<Pc>,
    /// The stopped machine: a JSON file with the objects `machine` and, without another target, `target` of the
    /// conformance format. Without it, no state is known.
    #[arg(long, value_name = "FILE")]
    pub machine: Vec<PathBuf>,
    /// The target, such as `amdgpu-gfx1030-wave32`. It takes precedence over that of --machine, which takes precedence
    /// over that of the object file.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// The consumer for which the expression is encoded.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES, conflicts_with = "dialect")]
    pub consumer: Option<String>,
    /// The encoding of vendor operations.
    #[arg(long, value_enum, default_value_t = Dialect::Llvm)]
    pub dialect: Dialect,
    /// The frame, 0 for the innermost, instead of the machine's.
    #[arg(long, value_name = "N")]
    pub frame: Option<u32>,
    /// The focused lane, instead of the machine's. Unless the machine has a number of lanes, the target's applies.
    #[arg(long, value_name = "N")]
    pub lane: Option<u64>,
    /// The number of bits to read at the resulting location. The default for a variable is the size of its type.
    #[arg(long, value_name = "BITS")]
    pub read: Option<u64>,
    /// The requested kind of result.
    #[arg(long, value_enum, default_value_t = Kind::Location)]
    pub kind: Kind,
    /// An element of the initial stack, instead of the machine's: a number of the generic type (`0x1f`), or a location
    /// of the conformance format (`mem:0:0x10`). Can be given several times, bottom first.
    #[arg(long, value_name = "ELEMENT")]
    pub initial: Vec<String>,
}

/// A program location.
#[derive(Debug, Clone)]
pub enum Pc {
    Address(u64),
    /// A function plus an offset in bytes.
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
            return number(text).map(Self::Address).ok_or("a number of 64 bits is expected, like 0x1f");
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

/// Consumer of the object, with options.
#[derive(Debug, Args)]
pub struct Reader {
    /// The consumer of the object.
    #[arg(long = "for", value_name = "CONSUMER", default_value = "llvm", value_parser = Consumer::NAMES)]
    name: String,
    /// The 64-bit DWARF format.
    #[arg(long)]
    dwarf64: bool,
    /// The name index of DWARF 5 (`.debug_names`).
    #[arg(long)]
    names: bool,
    /// The name tables of DWARF 2 to 4 (`.debug_pubnames`, `.debug_pubtypes`).
    #[arg(long)]
    pubnames: bool,
    /// The table of addresses (`.debug_aranges`).
    #[arg(long)]
    aranges: bool,
    /// Type units, of DWARF 4 and 5, for named structures and enumerations.
    #[arg(long)]
    type_units: bool,
    /// Split units, of DWARF 5: parts without relocations are in files next to the object. For `out.o`, a single unit
    /// is in `out.dwo`; of several units, that of `src/a.c` is in `out-a.dwo`, unless the description has a
    /// `split_name`.
    #[arg(long)]
    pub split_dwarf: bool,
}

impl Reader {
    /// The consumer.
    pub fn consumer(&self) -> eitri::Result<Consumer> {
        let mut consumer = Consumer::named(&self.name)?;
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

/// The policy for parts that the consumer cannot express.
pub fn policy(partial: bool) -> Policy {
    if partial { Policy::Partial } else { Policy::Strict }
}

/// Compression of debug sections.
#[derive(Debug, Args)]
pub struct Compression {
    /// Compress the debug sections; without a value, with `zlib`, which every reader of ELF files supports.
    #[cfg(feature = "compress")]
    #[arg(long, value_enum, value_name = "HOW", num_args = 0..=1, require_equals = true,
          default_missing_value = "zlib", default_value = "none", hide_possible_values = false)]
    compress_debug_sections: How,
}

#[cfg(feature = "compress")]
#[derive(Debug, Clone, Copy, ValueEnum)]
enum How {
    None,
    Zlib,
    Zstd,
}

impl From<Compression> for elf::Compression {
    #[cfg(feature = "compress")]
    fn from(compression: Compression) -> Self {
        match compression.compress_debug_sections {
            How::None => Self::None,
            How::Zlib => Self::Zlib,
            How::Zstd => Self::Zstd,
        }
    }

    #[cfg(not(feature = "compress"))]
    fn from(Compression {}: Compression) -> Self {
        Self::None
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Dialect {
    /// `DW_OP_LLVM_user` with a sub-operation.
    Llvm,
    /// One byte, for older AMD debuggers.
    Legacy,
    /// No vendor operations: DWARF 5 only.
    Dwarf5,
    /// Numbers accepted for DWARF 6.
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
