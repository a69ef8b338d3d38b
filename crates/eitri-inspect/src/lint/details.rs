//! The texts in a finding.

/// Meaning as written, intended meaning, and evidence.
#[derive(Debug, Default, Clone)]
pub(super) struct Details {
    pub(super) written: String,
    pub(super) meant: Option<String>,
    pub(super) evidence: Vec<String>,
}

impl Details {
    pub(super) fn new(written: impl Into<String>) -> Self {
        Self { written: written.into(), ..Self::default() }
    }

    pub(super) fn meant(self, meant: String) -> Self {
        Self { meant: Some(meant), ..self }
    }

    /// Appends facts.
    pub(super) fn evidence(mut self, facts: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(facts);
        self
    }
}
