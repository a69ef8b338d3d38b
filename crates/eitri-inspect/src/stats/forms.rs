//! Attribute forms.

use std::rc::Rc;

use gimli::DwForm;
use hashbrown::HashMap;

use super::attributes::Shape;
use eitri_dwarf::read::Entry;

/// Attribute counts by form.
#[derive(Debug, Default)]
pub(super) struct Forms<'r> {
    /// Abbreviations with entry counts. Entries with an abbreviation have the same forms, so that any entry stands for
    /// them.
    counted: Vec<(Rc<Shape>, Entry<'r, 'r>)>,
    counts: HashMap<DwForm, u64>,
}

/// Limit on abbreviations that have a count at a time.
const MOST: usize = 1 << 10;

impl<'r> Forms<'r> {
    /// Counts an entry's forms.
    pub(super) fn count(&mut self, entry: Entry<'r, 'r>, shape: &Rc<Shape>) {
        if shape.has_own_forms {
            self.add(entry, 1);
        } else if shape.count.replace(shape.count.get() + 1) == 0 {
            self.counted.push((shape.clone(), entry));
            if self.counted.len() == MOST {
                self.flush();
            }
        }
    }

    fn add(&mut self, entry: Entry<'_, '_>, number: u64) {
        for attribute in entry.attributes() {
            *self.counts.entry(attribute.form).or_default() += number;
        }
    }

    fn flush(&mut self) {
        for (shape, entry) in std::mem::take(&mut self.counted) {
            self.add(entry, shape.count.take());
        }
    }

    /// Returns the attribute count for each form.
    pub(super) fn finish(mut self) -> HashMap<DwForm, u64> {
        self.flush();
        self.counts
    }
}
