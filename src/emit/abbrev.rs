//! Abbreviations, found as they come.

use gimli::{DwAt, DwForm, DwTag};
use hashbrown::DefaultHashBuilder;
use indexmap::IndexSet;

use crate::op::write_uleb;

/// A table of abbreviations, shared by the units of an object. Equal ones are stored once; codes count
/// from 1 in the order of first use.
#[derive(Debug, Default)]
pub(crate) struct Abbreviations {
    /// Each as the bytes that follow its code.
    known: IndexSet<Box<[u8]>, DefaultHashBuilder>,
    /// The one that is being described.
    current: Vec<u8>,
    /// The index of the one that was asked for last: entries of one kind often follow each other.
    last: usize,
}

impl Abbreviations {
    /// Begins the description of an entry.
    pub(crate) fn begin(&mut self, tag: DwTag, has_children: bool) {
        self.current.clear();
        write_uleb(&mut self.current, tag.0.into());
        self.current.push(has_children.into());
    }

    /// Adds an attribute to it.
    #[inline]
    pub(crate) fn attribute(&mut self, at: DwAt, form: DwForm) {
        write_uleb(&mut self.current, at.0.into());
        write_uleb(&mut self.current, form.0.into());
    }

    /// The code that the next new abbreviation gets: the largest one by then.
    pub(crate) fn next_code(&self) -> u64 {
        self.known.len() as u64 + 1
    }

    /// The code of the described entry.
    pub(crate) fn code(&mut self) -> u64 {
        if self.known.get_index(self.last).is_none_or(|last| **last != *self.current) {
            self.last = match self.known.get_index_of(self.current.as_slice()) {
                Some(index) => index,
                None => self.known.insert_full(self.current.as_slice().into()).0,
            };
        }
        self.last as u64 + 1
    }

    /// The section.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, abbreviation) in self.known.iter().enumerate() {
            write_uleb(&mut out, index as u64 + 1);
            out.extend_from_slice(abbreviation);
            out.extend_from_slice(&[0, 0]);
        }
        out.push(0);
        out
    }
}
