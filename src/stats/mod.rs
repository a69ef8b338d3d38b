//! Measures the debug information of any producer: the part of the code in which variables have a location.
//!
//! [`Statistics::numbers`] has the names and values of `llvm-dwarfdump --statistics`, version 9.
//! [`Coverage::sound`] omits the entries in which [`lint()`](crate::lint::lint()) finds an error.
//!
//! ```
//! # fn main() -> eitri::Result<()> {
//! # let bytes = include_bytes!("../../examples/data/uspill.o");
//! let found = eitri::stats::stats(bytes, &eitri::stats::Options::default())?;
//! let coverage = found.variables.coverage;
//! println!("{} of {} bytes, {} sound", coverage.located, coverage.scope, coverage.sound);
//! # Ok(())
//! # }
//! ```

mod compare;
mod coverage;
mod lines;
mod numbers;
mod origins;
mod sizes;
mod variable_lines;
mod walk;

pub use compare::{Change, compare};
pub use coverage::{Coverage, FunctionCoverage, Group, HISTOGRAM, VariableCoverage};
pub use lines::LineCounts;
pub use sizes::{Contents, Repeated};
pub use variable_lines::{BaseLines, VariableLines, variable_lines};

use crate::error::Result;
use crate::lint::{self, Places};
use crate::read::{Dwarf, Object, Placing};

/// Choices of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether [`Coverage::sound`] is measured. Without it, `sound` equals `located`.
    pub sound: bool,
    /// Number of threads that judge units for [`Coverage::sound`]; 0 and 1 are one.
    pub threads: usize,
    /// Whether [`FunctionCoverage::variables`] are listed, which takes memory for each of them.
    pub variables: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { sound: true, threads: 1, variables: true }
    }
}

/// Measurements of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All variables, parameters and constant members.
    pub variables: Group,
    /// Parameters.
    pub params: Group,
    /// Variables other than parameters.
    pub locals: Group,
    /// Functions with code, in the order of the file, with the variables in their scopes.
    pub functions: Vec<FunctionCoverage>,
    /// Rows of the line tables.
    pub lines: LineCounts,
    /// Names and sizes of the debug sections, in bytes as stored, in the order of the file.
    pub sections: Vec<(String, u64)>,
    /// Bytes of loaded code.
    pub code: u64,
    /// Contents of the sections: repeated parts, and forms and operations in use.
    pub contents: Contents,
    pub(crate) counts: numbers::Counts,
    /// Inlined instances with an abstract instance that version 9 does not find.
    pub unresolved: u64,
}

/// Measures the debug information of an object file.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read`]; with [`Options::sound`], those of [`lint()`](lint::lint()).
pub fn stats(bytes: &[u8], options: &Options) -> Result<Statistics> {
    let object = Object::read_placed(bytes, Placing::Stored, None)?;
    let dwarf = Dwarf::read_on(&object, options.threads)?;
    let measured = || (lines::count(&dwarf), sizes::contents(&dwarf));
    let covered = || -> Result<Statistics> {
        let errors = match options.sound {
            true => lint::wrong_entries(&object, &dwarf, options.threads)?,
            false => Places::default(),
        };
        Ok(coverage(&dwarf, &errors, options.variables))
    };
    let (covered, (lines, contents)) = match options.threads {
        0 | 1 => (covered(), measured()),
        _ => std::thread::scope(|scope| {
            let measured = scope.spawn(measured);
            let covered = covered();
            (covered, measured.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        }),
    };
    let mut found = covered?;
    (found.lines, found.contents) = (lines, contents);
    for section in object.sections() {
        if section.is_code() {
            found.code += section.size;
        }
        let is_debug = section.name.starts_with(".debug") || section.name == ".gdb_index";
        if is_debug {
            match found.sections.iter_mut().find(|one| one.0 == section.name) {
                Some(one) => one.1 += section.size,
                None => found.sections.push((section.name.clone().into_owned(), section.size)),
            }
        }
    }
    Ok(found)
}

/// Measures coverage alone. `errors` are the places of entries in which `lint` finds an error; `lists` is
/// [`Options::variables`].
pub(crate) fn coverage<'r>(dwarf: &'r Dwarf<'r>, errors: &Places, lists: bool) -> Statistics {
    let mut found = Statistics::default();
    walk::walk(dwarf, errors, lists, &mut found);
    found
}
