//! Arguments for `eval` and `explain`: an expression or a variable, and the stopped machine.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use eitri::eval;
use eitri::lower::Consumer;

use super::arguments::Dialect;
use super::split::SplitArguments;

/// Expression or variable to evaluate, and its context.
#[derive(Debug, Args)]
pub struct Question {
    /// Expression, as text in `dump`'s notation or in hexadecimal; for a variable or lanes, the object file, where `-`
    /// is standard input.
    #[arg(value_name = "EXPR|FILE", allow_hyphen_values = true)]
    pub subject: String,
    /// Variable in the file: this name in the innermost scope at the pc. The unit is the outermost scope.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["kind", "initial"])]
    pub var: Option<String>,
    /// Choose the member of an archive or bundle whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    pub member: Option<String>,
    #[command(flatten)]
    pub split: SplitArguments,
    /// The frame's program location, instead of the machine's: an address, or a function in the file and an offset in
    /// bytes (`scale+0x8`). If --frame is unwound, the innermost frame's program location.
    #[arg(long, value_name = "ADDRESS")]
    pub pc: Option<Pc>,
    /// Stopped machine: a JSON file with the object `machine` in the conformance format, and the object `target` if no
    /// other option gives a target. The default is a machine without known registers and memory.
    #[arg(long, value_name = "FILE")]
    pub machine: Vec<PathBuf>,
    /// Target, such as `amdgpu-gfx1030-wave32`, or a `.json` file with a target. The default is the target in
    /// --machine, and then the object file's target.
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Consumer whose encoding the expression has.
    #[arg(long = "for", value_name = "CONSUMER", value_parser = Consumer::NAMES, conflicts_with = "dialect")]
    pub consumer: Option<String>,
    /// Encoding for vendor operations. The default is that of the file's expressions, and `llvm` for an expression.
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
    /// Frame, instead of the machine's; 0 is the innermost. With --var, a frame that the machine's `callers` do not have is
    /// unwound by the object's call frame information.
    #[arg(long, value_name = "N")]
    pub frame: Option<u32>,
    /// Current lane, instead of the machine's; `eval` also takes `all` lanes. The default number of lanes is the
    /// target's.
    #[arg(long, value_name = "N|all")]
    pub lane: Option<Lane>,
    /// Number of bits to read at the resulting location. The default for a variable is its type's size.
    #[arg(long, value_name = "BITS")]
    pub read: Option<u64>,
    /// Result kind.
    #[arg(long, value_enum, default_value_t = Kind::Location)]
    pub kind: Kind,
    /// Element in the initial stack, instead of the machine's: a generic-type number (`0x1f`), or a location in the
    /// conformance format (`mem:0:0x10`). Can be repeated, the bottom first.
    #[arg(long, value_name = "ELEMENT")]
    pub initial: Vec<String>,
}

/// Lanes in which an expression is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    Number(u64),
    All,
}

impl FromStr for Lane {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "all" => Ok(Self::All),
            text => text.parse().map(Self::Number).map_err(|_| "expected a lane, like 5, or `all`"),
        }
    }
}

/// Program location.
#[derive(Debug, Clone)]
pub enum Pc {
    Address(u64),
    /// A byte offset from a function's start.
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
        let parts = text.rsplit_once('+').and_then(|(function, offset)| Some((function, number(offset)?)));
        match parts.unwrap_or((text, 0)) {
            ("", _) => Err("expected an address or a function, like 0x1f or scale+0x8"),
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

impl From<Kind> for eval::ResultKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Location => Self::Location,
            Kind::Value => Self::Value,
            Kind::Any => Self::Any,
        }
    }
}
