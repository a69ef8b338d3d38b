//! What was found.

use core::fmt;

use gimli::constants as dw;

use super::describe::Describe;
use super::tree::Described;
use crate::error::{At, Count, Error};
use crate::model::VariableId;
use crate::read::{Entry, Object};

/// Everything that was found, in the order of the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Differences between the module and the object.
    pub findings: Vec<Finding>,
    /// A location that could not be compared: a variable's at a time, an attribute of something else, or a column of a frame.
    pub unproven: Vec<Unproven>,
    /// What the consumer could not be told, and was not.
    pub omitted: usize,
    /// How many locations were compared: variables × pcs, × lanes and contents of the machine where the
    /// location depends on them.
    pub locations: u64,
    /// How many entries were compared.
    pub entries: u64,
    /// How many line rows were compared.
    pub rows: u64,
    /// How many names were looked up in the tables that the consumer asks for.
    pub names: u64,
    /// How many entries of lists of macros were compared.
    pub macros: u64,
}

impl Report {
    /// Whether there is no difference.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// The report without the findings of a kind: without [`Kind::Extra`], of an object to which others may add.
    #[must_use]
    pub fn without(mut self, kind: Kind) -> Self {
        self.findings.retain(|finding| finding.kind != kind);
        self
    }
}

/// Something that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unproven {
    /// The variable; `None` where the location is of something else.
    pub variable: Option<VariableId>,
    /// Where in the program.
    pub at: At,
    /// The attribute or entry that has the location, if it is not that of a variable.
    pub what: Option<String>,
    /// Why it could not be compared.
    pub why: Obstacle,
}

/// Why something could not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The module gives it by a raw expression, which has no meaning but the one that DWARF gives it.
    Raw,
    /// It means nothing in any of the machines that were tried: it is outside of its storage.
    Outside,
    /// Lanes stand in more regions inside of each other than are tried.
    Depth,
}

impl Obstacle {
    fn text(self) -> &'static str {
        match self {
            Self::Raw => "a raw expression has no meaning but its own",
            Self::Outside => "it means nothing in any of the machines that were tried",
            Self::Depth => "so many regions inside of each other are not tried",
        }
    }
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is different.
    pub kind: Kind,
    /// Where in the program.
    pub at: At,
    /// The lane that asks, if it matters.
    pub lane: Option<u32>,
    /// What the module says.
    pub expected: String,
    /// What the object says.
    pub found: String,
    /// The evaluation that led there, operation by operation.
    pub trace: Vec<String>,
}

/// What is different.
///
/// An entry that is in the object and not in the module is [`Extra`](Self::Extra) where it does not change the meaning of
/// one that was described. Elsewhere it has the kind of the part that it changes: a row of the line table over described
/// code is [`Line`](Self::Line), an entry with a range of described code is [`Code`](Self::Code), a frame description
/// entry that begins inside a described function is [`Frame`](Self::Frame), and a name or an address in a table that
/// leads elsewhere is [`Table`](Self::Table).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An entry is missing.
    MissingEntry,
    /// There is more than the module has: a unit, an entry, a file, the frame of a function. What was described can
    /// be right all the same, so that who adds to an object can [leave these out](Report::without). A unit, function
    /// or row of code that was described is none of these, but [`Self::Code`] or [`Self::Line`].
    Extra,
    /// An attribute is missing, or has another value.
    Attribute,
    /// A type is another.
    Type,
    /// The code of a scope is elsewhere, or a unit or function that was not described has it, too.
    Code,
    /// A variable is elsewhere.
    Location,
    /// The frame of a function, or a register of its caller, is elsewhere.
    Frame,
    /// A location could not be evaluated.
    Evaluation,
    /// A list has an entry that is empty, reversed, or outside of the function.
    Range,
    /// A row of the line table is missing or different, or there are more of code that was described.
    Line,
    /// A macro is missing or different.
    Macro,
    /// A table for looking things up, by name or by address, leads elsewhere.
    Table,
    /// Something could not be read.
    Unreadable,
}

impl Report {
    /// Adds a difference.
    #[cold]
    pub(super) fn find(&mut self, kind: Kind, at: At, expected: impl Into<String>, found: impl Into<String>) {
        let (expected, found) = (expected.into(), found.into());
        self.findings.push(Finding { kind, at, lane: None, expected, found, trace: Vec::new() });
    }

    /// Adds something of an object that could not be read.
    #[cold]
    pub(super) fn unreadable(&mut self, object: &Object<'_>, error: &Error, at: At) {
        let found = super::placed(object, error).to_string();
        self.find(Kind::Unreadable, at, "something that can be read", found);
    }

    /// Compares two values of one kind.
    pub(super) fn same<T: PartialEq + Describe>(&mut self, at: &At, what: &str, expected: &T, found: &T) {
        if expected != found {
            let (expected, found) = (format!("{what} {}", expected.describe()), found.describe());
            self.find(Kind::Attribute, at.clone(), expected, found);
        }
    }

    /// Adds an entry that nobody described. It is over described code if it is a function with some of that.
    #[cold]
    pub(super) fn unexpected(&mut self, described: Described<'_>, entry: Entry<'_, '_>, at: At) {
        let name = entry.name().unwrap_or_default();
        let tags = [dw::DW_TAG_variable, dw::DW_TAG_formal_parameter, dw::DW_TAG_constant];
        let variable = tags.contains(&entry.tag()).then(|| name.to_string()).or(at.variable.clone());
        let what = format!("{} `{name}`", entry.tag().describe());
        // A debugger that looks for the function at a pc can find this one.
        let is_over = entry.tag() == dw::DW_TAG_subprogram && described.has_code(entry);
        let kind = if is_over { Kind::Code } else { Kind::Extra };
        self.find(kind, At { variable, ..at }, "no more", what);
    }
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::MissingEntry => "missing entry",
            Self::Extra => "extra",
            Self::Attribute => "attribute",
            Self::Type => "type",
            Self::Code => "code",
            Self::Location => "location",
            Self::Frame => "frame",
            Self::Evaluation => "evaluation",
            Self::Range => "range",
            Self::Line => "line",
            Self::Macro => "macro",
            Self::Table => "table",
            Self::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind.text())?;
        let is_placed = self.at != At::default();
        match self.lane {
            Some(lane) if is_placed => write!(f, "{}, lane {lane}: ", self.at)?,
            Some(lane) => write!(f, "lane {lane}: ")?,
            None if is_placed => write!(f, "{}: ", self.at)?,
            // It is about the whole object.
            None => {}
        }
        write!(f, "expected {}, found {}", self.expected, self.found)?;
        for step in &self.trace {
            write!(f, "\n    {step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for Unproven { variable: _, at, what, why } in &self.unproven {
            let what = what.as_ref().map_or(String::new(), |what| format!("{what}: "));
            writeln!(f, "unproven: {at}: {what}{why}", why = why.text())?;
        }
        let Self { findings, unproven, omitted, locations, entries, rows, names, macros } = self;
        let (count, unproven) = (Count(findings.len(), "finding"), unproven.len());
        write!(f, "{count}, {unproven} unproven, {omitted} omitted; compared: ")?;
        let counts = [Count(*entries, "entry"), Count(*rows, "line row"), Count(*locations, "location")];
        let [entries, rows, locations] = counts;
        write!(f, "{entries}, {rows}, {locations}")?;
        // Not every module has them, and not every consumer asks for them.
        for count in [Count(*names, "name"), Count(*macros, "macro")] {
            if count.0 > 0 {
                write!(f, ", {count}")?;
            }
        }
        Ok(())
    }
}
