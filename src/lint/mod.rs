//! Judges the debug information of any producer by the facts of its own file.
//!
//! [`check`](crate::check()) compares with a description; [`lint()`] needs no description. The witness is the code: the
//! instruction that set a register, the scratch of a kernel, the symbols, the operations of an expression. Each
//! [`Finding`] has the evidence.
//!
//! DWARF 2 to 5 for AMD GPUs, NVIDIA's GPUs and CPUs is read. [`Code`] lists the mistakes, [`Code::page`] explains one.
//!
//! ```
//! # fn main() -> eitri::Result<()> {
//! # let bytes = include_bytes!("../../examples/data/uspill.o");
//! let report = eitri::lint::lint(bytes, &eitri::lint::Options::default())?;
//! for finding in &report.findings {
//!     println!("{}: {}", finding.code.name(), finding.written);
//! }
//! # Ok(())
//! # }
//! ```

mod code;
mod codes;
mod entries;
mod file;
mod finding;
mod functions;
mod kernels;
mod lists;
mod places;
mod recoverable;
pub(crate) mod shape;
mod walk;

pub use codes::{Code, Page};
pub use finding::{Expression, Finding, Level, Report};

use crate::error::Result;
use crate::read::{Dwarf, Object, Placing};

/// Choices of a judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Functions whose findings are reported, by name or linkage name; all if it is empty. Findings outside of functions
    /// are then omitted.
    pub only: Vec<String>,
    /// Number of threads that judge units; 0 and 1 are one. The report does not depend on it.
    pub threads: usize,
}

/// Judges the debug information of an object file.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`], and of lists and frames that cannot be read.
pub fn lint(bytes: &[u8], options: &Options) -> Result<Report> {
    let object = Object::read_placed(bytes, Placing::Stored, None)?;
    let dwarf = Dwarf::read(&object)?;
    let mut report = Report::default();
    walk::walk(&object, &dwarf, options, &mut report)?;
    let split = Dwarf::read_split(&dwarf, &object)?;
    if !dwarf.sections().is_split && !split.units().is_empty() {
        walk::walk(&object, &split, options, &mut report)?;
    }
    Ok(report)
}
