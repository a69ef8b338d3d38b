//! What could not be described of the words: for a reason that is listed, or for another.

use hashbrown::{HashMap, HashSet};

use super::{Compare, Difference};
use crate::spirv::LeftOut;
use crate::spirv::operand::Field;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::Name;
use crate::spirv::words::Id;

/// What cannot be described of words that say all that was described: what they say is compared otherwise, or they say
/// it of what is listed.
const EXPECTED: [&str; 3] = [
    "only its name is described",
    "nothing is said to be inlined there",
    "its size is described as that of its type",
];

/// How it is listed that a `DebugInfoNone` stands for something.
const NOTHING: [&str; 2] = ["is made of it, and is not said here", "is no class or structure, and not said"];

impl Compare<'_> {
    /// What names a `DebugInfoNone` cannot always be described, nor what names that in turn: it is no difference as often
    /// as it is listed. Nor is it one of a number in whose place another is listed to be said.
    pub(super) fn lost(&mut self, facts: &Facts<'_>, lost: &[LeftOut]) {
        let ends = |listed: &&LeftOut| NOTHING.iter().any(|end| listed.what.ends_with(end));
        let mut nothings = self.left_out.iter().filter(ends).count();
        let by_word: HashMap<usize, Id> = facts.iter().map(|fact| (fact.at, fact.result)).collect();
        let mut gone: HashSet<Id> = HashSet::new();
        for LeftOut { at, what } in lost {
            if EXPECTED.iter().any(|expected| what.contains(expected)) {
                continue;
            }
            let fact = at.word.and_then(|word| facts.get(*by_word.get(&word)?));
            let is_missing = what.starts_with("it is not described: ")
                || what.starts_with("its type is not said")
                || what == "a parameter without a type";
            if let Some(fact) = fact {
                let ids: Vec<Id> = named(&fact).collect();
                let is_nothing = |id: &Id| facts.get(*id).is_some_and(|it| it.name() == Some(Name::InfoNone));
                if is_missing && ids.iter().any(|id| gone.contains(id)) {
                    gone.insert(fact.result);
                    continue;
                }
                if is_missing && nothings > 0 && ids.iter().any(is_nothing) {
                    nothings -= 1;
                    if what.starts_with("it is not described") {
                        gone.insert(fact.result);
                    }
                    continue;
                }
                if [Field::Size, Field::Offset]
                    .iter()
                    .any(|&field| self.is_said_instead(facts.number(&fact, field)))
                {
                    continue;
                }
            }
            self.found.push(Difference { at: at.clone(), what: what.clone() });
        }
    }

    /// Whether it is listed that a number is said in the place of another.
    fn is_said_instead(&self, number: Option<u64>) -> bool {
        number.is_some_and(|number| {
            let end = format!("the module has no Int64, and {number} is said");
            self.left_out.iter().any(|listed| listed.what.ends_with(&end))
        })
    }
}

fn named(fact: &Fact<'_>) -> impl Iterator<Item = Id> {
    let is_id = |of: &crate::spirv::Operand| of.row.is_some_and(|row| !row.kind.is_literal(fact.set));
    fact.operands().filter(is_id).map(|of| Id(of.word))
}
