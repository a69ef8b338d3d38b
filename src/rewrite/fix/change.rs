//! Changes that a fix makes.

use core::fmt;
use core::ops::Range;

use crate::lint::{LintCode, LintFinding};

/// A location, a frame or another fact that a fix changed, with the finding that proves it wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FixChange {
    /// Code of the finding.
    pub code: LintCode,
    /// Name of the compilation unit.
    pub unit: Option<String>,
    /// Name of the function.
    pub function: Option<String>,
    /// Name of the variable or parameter.
    pub variable: Option<String>,
    /// Half-open pc range of the change: addresses in the file. `None` means all pcs.
    pub pcs: Option<Range<u64>>,
    /// Operations in the file.
    pub before: Option<String>,
    /// Operations instead, with their pcs. At other pcs of the range, the variable is optimized out.
    pub after: Vec<(Option<Range<u64>>, String)>,
    /// Facts in the file that prove the finding, and instructions at which the location ends.
    pub evidence: Vec<String>,
}

impl fmt::Display for FixChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.code.name())?;
        if let Some(function) = &self.function {
            write!(f, " {function}")?;
        }
        if let Some(variable) = &self.variable {
            write!(f, " {variable}")?;
        }
        pcs(f, &self.pcs)?;
        write!(f, ": {}", self.before.as_deref().unwrap_or("nothing"))?;
        if self.after.is_empty() {
            return f.write_str(" -> optimized out");
        }
        for (index, (at, text)) in self.after.iter().enumerate() {
            f.write_str(if index == 0 { " -> " } else { ", " })?;
            f.write_str(text)?;
            if *at != self.pcs {
                pcs(f, at)?;
            }
        }
        Ok(())
    }
}

/// An error that lint finds in the fixed object: the code proves nothing else, or a fix does not change such a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfixed {
    /// The finding, with offsets in the fixed object.
    pub finding: LintFinding,
}

impl fmt::Display for Unfixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LintFinding { code, function, variable, written, .. } = &self.finding;
        write!(f, "{}:", code.name())?;
        if let Some(function) = function {
            write!(f, " {function}")?;
        }
        if let Some(variable) = variable {
            write!(f, " {variable}")?;
        }
        if let Some(pcs) = self.finding.pc_text() {
            write!(f, " {pcs}")?;
        }
        write!(f, ": {written}")
    }
}

fn pcs(f: &mut fmt::Formatter<'_>, pcs: &Option<Range<u64>>) -> fmt::Result {
    match pcs {
        Some(pcs) => write!(f, " [{:#x}, {:#x})", pcs.start, pcs.end),
        None => Ok(()),
    }
}
