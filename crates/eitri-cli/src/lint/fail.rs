//! Level at which the command fails.

use eitri::lint::Level;

/// Least level of a finding for which the exit code is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    Level(Level),
    Never,
}

impl FailOn {
    /// Names with their values.
    pub const ALL: [(&'static str, Self); 4] = [
        ("error", Self::Level(Level::Error)),
        ("warning", Self::Level(Level::Warning)),
        ("note", Self::Level(Level::Note)),
        ("never", Self::Never),
    ];

    /// Reads a name.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == word);
        known.map(|known| known.1).ok_or_else(|| format!("`{word}`: expected error, warning, note or never"))
    }

    /// Whether the command fails if this is the heaviest level.
    pub fn fails(self, worst: Option<Level>) -> bool {
        match self {
            Self::Level(level) => worst.is_some_and(|worst| worst >= level),
            Self::Never => false,
        }
    }
}
