//! Omissions, indexed by subject.

use hashbrown::HashMap;

use crate::omission::{Omission, Property, Reason, Subject, TemplateOwner};

/// The omissions of a module, by entity.
#[derive(Debug, Default)]
pub(super) struct Listed<'l>(HashMap<Subject, Vec<&'l Omission>>);

impl<'l> Listed<'l> {
    pub fn new(omissions: &'l [Omission]) -> Self {
        let mut all = Self::default();
        for omission in omissions {
            all.0.entry(omission.subject).or_default().push(omission);
            let whole = whole(omission.subject);
            if whole != omission.subject {
                all.0.entry(whole).or_default().push(omission);
            }
        }
        all
    }

    /// The omissions of an entity and of its parts.
    pub fn of(&self, subject: Subject) -> impl Iterator<Item = &'l Omission> {
        self.0.get(&subject).map_or(&[][..], |all| all).iter().copied()
    }

    /// Whether a property of an entity is omitted.
    pub fn has(&self, subject: Subject, property: Property) -> bool {
        self.of(subject).any(|omission| omission.property == property)
    }

    /// Whether a type is made of another that is omitted where it refers to it.
    pub fn is_cut(&self, subject: Subject, of: crate::model::TypeId) -> bool {
        self.of(subject).any(|it| matches!(it.reason, Reason::Cycle(ty, _) if ty == of))
    }
}

/// The entity that the part of one belongs to.
fn whole(subject: Subject) -> Subject {
    match subject {
        Subject::Base(id, _)
        | Subject::Member(id, _)
        | Subject::Enumerator(id, _)
        | Subject::TemplateParameter(TemplateOwner::Type(id), ..) => Subject::Type(id),
        Subject::Signature(id) | Subject::TemplateParameter(TemplateOwner::Function(id), ..) => {
            Subject::Function(id)
        }
        Subject::Macro(id, _) => Subject::Unit(id),
        _ => subject,
    }
}
