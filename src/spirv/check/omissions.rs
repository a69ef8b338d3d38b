//! Omissions, indexed by subject.

use hashbrown::HashMap;

use crate::model::{ScopeId, TypeId};
use crate::omission::{Omission, Property, Reason, Subject};

/// The omissions of a module, by entity.
#[derive(Debug, Default)]
pub(super) struct Omissions<'l>(HashMap<Subject, Vec<&'l Omission>>);

impl<'l> Omissions<'l> {
    pub fn new(omissions: &'l [Omission]) -> Self {
        let mut all = Self::default();
        for omission in omissions {
            all.0.entry(omission.subject).or_default().push(omission);
        }
        all
    }

    /// The omissions of an entity.
    pub fn of(&self, subject: Subject) -> impl Iterator<Item = &'l Omission> {
        self.0.get(&subject).map_or(&[][..], |all| all).iter().copied()
    }

    /// The reason why a property of an entity is omitted.
    pub fn why(&self, subject: Subject, property: Property) -> Option<&'l Reason> {
        self.of(subject).find(|omission| omission.property == property).map(|omission| &omission.reason)
    }

    /// Whether a property of an entity is omitted.
    pub fn has(&self, subject: Subject, property: Property) -> bool {
        self.why(subject, property).is_some()
    }

    /// Whether an entity's reference to a type is omitted.
    pub fn is_cut(&self, subject: Subject, of: TypeId) -> bool {
        self.of(subject).any(|it| matches!(it.reason, Reason::Cycle(ty, _) if ty == of))
    }

    /// The number that is encoded in place of a property's own.
    pub fn number(&self, subject: Subject, property: Property) -> Option<u64> {
        match self.why(subject, property) {
            Some(&Reason::NoInt64(_, encoded)) => Some(encoded),
            _ => None,
        }
    }

    /// Number of encoded entries of a list.
    pub fn room(&self, subject: Subject, property: Property) -> usize {
        match self.why(subject, property) {
            Some(&Reason::NoRoom(encoded, _)) => encoded,
            _ => usize::MAX,
        }
    }

    /// The scope that an entity is encoded in, which can be wider than its own.
    pub fn scope(&self, subject: Subject, own: ScopeId) -> ScopeId {
        match self.why(subject, Property::Scope) {
            Some(&Reason::WiderScope(wider)) => wider,
            _ => own,
        }
    }
}
