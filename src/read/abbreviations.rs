//! Facts of abbreviations, which are found once for all entries of one shape.

use std::rc::Rc;

use super::entry::Entry;

/// Facts of the abbreviations of one table, as far as these occurred.
#[derive(Debug)]
pub(crate) struct ByAbbreviation<T> {
    /// Index of the table.
    table: u32,
    by_code: Vec<Option<Rc<T>>>,
}

impl<T> Default for ByAbbreviation<T> {
    fn default() -> Self {
        Self { table: 0, by_code: Vec::new() }
    }
}

impl<T> ByAbbreviation<T> {
    /// Codes from here on are not kept. Producers number abbreviations from 1 on.
    const MOST: u32 = 1 << 10;

    /// Returns the facts of an entry's abbreviation.
    #[inline]
    pub(crate) fn of(&mut self, entry: Entry<'_, '_>, find: impl FnOnce() -> T) -> Rc<T> {
        let (table, code) = entry.abbreviation_number();
        self.of_code(table, code, find)
    }

    /// Returns the facts of an abbreviation, by its table and code.
    #[inline]
    pub(super) fn of_code(&mut self, table: u32, code: u32, find: impl FnOnce() -> T) -> Rc<T> {
        if std::mem::replace(&mut self.table, table) != table {
            self.by_code.clear();
        }
        match self.by_code.get(code as usize) {
            Some(Some(known)) => known.clone(),
            _ => self.add(code, Rc::new(find())),
        }
    }

    #[cold]
    fn add(&mut self, code: u32, new: Rc<T>) -> Rc<T> {
        if code < Self::MOST {
            let count = self.by_code.len().max(code as usize + 1);
            self.by_code.resize(count, None);
            self.by_code[code as usize] = Some(new.clone());
        }
        new
    }
}
