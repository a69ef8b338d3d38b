//! What came of the vectors that were run.

use core::fmt::{self, Display};

use serde::Serialize;

/// What came of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Verdict {
    /// What came out is what is expected.
    #[serde(rename = "passed")]
    Passed,
    /// Something else came out.
    #[serde(rename = "failed")]
    Failed,
    /// An error came out, as is expected, but one of another class.
    #[serde(rename = "wrong error class")]
    WrongErrorClass,
    /// The evaluator does not know how to do this.
    #[serde(rename = "unsupported")]
    Unsupported,
}

impl Verdict {
    /// Every verdict, in the order of the last line of a report.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::WrongErrorClass, Self::Unsupported];

    /// The verdict of two parts of one vector.
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

/// What came of one vector. Printed as a line: name, what was expected, what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The name of the vector.
    pub name: String,
    /// What came of it.
    #[serde(rename = "outcome")]
    pub verdict: Verdict,
    /// What was expected, in the words of the format.
    #[serde(skip)]
    pub expected: String,
    /// What was found, in the words of the format.
    pub found: String,
    /// The same in the keys of `expect`. `None` where the text is only its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<serde_json::Value>,
}

impl Display for Outcome {
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

/// What came of the vectors of some files. Printed as a line for each that did not pass, and one with the
/// counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The outcomes in order, each with the name of its file if there is more than one.
    pub outcomes: Vec<(Option<String>, Outcome)>,
}

impl Report {
    /// How many vectors have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| outcome.verdict == verdict).count()
    }

    /// Whether no vector failed: none gave a wrong answer, and none a wrong class of error.
    pub fn is_clean(&self) -> bool {
        self.count(Verdict::Failed) + self.count(Verdict::WrongErrorClass) == 0
    }

    /// One object of JSON on a line for each vector: `name`, `outcome`, `found`, `answer`.
    pub fn to_json(&self) -> String {
        let line = |(_, outcome): &(_, Outcome)| {
            serde_json::to_string(outcome).expect("text and words can be written as JSON") + "\n"
        };
        self.outcomes.iter().map(line).collect()
    }
}

impl Display for Report {
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
