//! The texts in a finding.

use super::codes::LintCode;
use super::meant::{Meaning, Meant};

/// Takes a finding about a function: code, section with offset, and texts.
pub(super) type Add<'a> = &'a mut dyn FnMut(LintCode, Option<(&'static str, u64)>, &dyn Fn() -> Details);

/// Meaning as written, intended meaning, and evidence.
#[derive(Debug, Default, Clone)]
pub(super) struct Details {
    pub(super) written: String,
    pub(super) meant: Option<Meant>,
    /// Meant location of the part with the finding.
    pub(super) meaning: Option<Meaning>,
    pub(super) evidence: Vec<String>,
}

impl Details {
    pub(super) fn new(written: impl Into<String>) -> Self {
        Self { written: written.into(), ..Self::default() }
    }

    pub(super) fn meant(self, meant: impl Into<String>) -> Self {
        Self { meant: Some(Meant::new(meant)), ..self }
    }

    /// Sets where the part was meant to be, from which its text follows.
    pub(super) fn meaning(self, meaning: Meaning) -> Self {
        let meant = Some(Meant::new(meaning.text()));
        Self { meant, meaning: Some(meaning), ..self }
    }

    /// Appends facts.
    pub(super) fn evidence(mut self, facts: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(facts);
        self
    }
}
