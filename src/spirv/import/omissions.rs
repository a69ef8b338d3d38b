//! Collects instructions and operands that are not imported, or imported differently.

use hashbrown::HashMap;

use crate::error::{At, Error};
use crate::omission::{Names, Omission, Property, Reason, Subject, Unimported};
use crate::spirv::read::Fact;
use crate::spirv::words::Id;

/// An entity, or the reason why it is not imported.
pub(super) type Made<T> = core::result::Result<T, Unimported>;

/// Omissions, each listed once.
#[derive(Default)]
pub(super) struct Omissions {
    list: Vec<Omission>,
    /// Indices of an instruction's omissions.
    by_instruction: HashMap<Id, Vec<usize>>,
}

impl Omissions {
    /// Lists an operand that is not imported, or imported differently; once per instruction and reason.
    pub fn omit(&mut self, fact: &Fact<'_>, why: Unimported) {
        self.add(fact, Property::Operand, why);
    }

    /// Lists that an instruction is not imported.
    pub fn omit_whole(&mut self, fact: &Fact<'_>, why: Unimported) {
        self.add(fact, Property::Instruction, why);
    }

    /// Returns the entity built from an instruction; if there is none, lists the reason.
    pub fn made<T>(&mut self, fact: &Fact<'_>, made: Made<T>) -> Option<T> {
        made.map_err(|why| self.omit_whole(fact, why)).ok()
    }

    fn add(&mut self, fact: &Fact<'_>, property: Property, why: Unimported) {
        let new = omission(fact.result, fact.place(), property, why);
        let of_fact = self.by_instruction.entry(fact.result).or_default();
        if !of_fact.iter().any(|&index| self.list[index] == new) {
            of_fact.push(self.list.len());
            self.list.push(new);
        }
    }

    /// The omissions, in module order.
    pub fn finish(mut self) -> Vec<Omission> {
        self.list.sort_by_key(|omission| omission.names.at.word);
        self.list
    }
}

pub(super) fn omission(id: Id, at: At, property: Property, why: Unimported) -> Omission {
    let names = Names { at, ..Names::default() };
    Omission {
        subject: Subject::Instruction(id.0),
        property,
        reason: Reason::Unimported(why),
        pcs: None,
        names,
    }
}

/// Converts a builder's error to the reason for an omission.
pub(super) fn refused(error: Error) -> Unimported {
    Unimported::Refused(error.kind().clone())
}
