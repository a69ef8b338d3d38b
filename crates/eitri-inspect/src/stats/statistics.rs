//! What a measurement takes, and what it results in.

use hashbrown::HashSet;

use super::coverage::{FunctionCoverage, Group, UnitCoverage};
use super::lines::LineCounts;
use super::sizes::SectionSizes;
use eitri_dwarf::error::Error;
use eitri_dwarf::read::SplitFiles;

/// Choices for a measurement.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StatsOptions<'a> {
    /// Whether [`Coverage::sound`](super::Coverage::sound) is measured. Without it, `sound` equals `located`.
    pub sound: bool,
    /// Number of threads that measure units; 0 and 1 mean a single thread. The calling thread counts; rayon's thread
    /// pool provides the remaining threads. The statistics do not depend on the number.
    pub threads: usize,
    /// Whether [`FunctionCoverage::variables`] are listed, which takes memory for each variable.
    pub variables: bool,
    /// Split files. Their sections are not measured.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](eitri_dwarf::read::Object::set_supplementary), whose sections are not
    /// measured.
    pub supplementary: Option<&'a [u8]>,
}

impl Default for StatsOptions<'_> {
    fn default() -> Self {
        Self { sound: true, threads: 1, variables: true, split: SplitFiles::default(), supplementary: None }
    }
}

/// A file's measurements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Name of the object's format, as LLVM's tools print it: `elf64-amdgpu`.
    pub format: &'static str,
    /// All variables, parameters and constant members.
    pub variables: Group,
    /// Parameters.
    pub params: Group,
    /// Variables other than parameters.
    pub locals: Group,
    /// Functions with code, in file order, with the variables in their scopes.
    pub functions: Vec<FunctionCoverage>,
    /// Units that have functions with code, in file order.
    pub units: Vec<UnitCoverage>,
    /// Line table rows.
    pub lines: LineCounts,
    /// Debug section names and sizes, in bytes as stored, in file order.
    pub sections: Vec<(String, u64)>,
    /// Bytes of loaded code.
    pub code: u64,
    /// What the sections contain: repeated parts, and forms and operations in use.
    pub contents: SectionSizes,
    pub(crate) counts: Counts,
    /// Inlined instances with an abstract instance that version 9 does not find.
    pub unresolved: u64,
    /// Errors in the parts that cannot be read, which are not counted: units, attributes, line programs, ranges, lists
    /// and call frame information.
    pub unreadable: Vec<Error>,
}

/// Counts that only [`Statistics::numbers`] has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub(super) functions: u64,
    pub(super) functions_with_source: u64,
    pub(super) inlined: u64,
    pub(super) inlined_with_origin: u64,
    pub(super) unique_variables: u64,
    pub(super) variables: u64,
    pub(super) variables_with_location: u64,
    pub(super) call_site_entries: u64,
    pub(super) call_sites: u64,
    pub(super) call_site_params: u64,
    pub(super) any_scope: u64,
    pub(super) function_bytes: u64,
    pub(super) inlined_bytes: u64,
}

impl Counts {
    /// Adds later units' counts, except the counts for the [source](super::source).
    pub(super) fn append(&mut self, later: &Self) {
        self.variables_with_location += later.variables_with_location;
        self.call_site_entries += later.call_site_entries;
        self.call_sites += later.call_sites;
        self.call_site_params += later.call_site_params;
        self.any_scope = self.any_scope.saturating_add(later.any_scope);
        self.function_bytes = self.function_bytes.saturating_add(later.function_bytes);
        self.inlined_bytes = self.inlined_bytes.saturating_add(later.inlined_bytes);
    }
}

impl Statistics {
    /// Adds later units' counts.
    pub(super) fn append(&mut self, later: Self) {
        self.variables.append(&later.variables);
        self.params.append(&later.params);
        self.locals.append(&later.locals);
        self.functions.extend(later.functions);
        self.units.extend(later.units);
        self.counts.append(&later.counts);
        self.contents.append(later.contents);
        self.unresolved += later.unresolved;
        self.unreadable.extend(later.unreadable);
    }
}

/// Returns the first error in each unreadable part. An error occurs more than once, because units share line programs
/// and variables share lists.
pub(crate) fn distinct(errors: impl Iterator<Item = Error>) -> Vec<Error> {
    let mut known = HashSet::new();
    let place = |error: &Error| (error.at().section.clone(), error.at().offset, error.kind().to_string());
    errors.filter(|error| known.insert(place(error))).collect()
}
