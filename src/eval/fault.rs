//! Why an evaluation stopped.

use core::fmt::{self, Display, Write as _};
use std::borrow::Cow;

use super::machine::Architecture;
use super::wide::operations;
use crate::op::{Encoding, Reg};

/// What kind of wrong it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The expression breaks a rule: whoever wrote it made a mistake, on every machine.
    IllFormed,
    /// The expression is fine, but this machine cannot answer: something is not in the context, undefined,
    /// or cannot be read; or a limit of the evaluator was reached.
    Evaluation,
    /// A location was found, but its bytes are not there to be read. Only reading at a *result* says so;
    /// inside of an expression it is an evaluation error.
    Unmapped,
    /// The evaluator does not know how to do this. Nothing is said about the expression.
    Unsupported,
}

/// Why an evaluation stopped, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What kind of wrong it is.
    pub class: Class,
    /// The index of the operation in its expression, counted from 0. `None` where no operation is to blame,
    /// as with the kind of the result.
    pub operation: Option<usize>,
    /// Bytes from the start of the expression to the operation.
    pub offset: Option<usize>,
    /// The entry whose expression holds the operation, as offset in `.debug_info`, where it was reached by a
    /// call or through an implicit pointer.
    pub entry: Option<u64>,
    /// The rule that was broken, or what is missing.
    pub rule: Cow<'static, str>,
}

impl Fault {
    /// A fault with no place yet.
    #[cold]
    pub fn new(class: Class, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { class, operation: None, offset: None, entry: None, rule: rule.into() }
    }

    /// Adds the place, unless a place further inside is known.
    #[cold]
    pub(super) fn or_at(
        mut self,
        expr: &[u8],
        offset: usize,
        encoding: Encoding,
        entry: Option<u64>,
    ) -> Self {
        if self.offset.is_none() {
            let before = operations(expr, encoding, 0).take_while(|(end, _)| *end <= offset);
            self.operation = Some(before.count());
            self.offset = Some(offset);
            self.entry = entry;
        }
        self
    }

    /// The same of an operation that refers to an expression which is not an entry's: the place in that one becomes
    /// part of the rule. `entry` is the one that both expressions are evaluated for.
    #[cold]
    pub(super) fn within(mut self, what: &str, entry: Option<u64>) -> Self {
        if self.entry == entry
            && let (Some(operation), Some(offset)) = (self.operation.take(), self.offset.take())
        {
            self.rule = format!("in {what}, operation {operation}, offset {offset:#x}: {}", self.rule).into();
            self.entry = None;
        }
        self
    }

    /// The same, as it is to be understood inside of an expression: what cannot be read is an evaluation
    /// error there.
    #[cold]
    pub(super) fn inside(mut self) -> Self {
        if self.class == Class::Unmapped {
            self.class = Class::Evaluation;
        }
        self
    }
}

impl core::error::Error for Fault {}

impl Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IllFormed => "ill-formed",
            Self::Evaluation => "evaluation error",
            Self::Unmapped => "unmapped",
            Self::Unsupported => "unsupported",
        })
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entry) = self.entry {
            write!(f, "entry {entry:#x}, ")?;
        }
        if let (Some(operation), Some(offset)) = (self.operation, self.offset) {
            write!(f, "operation {operation}, offset {offset:#x}: ")?;
        }
        write!(f, "{}: {}", self.class, self.rule)
    }
}

#[cold]
pub(super) fn ill_formed(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::IllFormed, rule)
}

#[cold]
pub(super) fn error(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::Evaluation, rule)
}

#[cold]
pub(super) fn unsupported(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::Unsupported, rule)
}

/// A message tells so much of a location, in bytes.
const BRIEF: usize = 240;

/// A location or what else a message tells, without its end if it is long.
#[cold]
pub(super) fn brief(what: &dyn Display) -> String {
    shortened(what, BRIEF)
}

/// As text of about `most` bytes, with an ellipsis for what is left out, which is not even printed: parts of a
/// composite can share what they name, and all of it as text can be more than memory holds.
pub(crate) fn shortened(what: &dyn Display, most: usize) -> String {
    struct Short {
        text: String,
        most: usize,
    }
    impl fmt::Write for Short {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            let left = self.most - self.text.len();
            if more.len() <= left {
                self.text.push_str(more);
                return Ok(());
            }
            self.text.push_str(&more[..more.floor_char_boundary(left)]);
            Err(fmt::Error)
        }
    }
    let mut short = Short { text: String::new(), most };
    if write!(short, "{what}").is_err() {
        short.text.push('…');
    }
    short.text
}

/// A message with the names of registers in place of their numbers.
pub(crate) fn in_names(message: &str, names: &dyn Architecture) -> String {
    const REGISTER: &str = "register ";
    let mut parts = message.split(REGISTER);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (number, rest) =
            part.split_at(part.find(|char: char| !char.is_ascii_digit()).unwrap_or(part.len()));
        let name = number.parse().ok().and_then(|number| names.register_name(Reg(number)));
        text.extend([REGISTER, name.as_deref().unwrap_or(number), rest]);
    }
    text
}
