//! Error kinds and their messages.

use core::fmt;
use core::ops::Range;
use std::io;

use super::at::At;
use super::construct::Construct;
use super::count::Count;
use super::facts::{Aligned, Conflict, Enclosed, Feature, Identity, Present, UnavailableValue};
use super::limit::Limit;
use super::pcs::PcText;
use crate::near::suggestion_text;

/// Error kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The target does not have this register.
    UnknownRegister {
        /// Requested name or number.
        name: String,
        /// Target name.
        target: String,
        /// Similar known names, if there are any.
        nearest: Vec<String>,
        /// First and last register with the same name prefix, if the target has any.
        bounds: Option<(String, String)>,
    },
    /// The target does not have this address space.
    UnknownSpace {
        /// Requested name or number.
        name: String,
        /// Target name.
        target: String,
        /// Similar known names, if there are any.
        nearest: Vec<String>,
        /// Names of the target's spaces, the default space first.
        known: Vec<String>,
    },
    /// The processor is unknown, or does not have this wave size.
    UnknownTarget {
        /// Requested name.
        name: String,
        /// Similar known names, or the processor's names, if there are any.
        nearest: Vec<String>,
    },
    /// No entity has this name.
    UnknownName {
        /// Entity kind.
        kind: Named,
        /// Requested name.
        name: String,
        /// Similar known names, if there are any.
        nearest: Vec<String>,
    },
    /// Several entities have this name.
    AmbiguousName {
        /// Entity kind.
        kind: Named,
        /// Requested name.
        name: String,
        /// Descriptions of the entities, if they differ.
        candidates: Vec<String>,
    },
    /// Two entities of an output have the same name.
    DuplicateName {
        /// Entity kind.
        kind: Named,
        /// The shared name.
        name: String,
    },
    /// The input already has what would be added.
    AlreadyPresent(Present),
    /// The consumer's fields contradict each other, or the target.
    InvalidConsumer(Conflict),
    /// The target's facts contradict each other.
    InvalidTarget {
        /// Target name.
        name: String,
        /// The problem, with the offending value.
        what: String,
    },
    /// The object or the module is for another target.
    WrongTarget {
        /// Target name.
        target: String,
        /// The target's property.
        expected: Identity,
        /// The property of the object or the module.
        actual: Identity,
    },
    /// The target lacks a feature.
    TargetLacks {
        /// The feature.
        feature: Feature,
        /// Part of the description that needs the feature.
        needed_by: String,
        /// Target name.
        target: String,
    },
    /// The text does not follow its grammar.
    Syntax(String),
    /// The lane is not in the wave. Lanes count from 0.
    LaneOutOfWave {
        /// Requested lane.
        lane: u64,
        /// Number of lanes in the wave.
        wave: u64,
    },
    /// A pc range does not end after its start.
    EmptyRange,
    /// Two pc ranges overlap.
    OverlappingRanges {
        /// Range kind.
        kind: Ranges,
        /// The earlier half-open range, in bytes from the function's start.
        other: Range<u64>,
    },
    /// A pc range is outside the function.
    OutsideFunction {
        /// Function size in bytes.
        size: u64,
    },
    /// A pc range is outside a scope's code.
    OutsideScope {
        /// Kind of the code, and of the scope.
        kind: Enclosed,
        /// Scope code: half-open ranges, in bytes from the function's start.
        code: Vec<Range<u64>>,
    },
    /// A pc, a size or an offset is not a multiple of a number.
    Misaligned {
        /// Number kind.
        kind: Aligned,
        /// Divisor in bytes.
        step: u64,
        /// The number.
        value: u64,
    },
    /// A quantity is outside its limits.
    Limit(Box<Limit>),
    /// The control flow graph is not reducible: a loop has two entries. Blocks are half-open pc ranges, in bytes from
    /// the function's start.
    Irreducible {
        /// Block from which an edge enters the loop.
        from: Range<u64>,
        /// Block in the loop to which the edge leads.
        to: Range<u64>,
    },
    /// No control flow path leads to a block.
    UnreachableBlock,
    /// A SPIR-V value is not available where a variable has it.
    UnavailableValue(UnavailableValue),
    /// A text contains a zero byte, which no debug information can encode.
    ZeroByte {
        /// Text description.
        text: String,
    },
    /// An object is larger than its storage.
    DoesNotFit {
        /// Object description.
        what: String,
        /// Object size in bits.
        needs: u64,
        /// Available bits.
        has: u64,
    },
    /// An object is smaller than the vector register that contains it, and its lane is unknown.
    WhichLane {
        /// Object description.
        what: String,
        /// Object size in bits.
        needs: u64,
        /// Register name.
        register: String,
        /// Size of all the register's lanes in bits.
        has: u64,
    },
    /// A type contains itself, other than through a pointer.
    CyclicType(String),
    /// This module has no entity with this id, or the entity is of another kind.
    UnknownId(String),
    /// An id belongs to another builder. Only builds with `debug_assertions` find this mistake; in other builds the id's
    /// number can be an entity of this module.
    OtherBuilder(String),
    /// An argument contradicts a rule of the call, or another argument: a mistake in the program or the file that
    /// describes the code.
    ///
    /// Only a person can react to the message. An error has a separate kind if a program can react: by leaving out or
    /// changing a part of the description, by choosing another consumer, target or option, or by asking its user.
    BadArgument(String),
    /// The consumer's format cannot express something.
    Inexpressible {
        /// The construct that the format cannot express.
        what: Construct,
        /// Consumer name.
        consumer: String,
    },
    /// The bytes end within an item.
    Truncated(String),
    /// The bytes are invalid.
    Malformed(String),
    /// The dialect has no operation with this number. The rest cannot be decoded, because operations do not encode
    /// their length.
    UnknownOperation {
        /// Opcode byte.
        code: u8,
        /// Sub-operation, for vendor operations that have one.
        sub: Option<u64>,
    },
    /// The file uses an unsupported feature.
    Unsupported(String),
    /// A size, an offset or a count exceeds a limit: that of the 32-bit DWARF format in output, or one that a reader has
    /// so that a small file cannot exhaust memory. The text names what is too large.
    TooLarge(String),
    /// Input or output failed.
    Io {
        /// Failure kind.
        kind: io::ErrorKind,
        /// The system's message, with the path if it is known.
        message: String,
    },
}

impl ErrorKind {
    /// Returns the variant's name, on which a program in another language can react: `UnknownRegister`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnknownRegister { .. } => "UnknownRegister",
            Self::UnknownSpace { .. } => "UnknownSpace",
            Self::UnknownTarget { .. } => "UnknownTarget",
            Self::UnknownName { .. } => "UnknownName",
            Self::AmbiguousName { .. } => "AmbiguousName",
            Self::DuplicateName { .. } => "DuplicateName",
            Self::AlreadyPresent(..) => "AlreadyPresent",
            Self::InvalidConsumer(..) => "InvalidConsumer",
            Self::InvalidTarget { .. } => "InvalidTarget",
            Self::WrongTarget { .. } => "WrongTarget",
            Self::TargetLacks { .. } => "TargetLacks",
            Self::Syntax(..) => "Syntax",
            Self::LaneOutOfWave { .. } => "LaneOutOfWave",
            Self::EmptyRange => "EmptyRange",
            Self::OverlappingRanges { .. } => "OverlappingRanges",
            Self::OutsideFunction { .. } => "OutsideFunction",
            Self::OutsideScope { .. } => "OutsideScope",
            Self::Misaligned { .. } => "Misaligned",
            Self::Limit(..) => "Limit",
            Self::Irreducible { .. } => "Irreducible",
            Self::UnreachableBlock => "UnreachableBlock",
            Self::UnavailableValue(..) => "UnavailableValue",
            Self::ZeroByte { .. } => "ZeroByte",
            Self::DoesNotFit { .. } => "DoesNotFit",
            Self::WhichLane { .. } => "WhichLane",
            Self::CyclicType(..) => "CyclicType",
            Self::UnknownId(..) => "UnknownId",
            Self::OtherBuilder(..) => "OtherBuilder",
            Self::BadArgument(..) => "BadArgument",
            Self::Inexpressible { .. } => "Inexpressible",
            Self::Truncated(..) => "Truncated",
            Self::Malformed(..) => "Malformed",
            Self::UnknownOperation { .. } => "UnknownOperation",
            Self::Unsupported(..) => "Unsupported",
            Self::TooLarge(..) => "TooLarge",
            Self::Io { .. } => "Io",
        }
    }
}

/// Kinds of named entities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Named {
    /// Consumer presets.
    Consumer,
    /// SPIR-V debug instruction presets.
    Mode,
    /// DWARF operations.
    Operation,
    /// Functions in an object's debug information.
    Function,
    /// Variables in scope at a pc, or outside functions if there is no pc.
    Variable {
        /// The pc.
        pc: Option<Box<PcText<'static>>>,
    },
    /// Variables outside functions, because no function is at the pc.
    OutsideCode {
        /// The pc.
        pc: Box<PcText<'static>>,
    },
    /// Object sections.
    Section,
    /// Object symbols.
    Symbol,
    /// Source languages.
    Language,
    /// Ids in a SPIR-V module, by `OpName`.
    Id,
    /// SPIR-V debug operations.
    DebugOperation,
    /// Files of split units.
    SplitUnit,
    /// Described entities, by id or name; the text is their kind.
    Described(&'static str),
}

/// Kinds of pc ranges that are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ranges {
    /// A variable's live ranges. Simultaneous locations are given in one call.
    Live,
    /// A scope's ranges.
    Scope,
    /// A frame column's rules.
    Rule,
    /// Blocks of the control flow.
    Block,
    /// Whole-wave code.
    WholeWave,
    /// Divergent regions: disjoint or nested.
    Region,
    /// A mask's locations.
    Mask,
    /// Instructions in code.
    Instruction,
}

/// A requested name, displayed in quotes, or a number.
struct Requested<'n>(&'n str);

impl fmt::Display for Requested<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.parse::<u64>() {
            Ok(_) => f.write_str(self.0),
            Err(_) => write!(f, "`{}`", self.0),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRegister { name, target, nearest, bounds } => {
                write!(
                    f,
                    "the target has no register {} ({target}){}",
                    Requested(name),
                    suggestion_text(nearest)
                )?;
                match bounds {
                    Some((first, last)) => write!(f, "; the target has `{first}` to `{last}`"),
                    None => Ok(()),
                }
            }
            Self::UnknownSpace { name, target, nearest, known } => {
                write!(
                    f,
                    "the target has no address space {} ({target}){}; the target has ",
                    Requested(name),
                    suggestion_text(nearest)
                )?;
                for (index, name) in known.iter().enumerate() {
                    let separator = match index {
                        0 if known.len() == 1 => "only ",
                        0 => "",
                        _ if index + 1 == known.len() => " and ",
                        _ => ", ",
                    };
                    write!(f, "{separator}`{name}`")?;
                }
                Ok(())
            }
            Self::UnknownTarget { name, nearest } => {
                write!(f, "unknown target: `{name}`")?;
                match &**nearest {
                    [] => f.write_str(
                        "; expected a name such as `x86_64`, `amdgpu-gfx1030-wave32` or `nvptx-sm_80`",
                    ),
                    nearest => f.write_str(&suggestion_text(nearest)),
                }
            }
            Self::UnknownName { kind, name, nearest } => {
                match kind {
                    Named::Consumer => write!(f, "no consumer has the name `{name}`")?,
                    Named::Mode => write!(f, "no mode has the name `{name}`")?,
                    Named::Operation => write!(f, "unknown operation `{name}`")?,
                    Named::Function => write!(f, "no function has the name `{name}`")?,
                    Named::Id => write!(f, "no id of the module has the name `{name}`")?,
                    Named::DebugOperation => write!(f, "`{name}` is not a debug operation")?,
                    Named::Variable { pc: Some(pc) } => {
                        write!(f, "no variable in scope at pc {pc} has the name `{name}`")?
                    }
                    Named::Variable { pc: None } => write!(
                        f,
                        "no variable outside functions has the name `{name}`, and no pc was given; expected the pc for a \
                         variable of a function"
                    )?,
                    Named::OutsideCode { pc } => write!(
                        f,
                        "pc {pc} is in no function, and no variable outside functions has the name `{name}`; expected \
                         an address in a function, or a function with the bytes from its start"
                    )?,
                    Named::Section => write!(f, "the object has no section `{name}`")?,
                    Named::Symbol => write!(f, "the object has no symbol `{name}`")?,
                    Named::Described(kind) => write!(f, "no {kind} has the id or name `{name}` so far")?,
                    Named::SplitUnit => write!(f, "no split unit has the file `{name}`")?,
                    Named::Language => write!(f, "no language is `DW_LANG_{name}`")?,
                }
                f.write_str(&suggestion_text(nearest))
            }
            Self::AmbiguousName { kind, name, candidates } => match kind {
                Named::Variable { pc } => {
                    write!(f, "`{name}` is ambiguous{}: {}", At::pc(pc.as_deref()), candidates.join("; "))
                }
                Named::Symbol => write!(f, "the object has several local symbols `{name}`"),
                Named::Id => write!(f, "`{name}` is the name of {}", candidates.join(" and of ")),
                Named::Described(kind) => {
                    write!(f, "`{name}` is the name of more than one {kind}; expected an id")
                }
                Named::Function => write!(f, "function `{name}` is ambiguous: at {}", candidates.join(", ")),
                _ => write!(f, "`{name}` is ambiguous: {}", candidates.join("; ")),
            },
            Self::DuplicateName { kind: Named::Symbol, name } => {
                write!(f, "two symbols have the name `{name}`")
            }
            Self::DuplicateName { kind: Named::Described(kind), name } => {
                write!(f, "another {kind} has the id `{name}`")
            }
            Self::DuplicateName { kind: Named::Section, .. } => f.write_str("two sections have this name"),
            Self::DuplicateName { kind: Named::SplitUnit, name } => {
                write!(f, "file `{name}` belongs to another split unit")
            }
            Self::DuplicateName { name, .. } => write!(f, "two entities have the name `{name}`"),
            Self::LaneOutOfWave { lane, wave } => {
                write!(f, "lane {lane} is out of range for a {wave}-lane wave")
            }
            Self::EmptyRange => f.write_str("range does not end after its start"),
            Self::OverlappingRanges { kind, other: Range { start, end } } => {
                let (subject, expected) = match kind {
                    Ranges::Live => {
                        ("live range", " of the same variable; expected simultaneous locations in one call")
                    }
                    Ranges::Scope => ("range", " of the same scope"),
                    Ranges::Rule => ("rule", "; expected one rule for the column at each pc"),
                    Ranges::Block => ("block", ""),
                    Ranges::WholeWave => ("whole-wave code", ""),
                    Ranges::Region => ("region", "; expected nested or disjoint regions"),
                    Ranges::Mask => ("mask location", "; expected one location at each pc"),
                    Ranges::Instruction => ("instruction", ""),
                };
                write!(f, "{subject} overlaps {start:#x}..{end:#x}{expected}")
            }
            Self::OutsideFunction { size } => match size {
                0 => f.write_str("range is outside the function, which has no code yet"),
                _ => write!(
                    f,
                    "range is outside the function, which has {size:#x}",
                    size = Count(*size, "byte")
                ),
            },
            Self::OutsideScope { kind, code } => f.write_str(&kind.message(code)),
            Self::Misaligned { kind, step, value } => {
                write!(f, "{kind} is {value:#x}; expected a multiple of {}", Count(*step, "byte"))
            }
            Self::Limit(limit) => limit.fmt(f),
            Self::Irreducible { from, to } => write!(
                f,
                "control flow graph is not reducible: the edge {:#x}..{:#x} -> {:#x}..{:#x} enters a loop that has \
                 another entry",
                from.start, from.end, to.start, to.end
            ),
            Self::UnreachableBlock => f.write_str("block is unreachable from the entry"),
            Self::ZeroByte { text } => write!(f, "{text} contains a zero byte"),
            Self::TargetLacks { feature, needed_by, target } => {
                write!(f, "target {target} has no {feature}; needed by {needed_by}")?;
                match feature {
                    Feature::LaneScratch => {
                        f.write_str("; expected an offset from the canonical frame address (`Loc::cfa()`) or from a register")
                    }
                    _ => Ok(()),
                }
            }
            Self::WrongTarget { expected: Identity::Name(first), actual: Identity::Name(next), .. } => {
                write!(f, "modules of one program have different targets: {first} and {next}")
            }
            Self::WrongTarget { target, expected, actual } => {
                write!(f, "code is {actual}, but target {target} is {expected}")
            }
            Self::AlreadyPresent(what) => what.fmt(f),
            Self::InvalidConsumer(what) => what.fmt(f),
            Self::UnavailableValue(what) => what.fmt(f),
            Self::DoesNotFit { what, needs, has } => {
                write!(f, "{what} needs {}, but only {has} are available", Count(*needs, "bit"))
            }
            Self::WhichLane { what, needs, register, has } => write!(
                f,
                "{what} has {needs}, but all lanes of {register} have {has}; expected `lane({register}, 0)` for one \
                 value of the wave, `per_lane({register})` for the current lane's value, or `whole({register})` for \
                 all lanes",
                needs = Count(*needs, "bit"),
            ),
            Self::CyclicType(name) => write!(f, "type `{name}` contains itself"),
            Self::UnknownId(what) => write!(f, "the module has no {what}"),
            Self::OtherBuilder(what) => write!(f, "{what} belongs to another builder"),
            Self::Inexpressible { what, consumer } => write!(f, "{consumer} cannot express {what}"),
            Self::Truncated(what) => write!(f, "the bytes end inside {what}"),
            Self::UnknownOperation { code, sub: Some(sub) } => {
                write!(f, "unknown operation {code:#04x}, sub-operation {sub:#x}")
            }
            Self::UnknownOperation { code, sub: None } => write!(f, "unknown operation {code:#04x}"),
            Self::InvalidTarget { name, what } => write!(f, "target `{name}`: {what}"),
            Self::BadArgument(what)
            | Self::Malformed(what)
            | Self::Unsupported(what)
            | Self::TooLarge(what)
            | Self::Syntax(what)
            | Self::Io { message: what, .. } => f.write_str(what),
        }
    }
}
