//! Files of any producer: ELF objects, and, with the feature `spirv`, SPIR-V modules.
//!
//! Containers of objects are taken apart by [`inner_files`](crate::read::inner_files).
//!
//! ```
//! # fn main() -> eitri::Result<()> {
//! # let bytes = include_bytes!("../examples/data/squares.o");
//! use eitri::contents::{PrintOptions, lint, print_to};
//! use eitri::lint::LintOptions;
//!
//! for finding in &lint(bytes, &LintOptions::default())?.findings {
//!     println!("{finding}");
//! }
//! let mut text = Vec::new();
//! print_to(&mut text, bytes, &PrintOptions::default())?;
//! assert!(String::from_utf8_lossy(&text).contains("DW_TAG_compile_unit"));
//! # Ok(())
//! # }
//! ```

use std::io::Write;

use crate::dump::{DumpOptions, print_object_to};
use crate::error::Result;
use crate::lint::{self, LintFinding, LintOptions, LintReport};
use crate::op::Dialect;
use crate::read::Object;
#[cfg(feature = "spirv")]
use crate::spirv;
use crate::target::Target;

/// Diagnoses an object, or a module.
///
/// # Errors
/// The errors of [`lint::lint()`], and of [`spirv::lint()`].
pub fn lint(contents: &[u8], options: &LintOptions<'_>) -> Result<LintReport> {
    #[cfg(feature = "spirv")]
    if spirv::is_module(contents) {
        return spirv::lint(&spirv::from_bytes(contents)?, options);
    }
    lint::lint(contents, options)
}

/// Diagnoses an object, or a module, and passes each finding to a function. The report is without findings.
///
/// # Errors
/// The errors that [`lint()`] returns.
pub fn lint_each(
    contents: &[u8],
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> Result<LintReport> {
    #[cfg(feature = "spirv")]
    if spirv::is_module(contents) {
        let mut report = spirv::lint(&spirv::from_bytes(contents)?, options)?;
        report.findings.drain(..).for_each(take);
        return Ok(report);
    }
    lint::lint_each(contents, options, take)
}

/// Choices for a text. A module has only `verbose`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PrintOptions<'a> {
    /// Whether section offsets, forms and encodings are printed; for a module, the word at which each instruction begins.
    pub verbose: bool,
    /// Encoding for vendor operations, which an object does not record. `None` is the encoding that its expressions have.
    pub dialect: Option<Dialect>,
    /// Target whose register names are printed; `None` is the object's.
    pub target: Option<&'a Target>,
    /// A file of split units, which are printed instead, with the addresses in the object.
    pub split: Option<&'a [u8]>,
    /// The supplementary file.
    pub supplementary: Option<&'a [u8]>,
}

impl Default for PrintOptions<'_> {
    /// The object's target and dialect, without further files.
    fn default() -> Self {
        Self { verbose: false, dialect: None, target: None, split: None, supplementary: None }
    }
}

/// Prints an object's debug sections, or a module's debug instructions. Returns whether the text has all of them: it lacks
/// instructions of sets that are not known.
///
/// # Errors
/// * The errors of [`Object::read_with`] and [`print_object_to`], and of [`spirv::read()`]; those of the
///   output.
/// * [`BadArgument`](crate::error::ErrorKind::BadArgument) for a module with options of objects.
pub fn print_to(out: &mut dyn Write, contents: &[u8], options: &PrintOptions<'_>) -> Result<bool> {
    let PrintOptions { verbose, dialect, target, split, supplementary } = *options;
    #[cfg(feature = "spirv")]
    if spirv::is_module(contents) {
        if target.is_some() || split.is_some() || supplementary.is_some() {
            let problem = "a target, split units and a supplementary file are for objects, and this is a SPIR-V module; expected none";
            return Err(crate::error::Error::bad_argument(problem));
        }
        let words = spirv::from_bytes(contents)?;
        let facts = spirv::read(&words)?;
        out.write_all(spirv::print(&facts, spirv::TextOptions { verbose }).as_bytes())?;
        return Ok(facts.layout().unknown_sets().next().is_none());
    }
    let object = Object::read_with(contents, supplementary, target)?;
    let mut how = DumpOptions::default();
    how.verbose = verbose;
    print_object_to(out, &object, split, target, dialect, how)?;
    Ok(true)
}
