//! Result of a comparison.

use core::fmt;

use super::describe::Describe;
use crate::error::{At, Count, Error};
use crate::model::VariableId;
use crate::read::Object;

/// A comparison's result, in module order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Differences between the module and the object.
    pub findings: Vec<CheckFinding>,
    /// Locations that could not be compared: one for each variable, attribute or frame column.
    pub unproven: Vec<Unproven>,
    /// How many properties are omitted, because the consumer cannot express them.
    pub omitted: usize,
    /// How many locations were compared: variables × pcs, × lanes and machine contents where the location depends on
    /// them.
    pub locations: u64,
    /// How many entries were compared.
    pub entries: u64,
    /// How many line rows were compared.
    pub rows: u64,
    /// How many names were looked up in the consumer's tables.
    pub names: u64,
    /// How many macro directives were compared.
    pub macros: u64,
}

impl CheckReport {
    /// Returns whether there is no finding.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns the report without one kind's findings: without [`FindingKind::Extra`], for an object to which other tools
    /// may add.
    #[must_use]
    pub fn without(mut self, kind: FindingKind) -> Self {
        self.findings.retain(|finding| finding.kind != kind);
        self
    }
}

/// Location that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unproven {
    /// Variable; `None` if the location belongs to another entity.
    pub variable: Option<VariableId>,
    /// Where in the program it is.
    pub at: At,
    /// Attribute or entry with the location, unless it is a variable's.
    pub what: Option<String>,
    /// Reason why it could not be compared.
    pub why: Obstacle,
}

/// Reason why a location could not be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The module has a raw expression, whose meaning only DWARF defines.
    Raw,
    /// The location is outside its storage in every tried machine.
    OutOfBounds,
    /// The described location is outside its storage in some machines in which the object has a location.
    Undescribed,
    /// Lane regions are nested more deeply than the comparison allows.
    Depth,
}

impl Obstacle {
    /// Returns the obstacle's name: `raw`, `out-of-bounds`, `undescribed`, `depth`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::OutOfBounds => "out-of-bounds",
            Self::Undescribed => "undescribed",
            Self::Depth => "depth",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Raw => "only DWARF defines the meaning of a raw expression",
            Self::OutOfBounds => "the location is out of bounds in every tried machine",
            Self::Undescribed => "the object has a location where the described one is out of bounds",
            Self::Depth => "the regions of lanes are nested too deeply to be compared",
        }
    }
}

/// Difference between the module and the object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckFinding {
    /// The difference's kind.
    pub kind: FindingKind,
    /// Where in the program it is.
    pub at: At,
    /// Lane, if the difference depends on it.
    pub lane: Option<u32>,
    /// Property in the module.
    pub expected: String,
    /// Property in the object.
    pub found: String,
    /// The evaluation's trace, operation by operation.
    pub trace: Vec<String>,
}

/// A difference's kind.
///
/// An entry in the object that the module does not describe is [`Extra`](Self::Extra) if it does not change a
/// described entry's meaning. Otherwise its kind is that of the part that it changes: a line table row over described
/// code is [`Line`](Self::Line), an entry with a range over described code is [`Code`](Self::Code), a frame
/// description entry that starts within a described function is [`Frame`](Self::Frame), and a name or an address in a
/// table that leads elsewhere is [`Table`](Self::Table).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// An entry is missing.
    MissingEntry,
    /// The object has something that the module does not describe: a unit, an entry, a file, a function's frame. The
    /// described entries can still be right, so that a user who adds to an object can [leave these
    /// out](CheckReport::without). Units, functions and rows over described code are [`Self::Code`] or [`Self::Line`]
    /// instead.
    Extra,
    /// An attribute is missing, or has another value.
    Attribute,
    /// A type differs.
    Type,
    /// A scope's code differs, or a unit or function that is not described also covers it.
    Code,
    /// A variable's location differs.
    Location,
    /// A function's frame, or the location of a caller's register, differs.
    Frame,
    /// A location could not be evaluated.
    Evaluation,
    /// A list entry is empty, reversed, or outside the function.
    Range,
    /// A line table row is missing, differs, or is an additional row over described code.
    Line,
    /// A macro is missing or differs.
    Macro,
    /// A lookup table, by name or by address, leads elsewhere.
    Table,
    /// Part of the object cannot be read.
    Unreadable,
    /// The code refutes a location in the module: [`Tracked::check`](crate::track::Tracked::check). Comparing a
    /// module with an object finds none of these.
    Stale,
}

impl CheckReport {
    /// Adds a finding.
    pub(super) fn find(
        &mut self,
        kind: FindingKind,
        at: At,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) {
        self.findings.push(CheckFinding {
            kind,
            at,
            lane: None,
            expected: expected.into(),
            found: found.into(),
            trace: Vec::new(),
        });
    }

    /// Adds a finding for an object part that cannot be read.
    pub(super) fn unreadable(&mut self, object: &Object<'_>, error: &Error, at: At) {
        let text = placed(object, error).to_string();
        self.find(FindingKind::Unreadable, at, "something that can be read", text);
    }

    /// Adds a finding if two values differ.
    pub(super) fn expect_equal<T: PartialEq + Describe>(
        &mut self,
        at: &At,
        what: &str,
        expected: &T,
        found: &T,
    ) {
        if expected != found {
            let expected = format!("{what} {}", expected.describe());
            let actual = found.describe();
            self.find(FindingKind::Attribute, at.clone(), expected, actual);
        }
    }
}

impl FindingKind {
    /// Returns the kind's name, on which a program in another language can react: `location`, `missing-entry`.
    pub fn name(self) -> &'static str {
        match self {
            Self::MissingEntry => "missing-entry",
            // The rest is a word each.
            _ => self.text(),
        }
    }

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
            Self::Stale => "stale",
        }
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind.text())?;
        let is_placed = self.at != At::default();
        match self.lane {
            Some(lane) if is_placed => write!(f, "{}, lane {lane}: ", self.at)?,
            Some(lane) => write!(f, "lane {lane}: ")?,
            None if is_placed => write!(f, "{}: ", self.at)?,
            // The finding is about the whole object.
            None => {}
        }
        write!(f, "expected {}, found {}", self.expected, self.found)?;
        for step in &self.trace {
            write!(f, "\n    {step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for Unproven { variable: _, at, what, why } in &self.unproven {
            let subject = what.as_ref().map_or(String::new(), |what| format!("{what}: "));
            writeln!(f, "unproven: {at}: {subject}{why}", why = why.text())?;
        }
        let Self { findings, unproven, omitted, locations, entries, rows, names, macros } = self;
        let count = Count(findings.len(), "finding");
        let unproven = unproven.len();
        write!(f, "{count}, {unproven} unproven, {omitted} omitted; compared: ")?;
        let counts = [Count(*entries, "entry"), Count(*rows, "line row"), Count(*locations, "location")];
        let [entries, rows, locations] = counts;
        write!(f, "{entries}, {rows}, {locations}")?;
        // Printed only if compared: few modules and consumers have them.
        for count in [Count(*names, "name"), Count(*macros, "macro")] {
            if count.0 > 0 {
                write!(f, ", {count}")?;
            }
        }
        Ok(())
    }
}

/// Error with its offset in the section as the file has it, because the comparison reads sections at other addresses.
pub(super) fn placed(object: &Object<'_>, error: &Error) -> Error {
    let site = error.at();
    let section = site.section.as_deref().and_then(|name| object.section(name));
    let offset = site.offset.zip(section).map(|(offset, section)| offset.saturating_sub(section.moved));
    Error::new(error.kind().clone())
        .or_at(site.clone().with(|context| context.offset = offset.or(site.offset)))
}

/// Parts of a report that are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    All,
    /// Not what is [unproven](Unproven): optimized code has as many such locations as variables.
    Findings,
}
