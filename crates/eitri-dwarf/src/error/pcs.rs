//! Pcs in messages and listings.

use core::fmt;
use core::ops::Range;
use std::borrow::Cow;

use super::digits::Digits;

/// A pc or a range of pcs as text: `k+0x20` and `k+[0x20, 0x40)` in a cubin, where the code of each function is at 0 in the
/// file, and `0x10020` and `[0x10020, 0x10040)` elsewhere.
///
/// An object's [notation](crate::read::PcNotation) makes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PcText<'n> {
    start: Position<'n>,
    end: Option<(Position<'n>, Closing)>,
}

/// A pc as a number in bytes: an offset in a function's code, or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position<'n> {
    pub(crate) function: Option<Cow<'n, str>>,
    pub(crate) number: u64,
}

/// Whether a range contains its last number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Closing {
    Exclusive,
    Inclusive,
}

impl<'n> PcText<'n> {
    pub(crate) fn new(start: Position<'n>, end: Option<(Position<'n>, Closing)>) -> Self {
        Self { start, end }
    }

    /// Returns the text of an address, without a function.
    pub fn address(address: u64) -> Self {
        Self { start: Position { function: None, number: address }, end: None }
    }

    /// Returns the function in whose code both ends are, and the range in bytes from the start of its code; a single pc is an
    /// empty range. `None` for addresses.
    pub fn in_function(&self) -> Option<(&str, Range<u64>)> {
        let end = self.end.as_ref().map_or(&self.start, |(end, _)| end);
        let function = self.start.function.as_deref().filter(|_| end.function == self.start.function)?;
        Some((function, self.start.number..end.number))
    }

    /// Returns the text without a reference to the object.
    pub fn into_owned(self) -> PcText<'static> {
        PcText {
            start: self.start.into_owned(),
            end: self.end.map(|(end, closing)| (end.into_owned(), closing)),
        }
    }
}

impl Position<'_> {
    fn into_owned(self) -> Position<'static> {
        let Self { function, number } = self;
        Position { function: function.map(|name| name.into_owned().into()), number }
    }
}

impl fmt::Display for PcText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((end, closing)) = &self.end else { return self.start.fmt(f) };
        let close = match closing {
            Closing::Exclusive => ")",
            Closing::Inclusive => "]",
        };
        if end.function != self.start.function {
            return write!(f, "[{}, {end}{close}", self.start);
        }
        if let Some(function) = &self.start.function {
            f.write_str(function)?;
            f.write_str("+")?;
        }
        f.write_str("[")?;
        f.write_str(Digits::hexadecimal(self.start.number).text())?;
        f.write_str(", ")?;
        f.write_str(Digits::hexadecimal(end.number).text())?;
        f.write_str(close)
    }
}

impl fmt::Display for Position<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(function) = &self.function {
            f.write_str(function)?;
            f.write_str("+")?;
        }
        f.write_str(Digits::hexadecimal(self.number).text())
    }
}
