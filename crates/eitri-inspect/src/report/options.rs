//! Choices of the caller.

use core::fmt;

use eitri_dwarf::read::SplitFiles;

/// Function that returns the text of a source file by its path.
pub type Source<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Choices of a page.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Name of the object, for the title.
    pub name: &'a str,
    /// Text of a disassembler, such as `llvm-objdump -d` or `nvdisasm`, whose instructions are shown at their pcs. A
    /// function is found by its name and its address, in an unlinked file by its offset in the section.
    pub disassembly: Option<&'a str>,
    /// Returns the text of a source file by its path in the line table.
    pub source: Option<&'a Source<'a>>,
    /// Files of split units, which are shown with the code of the object.
    pub split: SplitFiles<'a>,
    /// Contents of the [supplementary file](eitri_dwarf::read::Object::set_supplementary).
    pub supplementary: Option<&'a [u8]>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("name", &self.name).finish_non_exhaustive()
    }
}
