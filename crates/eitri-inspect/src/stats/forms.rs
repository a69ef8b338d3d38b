//! Forms of the attributes of entries.

use std::rc::Rc;

use gimli::DwForm;
use hashbrown::HashMap;

use super::attributes::Shape;
use eitri_dwarf::read::Entry;

/// Numbers of attributes by form.
#[derive(Debug, Default)]
pub(super) struct Forms<'r> {
    /// Abbreviations with a count of their entries, which have the same forms: each with one of them.
    counted: Vec<(Rc<Shape>, Entry<'r, 'r>)>,
    counts: HashMap<DwForm, u64>,
}

/// Maximum number of abbreviations that have a count at a time.
const MOST: usize = 1 << 10;

impl<'r> Forms<'r> {
    /// Counts the forms of an entry.
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

    /// Returns the number of attributes of each form.
    pub(super) fn finish(mut self) -> HashMap<DwForm, u64> {
        self.flush();
        self.counts
    }
}
