//! Attributes that are taken: each attribute of each entry either goes into the model, or remains, and is listed.
//!
//! An entity takes the attributes that it knows, at different times: its type when it is made, its locations when all
//! entities exist. What is taken is one bit for each attribute. What nobody took is left in the end, so that no
//! attribute is dropped in silence, whatever its name.

use gimli::DwAt;

use crate::read::{Dwarf, Entry, SUPPLEMENTARY};

/// Attributes after this number in one entry cannot be taken, and are listed.
const MOST: usize = u64::BITS as usize;

/// The taken attributes of the entries in a file and its supplementary file.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Number of entries in the file. Those of the supplementary file come after them.
    own: usize,
    /// A bit for each attribute, by entry.
    attributes: Vec<u64>,
    /// A bit for each entry that is imported.
    entries: Vec<u64>,
}

impl Taken {
    pub(super) fn new(dwarf: &Dwarf<'_>) -> Self {
        let own = dwarf.entries().len();
        let count = own + dwarf.supplementary().map_or(0, |file| file.entries().len());
        Self { own, attributes: vec![0; count], entries: vec![0; count.div_ceil(64)] }
    }

    fn index(&self, entry: Entry<'_, '_>) -> usize {
        if entry.offset() < SUPPLEMENTARY { entry.index() } else { self.own + entry.index() }
    }

    /// Takes the first attribute with a name.
    pub(super) fn take(&mut self, entry: Entry<'_, '_>, name: DwAt) {
        if let Some(index) = entry.names().position(|known| known == name) {
            self.take_at(entry, index);
        }
    }

    /// Takes the attribute with an index.
    pub(super) fn take_at(&mut self, entry: Entry<'_, '_>, index: usize) {
        let at = self.index(entry);
        if let Some(taken) = self.attributes.get_mut(at).filter(|_| index < MOST) {
            *taken |= 1 << index;
        }
    }

    /// Whether an attribute is taken.
    pub(super) fn has(&self, entry: Entry<'_, '_>, index: usize) -> bool {
        let taken = self.attributes.get(self.index(entry)).copied().unwrap_or(0);
        index < MOST && taken >> index & 1 != 0
    }

    /// Marks an entry as imported.
    pub(super) fn import(&mut self, entry: Entry<'_, '_>) {
        let at = self.index(entry);
        if let Some(word) = self.entries.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// Whether an entry is imported.
    pub(super) fn is_imported(&self, entry: Entry<'_, '_>) -> bool {
        let at = self.index(entry);
        self.entries.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }
}
