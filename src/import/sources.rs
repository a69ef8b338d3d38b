//! Line programs and source files that are known.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::model::FileId;
use crate::read::LineProgram;

/// Line programs and files, by the unit that numbers them.
#[derive(Default)]
pub(super) struct Sources<'o> {
    pub(super) programs: HashMap<u64, Option<Rc<LineProgram<'o>>>>,
    /// Files of the current unit, by the offset of the unit that numbers them, and the number.
    pub(super) files: HashMap<(u64, u64), Option<FileId>>,
    /// Checksums of the current unit's files, in the order of the files.
    pub(super) sums: Vec<(FileId, Option<[u8; 16]>)>,
}
