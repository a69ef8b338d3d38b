//! Rewrites the debug information of an existing object: any producer's, for any consumer.
//!
//! An object is imported as a module, the module is changed as the options say, and written into the same object. Code
//! and all loaded bytes stay identical; debug sections are replaced. The result is read back and compared with the module
//! before it is returned.
//!
//! ```
//! # fn main() -> eitri::Result<()> {
//! # let bytes = include_bytes!("../../examples/data/squares.o");
//! use eitri::rewrite::{RewriteOptions, rewrite};
//!
//! let rewritten = rewrite(bytes, &RewriteOptions::default())?;
//! for size in &rewritten.sizes {
//!     println!("{}: {} bytes, then {}", size.name, size.before, size.after);
//! }
//! // What the object no longer says: nothing.
//! assert!(rewritten.is_complete());
//! # Ok(())
//! # }
//! ```
//!
//! Without options, the object keeps its facts, for a consumer that reads what the producer wrote: see [`fitting`].

mod change;
mod containers;
mod cubin;
mod expressions;
mod fitting;
mod fix;
mod options;
mod sizes;
#[cfg(test)]
mod tests;
mod vendor;

pub use change::{EmptiedCopies, RewriteChange};
pub use containers::{NewMember, rewrite_members};
pub use fitting::fitting;
pub use fix::{FixChange, Unfixed, meant_locations};
pub use options::{RewriteOptions, RewrittenExpressions};
pub use sizes::DebugSectionSizes;

use gimli::constants as dw;

use crate::check::{FindingKind, Listed, check_function, check_listed};
use crate::consumer::{Consumer, Policy};
use crate::emit::elf::{AttachOptions, Compression, Existing, UndefinedSymbols, attach_with};
use crate::error::{Error, ErrorKind, Result};
use crate::import::{
    self, DifferentTypes, ImportOptions, ImportedCode, ImportedDwarf, ImportedTypes, UnimportedFact,
    UnimportedReason, import_read,
};
use crate::lint::{LintOptions, lint};
use crate::lower::lower;
use crate::model::Module;
use crate::omission::{Omission, Property};
#[cfg(feature = "compress")]
use crate::read::SectionCompression;
use crate::read::{Dwarf, Object, ReadOptions};
use crate::target::Target;

/// A rewritten object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Rewritten {
    /// The object's bytes.
    pub object: Vec<u8>,
    /// The consumer that the debug information is written for.
    pub consumer: Consumer,
    /// Properties that the consumer cannot express.
    pub omissions: Vec<Omission>,
    /// Facts of the original that the object no longer has, because the model lacks them. Facts in loaded sections, such
    /// as `.eh_frame`, stay in the object.
    pub unimported: Vec<UnimportedFact>,
    /// Changes that the options demand, and what they cost: removed facts, fixed locations, emptied copies.
    pub changes: Vec<RewriteChange>,
    /// Errors that lint finds after the object is fixed; empty if it is not fixed.
    pub unfixed: Vec<Unfixed>,
    /// Number of types that were merged with an equal type of the same or another unit, if types are merged.
    pub merged_types: usize,
    /// Types with one name that differ, and are therefore not merged, if types are merged.
    pub different_types: Vec<DifferentTypes>,
    /// Sizes of the debug sections, by name.
    pub sizes: Vec<DebugSectionSizes>,
}

impl Rewritten {
    /// Whether the object has all facts of the original, apart from the [changes](Self::changes).
    pub fn is_complete(&self) -> bool {
        self.omissions.is_empty() && self.unimported.is_empty()
    }

    /// Returns the facts that the object no longer has, as lines: not imported, or omitted for the consumer.
    pub fn lost(&self) -> impl Iterator<Item = String> {
        let unimported = self.unimported.iter().map(|fact| format!("not imported: {fact}"));
        unimported.chain(self.omissions.iter().map(|omission| format!("omitted: {omission}")))
    }
}

/// Rewrites an object's debug information.
///
/// # Errors
/// * The errors of [`Object::read`] and [`Dwarf::read`], with section and offset: an object whose debug information is
///   malformed is not rewritten.
/// * [`Unsupported`](ErrorKind::Unsupported) for an object without debug information or with an unknown target, for
///   skeleton units, whose facts are in other files, for relocatable cubins, for a cubin that does not say which of several
///   descriptions of a function is that of its code, for a consumer that reads PTX, for [`dedupe`](RewriteOptions::dedupe) with a consumer of split units, and where the rewritten object does not say what the
///   description says.
/// * [`InvalidConsumer`](ErrorKind::InvalidConsumer) as for [`lower`](crate::lower::lower()), and the errors of
///   [`attach_with`].
///
/// # Example
///
/// ```
/// # fn main() -> eitri::Result<()> {
/// # let bytes = include_bytes!("../../examples/data/squares.o");
/// use eitri::Consumer;
/// use eitri::rewrite::{RewriteOptions, rewrite};
///
/// // For a debugger that reads DWARF 4 at most.
/// let mut options = RewriteOptions::default();
/// options.consumer = Some(Consumer::named("dwarf4")?);
/// let rewritten = rewrite(bytes, &options)?;
/// for omission in &rewritten.omissions {
///     println!("omitted: {omission}");
/// }
/// # Ok(())
/// # }
/// ```
pub fn rewrite(bytes: &[u8], options: &RewriteOptions<'_>) -> Result<Rewritten> {
    let object = Object::read_with(bytes, options.supplementary, options.target.as_ref())?;
    if let Some(error) = object.errors().first() {
        return Err(error.clone());
    }
    let dwarf = read(&object, options.threads)?;
    if object.is_cubin() {
        return cubin(bytes, &object, &dwarf, options);
    }
    refuse(&dwarf)?;
    let target = import::target(options.target.as_ref(), &object, &dwarf)?;
    let consumer = consumer(&object, &dwarf, &target, options)?;
    let how = How { target: &target, consumer: &consumer, options };
    let has_type_units = has_type_units(&dwarf);
    let first = written(bytes, &object, &dwarf, &how)?;
    // The comparison reads the new object, and needs memory for it.
    drop(dwarf);
    first.check(&how)?;
    let Written { object: mut new, mut omissions, unimported, fixed, mut merged, mut different, .. } = first;
    if has_loaded_frames(&object) {
        omissions.retain(|omission| omission.property != Property::CallFrames);
    }
    let is_removed = |fact: &UnimportedFact| {
        options.gc && matches!(fact.reason, UnimportedReason::DiscardedCode | UnimportedReason::OnlyDiscarded)
    };
    let (removed, unimported): (Vec<_>, Vec<_>) = unimported.into_iter().partition(is_removed);
    let removed = removed.into_iter().map(RewriteChange::Removed);
    let changes = removed.chain(fixed.into_iter().map(RewriteChange::Fixed)).collect();
    if options.dedupe && has_type_units {
        // Fixed locations stay as they are.
        let options = &RewriteOptions { fix: false, ..options.clone() };
        if let Some(next) = merged_again(&new, &How { options, ..how })? {
            (new, merged, different) = (next.object, next.merged, next.different);
        }
    }
    let unfixed = if options.fix { fix::unfixed(&new, &lints(options))? } else { Vec::new() };
    let sizes = sizes::sizes(&object, &Object::read_for(&new, &target)?);
    Ok(Rewritten {
        object: new,
        consumer,
        omissions,
        unimported,
        changes,
        unfixed,
        merged_types: merged,
        different_types: different,
        sizes,
    })
}

/// Rewrites a linked cubin, whose sections are copied part by part.
fn cubin(
    bytes: &[u8],
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    options: &RewriteOptions<'_>,
) -> Result<Rewritten> {
    let rewritten = cubin::rewrite(bytes, object, dwarf, options)?;
    let after = Object::read(&rewritten.object)?;
    let sizes = sizes::sizes(object, &after);
    let emptied = EmptiedCopies::new(object, &after).map(RewriteChange::Emptied);
    Ok(Rewritten {
        object: rewritten.object,
        consumer: rewritten.consumer,
        omissions: Vec::new(),
        unimported: Vec::new(),
        changes: rewritten.changes.into_iter().chain(emptied).collect(),
        unfixed: Vec::new(),
        merged_types: rewritten.merged,
        different_types: rewritten.different,
        sizes,
    })
}

/// What all steps of a rewrite have.
struct How<'a> {
    target: &'a Target,
    consumer: &'a Consumer,
    options: &'a RewriteOptions<'a>,
}

/// An object that is written from an import.
struct Written {
    object: Vec<u8>,
    module: Module,
    omissions: Vec<Omission>,
    unimported: Vec<UnimportedFact>,
    fixed: Vec<FixChange>,
    merged: usize,
    different: Vec<DifferentTypes>,
}

/// Imports an object's debug information, and writes it into the object.
fn written(bytes: &[u8], object: &Object<'_>, dwarf: &Dwarf<'_>, how: &How<'_>) -> Result<Written> {
    let &How { target, consumer, options } = how;
    let import = ImportOptions {
        expressions: expressions::form(target, dwarf.dialect(), consumer, options.expressions),
        code: if options.gc { ImportedCode::InObject } else { ImportedCode::All },
        threads: options.threads,
        types: types(dwarf, consumer, options),
        has_sequences: true,
        ..ImportOptions::default()
    };
    let imported = import_read(object, target.clone(), dwarf, &import)?;
    let ImportedDwarf { mut module, unimported, entries, merged, different } = imported;
    let mut unimported = lost(unimported)?;
    unimported.extend(removed_sections(object));
    let mut fixed = Vec::new();
    if options.fix {
        let findings = lint(bytes, &lints(options))?.findings;
        fixed = fix::fix(&mut module, fix::Source { object, dwarf, entries: &entries }, &findings)?;
    }
    drop(entries);
    refuse_code(&module, object)?;
    let lowered = lower(&module, consumer, Policy::Partial)?;
    let attach = AttachOptions {
        existing: Existing::Replace,
        // AMD's local memory, and data of other objects.
        undefined: UndefinedSymbols::Allow,
        compression: compression(object),
    };
    let object = attach_with(bytes, target, &lowered.sections, &attach)?;
    // What the replaced sections leave between the others is closed when they are replaced again, as the next rewrite would.
    let object = attach_with(&object, target, &lowered.sections, &attach)?;
    Ok(Written { object, module, omissions: lowered.omissions, unimported, fixed, merged, different })
}

fn lints<'o>(options: &RewriteOptions<'o>) -> LintOptions<'o> {
    let mut lints = LintOptions::default();
    lints.supplementary = options.supplementary;
    lints.threads = options.threads;
    lints
}

impl Written {
    /// Compares the object with the description that it was written from.
    fn check(&self, how: &How<'_>) -> Result<()> {
        let report =
            check_listed(&self.module, how.consumer, &self.omissions, &self.object, Listed::Findings)?;
        match report.without(FindingKind::Extra).findings.first() {
            None => Ok(()),
            Some(finding) => {
                // Nothing in the original is wrong.
                Err(unsupported(format!(
                    "eitri made a mistake: the rewritten object differs from the original, and is not written: {finding}"
                )))
            }
        }
    }
}

/// Merges the types of a rewritten object whose original has type units. `None` if it has no units, or not all of its
/// facts can be read back.
fn merged_again(object: &[u8], how: &How<'_>) -> Result<Option<Written>> {
    let read_object = Object::read_for(object, how.target)?;
    let dwarf = read(&read_object, how.options.threads)?;
    if dwarf.units().is_empty() {
        return Ok(None);
    }
    let next = written(object, &read_object, &dwarf, how)?;
    if !next.unimported.is_empty() {
        return Ok(None);
    }
    next.check(how)?;
    Ok(Some(next))
}

/// Reads an object's debug information.
fn read<'o>(object: &'o Object<'_>, threads: usize) -> Result<Dwarf<'o>> {
    let dwarf = Dwarf::read_with(object, &ReadOptions::new().threads(threads).readable())?;
    if let Some(error) = dwarf.errors().first() {
        return Err(error.clone());
    }
    Ok(dwarf)
}

/// Returns the compression of an object's debug sections.
fn compression(object: &Object<'_>) -> Compression {
    let compression = object.sections().iter().find_map(|section| section.compression);
    match compression {
        #[cfg(feature = "compress")]
        Some(SectionCompression::Zlib) => Compression::Zlib,
        #[cfg(feature = "compress")]
        Some(SectionCompression::Zstd) => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Refuses objects whose facts would get lost.
fn refuse(dwarf: &Dwarf<'_>) -> Result<()> {
    if dwarf.units().is_empty() {
        return Err(unsupported("the object has no debug information; expected units in `.debug_info`"));
    }
    if let Some(unit) = dwarf.units().iter().find(|unit| unit.is_skeleton() || unit.is_split()) {
        let text = "the unit is split; expected its facts in the object";
        return Err(unsupported(text).in_section(".debug_info").at_offset(unit.offset));
    }
    Ok(())
}

/// Refuses an object that has a function's code outside its sections, so that no description of it could be right.
fn refuse_code(module: &Module, object: &Object<'_>) -> Result<()> {
    let mut functions = module.functions();
    functions.try_for_each(|(id, _)| check_function(module, object, id)).map_err(|error| {
        let problem = ErrorKind::Malformed(error.kind().to_string());
        Error::new(problem).or_at(error.at().clone())
    })
}

/// Returns the consumer to write for.
fn consumer(
    object: &Object<'_>,
    dwarf: &Dwarf<'_>,
    target: &Target,
    options: &RewriteOptions<'_>,
) -> Result<Consumer> {
    let mut consumer = match &options.consumer {
        None => fitting(object, dwarf, target),
        Some(chosen) => fitting::with_tables(chosen.clone(), object),
    };
    if consumer.has_line_directives {
        return Err(unsupported("the consumer reads PTX; expected a consumer that reads objects"));
    }
    consumer.frames.debug_frame &= !has_loaded_frames(object);
    consumer.frames.eh_frame = false;
    if options.names {
        consumer.tables.names = true;
        // Beside an index, gdb finds code only by the addresses.
        consumer.tables.aranges = true;
        consumer.has_type_units = false;
    }
    if options.dedupe {
        if consumer.is_split {
            let text = "the consumer reads split units, which cannot refer to types of other units; expected a \
                consumer that reads units of the object";
            return Err(unsupported(text));
        }
        // Units refer to each other's types instead.
        consumer.has_type_units = false;
    }
    Ok(consumer)
}

/// Returns how to import types that several units use. A unit can add functions to a type of a type unit: each unit gets
/// its types first, and they are merged when they are written.
fn types(dwarf: &Dwarf<'_>, consumer: &Consumer, options: &RewriteOptions<'_>) -> ImportedTypes {
    if has_type_units(dwarf) || consumer.is_split || consumer.has_type_units {
        ImportedTypes::Copied
    } else if options.dedupe {
        ImportedTypes::Merged
    } else {
        ImportedTypes::Shared
    }
}

fn has_type_units(dwarf: &Dwarf<'_>) -> bool {
    dwarf.units().iter().any(|unit| unit.kind == dw::DW_UT_type)
}

/// Whether an object's only frames are in `.eh_frame`: they are loaded, and stay.
fn has_loaded_frames(object: &Object<'_>) -> bool {
    let has = |name| object.section(name).is_some_and(|section| section.size > 0);
    has(".eh_frame") && !has(".debug_frame")
}

/// Debug sections that are replaced, or whose facts are imported: those of DWARF 2 to 5, GNU's tables, and lookup tables
/// that debuggers make themselves. `.debug_gdb_scripts` stays.
const KNOWN_SECTIONS: [&str; 26] = [
    "abbrev",
    "addr",
    "aranges",
    "cu_index",
    "frame",
    "gdb_scripts",
    "gnu_pubnames",
    "gnu_pubtypes",
    "info",
    "line",
    "line_str",
    "loc",
    "loclists",
    "macinfo",
    "macro",
    "names",
    "pubnames",
    "pubtypes",
    "ranges",
    "rnglists",
    "str",
    "str_offsets",
    "sup",
    "tu_index",
    "types",
    "weaknames",
];

/// Returns a fact for each debug section that is removed because nobody knows whether it refers to a replaced section.
fn removed_sections(object: &Object<'_>) -> Vec<UnimportedFact> {
    let is_unknown = |name: &str| {
        let name = name.strip_prefix(".debug_").or_else(|| name.strip_prefix(".zdebug_"));
        name.is_some_and(|name| !KNOWN_SECTIONS.contains(&name.strip_suffix(".dwo").unwrap_or(name)))
    };
    let sections = object.sections().iter().filter(|section| !section.is_loaded());
    let names = sections.map(|section| &*section.name).filter(|name| is_unknown(name));
    let fact = |name: &str| UnimportedFact::new(".debug_*", 0, UnimportedReason::UnknownSection(name.into()));
    names.map(fact).collect()
}

/// Returns the facts that get lost. An unreadable fact is an error.
fn lost(unimported: Vec<UnimportedFact>) -> Result<Vec<UnimportedFact>> {
    let mut lost = Vec::with_capacity(unimported.len());
    for fact in unimported {
        if fact.section == ".eh_frame" {
            continue;
        }
        if let UnimportedReason::Unreadable(error) = fact.reason {
            return Err(error.in_section(fact.section).at_offset(fact.offset));
        }
        lost.push(fact);
    }
    Ok(lost)
}

fn unsupported(text: impl Into<String>) -> Error {
    ErrorKind::Unsupported(text.into()).into()
}
