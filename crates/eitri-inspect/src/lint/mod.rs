//! Diagnoses debug information from any producer by the facts in the file that contains it.
//!
//! `check` compares debug information with a description; [`lint()`] needs no description, because the code is the
//! witness: the instruction that sets a register, a kernel's scratch size, the symbols, the operations in an
//! expression. Each [`LintFinding`] contains the evidence.
//!
//! DWARF 2 to 5 for AMD GPUs, NVIDIA GPUs and CPUs is read. [`LintCode`] lists the mistakes, and [`LintCode::page`] explains
//! each.
//!
//! `codes` is the table of codes. A code is found in the file for its subject:
//!
//! * the location of a variable: `places` calls `memory`, `registers` and `type_size`; for all entries of the variable
//!   together, `lists`, `recoverable` and `unwritten`; the location that was meant, `meant` and `meant_operations`;
//! * other expressions: `contexts`; frame bases and call frame information: `bases`, `cies`;
//! * functions: `functions`, and `frame_code` for their frames; other entries: `entries`, `members`; rows of line tables: `rows`;
//!   relocated fields: `stale`; missing files and parts: `skeletons`; copies for nvlink: `mercury`, `mercury_frames`,
//!   `mercury_lists`, `mercury_rows`, `mercury_rules`, `mercury_values`.
//!
//! `shape` computes what an expression means, `witness` evaluates it, and `function_code` has the instructions that set a
//! register. `lane_flow` follows a lane through them, by `lane_masks`; `frame_rules` has the rules of a frame, and
//! `frame_wording` their words. `visitor`
//! calls these files for each entry in the walk, and `diagnoser` for each expression.
//!
//! ```
//! use eitri_inspect::lint::{LintCode, LintOptions, lint};
//!
//! # let mut bytes = include_bytes!("../../data/squares.o").to_vec();
//! // The location of `from` is `DW_OP_reg5`. With `DW_OP_plus` instead, no machine can
//! // evaluate it. `.debug_info` is at 0x17d of the file.
//! bytes[0x17d + 0x55] = 0x22;
//! let report = lint(&bytes, &LintOptions::default())?;
//! let [finding] = &report.findings[..] else { panic!("one finding") };
//! assert_eq!(finding.code, LintCode::IllFormed);
//! assert_eq!(finding.variable.as_deref(), Some("from"));
//! // The code has a page with its meaning; the finding, what was written, and the evidence.
//! println!("{}: {}", finding.code.name(), finding.written);
//! # Ok::<(), eitri_dwarf::Error>(())
//! ```

mod bases;
mod by_expression;
mod cies;
mod codes;
mod collect;
mod contexts;
mod details;
mod diagnoser;
mod entries;
mod file;
mod finding;
mod fingerprint;
mod frame_code;
mod frame_rules;
mod frame_wording;
mod function_code;
mod functions;
pub(crate) mod homes;
mod inlined;
mod kernels;
mod lane_flow;
mod lane_masks;
mod lane_values;
mod lists;
mod meant;
mod meant_operations;
mod members;
mod memory;
mod mercury;
mod mercury_frames;
mod mercury_lists;
mod mercury_rows;
mod mercury_rules;
mod mercury_values;
mod options;
#[doc(hidden)]
pub mod path;
mod places;
mod recoverable;
mod registers;
mod rows;
pub(crate) mod shape;
mod skeletons;
mod stale;
mod text;
mod type_size;
mod unwritten;
mod verdict;
mod visitor;
pub(crate) mod witness;

pub(crate) use by_expression::ByExpression;
pub use codes::{Level, LintCode, Page};
pub(crate) use diagnoser::{Diagnoser, Framed};
pub(crate) use file::{Facts, File};
pub use finding::{Expression, LintFinding, LintReport, Topic};
pub(crate) use frame_wording::RuleWording;
pub use inlined::InlinedCalls;
pub use meant::{Meant, MeantLocation};
pub use options::{LintOptions, NameMatch};
#[doc(hidden)]
pub use text::{Colors, LintGroup, LintText, LintTotals, acts_on_terminal, escaped};
pub(crate) use verdict::{Asked, Expr};

use std::sync::Arc;

use eitri_dwarf::error::Result;
use eitri_dwarf::read::ReadOptions;
#[doc(hidden)]
pub use eitri_dwarf::read::{Dwarf, Object, SplitFiles, Unit, unknown_function};

/// Diagnoses an object file's debug information.
///
/// # Errors
/// The errors of [`Object::read`] and [`Dwarf::read_with`], and errors from the finder in [`LintOptions::split`]. Other
/// parts that cannot be read are findings.
///
/// # Example
///
/// ```
/// # use eitri_inspect::lint::{LintOptions, lint};
/// # let bytes = include_bytes!("../../data/squares.o");
/// let mut options = LintOptions::default();
/// // In an editor: the function that was just compiled. In CI: all functions, one finding for
/// // each topic.
/// options.only = vec!["squares".into()];
/// options.fold = true;
/// let report = lint(bytes, &options)?;
/// assert!(report.worst().is_none() && report.unknown.is_empty());
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
pub fn lint(bytes: &[u8], options: &LintOptions<'_>) -> Result<LintReport> {
    let mut findings = Vec::new();
    let mut report = diagnose(bytes, options, &mut |finding| findings.push(finding))?;
    if !options.fold {
        report.findings = findings;
    }
    Ok(report)
}

/// Diagnoses an object file's debug information as [`lint()`] does, and passes each finding to a function: a few units'
/// findings at a time, or all findings at the end with [`LintOptions::fold`]. The report contains no findings.
///
/// # Errors
/// As [`lint()`]. Findings about the units before the error were passed.
pub fn lint_each(
    bytes: &[u8],
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> Result<LintReport> {
    let mut report = diagnose(bytes, options, take)?;
    report.findings.drain(..).for_each(take);
    Ok(report)
}

/// Returns the report with the findings if they are folded. Otherwise passes the findings to a function.
fn diagnose(
    bytes: &[u8],
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> Result<LintReport> {
    let object = Object::read_with(bytes, options.supplementary, None)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().threads(options.threads).readable())?;
    let copies = Object::read_mercury(bytes)?;
    let mut facts = Facts::new(&object, &dwarf, options.threads)?;
    facts.copies = copies.as_ref();
    options.split.with(&object, &dwarf, |split| units(&facts, &dwarf, split, options, take))
}

/// Diagnoses an object's units and its split units as [`diagnose()`] does.
pub(crate) fn units<'r>(
    facts: &'r Facts<'r, '_>,
    dwarf: &'r Dwarf<'r>,
    split: &'r [Dwarf<'r>],
    options: &LintOptions<'_>,
    take: &mut dyn FnMut(LintFinding),
) -> Result<LintReport> {
    let mut report = LintReport::default();
    let files = || std::iter::once(dwarf).chain(split);
    for dwarf in files() {
        let file = File::new(facts, dwarf);
        let mut file_report =
            if options.fold { visitor::folded(&file, options) } else { visitor::each(&file, options, take) };
        // An error in a split file names the file.
        file_report.unreadable = options.split.take_unreadable(dwarf, file_report.unreadable)?;
        let paths = dwarf
            .units()
            .iter()
            .filter_map(|unit| path::joined(unit.comp_dir.as_deref(), unit.name.as_deref()?));
        report.units.extend(paths.map(Arc::from));
        report.append(file_report);
    }
    let mut copies = facts.copies.map(|it| mercury::compare(facts.object, dwarf, it)).unwrap_or_default();
    let has_copies = !copies.findings.is_empty() || !copies.errors.is_empty();
    if options.only.is_empty() {
        let unread = copies.errors.iter().map(|error| cies::unreadable(None, error));
        copies.findings.extend(unread);
        // Relocation errors are reported for the object.
        let is_known = |finding: &LintFinding| {
            finding.code == LintCode::Unreadable
                && dwarf.sections().is_unreadable(&finding.section, finding.offset)
        };
        let findings = files()
            .flat_map(|dwarf| dwarf.errors().iter().map(|error| cies::unreadable(dwarf.split_file(), error)))
            .chain(skeletons::missing(dwarf, split))
            .chain(cies::findings(&facts.frames).filter(|finding| !is_known(finding)))
            .chain(skeletons::no_units(facts, dwarf))
            .chain(skeletons::unknown_instructions(facts, dwarf))
            .chain(stale::field(facts.object))
            .chain(copies.findings);
        findings.for_each(|finding| if options.fold { report.findings.push(finding) } else { take(finding) });
    }
    report.unreadable.splice(0..0, copies.errors);
    let object_units = files().filter(|dwarf| dwarf.split_file().is_none());
    report.unreadable.splice(0..0, object_units.flat_map(Dwarf::errors).cloned());
    let unknown = options.only.iter().filter(|name| !report.named.contains(name));
    report.unknown = unknown.map(|name| unknown_function(files(), name)).collect();
    if options.fold
        && (!dwarf.errors().is_empty()
            || facts.frames.iter().any(|frames| !frames.errors.is_empty() || frames.cies.len() > 1)
            || has_copies
            || !split.is_empty()
            || dwarf.units().iter().any(Unit::is_skeleton))
    {
        report.fold();
    }
    Ok(report)
}
