//! Abbreviation facts, which are found once for all entries with the same shape.

use std::rc::Rc;

use super::dwarf::SUPPLEMENTARY;
use super::entry::Entry;
use super::unit::Unit;

/// Facts about the abbreviations in a table, if they occurred in units whose forms have the same sizes.
#[derive(Debug)]
pub struct ByAbbreviation<T> {
    /// Whether the table is in the supplementary file, its index there, and the sizes.
    table: Option<(bool, u32, gimli::Encoding)>,
    by_code: Vec<Option<Rc<T>>>,
    /// Facts of the last abbreviation with a code that is not kept.
    other: Option<Rc<T>>,
}

impl<T> Default for ByAbbreviation<T> {
    fn default() -> Self {
        Self { table: None, by_code: Vec::new(), other: None }
    }
}

impl<T> ByAbbreviation<T> {
    /// Codes from here on are not kept. Producers number abbreviations from 1 on.
    const MOST: usize = 1 << 10;

    /// Returns the facts of an entry's abbreviation.
    #[inline]
    #[doc(hidden)]
    pub fn of(&mut self, entry: Entry<'_, '_>, find: impl FnOnce() -> T) -> Rc<T> {
        self.of_code(entry.unit(), entry.abbreviation(), find).clone()
    }

    /// Returns an abbreviation's facts, by its unit and code.
    #[inline]
    pub(super) fn of_code(&mut self, unit: &Unit<'_>, code: u64, find: impl FnOnce() -> T) -> &Rc<T> {
        let is_supplementary = unit.offset >= SUPPLEMENTARY;
        let table = Some((is_supplementary, unit.contents.table, unit.contents.forms));
        if self.table != table {
            (self.table, self.other) = (table, None);
            self.by_code.clear();
        }
        let index = usize::try_from(code).unwrap_or(usize::MAX);
        if index >= self.by_code.len() {
            self.make_room(index);
        }
        let slot = self.by_code.get_mut(index).unwrap_or(&mut self.other);
        slot.get_or_insert_with(|| Rc::new(find()))
    }

    fn make_room(&mut self, index: usize) {
        self.other = None;
        if index < Self::MOST {
            self.by_code.resize(index + 1, None);
        }
    }
}
