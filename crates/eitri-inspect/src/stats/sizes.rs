//! Debug information bytes: repeated parts, and the forms and operations in use.

use std::collections::BTreeMap;

use gimli::DwForm;
use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

use super::expressions::Expressions;
use super::lists::{Lists, Repeated, add};
use eitri_dwarf::op::Decoder;
use eitri_dwarf::read::{Dwarf, Entry, ListEntry, Unit};

/// What the debug sections contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionSizes {
    /// Strings in `.debug_str` and `.debug_line_str`.
    pub strings: Repeated,
    /// Location lists, by their expressions and pcs.
    pub lists: Repeated,
    /// Operation counts in locations, by name.
    pub operations: BTreeMap<String, u64>,
    /// Attribute counts, by form name.
    pub forms: BTreeMap<String, u64>,
}

impl SectionSizes {
    /// Adds another file's contents.
    pub(super) fn append(&mut self, other: Self) {
        self.strings += other.strings;
        self.lists += other.lists;
        for (own, other) in [(&mut self.operations, other.operations), (&mut self.forms, other.forms)] {
            other.into_iter().for_each(|(name, number)| *own.entry(name).or_default() += number);
        }
    }
}

/// What several units contain.
#[derive(Debug)]
pub(super) struct Tally {
    /// Attribute counts.
    forms: HashMap<DwForm, u64>,
    operations: HashMap<&'static str, u64>,
    /// Location lists, which are not [appended](Self::append).
    pub(super) lists: Lists,
}

impl Tally {
    /// Creates an empty tally, with memory for the location lists in `entries` entries. Lists that are compared have
    /// the same hasher.
    pub(super) fn new(hasher: &DefaultHashBuilder, entries: usize) -> Self {
        Self { forms: HashMap::new(), operations: HashMap::new(), lists: Lists::new(hasher, entries) }
    }

    /// Adds attribute counts.
    pub(super) fn forms(&mut self, forms: HashMap<DwForm, u64>) {
        forms.into_iter().for_each(|(form, number)| *self.forms.entry(form).or_default() += number);
    }

    /// Counts an entry's location list, by its offset.
    pub(super) fn list(&mut self, entry: Entry<'_, '_>, offset: u64, list: &[ListEntry<'_>]) {
        self.lists.add(entry, offset, list);
    }

    /// Counts the operations in a unit's expressions.
    pub(super) fn operations(&mut self, expressions: &Expressions<'_>, unit: &Unit<'_>) {
        for (expr, count) in expressions.counts() {
            for decoded in Decoder::new(expr, unit.encoding).map_while(Result::ok) {
                *self.operations.entry(decoded.op.row().text).or_default() += count;
            }
        }
    }

    /// Adds other units' contents, except the lists.
    pub(super) fn append(&mut self, other: Self) {
        self.forms(other.forms);
        for (name, number) in other.operations {
            *self.operations.entry(name).or_default() += number;
        }
    }

    /// Returns the forms and operations by name.
    pub(super) fn contents(self) -> SectionSizes {
        let forms = self.forms.into_iter().map(|(form, count)| (form.to_string(), count)).collect();
        let operations = self.operations.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        SectionSizes { operations, forms, ..SectionSizes::default() }
    }
}

/// Counts the repeated strings in a file's sections.
pub(super) fn strings(dwarf: &Dwarf<'_>) -> Repeated {
    let mut repeated = Repeated::default();
    for section in [dwarf.sections().debug_str, dwarf.sections().debug_line_str] {
        let mut seen = HashSet::new();
        for text in section.split_inclusive(|byte| *byte == 0) {
            if !seen.insert(text) {
                add(&mut repeated, text.len());
            }
        }
    }
    repeated
}
