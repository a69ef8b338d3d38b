//! Instructions that were not imported: an omission explains them, or they are differences.

use hashbrown::HashSet;

use super::{Compare, Difference};
use crate::omission::{Omission, Property, Reason, Subject, Unimported};
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::Name;
use crate::spirv::words::Id;

impl Compare<'_> {
    /// Reports instructions that were not imported. Exceptions: instructions that reference a `DebugInfoNone`, one per
    /// omission that causes it; instructions that reference these in turn; and instructions with a number in place of
    /// another one.
    pub(super) fn lost(&mut self, facts: &Facts<'_>, omissions: &[Omission], unimported: &[Omission]) {
        let is_none = |it: &&Omission| matches!(it.reason, Reason::Cycle(..) | Reason::NotClass(_));
        let mut nothings = omissions.iter().filter(is_none).count();
        let mut gone: HashSet<Id> = HashSet::new();
        for omission in unimported {
            let Omission { subject, property, reason, names, .. } = omission;
            let Reason::Unimported(why) = reason else { continue };
            // Differences of records show these.
            if matches!(
                why,
                Unimported::NameOnly(_)
                    | Unimported::Format(_)
                    | Unimported::NothingInlined
                    | Unimported::LargerThanType
            ) {
                continue;
            }
            let is_whole = *property == Property::Instruction;
            let is_missing =
                is_whole || matches!(why, Unimported::UntypedMember | Unimported::NoParameterType);
            if let Subject::Instruction(id) = *subject
                && let Some(fact) = facts.get(Id(id))
            {
                let ids: Vec<Id> = named(&fact).collect();
                let is_nothing = |id: &Id| facts.get(*id).is_some_and(|it| it.name() == Some(Name::InfoNone));
                if is_missing && ids.iter().any(|id| gone.contains(id)) {
                    gone.insert(fact.result);
                    continue;
                }
                if is_missing && nothings > 0 && ids.iter().any(is_nothing) {
                    nothings -= 1;
                    if is_whole {
                        gone.insert(fact.result);
                    }
                    continue;
                }
                let is_replaced = |field| {
                    let number = facts.number(&fact, field);
                    number.is_some_and(|number| {
                        omissions.iter().any(|it| matches!(it.reason, Reason::NoInt64(_, of) if of == number))
                    })
                };
                if is_replaced(Field::Size) || is_replaced(Field::Offset) {
                    continue;
                }
            }
            self.found.push(Difference { at: names.at.clone(), what: omission.text() });
        }
    }
}

fn named(fact: &Fact<'_>) -> impl Iterator<Item = Id> {
    let is_id = |of: &crate::spirv::Operand| of.row.is_some_and(|row| !row.kind.is_literal(fact.set));
    fact.operands().filter(is_id).map(|of| Id(of.word))
}
