//! Choices of the caller.

use eitri_dwarf::read::SplitFiles;

/// Choices of a diagnosis.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// Functions whose findings are reported, by name or linkage name; all if it is empty. Findings outside functions
    /// are then omitted.
    pub only: Vec<String>,
    /// Number of threads that diagnose units; 0 and 1 are one. The calling thread counts; rayon's thread pool provides
    /// the remaining threads. The report does not depend on the number.
    pub threads: usize,
    /// Whether the first finding of each [topic](super::Finding::topic) stands for all of them. The others are counted, and have
    /// no texts, which takes a fraction of the time and the memory.
    pub fold: bool,
    /// Files of split units, which are diagnosed with the code of the object.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](eitri_dwarf::read::Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
}
