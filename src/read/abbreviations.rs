//! Facts of abbreviations, which are found once for all entries of one shape.

use std::rc::Rc;

use super::entry::Entry;

/// Facts of the abbreviations of one table, as far as these occurred.
#[derive(Debug)]
pub(crate) struct ByAbbreviation<T> {
    /// Index of the table.
    table: u32,
    by_code: Vec<Option<Rc<T>>>,
    /// Facts of the last abbreviation with a code that is not kept.
    other: Option<Rc<T>>,
}

impl<T> Default for ByAbbreviation<T> {
    fn default() -> Self {
        Self { table: 0, by_code: Vec::new(), other: None }
    }
}

impl<T> ByAbbreviation<T> {
    /// Codes from here on are not kept. Producers number abbreviations from 1 on.
    const MOST: usize = 1 << 10;

    /// Returns the facts of an entry's abbreviation.
    #[inline]
    pub(crate) fn of(&mut self, entry: Entry<'_, '_>, find: impl FnOnce() -> T) -> Rc<T> {
        let (table, code) = entry.abbreviation_number();
        self.of_code(table, code.into(), find).clone()
    }

    /// Returns the facts of an abbreviation, by its table and code.
    #[inline]
    pub(super) fn of_code(&mut self, table: u32, code: u64, find: impl FnOnce() -> T) -> &Rc<T> {
        if std::mem::replace(&mut self.table, table) != table {
            self.by_code.clear();
        }
        let index = usize::try_from(code).unwrap_or(usize::MAX);
        if index >= self.by_code.len() {
            self.make_room(index);
        }
        let slot = self.by_code.get_mut(index).unwrap_or(&mut self.other);
        slot.get_or_insert_with(|| Rc::new(find()))
    }

    #[cold]
    fn make_room(&mut self, index: usize) {
        self.other = None;
        if index < Self::MOST {
            self.by_code.resize(index + 1, None);
        }
    }
}
