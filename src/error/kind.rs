//! Kinds of errors, and their messages.

use core::fmt;
use core::ops::Range;
use std::io;

use super::at::At;
use super::construct::Construct;
use super::count::Count;
use super::facts::{Aligned, Conflict, Enclosed, Feature, Identity, Present, Unavailable};
use super::limit::Limit;
use crate::near::suggestion_of;

/// Kind of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The target does not have this register.
    UnknownRegister {
        /// Requested name or number.
        name: String,
        /// Name of the target.
        target: String,
        /// Similar known names, if there are.
        nearest: Vec<String>,
        /// First and last register with the prefix of the name, if the target has any.
        bounds: Option<(String, String)>,
    },
    /// The target does not have this address space.
    UnknownSpace {
        /// Requested name or number.
        name: String,
        /// Name of the target.
        target: String,
        /// Similar known names, if there are.
        nearest: Vec<String>,
    },
    /// The processor is unknown, or does not have this wave size.
    UnknownTarget {
        /// Requested name.
        name: String,
        /// Similar known names, or those of the processor, if there are.
        nearest: Vec<String>,
    },
    /// No entity has this name.
    UnknownName {
        /// Kind of the entity.
        of: Named,
        /// Requested name.
        name: String,
        /// Similar known names, if there are.
        nearest: Vec<String>,
    },
    /// Several entities have this name.
    AmbiguousName {
        /// Kind of the entities.
        of: Named,
        /// Requested name.
        name: String,
        /// Descriptions of the entities, if they differ.
        candidates: Vec<String>,
    },
    /// Two entities of an output have the same name.
    DuplicateName {
        /// Kind of the entities.
        of: Named,
        /// Shared name.
        name: String,
    },
    /// The input already has what is to be added.
    AlreadyPresent(Present),
    /// The fields of the consumer contradict each other, or the target.
    InvalidConsumer(Conflict),
    /// The facts of a target contradict each other.
    InvalidTarget {
        /// Name of the target.
        name: String,
        /// The rule, and the offending value.
        what: String,
    },
    /// The object or the module is for another target.
    WrongTarget {
        /// Name of the target.
        target: String,
        /// Property of the target.
        expected: Identity,
        /// Property of the object or the module.
        found: Identity,
    },
    /// The target lacks a feature.
    TargetLacks {
        /// The feature.
        feature: Feature,
        /// The part of the description that needs the feature.
        needed_by: String,
        /// Name of the target.
        target: String,
    },
    /// The text does not follow the grammar.
    Syntax(String),
    /// The lane is not in the wave. Lanes count from 0.
    LaneOutOfWave {
        /// Requested lane.
        lane: u64,
        /// Number of lanes of the wave.
        wave: u64,
    },
    /// A pc range that ends before it starts, or where it starts.
    EmptyRange,
    /// Two ranges of pcs overlap.
    OverlappingRanges {
        /// Kind of the ranges.
        of: Ranges,
        /// The earlier range, half-open, in bytes from the start of the function.
        other: Range<u64>,
    },
    /// A pc range is outside the function.
    OutsideFunction {
        /// Size of the function in bytes.
        size: u64,
    },
    /// A pc range is outside the code of a scope.
    OutsideScope {
        /// Kind of the code, and of the scope.
        of: Enclosed,
        /// Code of the scope: half-open ranges, in bytes from the start of the function.
        code: Vec<Range<u64>>,
    },
    /// A pc, a size or an offset is not a multiple of a number.
    Misaligned {
        /// Kind of the number.
        of: Aligned,
        /// Divisor in bytes.
        step: u64,
        /// The number.
        found: u64,
    },
    /// A quantity is outside of its limits.
    Limit(Box<Limit>),
    /// The control flow graph is not reducible: a loop has two entries. The blocks are half-open ranges of pcs, in bytes
    /// from the start of the function.
    Irreducible {
        /// Block from which an edge enters the loop.
        from: Range<u64>,
        /// Block in the loop to which the edge leads.
        to: Range<u64>,
    },
    /// No path of the control flow graph leads to a block.
    UnreachableBlock,
    /// A SPIR-V value is not available where a variable has it.
    UnavailableValue(Unavailable),
    /// A text contains a zero byte, which no debug information can encode.
    ZeroByte {
        /// Description of the text.
        of: String,
    },
    /// An object is larger than the rest of its storage.
    DoesNotFit {
        /// Description of the object.
        what: String,
        /// Size of the object in bits.
        needs: u64,
        /// Available bits.
        has: u64,
    },
    /// An object is smaller than all lanes of the vector register that contains it, and its lane is unknown.
    WhichLane {
        /// Description of the object.
        what: String,
        /// Size of the object in bits.
        needs: u64,
        /// Name of the register.
        register: String,
        /// Size of all lanes of the register in bits.
        has: u64,
    },
    /// A type contains itself, other than through a pointer.
    CyclicType(String),
    /// An id without an entity in this module, or with an entity of another kind.
    UnknownId(String),
    /// An argument contradicts a rule of the call, or another argument: a mistake in the program or the file that makes
    /// the description.
    ///
    /// Only a person can react to the text. An error has a kind of its own where a program can react: by leaving out or
    /// changing a part of the description, by another consumer, target or option, or by a question to its user.
    BadArgument(String),
    /// The consumer's format cannot express something.
    Inexpressible {
        /// The construct that the format cannot express.
        what: Construct,
        /// Name of the consumer.
        consumer: String,
    },
    /// The bytes end within an item.
    Truncated(String),
    /// The bytes are invalid.
    Malformed(String),
    /// The number is not an operation of the dialect. The rest cannot be decoded, as operations do not encode their
    /// length.
    UnknownOperation {
        /// Opcode byte.
        code: u8,
        /// Sub-operation, for vendor operations that have one.
        sub: Option<u64>,
    },
    /// The file uses an unsupported feature.
    Unsupported(String),
    /// A size or an offset does not fit in the 32-bit DWARF format.
    TooLarge(String),
    /// Input or output failed.
    Io {
        /// Kind of the failure.
        kind: io::ErrorKind,
        /// Message of the system, with the path where it is known.
        message: String,
    },
}

/// Kinds of entities that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Named {
    /// Presets of consumers.
    Consumer,
    /// Presets of SPIR-V debug instructions.
    Mode,
    /// Operations of DWARF expressions.
    Operation,
    /// Functions of an object's debug information.
    Function,
    /// Variables in scope at a pc, or outside of functions where there is no pc.
    Variable {
        /// The address.
        pc: Option<u64>,
    },
    /// Sections of an object.
    Section,
    /// Symbols of an object.
    Symbol,
    /// Source languages.
    Language,
    /// Ids of a SPIR-V module, by `OpName`.
    Id,
    /// Debug operations of SPIR-V.
    DebugOperation,
    /// Files of split units.
    SplitUnit,
    /// Entities of a description, by id or name; the text is their kind.
    Described(&'static str),
}

/// Kinds of pc ranges that are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ranges {
    /// Live ranges of a variable. Several places at once are given in one call.
    Live,
    /// Ranges of a scope.
    Scope,
    /// Rules of a column of a frame.
    Rule,
    /// Blocks of the [control flow](crate::build::ControlFlow).
    Block,
    /// Code in whole-wave mode.
    WholeWave,
    /// Divergent regions: disjoint, unless one is inside the other.
    Region,
    /// Locations of a mask.
    Mask,
    /// Instructions of [code](crate::track::Code).
    Instruction,
}

/// A requested name in quotes, or a number.
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
                    suggestion_of(nearest)
                )?;
                match bounds {
                    Some((first, last)) => write!(f, "; the target has `{first}` to `{last}`"),
                    None => Ok(()),
                }
            }
            Self::UnknownSpace { name, target, nearest } => {
                write!(
                    f,
                    "the target has no address space {} ({target}){}",
                    Requested(name),
                    suggestion_of(nearest)
                )
            }
            Self::UnknownTarget { name, nearest } => {
                write!(f, "unknown target: `{name}`{}", suggestion_of(nearest))
            }
            Self::UnknownName { of, name, nearest } => {
                match of {
                    Named::Consumer => write!(f, "no consumer has the name `{name}`")?,
                    Named::Mode => write!(f, "no mode has the name `{name}`")?,
                    Named::Operation => write!(f, "unknown operation `{name}`")?,
                    Named::Function => write!(f, "no function has the name `{name}`")?,
                    Named::Id => write!(f, "no id of the module has the name `{name}`")?,
                    Named::DebugOperation => write!(f, "`{name}` is not a debug operation")?,
                    Named::Variable { pc } => {
                        write!(f, "no variable in scope{} has the name `{name}`", At::pc(*pc))?
                    }
                    Named::Section => write!(f, "the object has no section `{name}`")?,
                    Named::Symbol => write!(f, "the object has no symbol `{name}`")?,
                    Named::Described(kind) => write!(f, "no {kind} has the id or name `{name}` so far")?,
                    Named::SplitUnit => write!(f, "no split unit has the file `{name}`")?,
                    Named::Language => write!(f, "no language is `DW_LANG_{name}`")?,
                }
                f.write_str(&suggestion_of(nearest))
            }
            Self::AmbiguousName { of, name, candidates } => match of {
                Named::Variable { pc } => {
                    write!(f, "`{name}` is ambiguous{}: {}", At::pc(*pc), candidates.join("; "))
                }
                Named::Symbol => write!(f, "the object has several local symbols `{name}`"),
                Named::Id => write!(f, "`{name}` is the name of {}", candidates.join(" and of ")),
                Named::Described(kind) => {
                    write!(f, "`{name}` references more than one {kind}: ids distinguish them")
                }
                Named::Function => write!(f, "function `{name}` is ambiguous: at {}", candidates.join(", ")),
                _ => write!(f, "`{name}` is ambiguous: {}", candidates.join("; ")),
            },
            Self::DuplicateName { of: Named::Symbol, name } => {
                write!(f, "two symbols have the name `{name}`")
            }
            Self::DuplicateName { of: Named::Described(kind), name } => {
                write!(f, "another {kind} has the id `{name}`")
            }
            Self::DuplicateName { of: Named::Section, .. } => f.write_str("two sections have this name"),
            Self::DuplicateName { of: Named::SplitUnit, name } => {
                write!(f, "a split unit has a file of its own: `{name}` belongs to another unit")
            }
            Self::DuplicateName { name, .. } => write!(f, "two entities have the name `{name}`"),
            Self::LaneOutOfWave { lane, wave } => write!(f, "lane {lane} is not in a wave of {wave}"),
            Self::EmptyRange => f.write_str("a range begins before its end"),
            Self::OverlappingRanges { of, other: Range { start, end } } => {
                let (rule, more) = match of {
                    Ranges::Live => (
                        "the range",
                        " of the same variable; several locations at one pc are given in one call",
                    ),
                    Ranges::Scope => ("the range", " of the same scope"),
                    Ranges::Rule => ("a column has one rule at each pc: this rule", ""),
                    Ranges::Block => ("blocks do not overlap: the block", ""),
                    Ranges::WholeWave => ("code in whole-wave mode is disjoint: it", ""),
                    Ranges::Region => ("regions are nested or disjoint: this region", ""),
                    Ranges::Mask => ("a mask has one location at each pc: this one", ""),
                    Ranges::Instruction => ("instructions do not overlap: the instruction", ""),
                };
                write!(f, "{rule} overlaps {start:#x}..{end:#x}{more}")
            }
            Self::OutsideFunction { size } => {
                write!(
                    f,
                    "the range is outside of the function, which has {size:#x}",
                    size = Count(*size, "byte")
                )
            }
            Self::OutsideScope { of, code } => f.write_str(&of.message(code)),
            Self::Misaligned { of, step, found } => write!(f, "{of} of {}: {found:#x}", Count(*step, "byte")),
            Self::Limit(limit) => limit.fmt(f),
            Self::Irreducible { from, to } => write!(
                f,
                "the control flow graph is not reducible: the edge {:#x}..{:#x} -> {:#x}..{:#x} enters a loop that has \
                 another entry",
                from.start, from.end, to.start, to.end
            ),
            Self::UnreachableBlock => {
                f.write_str("each block is reachable from the entry: no path leads to this one")
            }
            Self::ZeroByte { of } => write!(f, "{of} contains a zero byte"),
            Self::TargetLacks { feature, needed_by, target } => {
                write!(f, "{needed_by} needs a target with {feature}: {target} lacks this feature")
            }
            Self::WrongTarget { expected: Identity::Name(first), found: Identity::Name(next), .. } => {
                write!(f, "the modules of a program have one target: {first} and {next}")
            }
            Self::WrongTarget { target, expected, found } => {
                write!(f, "the code is for the target: it is {found}, and {target} is {expected}")
            }
            Self::AlreadyPresent(what) => what.fmt(f),
            Self::InvalidConsumer(what) => what.fmt(f),
            Self::UnavailableValue(what) => what.fmt(f),
            Self::DoesNotFit { what, needs, has } => {
                write!(f, "{what} needs {}, but there are {has}", Count(*needs, "bit"))
            }
            Self::WhichLane { what, needs, register, has } => write!(
                f,
                "a vector register has a value for each lane, so `lane({register}, 0)` is one for the wave, \
                 `per_lane({register})` that of the current lane, and `whole({register})` takes all {has}; \
                 {what} has {needs}",
                has = Count(*has, "bit")
            ),
            Self::CyclicType(name) => write!(f, "type `{name}` contains itself"),
            Self::UnknownId(what) => write!(f, "no such entity in this module: {what}"),
            Self::Inexpressible { what, consumer } => write!(f, "{consumer} cannot express {what}"),
            Self::Truncated(what) => write!(f, "the bytes end inside of {what}"),
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
