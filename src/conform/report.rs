//! Vectors' outcomes.

use core::fmt::{self, Display};

use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A vector's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Verdict {
    /// The result is the expected one.
    #[serde(rename = "passed")]
    Passed,
    /// The result differs.
    #[serde(rename = "failed")]
    Failed,
    /// An error is expected, and the result is an error with another class.
    #[serde(rename = "wrong error class")]
    WrongErrorClass,
    /// The evaluator does not support an operation in the vector.
    #[serde(rename = "unsupported")]
    Unsupported,
}

impl Verdict {
    /// All verdicts, in the order of a report's last line.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::WrongErrorClass, Self::Unsupported];

    /// Combines the verdicts on two parts of a vector.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Passed, verdict) | (verdict, Self::Passed) => verdict,
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (verdict, _) => verdict,
        }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::WrongErrorClass => "wrong error class",
            Self::Unsupported => "unsupported",
        })
    }
}

/// A vector's outcome. Printed as a line: name, expectation, result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VectorOutcome {
    /// Vector name.
    pub name: String,
    /// Verdict.
    #[serde(rename = "outcome")]
    pub verdict: Verdict,
    /// Expectation, in the format's notation.
    #[serde(skip)]
    pub expected: String,
    /// Result, in the format's notation.
    pub found: String,
    /// Result as a JSON object with the keys of `expect`; `None` if `found` is truncated.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_json")]
    pub answer: Option<String>,
}

/// Writes text that is JSON as this JSON, and not as a string.
fn write_json<S: Serializer>(text: &Option<String>, to: S) -> Result<S::Ok, S::Error> {
    let json = text.clone().map(RawValue::from_string).transpose();
    json.map_err(S::Error::custom)?.serialize(to)
}

impl Display for VectorOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, verdict, expected, found, .. } = self;
        write!(f, "{name}: ")?;
        match verdict {
            Verdict::Passed | Verdict::Failed => {}
            other => write!(f, "{other}: ")?,
        }
        write!(f, "expected {expected}; found {found}")
    }
}

/// Outcomes of the vectors in one or more files. Displays as a line for each vector that did not pass, and a final line
/// with the counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConformReport {
    /// Outcomes in order, each with its file's name if there are several files.
    pub outcomes: Vec<(Option<String>, VectorOutcome)>,
}

impl ConformReport {
    /// Returns how many vectors have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| outcome.verdict == verdict).count()
    }

    /// Returns whether no vector has a wrong result or a wrong error class.
    pub fn is_clean(&self) -> bool {
        self.count(Verdict::Failed) + self.count(Verdict::WrongErrorClass) == 0
    }

    /// One JSON object per line for each vector: `name`, `outcome`, `found`, `answer`.
    pub fn to_json(&self) -> String {
        let line = |(_, outcome): &(_, VectorOutcome)| {
            serde_json::to_string(outcome).expect("text and words can be written as JSON") + "\n"
        };
        self.outcomes.iter().map(line).collect()
    }
}

impl Display for ConformReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (file, outcome) in &self.outcomes {
            if outcome.verdict != Verdict::Passed {
                file.as_ref().map_or(Ok(()), |file| write!(f, "{file}: "))?;
                writeln!(f, "{outcome}")?;
            }
        }
        let counts = Verdict::ALL.map(|verdict| format!("{} {verdict}", self.count(verdict)));
        write!(f, "{}", counts.join(", "))
    }
}
