//! The caller's choices.

use core::fmt;

use eitri_dwarf::read::SplitFiles;

/// Function that returns a source file's text by its path.
pub type SourceReader<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// What the page shows besides the object.
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct ReportOptions<'a> {
    /// Object name, for the title.
    pub name: &'a str,
    /// Disassembler output, such as from `llvm-objdump -d` or `nvdisasm`, whose instructions are shown at their pcs. A
    /// function is found by its name and its address, or in an unlinked file by its offset in the section.
    pub disassembly: Option<&'a str>,
    /// Returns a source file's text by its path in the line table.
    pub source: Option<&'a SourceReader<'a>>,
    /// Split files, which are shown with the object's code.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](eitri_dwarf::read::Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
}

impl fmt::Debug for ReportOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("name", &self.name).finish_non_exhaustive()
    }
}
