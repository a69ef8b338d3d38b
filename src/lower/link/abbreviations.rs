//! Tables of abbreviations, which units share.

use std::collections::VecDeque;

use crate::emit::Relocation;
use crate::emit::abbrev::Abbreviations;

/// Number of recent tables that are searched for one that a unit can share.
const RECENT: usize = 8;

/// Tables of abbreviations so far.
#[derive(Default)]
pub(super) struct AbbreviationTables {
    bytes: Vec<u8>,
    /// Offset in `.debug_abbrev` of each table that is written.
    places: Vec<u64>,
    /// Last tables, which later units can share or extend.
    recent: VecDeque<Abbreviations>,
    /// Offset of the relocation of each unit header, with its table's index, in ascending order.
    references: Vec<(u64, usize)>,
}

impl AbbreviationTables {
    /// Returns the index of a table in which all of a unit's abbreviations have the unit's codes.
    pub(super) fn share(&mut self, abbreviations: Abbreviations) -> usize {
        for (index, table) in self.recent.iter_mut().enumerate().rev() {
            if table.is_prefix_of(&abbreviations) {
                *table = abbreviations;
            } else if !abbreviations.is_prefix_of(table) {
                continue;
            }
            return self.places.len() + index;
        }
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

    /// Adds the reference of a unit header to its table.
    pub(super) fn refer(&mut self, relocation: Option<&Relocation>, table: usize) {
        self.references.extend(relocation.map(|relocation| (relocation.offset, table)));
    }

    /// Writes the remaining tables, and sets the references to all tables among the relocations of `.debug_info`, which
    /// are in ascending order. Returns the section, and each table's offset.
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
