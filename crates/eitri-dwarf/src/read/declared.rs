//! Declaration files.

use std::cell::RefCell;

use hashbrown::HashMap;

use super::entry::Entry;
use super::line::LineProgram;

/// Line programs for declarations that are in a different unit than the entry: in a partial unit, or in a unit of the
/// supplementary file.
#[derive(Debug, Default)]
pub struct OtherUnits<'o> {
    programs: RefCell<HashMap<u64, Option<LineProgram<'o>>>>,
}

impl<'o> OtherUnits<'o> {
    /// Returns the path for a file number in the entry's unit, with the compilation's folder.
    #[doc(hidden)]
    pub fn path(&self, entry: Entry<'_, 'o>, number: u64) -> Option<String> {
        let dwarf = entry.dwarf();
        let unit = entry.unit();
        let mut programs = self.programs.borrow_mut();
        let program = programs.entry(unit.offset).or_insert_with(|| dwarf.lines(unit).ok().flatten());
        program.as_ref()?.full_path(number, unit.comp_dir.as_deref())
    }
}
