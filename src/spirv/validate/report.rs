//! Findings and notes from a validation.

use core::fmt;

use super::rule::ValidationRule;
use crate::error::{At, Count};
use crate::spirv::operand::Field;

/// Findings and notes, in module order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationReport {
    /// Violations of the specification.
    pub findings: Vec<ValidationFinding>,
    /// Noteworthy forms that the specification permits or leaves open.
    pub notes: Vec<ValidationFinding>,
    /// Number of debug instructions.
    pub instructions: usize,
}

/// A finding or a note.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationFinding {
    /// The violated rule.
    pub rule: ValidationRule,
    /// The specification's section with the rule.
    pub section: &'static str,
    /// The instruction's location.
    pub at: At,
    /// The operand.
    pub operand: Option<Field>,
    /// Description.
    pub what: String,
}

impl ValidationReport {
    /// Whether the report is without violations.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

impl fmt::Display for ValidationFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, section, at, what, .. } = self;
        write!(f, "{} ({section}): {at}: {what}", rule.name())
    }
}

impl fmt::Display for ValidationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        let Self { findings, notes, instructions } = self;
        let [findings, notes] = [Count(findings.len(), "finding"), Count(notes.len(), "note")];
        write!(f, "{findings}, {notes}; {}", Count(*instructions, "debug instruction"))
    }
}
