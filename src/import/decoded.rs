//! The attributes of the entry that is imported. An entity takes its attributes by their names, one after the other; the
//! entry is decoded once for all of them.

use gimli::DwAt;

use crate::read::{Entry, ResolvedValue};

/// An entry's attributes, in their order.
#[derive(Default)]
pub(super) struct Decoded<'d, 'o> {
    entry: Option<Entry<'d, 'o>>,
    attributes: Vec<(DwAt, ResolvedValue<'o>)>,
}

impl<'d, 'o> Decoded<'d, 'o> {
    /// Decodes an entry whose attributes are taken next.
    pub(super) fn decode(&mut self, entry: Entry<'d, 'o>) {
        if self.entry != Some(entry) {
            self.entry = Some(entry);
            self.attributes.clear();
            self.attributes.extend(entry.attributes().map(|attribute| (attribute.name, attribute.value)));
        }
    }

    /// Returns the index and the value of an entry's first attribute with a name. The entry need not be the decoded entry.
    pub(super) fn find(&self, entry: Entry<'d, 'o>, name: DwAt) -> Option<(usize, ResolvedValue<'o>)> {
        if self.entry == Some(entry) {
            let index = self.attributes.iter().position(|attribute| attribute.0 == name)?;
            return Some((index, self.attributes[index].1));
        }
        let index = entry.names().position(|known| known == name)?;
        Some((index, entry.attr(name)?))
    }

    /// Returns the value of the first attribute with a name.
    pub(super) fn attr(&self, entry: Entry<'d, 'o>, name: DwAt) -> Option<ResolvedValue<'o>> {
        self.find(entry, name).map(|(_, value)| value)
    }

    /// Returns the entry to which an attribute refers.
    pub(super) fn reference(&self, entry: Entry<'d, 'o>, name: DwAt) -> Option<Entry<'d, 'o>> {
        entry.referred(self.attr(entry, name)?)
    }
}

/// Whether an entry has one of several attributes.
pub(super) fn has_any(entry: Entry<'_, '_>, names: &[DwAt]) -> bool {
    entry.names().any(|name| names.contains(&name))
}
