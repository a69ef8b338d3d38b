//! The crate's error type.
//!
//! ```
//! use eitri_dwarf::error::ErrorKind;
//! use eitri_dwarf::read::Object;
//!
//! // The kind is for programs, the message for people.
//! let error = Object::read(b"not an object").unwrap_err();
//! assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
//! println!("{error}");
//! ```

mod at;
mod construct;
mod count;
mod digits;
mod facts;
mod kind;
mod limit;
mod pcs;
mod texts;

use core::fmt;
use core::ops::RangeInclusive;
use std::io;

pub(crate) use at::OneLine;
pub use at::{At, JsonPlace};
pub use construct::Construct;
#[doc(hidden)]
pub use count::Count;
pub(crate) use digits::Digits;
pub use facts::{Aligned, Conflict, Enclosed, Feature, Identity, Present, UnavailableValue};
pub use kind::{ErrorKind, Named, Ranges};
pub use limit::{Limit, Quantity};
pub use pcs::PcText;
pub(crate) use pcs::{Closing, Position};

/// Result of a fallible call of this crate.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Error with its location: something that cannot be described, written, read or evaluated.
///
/// An error is for the caller: a bad argument, unreadable bytes, a machine without the requested register. A difference
/// that `check` finds in an output is a finding, not an error.
///
/// The message begins with the unit, function, variable, region, pc range, operation, section and offset that are known:
/// *unit `a.cl`, function `saxpy`, variable `n`, pc 0x24..0x180: lane 70 is out of range for a 64-lane wave*.
///
/// The message is complete: it includes the messages of the system and of other crates, and the error has no
/// [source](core::error::Error::source) that would repeat them.
///
/// ```
/// # use eitri_dwarf::error::ErrorKind;
/// # use eitri_dwarf::read::{Dwarf, Object};
/// # let mut bytes = include_bytes!("../data/squares.o").to_vec();
/// // The first entry gets an abbreviation code that the table lacks. `.debug_info` is at 0x17d
/// // of the file.
/// bytes[0x17d + 0xc] = 99;
/// let object = Object::read(&bytes)?;
/// let error = Dwarf::read(&object).unwrap_err();
/// // A program decides by the kind, and shows the position without parsing the message.
/// assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
/// let at = error.at();
/// assert_eq!((at.section.as_deref(), at.offset), (Some(".debug_info"), Some(0xc)));
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    at: At,
}

impl Error {
    /// Returns an error of this kind, without a location.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, at: At::default() }))
    }

    /// Returns the kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the location.
    pub fn at(&self) -> &At {
        &self.0.at
    }

    /// Replaces the position in a JSON text.
    #[must_use]
    pub fn with_json(mut self, place: JsonPlace) -> Self {
        self.0.at.json = Some(place);
        self
    }

    /// Adds an outer location. Known parts are kept: the innermost location takes precedence.
    #[must_use]
    pub fn or_at(mut self, outer: At) -> Self {
        let at = &mut self.0.at;
        at.split_file = at.split_file.take().or(outer.split_file);
        at.supplementary_file = at.supplementary_file.take().or(outer.supplementary_file);
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

    /// Returns an error about invalid bytes.
    #[doc(hidden)]
    pub fn malformed(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed(what.into()))
    }

    /// Returns an error about a quantity outside its limits.
    #[doc(hidden)]
    pub fn limit(quantity: Quantity, accepted: RangeInclusive<u128>, value: u128) -> Self {
        Self::new(ErrorKind::Limit(Box::new(Limit { quantity, accepted, value })))
    }

    /// Returns an error about an argument that is not accepted.
    #[doc(hidden)]
    pub fn bad_argument(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadArgument(what.into()))
    }

    /// Adds a section to the location.
    #[must_use]
    #[doc(hidden)]
    pub fn in_section(self, section: &str) -> Self {
        self.or_at(At { section: Some(section.into()), ..At::default() })
    }

    /// Adds the index of a word in a SPIR-V module to the location.
    #[must_use]
    #[doc(hidden)]
    pub fn at_word(self, word: usize) -> Self {
        self.or_at(At { word: Some(word), ..At::default() })
    }

    /// Adds an offset in bytes to the location.
    #[must_use]
    #[doc(hidden)]
    pub fn at_offset(self, offset: u64) -> Self {
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
        Self::new(ErrorKind::Io { kind: error.kind(), message })
    }
}

impl core::error::Error for Error {}

/// The name of the kind and the message: what a program prints whose `main` returns the error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.kind.name())
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
