//! The caller's choices.

use eitri_dwarf::read::SplitFiles;

/// What to diagnose, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LintOptions<'a> {
    /// Functions whose findings are reported, by name or linkage name; all if it is empty. Findings outside functions
    /// are then omitted.
    pub only: Vec<String>,
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
