//! The crate's error type, and the place of an error.

mod construct;

use core::fmt;
use core::ops::Range;
use std::io;
use std::sync::Arc;

pub use construct::Construct;

use crate::near::meant;

/// Result of a fallible call of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Error with its place: something that cannot be described, written, read or evaluated.
///
/// An error is for the caller: a bad argument, unreadable bytes, a machine without the requested register. A difference
/// that [`check`](crate::check()) finds in an output is a finding, not an error.
///
/// The message names the unit, function, variable, region, pc range, operation, section and offset, as far as known:
/// *unit `a.cl`, function `saxpy`, variable `n`, pc 0x24..0x180: lane 70 is not in a wave of 64*.
///
/// The message includes that of the [source](core::error::Error::source). Errors are equal if their kinds and places
/// are, whatever their sources.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    at: At,
    source: Option<Source>,
}

type Source = Arc<dyn core::error::Error + Send + Sync>;

impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.at == other.at
    }
}

impl Eq for Inner {}

/// Place of an error. Each part is given where it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct At {
    /// Name of the compilation unit.
    pub unit: Option<String>,
    /// Name of the function.
    pub function: Option<String>,
    /// Name of the variable, parameter or constant.
    pub variable: Option<String>,
    /// [Procedure](crate::model::Procedure) of expressions.
    pub procedure: Option<String>,
    /// [Region](crate::model::Region) of divergent control flow.
    pub region: Option<String>,
    /// Column of a frame: the name of a caller's register, or `CFA`.
    pub column: Option<String>,
    /// Half-open pc range, in bytes from the start of the function.
    pub pcs: Option<Range<u64>>,
    /// Half-open pc range of the block of the [control flow](crate::build::ControlFlow), in bytes from the start of the
    /// function.
    pub block: Option<Range<u64>>,
    /// [Places](crate::track::Place) of the code: `v40 lane 7`, `v3 to s4`.
    pub place: Option<String>,
    /// Index of the operation in its expression, counted from 0.
    pub operation: Option<usize>,
    /// Section of the object file.
    pub section: Option<String>,
    /// Offset in bytes from the start of the section, or of the expression where there is no section.
    pub offset: Option<u64>,
    /// Index of the word in a SPIR-V module, counted from 0.
    pub word: Option<usize>,
    /// Debug instruction of a SPIR-V module, and the id that it defines.
    pub instruction: Option<String>,
    /// Operand of the instruction.
    pub operand: Option<String>,
    /// Place in a JSON text.
    pub json: Option<JsonPlace>,
    /// Name of the conformance vector.
    pub vector: Option<String>,
}

/// Place in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPlace {
    /// Path of keys and indices: `describe[17].variable.live[2]`.
    pub path: String,
    /// Line of the text, counted from 1.
    pub line: usize,
    /// Character of the line, counted from 1.
    pub column: usize,
}

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
        /// Their name.
        name: String,
    },
    /// The input already has what is to be added.
    AlreadyPresent(String),
    /// The fields of the consumer contradict each other, or the target.
    InvalidConsumer(String),
    /// The facts of a target contradict each other.
    InvalidTarget {
        /// Name of the target.
        name: String,
        /// The rule, and the offending value.
        what: String,
    },
    /// The object is for another target.
    WrongTarget(String),
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
    /// Two ranges of one variable overlap. Several places at once are given in one call.
    OverlappingRanges(Range<u64>),
    /// A pc range is outside the function.
    OutsideFunction {
        /// Size of the function in bytes.
        size: u64,
    },
    /// A pc range is outside the code of the enclosing scope.
    OutsideScope(&'static str),
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
    /// An argument is out of range, or contradicts another.
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
    /// Entities of a description, by id or name; the text is their kind.
    Described(&'static str),
}

impl Error {
    /// Returns an error of this kind, without a place.
    #[cold]
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, at: At::default(), source: None }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the place.
    pub fn at(&self) -> &At {
        &self.0.at
    }

    /// Adds an outer place. Known parts are kept: the innermost place takes precedence.
    #[must_use]
    pub fn or_at(mut self, outer: At) -> Self {
        let at = &mut self.0.at;
        at.unit = at.unit.take().or(outer.unit);
        at.function = at.function.take().or(outer.function);
        at.variable = at.variable.take().or(outer.variable);
        at.procedure = at.procedure.take().or(outer.procedure);
        at.region = at.region.take().or(outer.region);
        at.column = at.column.take().or(outer.column);
        at.pcs = at.pcs.take().or(outer.pcs);
        at.block = at.block.take().or(outer.block);
        at.place = at.place.take().or(outer.place);
        at.operation = at.operation.or(outer.operation);
        at.section = at.section.take().or(outer.section);
        at.offset = at.offset.or(outer.offset);
        at.word = at.word.or(outer.word);
        at.instruction = at.instruction.take().or(outer.instruction);
        at.operand = at.operand.take().or(outer.operand);
        at.json = at.json.take().or(outer.json);
        at.vector = at.vector.take().or(outer.vector);
        self
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub(crate) fn caused_by(mut self, source: impl core::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Returns an error for invalid bytes.
    #[cold]
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed(what.into()))
    }

    /// Returns an error for an argument that is not accepted.
    #[cold]
    pub(crate) fn bad_argument(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadArgument(what.into()))
    }

    /// Adds a section to the place.
    #[must_use]
    pub(crate) fn in_section(self, section: &str) -> Self {
        self.or_at(At { section: Some(section.into()), ..At::default() })
    }

    /// Adds a word of a SPIR-V module to the place.
    #[cfg(feature = "spirv")]
    #[must_use]
    pub(crate) fn at_word(self, word: usize) -> Self {
        self.or_at(At { word: Some(word), ..At::default() })
    }

    /// Adds an offset in bytes to the place.
    #[must_use]
    pub(crate) fn at_offset(self, offset: u64) -> Self {
        self.or_at(At { offset: Some(offset), ..At::default() })
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let message = error.to_string();
        Self::new(ErrorKind::Io { kind: error.kind(), message }).caused_by(error)
    }
}

impl core::error::Error for Error {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| &**source as _)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.0.kind).field("at", &self.0.at).finish()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.0.at.to_string();
        if !at.is_empty() {
            write!(f, "{at}: ")?;
        }
        self.0.kind.fmt(f)
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.json.as_ref().map(JsonPlace::to_string));
        parts.extend(self.vector.as_ref().map(|vector| format!("vector `{vector}`")));
        parts.extend(self.unit.as_ref().map(|unit| format!("unit `{unit}`")));
        parts.extend(self.function.as_ref().map(|function| format!("function `{function}`")));
        parts.extend(self.variable.as_ref().map(|variable| format!("variable `{variable}`")));
        parts.extend(self.procedure.clone());
        parts.extend(self.region.clone());
        parts.extend(self.column.as_ref().map(|column| format!("rule of {column}")));
        parts.extend(self.pcs.as_ref().map(|pcs| format!("pc {:#x}..{:#x}", pcs.start, pcs.end)));
        parts.extend(self.block.as_ref().map(|pcs| format!("block {:#x}..{:#x}", pcs.start, pcs.end)));
        parts.extend(self.place.clone());
        parts.extend(self.section.as_ref().map(|section| format!("section {section}")));
        parts.extend(self.operation.map(|operation| format!("operation {operation}")));
        parts.extend(self.offset.map(|offset| format!("offset {offset:#x}")));
        parts.extend(self.word.map(|word| format!("word {word}")));
        parts.extend(self.instruction.clone());
        parts.extend(self.operand.as_ref().map(|operand| format!("operand {operand}")));
        f.write_str(&parts.join(", "))
    }
}

impl At {
    /// The end of a message about a name in scope at a pc.
    fn pc(pc: Option<u64>) -> String {
        pc.map_or_else(|| " without a pc".into(), |pc| format!(" at pc {pc:#x}"))
    }
}

impl fmt::Display for JsonPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, column } = self;
        write!(f, "line {line}, column {column}")?;
        match path.len() {
            0 => Ok(()),
            1..=LONG_PATH => write!(f, ", `{path}`"),
            // The beginning identifies the statement, and the end the place in it.
            _ => {
                let (head, tail) = (LONG_PATH / 2, path.len() - LONG_PATH / 2);
                let (head, tail) = (path.floor_char_boundary(head), path.ceil_char_boundary(tail));
                let head = path[..head].rfind(is_step).unwrap_or(head);
                let tail = path[tail..].find(is_step).map_or(tail, |step| tail + step);
                write!(f, ", `{}…{}`", &path[..head], &path[tail..])
            }
        }
    }
}

/// A count with its noun: `1 finding`, `2 findings`, `0 entries`.
pub(crate) struct Count<N>(pub N, pub &'static str);

impl<N: PartialEq + From<u8>> Count<N> {
    fn is_one(&self) -> bool {
        self.0 == N::from(1)
    }

    /// Adds a verb: `1 bit is`, `2 bits are`.
    pub(crate) fn are(self) -> Are<N> {
        Are(self)
    }

    fn noun(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.1;
        match (self.is_one(), noun.strip_suffix('y'), noun.ends_with('s')) {
            (true, ..) => write!(f, " {noun}"),
            (false, Some(stem), _) => write!(f, " {stem}ies"),
            (false, None, true) => write!(f, " {noun}es"),
            (false, None, false) => write!(f, " {noun}s"),
        }
    }
}

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)?;
        self.noun(f)
    }
}

impl<N: fmt::LowerHex + PartialEq + From<u8>> fmt::LowerHex for Count<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)?;
        self.noun(f)
    }
}

/// A count with its noun and verb.
pub(crate) struct Are<N>(Count<N>);

impl<N: PartialEq + From<u8>> Are<N> {
    fn verb(&self) -> &'static str {
        if self.0.is_one() { " is" } else { " are" }
    }
}

impl<N: fmt::Display + PartialEq + From<u8>> fmt::Display for Are<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)?;
        f.write_str(self.verb())
    }
}

impl<N: fmt::LowerHex + PartialEq + From<u8>> fmt::LowerHex for Are<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&self.0, f)?;
        f.write_str(self.verb())
    }
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

/// Approximate number of bytes of a path that are shown.
const LONG_PATH: usize = 120;

/// Whether a key or an index of a path begins here.
fn is_step(char: char) -> bool {
    matches!(char, '.' | '[')
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownRegister { name, target, nearest, bounds } => {
                write!(f, "the target has no register {} ({target}){}", Requested(name), meant(nearest))?;
                match bounds {
                    Some((first, last)) => write!(f, "; the target has `{first}` to `{last}`"),
                    None => Ok(()),
                }
            }
            Self::UnknownSpace { name, target, nearest } => {
                write!(f, "the target has no address space {} ({target}){}", Requested(name), meant(nearest))
            }
            Self::UnknownTarget { name, nearest } => {
                write!(f, "unknown target: `{name}`{}", meant(nearest))
            }
            Self::UnknownName { of, name, nearest } => {
                match of {
                    Named::Consumer => write!(f, "no consumer has the name `{name}`")?,
                    Named::Mode => write!(f, "no mode has the name `{name}`")?,
                    Named::Operation => write!(f, "unknown operation `{name}`")?,
                    Named::Function => write!(f, "no function has the name `{name}`")?,
                    Named::Variable { pc } => {
                        write!(f, "no variable in scope{} has the name `{name}`", At::pc(*pc))?
                    }
                    Named::Section => write!(f, "the object has no section `{name}`")?,
                    Named::Symbol => write!(f, "the object has no symbol `{name}`")?,
                    Named::Described(kind) => write!(f, "no {kind} has the id or name `{name}` so far")?,
                    Named::Language => write!(f, "no language is `DW_LANG_{name}`")?,
                }
                f.write_str(&meant(nearest))
            }
            Self::AmbiguousName { of, name, candidates } => match of {
                Named::Variable { pc } => {
                    write!(f, "`{name}` is ambiguous{}: {}", At::pc(*pc), candidates.join("; "))
                }
                Named::Symbol => write!(f, "the object has several local symbols `{name}`"),
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
            Self::DuplicateName { name, .. } => write!(f, "two entities have the name `{name}`"),
            Self::LaneOutOfWave { lane, wave } => write!(f, "lane {lane} is not in a wave of {wave}"),
            Self::EmptyRange => f.write_str("a range begins before its end"),
            Self::OverlappingRanges(other) => write!(
                f,
                "the range overlaps {:#x}..{:#x} of the same variable; \
                 several locations at one pc are given in one call",
                other.start, other.end
            ),
            Self::OutsideFunction { size } => {
                write!(
                    f,
                    "the range is outside of the function, which has {size:#x}",
                    size = Count(*size, "byte")
                )
            }
            Self::OutsideScope(what) => f.write_str(what),
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
            | Self::AlreadyPresent(what)
            | Self::InvalidConsumer(what)
            | Self::WrongTarget(what)
            | Self::Syntax(what)
            | Self::Io { message: what, .. } => f.write_str(what),
        }
    }
}
