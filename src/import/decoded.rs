//! The attributes of the entry that is imported. An entity takes its attributes by their names, one after the other; the
//! entry is decoded once for all of them.

use gimli::DwAt;

use super::importer::Importer;
use crate::read::{Entry, ResolvedValue};

/// An entry's attributes, in their order.
#[derive(Default)]
pub(super) struct Decoded<'d, 'o> {
    entry: Option<Entry<'d, 'o>>,
    attributes: Vec<(DwAt, ResolvedValue<'o>)>,
}

impl<'d, 'o> Decoded<'d, 'o> {
    /// Returns an attribute's index, and its value.
    fn find(&self, name: DwAt) -> Option<(usize, ResolvedValue<'o>)> {
        let index = self.attributes.iter().position(|attribute| attribute.0 == name)?;
        Some((index, self.attributes[index].1))
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Decodes an entry whose attributes are taken next.
    pub(super) fn decode(&mut self, entry: Entry<'d, 'o>) {
        let decoded = &mut self.decoded;
        if decoded.entry != Some(entry) {
            decoded.entry = Some(entry);
            decoded.attributes.clear();
            decoded.attributes.extend(entry.attributes().map(|attribute| (attribute.name, attribute.value)));
        }
    }

    /// Returns the index and the value of the first attribute with a name.
    pub(super) fn find(&self, entry: Entry<'d, 'o>, name: DwAt) -> Option<(usize, ResolvedValue<'o>)> {
        if self.decoded.entry == Some(entry) {
            return self.decoded.find(name);
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

    /// Whether the entry has one of several attributes.
    pub(super) fn has_any(&self, entry: Entry<'d, 'o>, names: &[DwAt]) -> bool {
        entry.names().any(|name| names.contains(&name))
    }
}
