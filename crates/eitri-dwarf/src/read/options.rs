//! Options for reading debug information.

use crate::op::{Dialect, DraftCodes};

/// Options of [`Dwarf::read_with`](super::Dwarf::read_with).
///
/// ```
/// # use eitri_dwarf::op::Dialect;
/// # use eitri_dwarf::read::{Dwarf, Object, ReadOptions};
/// # let bytes = include_bytes!("../../data/squares.o");
/// let object = Object::read(bytes)?;
/// // An object of an older compiler for AMD's GPUs, which can be damaged, on four threads.
/// let options = ReadOptions::new().dialect(Dialect::Legacy).readable().threads(4);
/// let dwarf = Dwarf::read_with(&object, &options)?;
/// assert!(dwarf.errors().is_empty());
/// # Ok::<(), eitri_dwarf::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// `None` for the dialect that the expressions have.
    pub(super) dialect: Option<Dialect>,
    pub(super) draft: DraftCodes,
    pub(super) threads: usize,
    pub(super) is_readable_only: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ReadOptions {
    /// The dialect that the expressions have, no numbers of the draft, the current thread; an error for a part that cannot be read.
    pub fn new() -> Self {
        Self { dialect: None, draft: DraftCodes::NONE, threads: 1, is_readable_only: false }
    }

    /// Sets the dialect of expressions, which no file names. With `None`, an object of AMD's GPUs is read in
    /// [`Dialect::Legacy`] if its expressions have operations that only this dialect has, and otherwise, as all other
    /// objects, in [`Dialect::Llvm`], which has all operations of standard DWARF.
    #[must_use]
    pub fn dialect(self, dialect: impl Into<Option<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Sets the numbers of operations that the DWARF 6 draft leaves open.
    #[must_use]
    pub fn draft(self, draft: DraftCodes) -> Self {
        Self { draft, ..self }
    }

    /// Reads on up to this number of threads; on the current thread if it is 0 or 1, if the object has fewer units, and if it
    /// has type units in `.debug_types`. The result and the error do not depend on the number.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Leaves out what cannot be read, instead of an error: [`Dwarf::errors`](super::Dwarf::errors) has the errors for units
    /// that are left out, and for attributes, whose value is
    /// [`ResolvedValue::Unreadable`](super::ResolvedValue::Unreadable).
    #[must_use]
    pub fn readable(self) -> Self {
        Self { is_readable_only: true, ..self }
    }
}
