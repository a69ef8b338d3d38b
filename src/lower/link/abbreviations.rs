//! Abbreviation tables, which units share.

use std::collections::VecDeque;

use crate::emit::Relocation;
use crate::emit::abbrev::Abbreviations;

/// How many recent tables are searched for one that a unit can share.
const RECENT: usize = 8;

/// Abbreviation tables so far.
#[derive(Default)]
pub(super) struct AbbreviationTables {
    bytes: Vec<u8>,
    /// Each written table's offset in `.debug_abbrev`.
    places: Vec<u64>,
    /// Last tables, which later units can share or extend.
    recent: VecDeque<Abbreviations>,
    /// Relocation offset for each unit header, with its table's index, in ascending order.
    references: Vec<(u64, usize)>,
}

impl AbbreviationTables {
    /// Returns the index of a table that has all the unit's abbreviations under the unit's codes.
    pub(super) fn share(&mut self, abbreviations: Abbreviations) -> usize {
        for (index, table) in self.recent.iter_mut().enumerate().rev() {
            // Codes count from 1, so two units can share a table if one unit's abbreviations begin with the
            // other's.
            if table.is_prefix_of(&abbreviations) {
                *table = abbreviations;
            } else if !abbreviations.is_prefix_of(table) {
                continue;
            }
            return self.places.len() + index;
        }
        // The oldest table is given up, because a search through all tables would take quadratic time.
        if self.recent.len() == RECENT {
            self.write_first();
        }
        self.recent.push_back(abbreviations);
        self.places.len() + self.recent.len() - 1
    }

    /// Writes the first table that is not written.
    fn write_first(&mut self) {
        if let Some(table) = self.recent.pop_front() {
            self.places.push(self.bytes.len() as u64);
            table.write(&mut self.bytes);
        }
    }

    /// Adds the reference from a unit header to its table.
    pub(super) fn refer(&mut self, relocation: Option<&Relocation>, table: usize) {
        self.references.extend(relocation.map(|relocation| (relocation.offset, table)));
    }

    /// Writes the remaining tables, and sets the references to all tables among `.debug_info`'s relocations, which are
    /// in ascending order. Returns the section, and each table's offset.
    pub(super) fn finish(mut self, relocations: &mut [Relocation]) -> (Vec<u8>, Vec<u64>) {
        while !self.recent.is_empty() {
            self.write_first();
        }
        let mut relocations = relocations.iter_mut();
        for &(offset, table) in &self.references {
            if let Some(relocation) = relocations.find(|relocation| relocation.offset == offset) {
                relocation.addend = self.places[table];
            }
        }
        (self.bytes, self.places)
    }
}
