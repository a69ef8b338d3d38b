//! Omissions, indexed by subject. The check compares what remains after them, so that an omission without effect shows
//! up as a difference.

use hashbrown::HashMap;

use crate::model::{ScopeId, SourceLine, TypeId};
use crate::omission::{Omission, Property, Reason, Subject};

/// A module's omissions, by entity.
#[derive(Debug, Default)]
pub(super) struct Omissions<'l>(HashMap<Subject, Vec<&'l Omission>>);

impl<'l> Omissions<'l> {
    pub fn new(omissions: &'l [Omission]) -> Self {
        let mut by_subject = Self::default();
        for omission in omissions {
            by_subject.0.entry(omission.subject).or_default().push(omission);
        }
        by_subject
    }

    /// An entity's omissions.
    pub fn list(&self, subject: Subject) -> impl Iterator<Item = &'l Omission> {
        self.0.get(&subject).map_or(&[][..], |omissions| omissions).iter().copied()
    }

    /// The reason why an entity's property is omitted.
    pub fn why(&self, subject: Subject, property: Property) -> Option<&'l Reason> {
        self.list(subject).find(|omission| omission.property == property).map(|omission| &omission.reason)
    }

    /// Whether an entity's property is omitted.
    pub fn has(&self, subject: Subject, property: Property) -> bool {
        self.why(subject, property).is_some()
    }

    /// Whether an entity's reference to a type is omitted; if so, whether it is encoded as `DebugInfoNone`.
    pub fn cut_cycle(&self, subject: Subject, of: TypeId) -> Option<bool> {
        self.list(subject).find_map(|it| match it.reason {
            Reason::Cycle(ty, is_none) if ty == of => Some(is_none),
            _ => None,
        })
    }

    /// The part of a line that is encoded: no line beyond the source text's end, no column beyond the line.
    pub fn line(&self, subject: Subject, property: Property, line: Option<SourceLine>) -> Option<SourceLine> {
        let faults = self.list(subject).filter(|omission| omission.property == property);
        faults.fold(line.filter(|line| line.line != 0), |line, omission| match omission.reason {
            Reason::LineBeyondText(..) => None,
            Reason::ColumnBeyondText(..) => line.map(|line| SourceLine { column: 0, ..line }),
            _ => line,
        })
    }

    /// The basic type that is encoded instead of another type.
    pub fn basic(&self, subject: Subject, property: Property) -> Option<TypeId> {
        match self.why(subject, property) {
            Some(&Reason::AsBasic(_, basic)) => Some(basic),
            _ => None,
        }
    }

    /// The number that is encoded instead of the property's real number.
    pub fn number(&self, subject: Subject, property: Property) -> Option<u64> {
        match self.why(subject, property) {
            Some(&Reason::NoInt64(_, encoded)) => Some(encoded),
            _ => None,
        }
    }

    /// Number of encoded entries in a list.
    pub fn room(&self, subject: Subject, property: Property) -> usize {
        match self.why(subject, property) {
            Some(&Reason::NoRoom(encoded, _)) => encoded,
            _ => usize::MAX,
        }
    }

    /// The scope that an entity is encoded in, which can be wider than its real scope.
    pub fn scope(&self, subject: Subject, own: ScopeId) -> ScopeId {
        match self.why(subject, Property::Scope) {
            Some(&Reason::WiderScope(wider)) => wider,
            _ => own,
        }
    }
}
