//! Faults: the reasons why an evaluation stopped.
//!
//! ```
//! use eitri_dwarf::eval::{Class, Context, Evaluator, Snapshot};
//! use eitri_dwarf::op::{Dialect, Encoding};
//! use eitri_dwarf::target::Target;
//!
//! let (machine, target) = (Snapshot::default(), Target::x86_64());
//! let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
//! let class = |expr: &[u8]| {
//!     Evaluator::new().value(expr, &machine, &context).map_err(|fault| fault.class)
//! };
//! // DW_OP_lit4; DW_OP_plus: the producer's mistake, on every machine.
//! assert_eq!(class(&[0x34, 0x22]).err(), Some(Class::IllFormed));
//! // DW_OP_breg7 0: this machine has no register 7.
//! assert_eq!(class(&[0x77, 0]).err(), Some(Class::Evaluation));
//! ```

use core::fmt::{self, Display, Write as _};
use std::borrow::Cow;

use super::architecture::{Architecture, NameOf};
use super::decoding::operations;
use crate::op::{Encoding, Reg};

/// A fault's class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The expression breaks a rule: its producer made a mistake, on every machine.
    IllFormed,
    /// The expression is well-formed, but this machine cannot evaluate it: something is missing in the context,
    /// undefined, or unreadable; or an evaluator limit was reached.
    Evaluation,
    /// A location was found, but its bytes cannot be read. Only reading at a *result* reports this; within an
    /// expression it is an evaluation error.
    Unmapped,
    /// The evaluator does not support this. The expression may or may not be well-formed.
    Unsupported,
}

/// Why and where an evaluation stopped.
///
/// ```
/// # use eitri_dwarf::eval::{Context, Evaluator, Snapshot};
/// # use eitri_dwarf::op::{Dialect, Encoding};
/// # use eitri_dwarf::target::Target;
/// # let (machine, target) = (Snapshot::default(), Target::x86_64());
/// # let context = Context::new(Encoding::new(8, Dialect::Dwarf5), &target);
/// // DW_OP_const1u 4 has two bytes. DW_OP_plus after it needs a second number.
/// let fault = Evaluator::new().value(&[0x08, 4, 0x22], &machine, &context).unwrap_err();
/// assert_eq!((fault.operation, fault.offset), (Some(1), Some(2)));
/// println!("{fault}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The fault's class.
    pub class: Class,
    /// The operation's index in its expression, counted from 0. `None` where no operation is to blame, as for a
    /// result with the wrong kind.
    pub operation: Option<usize>,
    /// The operation's offset in bytes from the expression's start.
    pub offset: Option<usize>,
    /// The operation in an expression without an entry of its own, to which the operation refers, or which a location list
    /// contains. `rule` names the expression.
    pub inner: Option<Box<InnerOperation>>,
    /// The entry whose expression contains the operation, as an offset in `.debug_info`, where it was reached by a call
    /// or through an implicit pointer.
    pub entry: Option<u64>,
    /// The register that the rule is about, if it is about one.
    pub register: Option<Reg>,
    /// The broken rule, or the missing item.
    pub rule: Cow<'static, str>,
    /// Whether an evaluator limit was reached, which says nothing about the expression.
    pub is_limit: bool,
    /// Whether bits of undefined storage were read: debug information says that the value is not there, as in a variable
    /// that is optimized out, or in a register that calls do not preserve. A debugger prints "optimized out" instead of an
    /// error.
    pub is_undefined: bool,
}

/// Position of an operation in an expression without an entry of its own: an entry of a location list, a call site's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerOperation {
    /// The operation's index in its expression, counted from 0.
    pub operation: usize,
    /// The operation's offset in bytes from the expression's start.
    pub offset: usize,
}

impl Fault {
    /// Returns a fault without a position.
    pub fn new(class: Class, rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            class,
            operation: None,
            offset: None,
            inner: None,
            entry: None,
            register: None,
            rule: rule.into(),
            is_limit: false,
            is_undefined: false,
        }
    }

    /// Adds the position, unless an inner position is already known.
    pub(super) fn or_at(
        mut self,
        expr: &[u8],
        offset: usize,
        encoding: Encoding,
        entry: Option<u64>,
    ) -> Self {
        if self.offset.is_none() {
            // Counted only now, because faults are rare.
            let before = operations(expr, encoding, 0).take_while(|(end, _)| *end <= offset);
            self.operation = Some(before.count());
            self.offset = Some(offset);
            self.entry = entry;
        }
        self
    }

    /// Moves the position into the rule, for an operation that refers to an expression without an entry of its own.
    /// `entry` is the entry that both expressions are evaluated for.
    pub(super) fn within(mut self, what: &str, entry: Option<u64>) -> Self {
        // A fault in another entry already has a position that the reader can find.
        if self.entry == entry
            && let (Some(operation), Some(offset)) = (self.operation.take(), self.offset.take())
        {
            // The innermost stays.
            self.inner.get_or_insert_with(|| Box::new(InnerOperation { operation, offset }));
            self.rule = format!("in {what}, operation {operation}, offset {offset:#x}: {}", self.rule).into();
            self.entry = None;
        }
        self
    }

    /// Adds the register that the rule is about.
    pub(super) fn about(mut self, register: Reg) -> Self {
        self.register = Some(register);
        self
    }

    /// Formats the fault with an architecture's name for the register instead of the DWARF number.
    pub fn in_names<'a>(&'a self, architecture: &'a dyn Architecture) -> impl Display + 'a {
        struct InNames<'a>(&'a Fault, &'a dyn Architecture);
        impl Display for InNames<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.print(f, &|reg| self.1.register_name(reg))
            }
        }
        InNames(self, architecture)
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, name: NameOf<'_>) -> fmt::Result {
        if let Some(entry) = self.entry {
            write!(f, "entry {entry:#x}, ")?;
        }
        if let (Some(operation), Some(offset)) = (self.operation, self.offset) {
            write!(f, "operation {operation}, offset {offset:#x}: ")?;
        }
        write!(f, "{}: {}", self.class, self.rule)?;
        self.print_register(f, name)
    }

    /// Prints the register, after the rule.
    #[doc(hidden)]
    pub fn print_register(&self, f: &mut fmt::Formatter<'_>, name: NameOf<'_>) -> fmt::Result {
        match self.register {
            Some(reg) => write!(f, ": register {}", name(reg).unwrap_or_else(|| reg.0.to_string())),
            None => Ok(()),
        }
    }

    /// Converts a reading fault to a fault within an expression, where an unreadable location is an evaluation error.
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
        self.print(f, &|_| None)
    }
}

pub(super) fn ill_formed(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::IllFormed, rule)
}

pub(super) fn error(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::Evaluation, rule)
}

pub(super) fn limit(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault { is_limit: true, ..error(rule) }
}

/// Returns the fault of a read of undefined bits.
pub(super) fn undefined_bit() -> Fault {
    Fault { is_undefined: true, ..error("a bit of undefined storage cannot be read (A.2.5.4.3.4)") }
}

pub(super) fn unsupported(rule: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Class::Unsupported, rule)
}

/// A location's maximum length in a message, in bytes.
const BRIEF: usize = 240;

/// Returns a location or element for a message, shortened if it is long.
pub(super) fn brief(what: &dyn Display) -> String {
    shortened(what, BRIEF)
}

/// Returns at most about `most` bytes of text, with an ellipsis instead of the rest, which is not even formatted: a
/// composite's parts can share storage, so that its full text might exceed the memory.
pub fn shortened(what: &dyn Display, most: usize) -> String {
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
            // The error stops the formatting, so that the rest costs nothing.
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
