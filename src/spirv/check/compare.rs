//! Compares records that have equal keys. Both sides are sorted by key and merged, so that the order in which entities
//! are numbered does not matter.

use core::fmt;

use super::described::{Description, Record};
use super::shapes::{Shape, Shapes};
use crate::error::At;
use crate::model::Module;
use crate::omission::{Property, Subject};

/// An entity or a property that is not encoded, is encoded otherwise, or was not described.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The difference's location: unit, function, variable; in code, the instruction's or block's id.
    pub at: At,
    /// The described entity; `None` for an entity that only the words have.
    pub subject: Option<Subject>,
    /// The property; [`Property::Entity`] if the whole entity is not encoded or was not described.
    pub property: Property,
    /// The difference as text.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, what, .. } = self;
        write!(f, "{at}: {what}")
    }
}

/// A comparison in progress: the differences so far, and the number of compared records.
pub(super) struct Compare<'c> {
    pub shapes: &'c Shapes,
    /// The description, and the imported module.
    pub modules: [&'c Module; 2],
    pub found: Vec<Difference>,
    pub compared: usize,
}

impl Compare<'_> {
    /// Compares the records with equal keys.
    pub fn records(&mut self, described: &Description, read_back: &Description) {
        let [ours, theirs] = [described, read_back].map(|projection| by_key(&projection.records));
        let mut ours = &ours[..];
        let mut theirs = &theirs[..];
        let mut different = Vec::new();
        while let Some(key) = [ours.first(), theirs.first()].into_iter().flatten().map(|it| it.0).min() {
            let [our, their] = [&mut ours, &mut theirs].map(|records| {
                let (equal, rest) = records.split_at(records.partition_point(|it| it.0 == key));
                *records = rest;
                equal
            });
            self.compared += our.len();
            if !our.iter().map(|it| it.1).eq(their.iter().map(|it| it.1)) {
                // Described records come first, in their order, so that messages follow the description.
                let first = our.iter().map(|it| (0, it.2)).chain(their.iter().map(|it| (1, it.2))).min();
                different.push((first, our, their));
            }
        }
        different.sort_unstable_by_key(|&(first, ..)| first);
        for (_, our, their) in different {
            let (ours, theirs) = unequal(our, their);
            let first = their.iter().map(|it| it.2).min();
            for pair in 0..ours.len().max(theirs.len()) {
                let our = ours.get(pair).map(|&index| &described.records[index as usize]);
                // Two types that differ only in omitted properties can have one instruction.
                let is_once = our.is_some_and(|our| our.is_once);
                let their = theirs.get(pair).or(first.as_ref().filter(|_| is_once));
                match (our, their.map(|&index| &read_back.records[index as usize])) {
                    (Some(our), Some(their)) => self.properties(described, our, their),
                    (Some(our), None) => {
                        let what = format!("expected {}, found none", self.shapes.text(our.key));
                        self.different(0, described, our, Property::Entity, what);
                    }
                    // The module's own lines may name files that the description does not have.
                    (None, Some(their))
                        if described.own_files.contains(&their.key)
                            && self.shapes.properties(their.properties).is_empty() => {}
                    (None, Some(their)) => {
                        let what = format!("expected none, found {}", self.shapes.text(their.key));
                        self.different(1, read_back, their, Property::Entity, what);
                    }
                    (None, None) => {}
                }
            }
        }
    }

    /// Lists the differences between two records with the same key and different properties: at least one.
    fn properties(&mut self, described: &Description, our: &Record, their: &Record) {
        let before = self.found.len();
        let [ours, theirs] = [our, their].map(|record| self.shapes.properties(record.properties));
        let value = |all: &[(Property, String, Shape)], of: &(Property, String, Shape)| {
            all.iter().find(|it| (it.0, &it.1) == (of.0, &of.1)).map(|it| it.2)
        };
        let new = theirs.iter().filter(|it| value(&ours, it).is_none());
        for entry @ (property, name, _) in ours.iter().chain(new) {
            let both = [value(&ours, entry), value(&theirs, entry)];
            if both[0] != both[1] {
                let [ours, theirs] = both.map(|it| it.map_or("none".into(), |shape| self.shapes.text(shape)));
                let key = self.shapes.text(our.key);
                let what = format!("{key}: {name}: expected {ours}, found {theirs}");
                self.different(0, described, our, *property, what);
            }
        }
        // Two properties can have the same name in messages, so that no pair differed above; then the whole records are
        // shown.
        if self.found.len() == before {
            let [ours, theirs] = [our, their].map(|record| self.shapes.text(record.properties));
            let what = format!("{}: expected {ours}, found {theirs}", self.shapes.text(our.key));
            self.different(0, described, our, Property::Entity, what);
        }
    }

    pub fn different(
        &mut self,
        side: usize,
        of: &Description,
        record: &Record,
        property: Property,
        what: String,
    ) {
        let subject = of.subject(record);
        let context = subject.at(self.modules[side]);
        self.found.push(Difference { at: context, subject: (side == 0).then_some(subject), property, what });
    }
}

/// A record's key, properties and index.
type Keyed = (Shape, Shape, u32);

/// The records, sorted by key and properties.
fn by_key(records: &[Record]) -> Vec<Keyed> {
    let mut keyed: Vec<Keyed> =
        (0..).zip(records).map(|(index, record)| (record.key, record.properties, index)).collect();
    keyed.sort_unstable();
    keyed
}

/// Indices of the records on each side that have no equal record on the other side, in order.
fn unequal<'k>(mut ours: &'k [Keyed], mut theirs: &'k [Keyed]) -> (Vec<u32>, Vec<u32>) {
    let mut our = Vec::new();
    let mut their = Vec::new();
    while let Some(next) = [ours.first(), theirs.first()].into_iter().flatten().map(|it| it.1).min() {
        let [these, those] = [&mut ours, &mut theirs].map(|records| {
            let (equal, rest) = records.split_at(records.partition_point(|it| it.1 == next));
            *records = rest;
            equal
        });
        // Equal records cancel pairwise; a surplus on either side is a difference.
        let pairs = these.len().min(those.len());
        our.extend(these[pairs..].iter().map(|it| it.2));
        their.extend(those[..those.len() - pairs].iter().map(|it| it.2));
    }
    our.sort_unstable();
    their.sort_unstable();
    (our, their)
}
