//! The caller's choices.

use std::fmt;

use eitri_dwarf::read::SplitFiles;

/// Whether a wanted name means a function's name.
type IsMatch<'a> = dyn Fn(&str, &str) -> bool + Sync + 'a;

/// Comparison of a name in [`LintOptions::only`] with a function's name. The default is equality; a caller whose names are
/// patterns passes a function.
#[derive(Clone, Copy, Default)]
pub struct NameMatch<'a>(Option<&'a IsMatch<'a>>);

impl<'a> NameMatch<'a> {
    /// Compares with a function, which gets the name in `only` and the name or linkage name of a function.
    pub fn new(is_match: &'a (dyn Fn(&str, &str) -> bool + Sync)) -> Self {
        Self(Some(is_match))
    }

    /// Whether a name in `only` means the function.
    #[doc(hidden)]
    pub fn is_match(self, wanted: &str, name: &str) -> bool {
        self.0.map_or(wanted == name, |is_match| is_match(wanted, name))
    }
}

impl fmt::Debug for NameMatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NameMatch").field(&self.0.is_some()).finish()
    }
}

/// What to diagnose, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintOptions<'a> {
    /// Functions whose findings are reported, by name or linkage name; all if it is empty. Findings outside functions
    /// are then omitted.
    pub only: Vec<String>,
    /// Comparison of the names in `only` with a function's names.
    pub matches: NameMatch<'a>,
    /// Number of threads that diagnose units; 0 and 1 mean a single thread. The calling thread counts; rayon's thread
    /// pool provides the remaining threads. The report does not depend on the number.
    pub threads: usize,
    /// Whether the first finding in each [topic](super::LintFinding::topic) stands for the whole topic. The remaining
    /// findings are counted, but have no texts, which saves most time and memory.
    pub fold: bool,
    /// Split files, which are diagnosed with the object's code.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](eitri_dwarf::read::Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
}
